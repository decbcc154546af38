"""A player's conversation with the other players: the turn, offers and picks (oldmaid-4, 7 and 9)."""

from collections import deque
from collections.abc import Sequence
from typing import Final, Literal

from croupier.core.errors import IllegalMove, Violation
from croupier.core.session import Drop, Event, Joined, Left, Malformed, Notify, Peer, Received
from croupier.rooms.oldmaid.cards import CARD_NUMBERS, to_wire
from croupier.rooms.oldmaid.ring.player_events import (
    CardGiven,
    CardPicked,
    NeighbourSkipped,
    OfferMade,
    OfferReceived,
    OfferWithdrawn,
    PlayerEvent,
    PlayerResult,
)
from croupier.rooms.oldmaid.ring.table_client import TABLE, Effects, Options, TableClient, TableOutcome
from croupier.rooms.oldmaid.ring.turns import (
    RETRY_DELAY_SECONDS,
    Neighbour,
    PendingPick,
    PlayerConnections,
    TurnStage,
    TurnTracker,
)
from croupier.rooms.oldmaid.rules import others_in_ring
from croupier.rooms.oldmaid.wire import OK, OUT, Message, Offer, Pick, Reply, YourTurn, refusal

MAX_HELD_MESSAGES: Final = 100
"""The maximum number of messages of other players that wait for the table. A player sends one request at a time."""


class RingMember:
    """A player among the others: its connections to them, the turn, and the pick that it has to choose.

    Effects are appended to `effects`. `pending_pick` is the offer from which the player has to pick, and `is_over` says
    that the game is over for the player, which then only answers.
    """

    def __init__(self, table: TableClient, options: Options, effects: Effects, *, strict: bool) -> None:
        self.pending_pick: PendingPick | None = None
        self.is_over = False
        self._table = table
        self._options = options
        self._effects = effects
        self._strict = strict
        self._connections = PlayerConnections(effects)
        self._neighbour = Neighbour((), 0.0)
        self._turn = TurnTracker(options.retry_seconds)
        self._held_messages: deque[tuple[Peer, Message | Violation]] = deque()
        self._out_count = 0  # players that have answered an offer with out

    # State.

    @property
    def left_nick(self) -> str | None:
        """The nick of the left neighbour; None if there is none."""
        return self._neighbour.nick

    @property
    def legal(self) -> Sequence[Pick]:
        """The picks that the player may choose now."""
        return () if self.pending_pick is None else self.pending_pick.legal

    @property
    def due_times(self) -> Sequence[float | None]:
        """When a pick, a connection and a resumed turn are due; None for what is not."""
        pending = self._decided_pick
        pick_at = None if pending is None else pending.not_before
        return pick_at, self._neighbour.retry_at if self._needs_neighbour else None, self._turn.resumes_at

    @property
    def has_followers(self) -> bool:
        """Whether another player has connected, and may still want an answer."""
        return self._connections.has_incoming

    @property
    def _needs_neighbour(self) -> bool:
        """Whether a left neighbour is needed; a player that is out needs one only to pass the turn on."""
        in_game = self._table.seat is not None and not self.is_over
        return in_game and (not self._table.has_reported_out or self._turn.stage is TurnStage.PASSING)

    @property
    def _decided_pick(self) -> PendingPick | None:
        """The pending pick if its card is chosen and no request to the giver is pending."""
        pending = self.pending_pick
        if pending is None or pending.choice is None or not self._connections.is_free(pending.giver):
            return None
        return pending

    # Events.

    def on(self, event: Event[Message], now: float) -> None:
        """Process an event of another player; `advance` handles its messages."""
        match event:
            case Joined(peer) if peer > TABLE:
                self._connections.add(peer)
            case Joined(peer) if peer == self._neighbour.peer:
                self._connections.add(peer)
                self._neighbour.is_open = True
            case Joined(peer):
                self._effects.append(Drop(peer))
            case Received(peer, message) | Malformed(peer, message) if peer in self._connections:
                if len(self._held_messages) < MAX_HELD_MESSAGES:
                    self._held_messages.append((peer, message))
                else:
                    self._drop_peer(peer, now)
            case Left(peer) if peer in self._connections:
                self._connections.remove(peer)
                self._on_peer_gone(peer, now)
            case Left(peer) if peer == self._neighbour.peer and not self._neighbour.connect_failed(now):
                self._skip_neighbour("gone")

    def choose(self, message: Message) -> None:
        """Choose a pick. Raises IllegalMove if it is not in `legal`."""
        if self.pending_pick is None or not isinstance(message, Pick) or message not in self.pending_pick.legal:
            raise IllegalMove(message, self.legal)
        self.pending_pick.choice = message

    def begin_game(self) -> None:
        """Start the game; seat 0 has the first turn (oldmaid-3.16, oldmaid-4.7)."""
        seat, players = self._table.seat, self._table.players
        assert seat is not None, "a seated player has a seat"
        self._neighbour = Neighbour(others_in_ring(players, seat), self._options.retry_seconds)
        if self._turn.is_ours or seat == 0:
            self._turn.begin(TurnStage.TAKING)
            self._draw()
        else:  # the first turn counts as passed on by the last player
            self._turn.is_passed_on = seat == len(players) - 1

    def on_settled(self) -> None:
        """Pass the turn on after a card, when the table has answered all requests that the card caused."""
        if self._turn.stage is TurnStage.TAKING:
            self._turn.stage = TurnStage.PASSING

    def on_turn_refused(self, now: float) -> None:
        """Drop our turn, which the table or the left neighbour has refused."""
        self._turn.on_refused(now, self._table.seat or 0, is_deck_empty=self._table.is_deck_empty)

    def resume_turn(self, now: float) -> None:
        """Resume a turn that may be lost, if that is due."""
        if self._turn.take_resumption(now):
            if self._table.is_deck_empty:
                self._turn.stage = TurnStage.PASSING
            else:
                self._draw()

    def advance(self, now: float) -> PlayerResult | None:
        """Do what is due and possible: handle messages, connect to the left neighbour, pass the turn on, pick.

        Returns a result if no other player is left to play with.
        """
        self._handle_held_messages(now)
        result: PlayerResult | None = None
        neighbour = self._neighbour
        if self._needs_neighbour:
            if neighbour.nick is None:
                result = self._finish_alone()
            elif not neighbour.is_open and (connect := neighbour.connect(now)) is not None:
                self._effects.append(connect)
            elif neighbour.peer is not None and self._connections.is_free(neighbour.peer):
                self._pass_on(neighbour.peer, now)
        pending = self._decided_pick
        if result is None and pending is not None and pending.choice is not None and pending.not_before <= now:
            self._connections.request(pending.giver, pending.choice)
        return result

    def drop_neighbour(self) -> None:
        """Disconnect the left neighbour, which a player that offers nothing any more does not need."""
        if self._neighbour.peer is not None and self._neighbour.peer in self._connections:
            self._connections.drop(self._neighbour.peer)

    def drop_all(self) -> None:
        """Disconnect all other players."""
        self._connections.drop_all()
        self._held_messages.clear()
        self.pending_pick = None

    # The turn.

    def _draw(self) -> None:
        self._turn.stage = TurnStage.TAKING
        self._table.draw()

    def _finish_alone(self) -> PlayerResult | None:
        """Handle that no other player is left (oldmaid-7.11, oldmaid-9.10).

        A player that keeps the old maid alone asks the table whether the others were out before they left; the answer
        ends the game if they were.
        """
        table, others = self._table, len(self._table.players) - 1
        if table.has_reported_out:
            self._turn.stage = TurnStage.ELSEWHERE
            return None
        if self._out_count == others:
            return PlayerResult("lost", others + 1)
        if table.is_waiting:
            return None  # the answer may change the hand
        if table.has_only_old_maid and table.standing is None:
            table.poll()
            return None
        return PlayerResult("ended", reason="nobody is left to play with")

    def _pass_on(self, peer: Peer, now: float) -> None:
        """If the turn is to be passed on, send `your_turn` or an offer to the neighbour (oldmaid-4.7, oldmaid-7.2)."""
        if self._turn.stage is not TurnStage.PASSING:
            return
        if not self._table.is_deck_empty:
            self._turn.pass_on()
            self._connections.request(peer, YourTurn())
            if self._turn.has_denied_other:  # a later draw shows whose turn the table accepts
                self._turn.resumes_at = now + RETRY_DELAY_SECONDS
            return
        self._turn.stage = TurnStage.OFFERING
        num_cards = len(self._table.hand)
        self._connections.request(peer, Offer(num_cards))
        self._notify(OfferMade(self.left_nick or "", num_cards))

    def _on_peer_gone(self, peer: Peer, now: float) -> None:
        if self.pending_pick is not None and peer == self.pending_pick.giver:  # the turn is ours (oldmaid-9.8)
            self.pending_pick = None
            self._turn.stage = TurnStage.PASSING
            self._notify(OfferWithdrawn())
        if peer == self._neighbour.peer:
            self._skip_neighbour("gone")
        elif self._table.seat is not None:
            self._turn.on_player_gone(now)

    def _skip_neighbour(self, reason: Literal["out", "gone"]) -> None:
        """Move to the next left neighbour and take back a turn that may be lost (oldmaid-9.6, 9.7, 9.9)."""
        self._notify(NeighbourSkipped(self.left_nick or "", reason))
        self._neighbour.skip()
        self._turn.recall()

    # Messages of other players.

    def _handle_held_messages(self, now: float) -> None:
        """Handle messages of other players in order, but none while the table owes the answer to `out_of_cards`.

        A player that hears `out` from all others has lost and leaves the table; by then the table must know that they
        are out (oldmaid-7.12).
        """
        while self._held_messages and not self._table.is_reporting_out:
            peer, message = self._held_messages.popleft()
            if peer not in self._connections:
                continue
            if isinstance(message, Violation):
                if self._connections.refuse_malformed(peer, message):
                    self._drop_peer(peer, now)
                continue
            try:
                self._handle_message(peer, message, now)
            except Violation as violation:
                self._connections.send(peer, refusal(violation))

    def _handle_message(self, peer: Peer, message: Message, now: float) -> None:
        """Answer a request or process an answer. Raises Violation if the message is not allowed."""
        match message:
            case YourTurn():
                self._take_turn(peer)
            case Offer(num_cards):
                self._take_offer(peer, num_cards, now)
            case Pick(position):
                self._give_card(peer, position)
            case _:
                self._handle_answer(peer, message, now)

    def _take_turn(self, peer: Peer) -> None:
        """Accept `your_turn` and draw (oldmaid-4.8)."""
        if self._turn.is_ours or self._table.is_deck_empty:
            self._turn.has_denied_other = True
            raise Violation("oldmaid-4.11", "your_turn in a turn, or when all cards are drawn", "offer, pick")
        self._connections.send(peer, OK)
        self._turn.begin(TurnStage.TAKING)
        if self._table.seat is not None:  # otherwise the player draws when it has the list (oldmaid-4.10)
            self._draw()

    def _take_offer(self, peer: Peer, num_cards: int, now: float) -> None:
        """Answer an offer (oldmaid-7.2)."""
        table, turn = self._table, self._turn
        if table.seat is None:
            raise Violation("oldmaid-7.14", "offer before the table has listed the players", "your_turn")
        if not table.is_deck_empty and turn.stage is TurnStage.PASSING:
            turn.stage = TurnStage.ELSEWHERE  # our turn was to draw, but the deck is empty
        table.is_deck_empty = True
        if table.has_reported_out or (not table.hand and turn.stage is not TurnStage.TAKING):
            self._connections.send(peer, OUT)
            turn.is_passed_on = False
            if not table.has_reported_out:
                table.report_out()
            return
        if turn.is_ours:
            turn.has_denied_other = True
            raise Violation("oldmaid-7.13", "offer to a player who has the turn already", "pick")
        self._connections.send(peer, OK)
        turn.begin(TurnStage.TAKING if num_cards else TurnStage.PASSING)  # (oldmaid-7.10)
        self._notify(OfferReceived(num_cards))
        if num_cards:
            self.pending_pick = PendingPick(peer, num_cards, now + self._options.pause)

    def _give_card(self, peer: Peer, position: int) -> None:
        """Give the left neighbour the card that it picks (oldmaid-7.5)."""
        if self._turn.stage is not TurnStage.GIVING or peer != self._neighbour.peer:
            raise Violation("oldmaid-7.7", "pick without an offer", "offer, your_turn")
        card = self._table.card_at(position, strict=self._strict)
        self._turn.pass_on()
        self._connections.send(peer, Reply("ok", card=to_wire(card)))
        self._notify(CardGiven(card, self.left_nick or ""))
        self._table.give_card(card)

    def _handle_answer(self, peer: Peer, message: Message, now: float) -> None:
        match self._connections.take_pending_request(peer), message:
            case None, Reply():
                pass  # (oldmaid-2.11)
            case None, _:
                raise Violation("oldmaid-8.5", str(message), "an object with the key cmd")
            case YourTurn(), Reply("ok"):
                pass
            case YourTurn(), Reply("error"):
                self._turn.is_passed_on = False
            case Offer(), Reply("ok") if self._table.hand:
                self._turn.stage = TurnStage.GIVING
            case Offer(), Reply("ok"):
                self._turn.pass_on()
            case Offer(), Reply("out"):
                self._on_neighbour_out(peer)
            case Offer(), Reply("error"):
                self.on_turn_refused(now)
            case Pick(), Reply("ok", card=tuple(card)) if self._table.lacks(card):
                self.pending_pick = None
                self._notify(CardPicked(CARD_NUMBERS[card]))
                if self._table.take_card(CARD_NUMBERS[card]) is TableOutcome.SETTLED:
                    self.on_settled()
            case Pick(), Reply("error") if self.pending_pick is not None and self.pending_pick.on_refused():
                pass  # `advance` sends the second pick
            case _:
                self._drop_peer(peer, now)

    def _on_neighbour_out(self, peer: Peer) -> None:
        """Disconnect a left neighbour that is out and move to the next one (oldmaid-7.9)."""
        self._out_count += 1
        self._table.mark_out(self.left_nick or "")
        self._connections.drop(peer)
        self._skip_neighbour("out")

    def _drop_peer(self, peer: Peer, now: float) -> None:
        """Drop a peer that has broken the protocol; it counts as gone (oldmaid-8.11)."""
        self._connections.drop(peer)
        self._on_peer_gone(peer, now)

    def _notify(self, event: PlayerEvent) -> None:
        self._effects.append(Notify(event))
