"""Nobody at a table of Old Maid hears of anything that could still be lost, and what was played is in the books."""

import asyncio
import json
from asyncio import Future
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from croupier.core.deal_record import verify_record
from croupier.core.dealer import Dealer, dealer_factory
from croupier.core.session import Closing, Drop, Effect, Event, HandFinished, Received, Send, TimedOut
from croupier.logs import silent_logger
from croupier.observers.deal_file import DealFile
from croupier.observers.deal_recorder import DealRecorder
from croupier.observers.line_writer import LineWriter
from croupier.recording import oldmaid_journal
from croupier.recording.durable_session import DurableSession, void_game_effects
from croupier.recording.oldmaid_journal import JOURNAL_TABLE, ROOM_NAME, OldMaidJournal, open_journal
from croupier.recording.seeds import Seeds
from croupier.rooms.oldmaid import ROOM as OLDMAID
from croupier.rooms.oldmaid.cards import to_wire
from croupier.rooms.oldmaid.house import House
from croupier.rooms.oldmaid.settings import Settings
from croupier.rooms.oldmaid.table.game import TableGame
from croupier.rooms.oldmaid.table.persistence import ActionTaken, GameEnded, GameLogEntry, GameStarted
from croupier.rooms.oldmaid.wire import Answer, Discard, Draw, Join, Message, OutOfCards, Reply, Status
from croupier.store.records import SUPERSEDED_MESSAGE, StoreUnavailable, WriteRefused
from croupier.store.store import Store, open_store
from tests.net.raw_client import PATIENCE
from tests.rooms.oldmaid.tables import Evening, clause

NOON = 1_000_000_000.0
TURNS = 32
"""After so many turns of the loop everything has happened that waits for nothing."""


class Rises:
    """A store that is up when it is told to be."""

    def __init__(self) -> None:
        self.event = asyncio.Event()

    async def up(self) -> None:
        await self.event.wait()


class Held(OldMaidJournal):
    """A journal whose writing is done by hand. `pages` are what it is to write."""

    def __init__(self) -> None:
        self.pages: list[tuple[Sequence[GameLogEntry], Sequence[TableGame], Future[None]]] = []
        self.there = False
        self.store: Any = Rises()
        self.noted: list[GameLogEntry] = []

    def write(self, notes: Sequence[GameLogEntry], finished: Sequence[TableGame]) -> Future[None]:
        future: Future[None] = asyncio.get_running_loop().create_future()
        self.pages.append((notes, finished, future))
        return future

    async def was_written(self, notes: Sequence[GameLogEntry]) -> bool:
        there, self.there = self.there, False
        return there

    def confirm_written(self, notes: Sequence[GameLogEntry]) -> None:
        self.noted += notes

    async def done(self, error: Exception | None = None) -> Sequence[GameLogEntry]:
        """What is to be written first is durable, or is not."""
        notes, _, future = self.pages.pop(0)
        future.set_result(None) if error is None else future.set_exception(error)
        await turns()
        return notes


class Kept(Evening):
    """An evening at a table that writes everything down."""

    def __init__(self, journal: OldMaidJournal, dealt: Callable[[int], Dealer], **own: Any) -> None:
        super().__init__(**own)
        self.inner = House(Settings(**own), dealt, record_entries=True)
        self.written = DurableSession(
            self.inner, journal, silent_logger(), lambda: self.now, hold=self.hold, deliver=self.perform
        )
        self.held: list[int] = []
        self.games: list[TableGame] = []

    def on(self, event: Event[Message]) -> None:
        self.perform(self.written.on(event, self.now))

    def perform(self, effects: Iterable[Effect[Answer]]) -> None:
        """As the switchboard does: whoever has hung up meanwhile is left out."""
        super().perform(e for e in effects if not isinstance(e, Send | Drop) or e.peer in self.here)

    def hold(self, peer: int, ticket: Future[None]) -> None:
        assert not ticket.done()
        self.held.append(peer)

    @property
    def over(self) -> list[TableGame]:
        """The games that are over."""
        return [fact.state for fact in self.facts if isinstance(fact, HandFinished)]  # type: ignore[misc]  # they are


def held(**own: Any) -> tuple[Kept, Held]:
    """An evening whose journal is written by hand."""
    journal = Held()
    return Kept(journal, dealer_factory(lambda game: bytes(32), shared=True), **own), journal


async def seated(evening: Kept, journal: Held, *nicks: str) -> list[int]:
    peers = evening.join(*nicks)
    await journal.done()
    assert all(isinstance(evening.heard[peer][-1], Reply) for peer in peers)
    return peers


async def turns() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(PATIENCE):
            await main()

    asyncio.run(limited())


def test_nobody_is_answered_before_it_is_durable() -> None:
    """oldmaid-9.13"""

    async def main() -> None:
        evening, journal = held(players=2)
        ann, bob = evening.join("ann", "bob")
        assert (evening.heard[ann], evening.heard[bob], evening.facts) == ([], [], [])
        assert await journal.done() == [GameStarted(1, ("ann", "bob"))]
        assert len(evening.heard[ann]) == len(evening.heard[bob]) == len(evening.facts) == 1
        assert evening.say(ann, Draw()) == []
        assert evening.say(bob, Draw(), Status()) == []
        assert evening.held[-3:] == [ann, bob, bob]
        (drew,) = await journal.done()
        assert isinstance(drew, ActionTaken)
        assert len(evening.heard[ann]) == 2
        assert len(evening.heard[bob]) == 1, "he was heard behind her, and is written down now"
        await journal.done()
        assert len(evening.heard[bob]) == 3

    run(main)


def test_what_is_said_while_something_is_written_is_written_together() -> None:
    async def main() -> None:
        evening, journal = held(players=2)
        first = evening.join("ann", "bob")
        assert len(journal.pages) == 1
        second = evening.join("cyd", "dan", "eve", "fay")
        assert len(journal.pages) == 1
        await journal.done()
        assert await journal.done() == [GameStarted(2, ("cyd", "dan")), GameStarted(3, ("eve", "fay"))]
        assert all(len(evening.heard[peer]) == 1 for peer in [*first, *second])

    run(main)


def test_what_changes_no_game_is_answered_at_once() -> None:
    async def main() -> None:
        evening, journal = held(players=2)
        ann, _ = await seated(evening, journal, "ann", "bob")
        assert len(evening.say(ann, Status(), OutOfCards())) == 2
        assert evening.clause(evening.come(), Draw()) == "oldmaid-4.6"
        assert journal.pages == []

    run(main)


def test_whoever_has_hung_up_meanwhile_is_out_and_the_alarm_waits() -> None:
    async def main() -> None:
        evening, journal = held(players=2)
        ann, bob = evening.join("ann", "bob")
        assert evening.written.deadline is None
        assert evening.written.playing
        evening.now = 1e6
        evening.leave(bob)
        await journal.done()
        assert await journal.done() == [ActionTaken(1, "gone", 1), GameEnded(1, is_void=False)]
        assert evening.written.deadline is not None
        assert not evening.written.playing
        assert evening.inner.has_peer(ann)

    run(main)


@pytest.mark.parametrize("there", [False, True], ids=["lost", "written after all"])
def test_when_nothing_can_be_written_all_games_are_void_until_it_can(there: bool) -> None:
    """oldmaid-9.15"""

    async def main() -> None:
        evening, journal = held(players=2)
        ann, bob = await seated(evening, journal, "ann", "bob")
        (waiting,), idle = evening.join("cyd"), evening.come()
        evening.say(ann, Draw())
        evening.say(bob, Status())
        await journal.done(StoreUnavailable("found no space on the disk"))
        assert evening.written.trouble == "found no space on the disk"
        for peer in (ann, bob, waiting):
            assert clause(evening.heard[peer][-1]) == "oldmaid-9.15"
            assert peer in evening.dropped
        assert len(evening.heard[ann]) == 2, "the card that nobody was told of"
        assert [game.is_void for game in evening.over] == [True]
        assert not evening.written.playing
        for _ in range(2):
            assert evening.clause(idle, Join("dan")) == "oldmaid-9.15"
        assert idle not in evening.dropped
        journal.there = there
        journal.store.event.set()
        await turns()
        if not there:
            (drew,) = await journal.done()
            assert isinstance(drew, ActionTaken)
        assert evening.written.trouble is not None
        assert await journal.done() == [GameEnded(1, is_void=True)]
        assert evening.written.trouble is None
        assert [type(note) for note in journal.noted] == [GameStarted, ActionTaken, GameEnded]
        assert evening.say(idle, Join("dan")) == []
        evening.join("eve")
        assert await journal.done() == [GameStarted(2, ("dan", "eve"))]

    run(main)


def test_a_store_that_goes_down_again_at_once_is_waited_for_again() -> None:
    async def main() -> None:
        evening, journal = held(players=2)
        evening.join("ann", "bob")
        await journal.done(StoreUnavailable("once"))
        journal.store.event.set()
        await turns()
        await journal.done(StoreUnavailable("twice"))
        await journal.done()
        await journal.done()
        assert evening.written.trouble is None
        assert journal.noted == [GameStarted(1, ("ann", "bob")), GameEnded(1, is_void=True)]

    run(main)


@pytest.mark.parametrize("late", [False, True])
def test_where_another_server_goes_on_this_one_plays_no_more(late: bool) -> None:
    async def main() -> None:
        evening, journal = held(players=2)
        evening.join("ann", "bob")
        if late:
            await journal.done(StoreUnavailable("away"))
            journal.store.event.set()
            await turns()
        await journal.done(WriteRefused("found facts of table from 2 on"))
        assert evening.written.trouble == SUPERSEDED_MESSAGE
        assert evening.clause(evening.come(), Join("cyd")) == "oldmaid-9.15"
        evening.on(Closing(True))
        assert evening.here == evening.dropped

    run(main)


# With a real store.


class Visit:
    """A table that is open in a store, and its dealer's record."""

    def __init__(
        self, store: Store, found: tuple[Seeds, OldMaidJournal, int, Sequence[TableGame]], record: Path
    ) -> None:
        seeds, journal, started, self.void = found
        dealt = dealer_factory(lambda game: seeds.server_seed(ROOM_NAME, game), seeds.client_seed.encode(), shared=True)
        self.store = store
        self.evening = Kept(journal, dealt, players=2)
        self.evening.inner.restore(started, len(self.void), 0.0)
        self.file = record.open("ab", buffering=0)
        self.deals = DealRecorder(ROOM_NAME, DealFile(LineWriter(self.file), silent_logger()), OLDMAID.dealt_cards)
        for game in self.void:
            self.deals(TimedOut(), void_game_effects(game, dealt(game.number)), 0.0)

    async def say(self, peer: int, *messages: Message) -> None:
        """Say this, and wait until it is answered."""
        for message in messages:
            self.evening.on(Received(peer, message))
            await self.evening.written.close()

    async def seat(self, *nicks: str) -> list[int]:
        peers = [self.evening.come() for _ in nicks]
        for peer, nick in zip(peers, nicks, strict=True):
            await self.say(peer, Join(nick))
        return peers

    def end(self) -> None:
        self.deals(TimedOut(), self.evening.facts, 0.0)
        self.file.close()


async def visited(path: Path, wanted: Seeds = Seeds()) -> Visit:
    store = await open_store(str(path))
    return Visit(store, await open_journal(store, wanted, lambda: NOON), path.with_suffix(".deals"))


@pytest.mark.parametrize("seldom", [1, 1000], ids=["kept", "heard again"])
def test_games_that_were_interrupted_are_void_and_dealt_as_promised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seldom: int
) -> None:
    """oldmaid-9.14"""
    monkeypatch.setattr(oldmaid_journal, "MIN_FACTS_PER_SNAPSHOT", seldom)

    async def main() -> None:
        path = tmp_path / "kept.db"
        first = await visited(path)
        ann, bob = await first.seat("ann", "bob")
        await first.seat("cyd", "dan")
        for peer in (ann, bob, ann):
            await first.say(peer, Draw())
        cards = [reply.card for peer in (ann, bob, ann) for reply in first.evening.heard[peer][1:2]]
        first.end()  # and no more: it was killed
        await first.store.close()

        second = await visited(path)
        assert [(game.number, game.nicks, game.is_void, len(game.dealt_cards)) for game in second.void] == [
            (1, ("ann", "bob"), True, 3),
            (2, ("cyd", "dan"), True, 0),
        ]
        late = second.evening.come()
        (told,) = second.evening.say(late, Draw())
        assert "found draw (the table was interrupted: 2 games are void); allowed: join" in str(told)
        second.evening.wait(500.0)
        assert "interrupted" not in str(second.evening.say(second.evening.come(), Draw())[0])
        await second.seat("ann", "bob")
        second.end()
        hands = {hand.number: hand for hand in await second.store.hands(ROOM_NAME)}
        assert [*hands] == [1, 2] or [*hands] == [2, 1]
        assert (hands[1].table, hands[1].players, hands[1].summary) == (JOURNAL_TABLE, ("ann", "bob"), "void")
        told_course = json.loads(hands[1].record)["course"]
        assert [step[:2] for step in told_course] == [["drew", 0], ["drew", 1], ["drew", 0]]
        assert {" ".join(card) for card in cards if card} <= {step[2] for step in told_course}
        assert await second.store.find_problems() == []
        await second.store.close()

        third = await visited(path)
        assert [game.number for game in third.void] == [3]
        third.end()
        await third.store.close()
        with path.with_suffix(".deals").open("rb") as lines:
            found = [*verify_record(lines, lambda room: OLDMAID.pack)]
        assert [finding.is_proved for finding in found] == [True, None, None]
        assert "found" not in " ".join(finding.message for finding in found)

    run(main)


def test_a_game_that_is_over_is_in_the_books_with_the_fact_that_has_ended_it(tmp_path: Path) -> None:
    async def main() -> None:
        visit = await visited(tmp_path / "kept.db")
        ann, bob = await visit.seat("ann", "bob")
        for at in range(53):
            await visit.say((ann, bob)[at % 2], Draw())
        for card in range(0, 24, 2):
            await visit.say(bob, Discard((to_wire(card), to_wire(card + 1))))
        await visit.say(bob, OutOfCards())
        (hand,) = await visit.store.hands(ROOM_NAME)
        assert hand.summary == "bob, and ann has lost"
        told = json.loads(hand.record)
        assert (told["ranking"], told["void"], len(told["course"])) == (["bob", "ann"], False, 66)
        visit.end()
        await visit.store.close()
        again = await visited(tmp_path / "kept.db")
        assert again.void == []
        again.end()
        await again.store.close()

    run(main)


@pytest.mark.parametrize(
    ("first", "then", "told"),
    [
        (Seeds(1), Seeds(2), "found the seed 2 for tables that were kept; allowed: theirs, 1"),
        (Seeds(), Seeds(client_seed="x"), "found the client seed 'x' for tables that were kept; allowed: theirs, ''"),
        (
            Seeds(decks=((1,),)),
            Seeds(decks=((2,),)),
            "found another --deck for tables that were kept; allowed: the cards of theirs, or another --store",
        ),
    ],
)
def test_a_table_does_not_go_on_with_other_cards(tmp_path: Path, first: Seeds, then: Seeds, told: str) -> None:
    async def main() -> None:
        async with await open_store(str(tmp_path / "kept.db")) as store:
            seeds, *_ = await open_journal(store, first, lambda: NOON)
            assert (await open_journal(store, first, lambda: NOON))[0] == seeds
            with pytest.raises(ValueError, match=f"^{told}$"):
                await open_journal(store, then, lambda: NOON)

    run(main)
