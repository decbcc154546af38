"""Stateful property tests of the Old Maid table: random clients against a model written from the protocol.

Each run sends random events to the table and to the model, a second implementation that is written from the
protocol page alone. The table must give exactly the answers of the model.
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
from croupier.replay.transcript_house import transcript_dealers
from croupier.rooms.oldmaid import ROOM
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
from tests.rooms.oldmaid.tables import TableHarness, clause
from tests.sampling import example_count

NICKS: Final = ("ann", "bob", "cyd", "dan", "")
PORTS: Final = (None, None, None, 40_001, 40_002, 50_000)
STRANGE: Final[tuple[WireCard, ...]] = (("1", "spades"), ("maid", "joker"), ("3", "Spades"))
UNREADABLE: Final = Violation("oldmaid-8.3", "this", "JSON")
NO_TEXT: Final = Violation("oldmaid-8.8", "this", "UTF-8", fatal=True)


@dataclass
class ModelGame:
    """A game of the model with the cards of its deck, top first. `drawn` has the cards drawn by each player."""

    peers: list[Peer]
    nicks: list[str]
    deck: list[Card]
    last_action_at: float
    drawn: dict[Peer, list[Card]] = field(default_factory=lambda: defaultdict(list))
    discarded: set[Card] = field(default_factory=set)
    out: list[Peer] = field(default_factory=list)
    gone: list[Peer] = field(default_factory=list)
    discarders: list[Peer] = field(default_factory=list)
    next: int = 0
    void: bool = False

    @property
    def inside(self) -> list[Peer]:
        return [peer for peer in self.peers if peer not in self.out + self.gone]

    @property
    def over(self) -> bool:
        return self.void or len(self.inside) == 1

    def is_left(self, peer: Peer) -> bool:
        """Whether a peer is the last one in, and so the loser."""
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


class TableMachine(RuleBasedStateMachine):
    """The state machine: random events for the table and its model."""

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
        self.harness = TableHarness(
            players=players, join_window=window, stuck_seconds=self.stuck, idle=self.idle, seed=seed
        )
        self.dealers = transcript_dealers(ROOM, Transcript("law", "", (), {"seed": str(seed)}, ()))
        self.now = 0.0
        self.queue: list[tuple[Peer, str]] = []
        self.due: float | None = None
        self.queued: dict[Peer, list[Message | Violation]] = {}
        self.games: list[ModelGame] = []
        self.game: dict[Peer, ModelGame] = {}
        self.addresses: dict[Peer, Address] = {}
        self.idle_since: dict[Peer, float] = {}
        self.closing = False
        self.expected: dict[Peer, list[Any]] = {}
        self.dropped: set[Peer] = set()
        peers = [self.come() for _ in range(joined)]
        for peer in peers:
            self.send(peer, Join(f"player {peer}"))
        return multiple(*peers)

    # Events.

    @rule(target=peers)
    def comes(self) -> Peer:
        return self.come()

    def come(self) -> Peer:
        peer = self.harness.connect()
        self.expected[peer] = []
        self.idle_since[peer] = self.now
        return peer

    @rule(peer=peers, nick=st.sampled_from(NICKS), port=st.sampled_from(PORTS))
    def join(self, peer: Peer, nick: str, port: int | None) -> None:
        self.send(peer, Join(nick, port))

    @rule(peer=peers, message=st.sampled_from([Draw(), Draw(), Status(), OutOfCards(), Reply("ok")]))
    def ask(self, peer: Peer, message: Message) -> None:
        self.send(peer, message)

    @rule(peer=peers, card=st.sampled_from([*WIRE_CARDS, *STRANGE]), other=st.sampled_from([*WIRE_CARDS, *STRANGE]))
    def discard(self, peer: Peer, card: WireCard, other: WireCard) -> None:
        self.send(peer, Discard((card, other), "false"))

    @rule(peer=peers, number=st.integers(0, JOKER - 1), swapped=st.booleans())
    def discard_pair(self, peer: Peer, number: Card, swapped: bool) -> None:
        pair = to_wire(number), to_wire(number ^ 1)
        self.send(peer, Discard(pair[::-1] if swapped else pair))

    @rule(number=st.integers(0, 3), cards=st.sampled_from([1, 2, 5, 53, 53]), seconds=st.sampled_from([0.0, 0.5, 25.0]))
    def draw_many(self, number: int, cards: int, seconds: float) -> None:
        """Draw several cards in turn; otherwise runs would be too short to draw all cards."""
        if self.games:
            game = self.games[-1 - number % len(self.games)]
            for _ in range(cards):
                if not game.over and len(game.cards) < len(WIRE_CARDS):
                    self.send(game.peers[game.next], Draw())
            self.wait(seconds)

    @rule(number=st.integers(0, 3), seat=st.integers(0, 3), pairs=st.sampled_from([0, 7, 13]))
    def finish(self, number: int, seat: int, pairs: int) -> None:
        """Discard pairs as a player that is in and send out_of_cards."""
        if self.games:
            inside = self.games[-1 - number % len(self.games)].inside
            peer = inside[seat % len(inside)]
            for card in range(2 * number, 2 * number + 2 * pairs, 2):
                self.send(peer, Discard((to_wire(card), to_wire(card + 1)), "true"))
            self.send(peer, OutOfCards())

    @rule(number=st.integers(0, 3), seat=st.integers(0, 3), own=st.booleans(), card=st.integers(0, 52))
    def discard_drawn_pair(self, number: int, seat: int, own: bool, card: int) -> None:
        """Discard a pair of which one card was drawn."""
        if self.games:
            game = self.games[-1 - number % len(self.games)]
            peer = game.inside[seat % len(game.inside)]
            drawn = [one for one in (game.drawn[peer] if own else game.cards) if one != JOKER]
            if drawn:
                one = drawn[card % len(drawn)]
                self.send(peer, Discard((to_wire(one), to_wire(one ^ 1)), "true"))

    @rule(peer=peers, times=st.integers(1, 18))
    def send_many(self, peer: Peer, times: int) -> None:
        for _ in range(times):
            self.send(peer, Status())

    @rule(peer=peers, violation=st.sampled_from([*[UNREADABLE] * 5, NO_TEXT]))
    def send_malformed(self, peer: Peer, violation: Violation) -> None:
        self.send(peer, violation)

    @rule(peer=peers, often=st.integers(0, 2))
    def leave(self, peer: Peer, often: int) -> None:
        if peer in self.harness.connected and not often:
            self.forget(peer)
            self.harness.disconnect(peer)

    @rule(seconds=st.sampled_from([0.25, 0.25, 1.0, 9.5, 9.5, 20.0, 20.0, 39.0, 61.0]))
    def wait(self, seconds: float) -> None:
        end = self.now + seconds
        while (now := min(self.timeouts(), default=inf)) <= end:
            self.now = now
            self.apply_timeouts()
            self.harness.wait_until(now)
        self.now = end
        self.harness.wait_until(end)

    @rule(final=st.sampled_from([False, False, True]), often=st.integers(0, 9))
    def close(self, final: bool, often: int) -> None:
        if often:  # most runs continue
            return
        self.closing = True
        for peer, _ in self.queue[:]:
            self.expect_drop(peer, "oldmaid-9.12")
        if final:
            for game in self.games:
                self.void(game, "oldmaid-9.12")
            for peer in [*self.idle_since]:
                self.expect_drop(peer, "oldmaid-9.12")
        self.harness.on(Closing(final))

    # The model.

    def timeouts(self) -> list[float]:
        """The times at which the model has a timeout."""
        return [
            *([] if self.due is None else [self.due]),
            *(game.last_action_at + self.stuck for game in self.games if not game.over),
            *(idle_since + self.idle for peer, idle_since in self.idle_since.items() if not self.is_busy(peer)),
        ]

    def is_busy(self, peer: Peer) -> bool:
        """Whether a peer waits or plays."""
        return peer in self.queued or self.is_playing(peer)

    def is_playing(self, peer: Peer) -> bool:
        game = self.game.get(peer)
        return game is not None and not game.over and peer in game.inside

    def apply_timeouts(self) -> None:
        """Apply the timeouts that are due now."""
        if self.due is not None and self.due <= self.now:
            self.start()
        for game in self.games:
            if not game.over and game.last_action_at + self.stuck <= self.now:
                self.void(game, "oldmaid-6.10")
        for peer, idle_since in [*self.idle_since.items()]:
            if not self.is_busy(peer) and idle_since + self.idle <= self.now:
                self.expect_drop(peer, "oldmaid-8.10")

    def send(self, peer: Peer, message: Message | Violation) -> None:
        """Record the answer of the model and send the message to the table."""
        if peer not in self.harness.connected:
            return
        if peer not in self.dropped:
            self.idle_since[peer] = self.now
            self.handle(peer, message)
        self.harness.on(Malformed(peer, message) if isinstance(message, Violation) else Received(peer, message))

    def handle(self, peer: Peer, message: Message | Violation) -> None:
        expected = self.expected[peer]
        if message == NO_TEXT:
            self.expect_drop(peer, NO_TEXT.clause)
        elif isinstance(message, Reply):
            pass
        elif peer in self.queued:
            if len(self.queued[peer]) == 16:
                self.expect_drop(peer, "oldmaid-3.15")
            else:
                self.queued[peer].append(message)
        elif isinstance(message, Violation):
            expected.append(message.clause)
        elif isinstance(message, Join):
            self.expect_join(peer, message)
        else:
            expected.append(self.answer(peer, message))

    def expect_join(self, peer: Peer, join: Join) -> None:
        address = "192.0.2.1", join.port or 40_000 + peer
        if not join.nick:
            self.expected[peer].append("oldmaid-3.7")
        elif self.is_playing(peer):
            self.expected[peer].append("oldmaid-3.14")
        elif self.closing:
            self.expect_drop(peer, "oldmaid-9.12")
        elif any(nick == join.nick for _, nick in self.queue):
            self.expected[peer].append("oldmaid-3.8")
        elif any(other != peer and self.is_reached(other, address) for other in self.addresses):
            self.expected[peer].append("oldmaid-3.9")
        else:
            self.queue.append((peer, join.nick))
            self.queued[peer] = []
            self.addresses[peer] = address
            if len(self.queue) == self.players:
                self.start()
            elif len(self.queue) == 2:
                self.due = self.now + self.window

    def is_reached(self, peer: Peer, address: Address) -> bool:
        """Whether an address is reserved by a connected peer that waits or belongs to a running game."""
        game = self.game.get(peer)
        return self.addresses[peer] == address and (peer in self.queued or (game is not None and not game.over))

    def answer(self, peer: Peer, message: Message) -> Any:
        """The model's answer to a request in a game, or the clause that refuses it."""
        game = self.game.get(peer)
        if game is None:
            return {Draw: "oldmaid-4.6", Discard: "oldmaid-5.9", OutOfCards: "oldmaid-6.4", Status: "oldmaid-6.13"}[
                type(message)
            ]
        if isinstance(message, Status):
            return game.standing()
        if game.over and not (isinstance(message, Discard) and game.is_left(peer)):
            return "oldmaid-6.9"
        drawn = len(game.cards)
        answer = Reply("ok")
        if isinstance(message, Draw):
            if drawn == len(WIRE_CARDS):
                return "oldmaid-4.5"
            if game.peers[game.next] != peer:
                return "oldmaid-4.3"
            game.step()
            game.drawn[peer].append(game.deck[drawn])
            answer = Reply("last_card" if drawn == len(WIRE_CARDS) - 1 else "ok", card=to_wire(game.deck[drawn]))
        elif isinstance(message, Discard):
            if refused := self.refused(game, peer, message):
                return refused
            game.discarded |= {CARD_NUMBERS[card] for card in message.cards}
            game.discarders.append(peer)
            answer = Reply("ok", "ok")
        else:
            assert isinstance(message, OutOfCards)
            if drawn < len(WIRE_CARDS):
                return "oldmaid-6.2"
            if peer in game.out:
                return "oldmaid-6.3"
            if len(game.drawn[peer]) - 2 * game.discarders.count(peer) > 2 * (len(game.peers) - 1):
                return "oldmaid-6.12"
            game.out.append(peer)
        game.last_action_at = self.now
        self.end(game)
        return answer

    def refused(self, game: ModelGame, peer: Peer, message: Discard) -> str:
        cards = [CARD_NUMBERS.get(card) for card in message.cards]
        (value, suit), (same, other) = message.cards
        if peer in game.out:
            return "oldmaid-5.9"
        if None in cards:
            return "oldmaid-5.4"
        if value != same or {suit, other} not in ({"spades", "clubs"}, {"diamonds", "hearts"}):
            return "oldmaid-5.3"
        if game.discarded & {*cards}:
            return "oldmaid-5.12"
        if not {*cards} <= {*game.cards}:
            return "oldmaid-5.12"
        if len(game.cards) < len(WIRE_CARDS) and not {*cards} <= {*game.drawn[peer]}:
            return "oldmaid-5.12"
        return ""

    def start(self) -> None:
        waiting, self.queue, self.due = self.queue, [], None
        order = [*self.dealers(len(self.games) + 1).next_deck(len(WIRE_CARDS))]
        game = ModelGame([peer for peer, _ in waiting], [nick for _, nick in waiting], order, self.now)
        self.games.append(game)
        listed = Reply("ok", players=tuple((self.addresses[peer], nick) for peer, nick in waiting))
        queued = [(peer, self.queued.pop(peer)) for peer in game.peers]
        for peer in game.peers:
            self.game[peer] = game
            self.expected[peer].append(listed)
        for peer, messages in queued:
            for message in messages:
                self.handle(peer, message)

    def end(self, game: ModelGame) -> None:
        if game.over:
            for peer in game.inside:
                self.idle_since[peer] = self.now

    def void(self, game: ModelGame, reason: str) -> None:
        if not game.over:
            game.void = True
            for peer in game.inside:
                self.expect_drop(peer, reason)

    def expect_drop(self, peer: Peer, reason: str) -> None:
        """Expect an error with a clause and a drop."""
        self.expected[peer].append(reason)
        self.forget(peer)
        self.dropped.add(peer)

    def forget(self, peer: Peer) -> None:
        """Remove a peer."""
        if peer in self.dropped:
            return
        del self.idle_since[peer]
        self.addresses.pop(peer, None)
        if peer in self.queued:
            del self.queued[peer]
            self.queue = [(other, nick) for other, nick in self.queue if other != peer]
            self.due = self.due if len(self.queue) > 1 else None
        elif self.is_playing(peer):
            game = self.game[peer]
            game.gone.append(peer)
            game.last_action_at = self.now
            if game.peers[game.next] == peer:
                game.step()
            self.end(game)

    # Invariants.

    @invariant()
    def answers_match_the_model(self) -> None:
        for peer, expected in self.expected.items():
            received = self.harness.received[peer]
            assert [clause(answer) or answer for answer in received] == expected
        assert self.harness.dropped == self.dropped

    @invariant()
    def deadline_covers_all_timeouts(self) -> None:
        deadline = self.harness.house.deadline
        for due in self.timeouts():
            assert deadline is not None
            assert deadline <= due

    @invariant()
    def each_game_has_commit_finished_and_reveal(self) -> None:
        facts: dict[type, dict[int, Any]] = {Commit: {}, HandFinished: {}, Reveal: {}}
        for fact in self.harness.facts:
            number = fact.hand_number if isinstance(fact, HandFinished) else fact.peer
            assert number not in facts[type(fact)]
            facts[type(fact)][number] = fact
        over = [number for number, game in enumerate(self.games, start=1) if game.over]
        assert [*facts[Commit]] == [*range(1, len(self.games) + 1)]
        assert sorted(facts[HandFinished]) == sorted(facts[Reveal]) == over
        assert self.harness.house.playing == (len(over) < len(self.games))
        for number, finished in facts[HandFinished].items():
            self.check_finished(self.games[number - 1], finished)

    def check_finished(self, game: ModelGame, finished: HandFinished) -> None:
        """Check the final effects of a game against the model."""
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
        discarded = [card for action in state.log if action[0] == "threw" for card in action[2:]]
        assert len(discarded) == len({*discarded})
        assert {*discarded} == game.discarded <= {*game.cards}
        assert len({*game.cards}) == len(game.cards)

    def teardown(self) -> None:
        """Check that the idle table finally disconnects all clients, except a single one that waits."""
        if not hasattr(self, "harness"):
            return
        self.wait(1000.0)
        self.answers_match_the_model()
        self.each_game_has_commit_finished_and_reveal()
        assert not self.harness.house.playing
        assert self.harness.connected - self.dropped == {peer for peer, _ in self.queue[:1]}
        assert self.harness.timeout_count <= 3 * (len(self.expected) + len(self.games)) + self.now / min(
            self.idle, self.stuck
        )
        self.harness.disconnect(*self.harness.connected)
        house = self.harness.house
        assert [*house._clients, *house._running_games, *house._lobby.waiting_clients, *house._lobby._addresses] == []


TableMachine.TestCase.settings = settings(max_examples=example_count(150), stateful_step_count=50, deadline=None)


@pytest.mark.slow
class TestTableSoak(TableMachine.TestCase):
    settings = settings(max_examples=600, stateful_step_count=100, deadline=None, suppress_health_check=[*HealthCheck])


class TestTable(TableMachine.TestCase):
    """The same with fewer and shorter runs."""
