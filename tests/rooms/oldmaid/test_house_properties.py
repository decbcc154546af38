"""What holds at the table of Old Maid whoever comes, whatever he says and whenever he goes.

The evenings are random. A book is kept of each by hand, from the page and from what the table has said, and the table
has to say what the book says: a different one, written from nothing but the page.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
)

from croupier.core.errors import Violation
from croupier.core.session import Address, Closing, Commit, HandFinished, Malformed, Peer, Received, Reveal
from croupier.core.transcript import Transcript
from croupier.rooms.oldmaid.cards import CARD_NUMBERS, JOKER, WIRE_CARDS, Card, WireCard, to_wire
from croupier.rooms.oldmaid.table.game import TableGame
from croupier.rooms.oldmaid.wire import (
    Discard,
    Draw,
    Join,
    Message,
    OutOfCards,
    Reply,
    Standing,
    Status,
)
from tests.rooms.oldmaid.tables import Evening, clause, dealt

NICKS: Final = ("ann", "bob", "cyd", "dan", "")
PORTS: Final = (None, None, None, 40_001, 40_002, 50_000)
STRANGE: Final[tuple[WireCard, ...]] = (("1", "spades"), ("maid", "joker"), ("3", "Spades"))
UNREADABLE: Final = Violation("oldmaid-8.3", "this", "JSON")
NO_TEXT: Final = Violation("oldmaid-8.8", "this", "UTF-8", fatal=True)


@dataclass
class Played:
    """A game, and the cards of its deck, top first. `drawn` is what each player has got."""

    peers: list[Peer]
    nicks: list[str]
    deck: list[Card]
    moved: float
    drawn: dict[Peer, list[Card]] = field(default_factory=lambda: defaultdict(list))
    thrown: set[Card] = field(default_factory=set)
    out: list[Peer] = field(default_factory=list)
    gone: list[Peer] = field(default_factory=list)
    throws: list[Peer] = field(default_factory=list)
    next: int = 0
    void: bool = False

    @property
    def inside(self) -> list[Peer]:
        return [peer for peer in self.peers if peer not in self.out + self.gone]

    @property
    def over(self) -> bool:
        return self.void or len(self.inside) == 1

    def is_left(self, peer: Peer) -> bool:
        """Whether this is the one who has lost."""
        return not self.void and self.inside == [peer]

    @property
    def cards(self) -> list[Card]:
        return [card for cards in self.drawn.values() for card in cards]

    @property
    def ranking(self) -> list[int]:
        return [self.peers.index(peer) for peer in (*self.out, *self.inside, *self.gone[::-1])]

    def standing(self) -> Standing:
        nick = dict(zip(self.peers, self.nicks, strict=True))
        inside, stopped = ([], self.inside) if self.void else (self.inside, [])
        out = *self.out, *stopped, *self.gone[::-1]
        return Standing(tuple(nick[peer] for peer in inside), tuple(nick[peer] for peer in out))

    def step(self) -> None:
        self.next = (self.next + 1) % len(self.peers)
        if self.peers[self.next] in self.gone:
            self.step()


class Table(RuleBasedStateMachine):
    """Random evenings, and the book of each."""

    peers: Bundle[Peer] = Bundle("peers")

    @initialize(
        target=peers,
        players=st.integers(2, 4),
        window=st.sampled_from([0.5, 10.0]),
        seed=st.integers(0, 99),
        joined=st.integers(0, 5),
    )
    def begin(self, players: int, window: float, seed: int, joined: int) -> MultipleResults[Peer]:
        self.players, self.window, self.idle, self.stuck = players, window, 60.0, 40.0
        self.evening = Evening(players=players, join_window=window, stuck_seconds=self.stuck, idle=self.idle, seed=seed)
        self.dealers = dealt(Transcript("law", "", (), {"seed": str(seed)}, ()))
        self.now = 0.0
        self.queue: list[tuple[Peer, str]] = []
        self.due: float | None = None
        self.kept: dict[Peer, list[Message | Violation]] = {}
        self.games: list[Played] = []
        self.game: dict[Peer, Played] = {}
        self.reached: dict[Peer, Address] = {}
        self.quiet: dict[Peer, float] = {}
        self.halted = False
        self.expected: dict[Peer, list[Any]] = {}
        self.dropped: set[Peer] = set()
        peers = [self.come() for _ in range(joined)]
        for peer in peers:
            self.say(peer, Join(f"player {peer}"))
        return multiple(*peers)

    # What happens.

    @rule(target=peers)
    def comes(self) -> Peer:
        return self.come()

    def come(self) -> Peer:
        peer = self.evening.come()
        self.expected[peer] = []
        self.quiet[peer] = self.now
        return peer

    @rule(peer=peers, nick=st.sampled_from(NICKS), port=st.sampled_from(PORTS))
    def join(self, peer: Peer, nick: str, port: int | None) -> None:
        self.say(peer, Join(nick, port))

    @rule(peer=peers, message=st.sampled_from([Draw(), Draw(), Status(), OutOfCards(), Reply("ok")]))
    def ask(self, peer: Peer, message: Message) -> None:
        self.say(peer, message)

    @rule(peer=peers, card=st.sampled_from([*WIRE_CARDS, *STRANGE]), other=st.sampled_from([*WIRE_CARDS, *STRANGE]))
    def throw(self, peer: Peer, card: WireCard, other: WireCard) -> None:
        self.say(peer, Discard((card, other), "false"))

    @rule(peer=peers, number=st.integers(0, JOKER - 1), swapped=st.booleans())
    def throw_a_pair(self, peer: Peer, number: Card, swapped: bool) -> None:
        pair = to_wire(number), to_wire(number ^ 1)
        self.say(peer, Discard(pair[::-1] if swapped else pair))

    @rule(number=st.integers(0, 3), cards=st.sampled_from([1, 2, 5, 53, 53]), seconds=st.sampled_from([0.0, 0.5, 25.0]))
    def draw_on(self, number: int, cards: int, seconds: float) -> None:
        """Some draw in turn; evenings would be too short to draw all cards otherwise."""
        if self.games:
            game = self.games[-1 - number % len(self.games)]
            for _ in range(cards):
                if not game.over and len(game.cards) < len(WIRE_CARDS):
                    self.say(game.peers[game.next], Draw())
            self.wait(seconds)

    @rule(number=st.integers(0, 3), seat=st.integers(0, 3), pairs=st.sampled_from([0, 7, 13]))
    def finish(self, number: int, seat: int, pairs: int) -> None:
        """Somebody who is in throws pairs away, and says that he has no cards any more."""
        if self.games:
            inside = self.games[-1 - number % len(self.games)].inside
            peer = inside[seat % len(inside)]
            for card in range(2 * number, 2 * number + 2 * pairs, 2):
                self.say(peer, Discard((to_wire(card), to_wire(card + 1)), "true"))
            self.say(peer, OutOfCards())

    @rule(number=st.integers(0, 3), seat=st.integers(0, 3), own=st.booleans(), card=st.integers(0, 52))
    def throw_what_was_drawn(self, number: int, seat: int, own: bool, card: int) -> None:
        """A pair, one card of which was drawn, goes."""
        if self.games:
            game = self.games[-1 - number % len(self.games)]
            peer = game.inside[seat % len(game.inside)]
            drawn = [one for one in (game.drawn[peer] if own else game.cards) if one != JOKER]
            if drawn:
                one = drawn[card % len(drawn)]
                self.say(peer, Discard((to_wire(one), to_wire(one ^ 1)), "true"))

    @rule(peer=peers, times=st.integers(1, 18))
    def say_much(self, peer: Peer, times: int) -> None:
        for _ in range(times):
            self.say(peer, Status())

    @rule(peer=peers, violation=st.sampled_from([*[UNREADABLE] * 5, NO_TEXT]))
    def garble(self, peer: Peer, violation: Violation) -> None:
        self.say(peer, violation)

    @rule(peer=peers, often=st.integers(0, 2))
    def leave(self, peer: Peer, often: int) -> None:
        if peer in self.evening.here and not often:
            self.forget(peer)
            self.evening.leave(peer)

    @rule(seconds=st.sampled_from([0.25, 0.25, 1.0, 9.5, 9.5, 20.0, 20.0, 39.0, 61.0]))
    def wait(self, seconds: float) -> None:
        end = self.now + seconds
        while (now := min(self.dues(), default=inf)) <= end:
            self.now = now
            self.come_true()
            self.evening.until(now)
        self.now = end
        self.evening.until(end)

    @rule(final=st.sampled_from([False, False, True]), often=st.integers(0, 9))
    def halt(self, final: bool, often: int) -> None:
        if often:  # most evenings go on
            return
        self.halted = True
        for peer, _ in self.queue[:]:
            self.dismiss(peer, "oldmaid-9.12")
        if final:
            for game in self.games:
                self.void(game, "oldmaid-9.12")
            for peer in [*self.quiet]:
                self.dismiss(peer, "oldmaid-9.12")
        self.evening.on(Closing(final))

    # The book.

    def dues(self) -> list[float]:
        """When something has to happen by itself."""
        return [
            *([] if self.due is None else [self.due]),
            *(game.moved + self.stuck for game in self.games if not game.over),
            *(quiet + self.idle for peer, quiet in self.quiet.items() if not self.busy(peer)),
        ]

    def busy(self, peer: Peer) -> bool:
        """Whether a peer waits or is in a game."""
        return peer in self.kept or self.plays(peer)

    def plays(self, peer: Peer) -> bool:
        game = self.game.get(peer)
        return game is not None and not game.over and peer in game.inside

    def come_true(self) -> None:
        """What happens by itself now."""
        if self.due is not None and self.due <= self.now:
            self.start()
        for game in self.games:
            if not game.over and game.moved + self.stuck <= self.now:
                self.void(game, "oldmaid-6.10")
        for peer, quiet in [*self.quiet.items()]:
            if not self.busy(peer) and quiet + self.idle <= self.now:
                self.dismiss(peer, "oldmaid-8.10")

    def say(self, peer: Peer, said: Message | Violation) -> None:
        """Write into the book what the table has to answer, and say it to the table."""
        if peer not in self.evening.here:
            return
        if peer not in self.dropped:
            self.quiet[peer] = self.now
            self.handle(peer, said)
        self.evening.on(Malformed(peer, said) if isinstance(said, Violation) else Received(peer, said))

    def handle(self, peer: Peer, said: Message | Violation) -> None:
        expected = self.expected[peer]
        if said == NO_TEXT:
            self.dismiss(peer, NO_TEXT.clause)
        elif isinstance(said, Reply):
            pass
        elif peer in self.kept:
            if len(self.kept[peer]) == 16:
                self.dismiss(peer, "oldmaid-3.15")
            else:
                self.kept[peer].append(said)
        elif isinstance(said, Violation):
            expected.append(said.clause)
        elif isinstance(said, Join):
            self.expect_join(peer, said)
        else:
            expected.append(self.answer(peer, said))

    def expect_join(self, peer: Peer, join: Join) -> None:
        address = "192.0.2.1", join.port or 40_000 + peer
        if not join.nick:
            self.expected[peer].append("oldmaid-3.7")
        elif self.plays(peer):
            self.expected[peer].append("oldmaid-3.14")
        elif self.halted:
            self.dismiss(peer, "oldmaid-9.12")
        elif any(nick == join.nick for _, nick in self.queue):
            self.expected[peer].append("oldmaid-3.8")
        elif any(other != peer and self.is_reached(other, address) for other in self.reached):
            self.expected[peer].append("oldmaid-3.9")
        else:
            self.queue.append((peer, join.nick))
            self.kept[peer] = []
            self.reached[peer] = address
            if len(self.queue) == self.players:
                self.start()
            elif len(self.queue) == 2:
                self.due = self.now + self.window

    def is_reached(self, peer: Peer, address: Address) -> bool:
        """Whether a peer who is there waits at an address, or belongs to a game that is played."""
        game = self.game.get(peer)
        return self.reached[peer] == address and (peer in self.kept or (game is not None and not game.over))

    def answer(self, peer: Peer, said: Message) -> Any:
        """What the page says about a request in a game: an answer, or the clause by which it is refused."""
        game = self.game.get(peer)
        if game is None:
            return {Draw: "oldmaid-4.6", Discard: "oldmaid-5.9", OutOfCards: "oldmaid-6.4", Status: "oldmaid-6.7"}[
                type(said)
            ]
        if isinstance(said, Status):
            return game.standing()
        if game.over and not (isinstance(said, Discard) and game.is_left(peer)):
            return "oldmaid-6.9"
        drawn = len(game.cards)
        answer = Reply("ok")
        if isinstance(said, Draw):
            if drawn == len(WIRE_CARDS):
                return "oldmaid-4.5"
            if game.peers[game.next] != peer:
                return "oldmaid-4.3"
            game.step()
            game.drawn[peer].append(game.deck[drawn])
            answer = Reply("last_card" if drawn == len(WIRE_CARDS) - 1 else "ok", card=to_wire(game.deck[drawn]))
        elif isinstance(said, Discard):
            if refused := self.refused(game, peer, said):
                return refused
            game.thrown |= {CARD_NUMBERS[card] for card in said.cards}
            game.throws.append(peer)
            answer = Reply("ok", "ok")
        else:
            assert isinstance(said, OutOfCards)
            if drawn < len(WIRE_CARDS):
                return "oldmaid-6.2"
            if peer in game.out:
                return "oldmaid-6.3"
            if len(game.drawn[peer]) - 2 * game.throws.count(peer) > 2 * (len(game.peers) - 1):
                return "oldmaid-6.12"
            game.out.append(peer)
        game.moved = self.now
        self.end(game)
        return answer

    def refused(self, game: Played, peer: Peer, said: Discard) -> str:
        cards = [CARD_NUMBERS.get(card) for card in said.cards]
        (value, suit), (same, other) = said.cards
        if peer in game.out:
            return "oldmaid-5.9"
        if None in cards:
            return "oldmaid-5.4"
        if value != same or {suit, other} not in ({"spades", "clubs"}, {"diamonds", "hearts"}):
            return "oldmaid-5.3"
        if game.thrown & {*cards}:
            return "oldmaid-5.12"
        if not {*cards} <= {*game.cards}:
            return "oldmaid-5.12"
        if len(game.cards) < len(WIRE_CARDS) and not {*cards} <= {*game.drawn[peer]}:
            return "oldmaid-5.12"
        return ""

    def start(self) -> None:
        waiting, self.queue, self.due = self.queue, [], None
        order = [*self.dealers(len(self.games) + 1).next_deck(len(WIRE_CARDS))]
        game = Played([peer for peer, _ in waiting], [nick for _, nick in waiting], order, self.now)
        self.games.append(game)
        listed = Reply("ok", players=tuple((self.reached[peer], nick) for peer, nick in waiting))
        kept = [(peer, self.kept.pop(peer)) for peer in game.peers]
        for peer in game.peers:
            self.game[peer] = game
            self.expected[peer].append(listed)
        for peer, behind in kept:
            for said in behind:
                self.handle(peer, said)

    def end(self, game: Played) -> None:
        if game.over:
            for peer in game.inside:
                self.quiet[peer] = self.now

    def void(self, game: Played, why: str) -> None:
        if not game.over:
            game.void = True
            for peer in game.inside:
                self.dismiss(peer, why)

    def dismiss(self, peer: Peer, why: str) -> None:
        """A peer is told why, and dropped."""
        self.expected[peer].append(why)
        self.forget(peer)
        self.dropped.add(peer)

    def forget(self, peer: Peer) -> None:
        """A peer is not there any more."""
        if peer in self.dropped:
            return
        del self.quiet[peer]
        self.reached.pop(peer, None)
        if peer in self.kept:
            del self.kept[peer]
            self.queue = [(other, nick) for other, nick in self.queue if other != peer]
            self.due = self.due if len(self.queue) > 1 else None
        elif self.plays(peer):
            game = self.game[peer]
            game.gone.append(peer)
            game.moved = self.now
            if game.peers[game.next] == peer:
                game.step()
            self.end(game)

    # What has to hold.

    @invariant()
    def everybody_hears_what_is_in_the_book(self) -> None:
        for peer, expected in self.expected.items():
            heard = self.evening.heard[peer]
            assert [clause(answer) or answer for answer in heard] == expected
        assert self.evening.dropped == self.dropped

    @invariant()
    def whatever_has_to_happen_by_itself_has_an_alarm(self) -> None:
        alarm = self.evening.house.deadline
        for due in self.dues():
            assert alarm is not None
            assert alarm <= due

    @invariant()
    def every_game_is_promised_told_and_revealed_once(self) -> None:
        facts: dict[type, dict[int, Any]] = {Commit: {}, HandFinished: {}, Reveal: {}}
        for fact in self.evening.facts:
            number = fact.hand_number if isinstance(fact, HandFinished) else fact.peer
            assert number not in facts[type(fact)]
            facts[type(fact)][number] = fact
        over = [number for number, game in enumerate(self.games, start=1) if game.over]
        assert [*facts[Commit]] == [*range(1, len(self.games) + 1)]
        assert sorted(facts[HandFinished]) == sorted(facts[Reveal]) == over
        assert self.evening.house.playing == (len(over) < len(self.games))
        for number, finished in facts[HandFinished].items():
            self.told(self.games[number - 1], finished)

    def told(self, game: Played, finished: HandFinished) -> None:
        """A game ended as the book says."""
        state = finished.state
        assert isinstance(state, TableGame)
        assert state.nicks == (*game.nicks,)
        assert state.is_void == game.void
        assert state.dealt_cards == (*game.deck[: len(game.cards)],)
        if game.void:
            assert (state.ranking, {*finished.nets}) == ((), {0})
        else:
            assert [*state.ranking] == game.ranking
            assert [seat for seat, net in enumerate(finished.nets) if net] == game.ranking[-1:]
            assert sum(finished.nets) == -1
        thrown = [card for deed in state.log if deed[0] == "threw" for card in deed[2:]]
        assert len(thrown) == len({*thrown})
        assert {*thrown} == game.thrown <= {*game.cards}
        assert len({*game.cards}) == len(game.cards)

    def teardown(self) -> None:
        """Nothing hangs: left alone, everybody is told to go in the end, but for a single player who waits."""
        if not hasattr(self, "evening"):
            return
        self.wait(1000.0)
        self.everybody_hears_what_is_in_the_book()
        self.every_game_is_promised_told_and_revealed_once()
        assert not self.evening.house.playing
        assert self.evening.here - self.dropped == {peer for peer, _ in self.queue[:1]}
        assert self.evening.rings <= 3 * (len(self.expected) + len(self.games)) + self.now / min(self.idle, self.stuck)
        self.evening.leave(*self.evening.here)
        house = self.evening.house
        assert [*house._clients, *house._running_games, *house._lobby.waiting_clients, *house._lobby._addresses] == []


Table.TestCase.settings = settings(max_examples=150, stateful_step_count=50, deadline=None)


@pytest.mark.slow
class TestLongEvenings(Table.TestCase):
    settings = settings(max_examples=600, stateful_step_count=100, deadline=None, suppress_health_check=[*HealthCheck])


class TestEvenings(Table.TestCase):
    """The same, as long as one can wait for."""
