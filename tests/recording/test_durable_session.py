"""Durable Old Maid table: no client receives anything that a crash could lose, and all games are stored."""

import asyncio
import json
from asyncio import Future
from collections.abc import Callable, Iterable, Sequence
from math import inf
from pathlib import Path
from typing import Any

import pytest

from croupier.core.deal_record import verify_record
from croupier.core.dealer import Dealer, dealer_factory
from croupier.core.logger import SilentLogger
from croupier.core.session import Closing, Drop, Effect, Event, HandFinished, Received, Send, TimedOut
from croupier.observers.deal_file import DealFile
from croupier.observers.deal_recorder import DealRecorder
from croupier.observers.line_writer import LineWriter
from croupier.recording import journal as event_journal
from croupier.recording.durable_session import DurableSession, void_game_effects
from croupier.recording.journal import EventJournal
from croupier.recording.oldmaid_journal import JOURNAL_TABLE, ROOM_NAME, OldMaidJournal, open_journal
from croupier.recording.seeds import Seeds
from croupier.rooms.oldmaid import ROOM as OLDMAID
from croupier.rooms.oldmaid.cards import to_wire
from croupier.rooms.oldmaid.house import House
from croupier.rooms.oldmaid.settings import Settings
from croupier.rooms.oldmaid.table.game import TableGame
from croupier.rooms.oldmaid.table.persistence import (
    ActionTaken,
    GameEnded,
    GameLogEntry,
    GameStarted,
    JournaledGames,
    JournalPage,
)
from croupier.rooms.oldmaid.wire import Answer, Discard, Draw, Join, Message, OutOfCards, Reply, Status
from croupier.store.records import SUPERSEDED_MESSAGE, StoreUnavailable, WriteRefused
from croupier.store.store import Store, open_store
from tests.recording.fake_store import ManualStore, run, run_pending_callbacks
from tests.rooms.oldmaid.tables import TableHarness, clause

NOW = 1_000_000_000.0


async def complete(store: ManualStore, error: Exception | None = None) -> Sequence[GameLogEntry]:
    """Complete the pending write, or let it fail; return its entries."""
    entries = store.complete_write(error)
    await run_pending_callbacks()
    return entries


class DurableTable(TableHarness):
    """A table with a journal."""

    def __init__(self, journal: OldMaidJournal, dealers: Callable[[int], Dealer], **settings: Any) -> None:
        super().__init__(**settings)
        self.house = House(Settings(**settings), dealers, record_entries=True)
        self.session = DurableSession(
            self.house, journal, SilentLogger(), lambda: self.now, hold=self.hold, deliver=self.perform
        )
        self.held_peers: list[int] = []
        self.games: list[TableGame] = []

    def on(self, event: Event[Message]) -> None:
        self.perform(self.session.on(event, self.now))

    def perform(self, effects: Iterable[Effect[Answer]]) -> None:
        """Perform effects as an endpoint does: peers that have left receive nothing."""
        super().perform(effect for effect in effects if not isinstance(effect, Send | Drop) or effect.peer in self.here)

    def hold(self, peer: int, future: Future[None]) -> None:
        assert not future.done()
        self.held_peers.append(peer)

    @property
    def finished_games(self) -> list[TableGame]:
        """The finished games."""
        return [effect.state for effect in self.facts if isinstance(effect, HandFinished)]  # type: ignore[misc]  # the states are TableGames


def table_with_manual_journal(**settings: Any) -> tuple[DurableTable, ManualStore]:
    """A table whose journal is written when the test says so."""
    store = ManualStore(lambda fact: JournalPage.from_json(fact).notes)
    journal: OldMaidJournal = EventJournal(store, ROOM_NAME, JOURNAL_TABLE, JournaledGames(), is_live=False)  # type: ignore[arg-type]  # has what it uses
    return DurableTable(journal, dealer_factory(lambda game: bytes(32), shared=True), **settings), store


async def seated(table: DurableTable, journal: ManualStore, *nicks: str) -> list[int]:
    peers = table.join(*nicks)
    await complete(journal)
    assert all(isinstance(table.heard[peer][-1], Reply) for peer in peers)
    return peers


def test_answers_wait_until_the_entry_is_durable() -> None:
    """oldmaid-9.13"""

    async def main() -> None:
        table, journal = table_with_manual_journal(players=2)
        ann, bob = table.join("ann", "bob")
        assert (table.heard[ann], table.heard[bob], table.facts) == ([], [], [])
        assert await complete(journal) == [GameStarted(1, ("ann", "bob"))]
        assert len(table.heard[ann]) == len(table.heard[bob]) == len(table.facts) == 1
        assert table.say(ann, Draw()) == []
        assert table.say(bob, Draw(), Status()) == []
        assert table.held_peers[-3:] == [ann, bob, bob]
        (draw,) = await complete(journal)
        assert isinstance(draw, ActionTaken)
        assert len(table.heard[ann]) == 2
        assert len(table.heard[bob]) == 1, "the second draw was handled after the first, and is being written now"
        await complete(journal)
        assert len(table.heard[bob]) == 3

    run(main)


def test_messages_during_a_write_form_the_next_write() -> None:
    async def main() -> None:
        table, journal = table_with_manual_journal(players=2)
        first = table.join("ann", "bob")
        assert len(journal.pending_writes) == 1
        second = table.join("cyd", "dan", "eve", "fay")
        assert len(journal.pending_writes) == 1
        await complete(journal)
        assert await complete(journal) == [GameStarted(2, ("cyd", "dan")), GameStarted(3, ("eve", "fay"))]
        assert all(len(table.heard[peer]) == 1 for peer in [*first, *second])

    run(main)


def test_messages_that_change_no_game_are_answered_at_once() -> None:
    async def main() -> None:
        table, journal = table_with_manual_journal(players=2)
        ann, _ = await seated(table, journal, "ann", "bob")
        assert len(table.say(ann, Status(), OutOfCards())) == 2
        assert table.clause(table.come(), Draw()) == "oldmaid-4.6"
        assert journal.pending_writes == []

    run(main)


def test_client_that_leaves_during_a_write_is_out_and_deadlines_wait() -> None:
    async def main() -> None:
        table, journal = table_with_manual_journal(players=2)
        ann, bob = table.join("ann", "bob")
        assert table.session.deadline is None
        assert table.session.playing
        table.now = 1e6
        table.leave(bob)
        await complete(journal)
        assert await complete(journal) == [ActionTaken(1, "gone", 1), GameEnded(1, is_void=False)]
        assert table.session.deadline is not None
        assert not table.session.playing
        assert table.house.has_peer(ann)

    run(main)


@pytest.mark.parametrize("is_written", [False, True], ids=["lost", "written after all"])
def test_failed_write_voids_all_games_until_the_store_is_available(is_written: bool) -> None:
    """oldmaid-9.15"""

    async def main() -> None:
        table, journal = table_with_manual_journal(players=2)
        ann, bob = await seated(table, journal, "ann", "bob")
        (waiting,), idle = table.join("cyd"), table.come()
        table.say(ann, Draw())
        table.say(bob, Status())
        await complete(journal, StoreUnavailable("found no space on the disk"))
        assert table.session.trouble == "found no space on the disk"
        for peer in (ann, bob, waiting):
            assert clause(table.heard[peer][-1]) == "oldmaid-9.15"
            assert peer in table.dropped
        assert len(table.heard[ann]) == 2, "the answer with the card was never sent"
        assert [game.is_void for game in table.finished_games] == [True]
        assert not table.session.playing
        for _ in range(2):
            assert table.clause(idle, Join("dan")) == "oldmaid-9.15"
        assert idle not in table.dropped
        journal.is_written = is_written
        journal.is_up.set()
        await run_pending_callbacks()
        if not is_written:
            (draw,) = await complete(journal)
            assert isinstance(draw, ActionTaken)
        assert table.session.trouble is not None
        assert await complete(journal) == [GameEnded(1, is_void=True)]
        assert table.session.trouble is None
        assert [type(note) for note in journal.written] == [GameStarted, ActionTaken, GameEnded]
        assert table.say(idle, Join("dan")) == []
        table.join("eve")
        assert await complete(journal) == [GameStarted(2, ("dan", "eve"))]

    run(main)


def test_second_outage_during_recovery_is_waited_for() -> None:
    async def main() -> None:
        table, journal = table_with_manual_journal(players=2)
        table.join("ann", "bob")
        await complete(journal, StoreUnavailable("once"))
        journal.is_up.set()
        await run_pending_callbacks()
        await complete(journal, StoreUnavailable("twice"))
        while not journal.pending_writes:
            await asyncio.sleep(0.001)
        await complete(journal)
        await complete(journal)
        assert table.session.trouble is None
        assert journal.written == [GameStarted(1, ("ann", "bob")), GameEnded(1, is_void=True)]

    run(main)


@pytest.mark.parametrize("after_outage", [False, True])
def test_superseded_table_plays_no_more(after_outage: bool) -> None:
    async def main() -> None:
        table, journal = table_with_manual_journal(players=2)
        table.join("ann", "bob")
        if after_outage:
            await complete(journal, StoreUnavailable("away"))
            journal.is_up.set()
            await run_pending_callbacks()
        await complete(journal, WriteRefused("found facts of table from 2 on"))
        assert table.session.trouble == SUPERSEDED_MESSAGE
        assert table.clause(table.come(), Join("cyd")) == "oldmaid-9.15"
        table.on(Closing(True))
        assert table.here == table.dropped

    run(main)


# With a real store.


class OpenedTable:
    """A table with a journal in a store, and its dealer's record."""

    def __init__(
        self, store: Store, opened_journal: tuple[Seeds, OldMaidJournal, int, Sequence[TableGame]], record: Path
    ) -> None:
        seeds, journal, started, self.void_games = opened_journal
        dealers = dealer_factory(
            lambda game: seeds.server_seed(ROOM_NAME, game), seeds.client_seed.encode(), shared=True
        )
        self.store = store
        self.table = DurableTable(journal, dealers, players=2)
        self.table.house.restore(started, len(self.void_games), 0.0)
        self.file = record.open("ab", buffering=0)
        self.deals = DealRecorder(ROOM_NAME, DealFile(LineWriter(self.file), SilentLogger()), OLDMAID.dealt_cards)
        for game in self.void_games:
            self.deals(TimedOut(), void_game_effects(game, dealers(game.number)), 0.0)

    async def say(self, peer: int, *messages: Message) -> None:
        """Send messages, each after the previous one is answered."""
        for message in messages:
            self.table.on(Received(peer, message))
            await self.table.session.close()

    async def seat(self, *nicks: str) -> list[int]:
        peers = [self.table.come() for _ in nicks]
        for peer, nick in zip(peers, nicks, strict=True):
            await self.say(peer, Join(nick))
        return peers

    def write_deals(self) -> None:
        """Write the dealer's record."""
        self.deals(TimedOut(), self.table.facts, 0.0)
        self.file.close()


async def open_table(path: Path, seeds: Seeds = Seeds()) -> OpenedTable:
    store = await open_store(str(path))
    return OpenedTable(store, await open_journal(store, seeds, NOW), path.with_suffix(".deals"))


@pytest.mark.parametrize("facts_per_snapshot", [1, 1000], ids=["snapshot", "replay"])
def test_interrupted_games_are_void_and_match_their_promises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, facts_per_snapshot: int
) -> None:
    """oldmaid-9.14"""
    monkeypatch.setattr(event_journal, "MIN_FACTS_PER_SNAPSHOT", facts_per_snapshot)

    async def main() -> None:
        path = tmp_path / "kept.db"
        first = await open_table(path)
        ann, bob = await first.seat("ann", "bob")
        await first.seat("cyd", "dan")
        for peer in (ann, bob, ann):
            await first.say(peer, Draw())
        cards = [reply.card for peer in (ann, bob, ann) for reply in first.table.heard[peer][1:2]]
        first.write_deals()  # nothing else: the process was killed
        assert ((await first.store.prune(inf, [])).facts > 0) == (facts_per_snapshot == 1)
        await first.store.close()

        second = await open_table(path)
        assert [(game.number, game.nicks, game.is_void, len(game.dealt_cards)) for game in second.void_games] == [
            (1, ("ann", "bob"), True, 3),
            (2, ("cyd", "dan"), True, 0),
        ]
        after_outage = second.table.come()
        (message,) = second.table.say(after_outage, Draw())
        assert "found draw (the table was interrupted: 2 games are void); allowed: join" in str(message)
        second.table.wait(500.0)
        assert "interrupted" not in str(second.table.say(second.table.come(), Draw())[0])
        await second.seat("ann", "bob")
        second.write_deals()
        hands = {hand.number: hand for hand in await second.store.hands(ROOM_NAME)}
        assert [*hands] == [1, 2] or [*hands] == [2, 1]
        assert (hands[1].table, hands[1].players, hands[1].summary) == (JOURNAL_TABLE, ("ann", "bob"), "void")
        course = json.loads(hands[1].record)["course"]
        assert [step[:2] for step in course] == [["drew", 0], ["drew", 1], ["drew", 0]]
        assert {" ".join(card) for card in cards if card} <= {step[2] for step in course}
        assert await second.store.find_problems() == []
        await second.store.close()

        third = await open_table(path)
        assert [game.number for game in third.void_games] == [3]
        third.write_deals()
        await third.store.close()
        with path.with_suffix(".deals").open("rb") as lines:
            opened_journal = [*verify_record(lines, lambda _: OLDMAID.pack, lambda _: OLDMAID.net_check)]
        assert [finding.is_proved for finding in opened_journal] == [True, None, None]
        assert "found" not in " ".join(finding.message for finding in opened_journal)

    run(main)


def test_finished_game_is_stored_with_its_last_entry(tmp_path: Path) -> None:
    async def main() -> None:
        opened = await open_table(tmp_path / "kept.db")
        ann, bob = await opened.seat("ann", "bob")
        for turn in range(53):
            await opened.say((ann, bob)[turn % 2], Draw())
        for card in range(0, 24, 2):
            await opened.say(bob, Discard((to_wire(card), to_wire(card + 1))))
        await opened.say(bob, OutOfCards())
        (hand,) = await opened.store.hands(ROOM_NAME)
        assert hand.summary == "bob, and ann has lost"
        message = json.loads(hand.record)
        assert (message["ranking"], message["void"], len(message["course"])) == (["bob", "ann"], False, 66)
        opened.write_deals()
        await opened.store.close()
        reopened = await open_table(tmp_path / "kept.db")
        assert reopened.void_games == []
        reopened.write_deals()
        await reopened.store.close()

    run(main)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (Seeds(1), Seeds(2), "found the seed 2 for saved tables; allowed: 1, as saved"),
        (Seeds(), Seeds(client_seed="x"), "found the client seed 'x' for saved tables; allowed: '', as saved"),
        (
            Seeds(decks=((1,),)),
            Seeds(decks=((2,),)),
            "found another --deck for saved tables; allowed: the saved decks, or another --store",
        ),
    ],
)
def test_table_does_not_resume_with_other_cards(tmp_path: Path, first: Seeds, second: Seeds, message: str) -> None:
    async def main() -> None:
        async with await open_store(str(tmp_path / "kept.db")) as store:
            seeds, *_ = await open_journal(store, first, NOW)
            assert (await open_journal(store, first, NOW))[0] == seeds
            with pytest.raises(ValueError, match=f"^{message}$"):
                await open_journal(store, second, NOW)

    run(main)
