"""Player of Old Maid, for a person, a bot or a program: a client of the table and a peer of the other players.

The player draws, discards pairs, offers its hand to the left and picks from the right; its only decision is which card
to pick (docs/protocols/oldmaid.md, sections 3 to 9).
"""

from collections import deque
from collections.abc import Sequence
from typing import Literal

from croupier.core.bots import Bot
from croupier.core.dealer import Luck
from croupier.core.errors import IllegalMove, Violation
from croupier.core.rules import Seat
from croupier.core.session import (
    Closing,
    Drop,
    Effect,
    Event,
    Joined,
    Left,
    Malformed,
    Notify,
    Peer,
    Received,
    Submitted,
    TimedOut,
)
from croupier.rooms.oldmaid.cards import CARD_NUMBERS, Card, to_wire
from croupier.rooms.oldmaid.ring.player_events import (
    CardGiven,
    CardPicked,
    NeighbourSkipped,
    OfferMade,
    OfferReceived,
    OfferWithdrawn,
    PlayerEvent,
    PlayerFinished,
    PlayerResult,
)
from croupier.rooms.oldmaid.ring.table_client import TABLE, Effects, Options, TableClient, TableOutcome
from croupier.rooms.oldmaid.ring.turns import (
    IGNORED_REPLY_CLAUSES,
    RETRY_DELAY_SECONDS,
    Neighbour,
    PendingPick,
    PlayerConnections,
    TurnStage,
    TurnTracker,
)
from croupier.rooms.oldmaid.rules import View, others_in_ring
from croupier.rooms.oldmaid.wire import (
    OK,
    OUT,
    ListedPlayer,
    Message,
    Offer,
    Pick,
    Reply,
    Standing,
    YourTurn,
    refusal,
)

__all__ = ["TABLE", "Options", "Player"]


class Player:
    """The session of one game; each game needs a new Player. See `Session`, and `RoomClient` for `legal` and `decide`.

    Peer 0 is the table, to which the caller connects. Connections that the player opens itself (Connect) have negative
    numbers, incoming ones positive numbers. Submitted(Pick) is the player's decision, Closing makes it leave, and
    Notify carries a PlayerEvent.

    `result` is the result of the game, None until it ends. The player `is_exhausted` once it has dropped all peers.
    """

    def __init__(self, options: Options, luck: Luck, *, strict: bool = False) -> None:
        self.options = options
        self.result: PlayerResult | None = None
        self.is_exhausted = False
        self._strict = strict
        self._effects: Effects = []
        self._table = TableClient(options, luck, self._effects)
        self._is_at_table = False
        self._connections = PlayerConnections(self._effects)
        self._neighbour = Neighbour((), 0.0)
        self._turn = TurnTracker(options.retry_seconds)
        self._held_messages: deque[tuple[Peer, Message | Violation]] = deque()  # of other players
        self._out_count = 0  # players that have answered an offer with out
        self._pending_pick: PendingPick | None = None
        self._ends_at: float | None = None

    # State for user interfaces and programs.

    @property
    def hand(self) -> list[Card]:
        """The player's cards, in random order."""
        return self._table.hand

    @property
    def players(self) -> tuple[ListedPlayer, ...]:
        """The table's list; empty before the game."""
        return self._table.players

    @property
    def seat(self) -> Seat | None:
        """The player's index in the list, from 0; None before the game."""
        return self._table.seat

    @property
    def offer_size(self) -> int | None:
        """The number of cards in the offer from which the player has to pick; None if there is none."""
        return None if self._pending_pick is None else self._pending_pick.num_cards

    @property
    def standing(self) -> Standing | None:
        """The last standing that the table has sent."""
        return self._table.standing

    @property
    def left_nick(self) -> str | None:
        """The nick of the left neighbour; None if there is none."""
        return self._neighbour.nick

    @property
    def view(self) -> View:
        """What the player knows of the game."""
        table = self._table
        return View(tuple(table.hand), tuple(table.discarded_pairs), tuple(table.out_seats), self.offer_size)

    @property
    def deadline(self) -> float | None:
        """When the next action is due; None if there is none."""
        if self.is_exhausted:
            return None
        pending = self._decided_pick
        pick_at = None if pending is None else pending.not_before
        retry_at = self._neighbour.retry_at if self._needs_neighbour else None
        times = (pick_at, retry_at, self._turn.resumes_at, self._table.polls_at, self._ends_at)
        return min((time for time in times if time is not None), default=None)

    @property
    def legal(self) -> Sequence[Pick]:
        """The picks that the player may choose now."""
        return () if self._pending_pick is None else self._pending_pick.legal

    def decide(self, bot: Bot[View, int], luck: Luck, game: int = 0) -> Pick | None:  # noqa: ARG002 -- the signature of RoomClient
        """The bot's pick, None while there is nothing to pick."""
        legal = self.legal
        return legal[bot.choose(self.view, range(len(legal)), luck)] if legal else None

    # Events.

    def on(self, event: Event[Message], now: float) -> Sequence[Effect[Message | PlayerEvent]]:
        """Process an event. Raises IllegalMove for a Submitted message that is not in `legal`."""
        match event:
            case Joined(peer) if self.is_exhausted:
                return [Drop(peer)]
            case Submitted(message):
                self._on_submitted(message)
            case _ if self.is_exhausted:
                return []
            case Received(peer, message):
                self._on_received(peer, message, now)
            case Malformed(peer, violation):
                self._on_malformed(peer, violation)
            case Joined(peer):
                self._on_joined(peer)
            case Left(peer, reason):
                self._on_left(peer, reason, now)
            case TimedOut():
                self._on_timed_out(now)
            case Closing():
                self._end(PlayerResult("ended", reason="we have left"))
        self._handle_held_messages(now)
        self._advance(now)
        effects = self._effects[:]
        self._effects.clear()
        return effects

    def _on_joined(self, peer: Peer) -> None:
        if peer == TABLE:
            self._is_at_table = True
            self._table.join()
        elif peer > TABLE:
            self._connections.add(peer)
        elif peer == self._neighbour.peer:
            self._connections.add(peer)
            self._neighbour.is_open = True
        else:
            self._effects.append(Drop(peer))

    def _on_left(self, peer: Peer, reason: str, now: float) -> None:
        if peer == TABLE and self._is_at_table:
            self._is_at_table = False
            detail = self._table.last_error or ("" if reason == "hung up" else reason)
            self._end(PlayerResult("ended", reason=f"the table hung up{': ' * bool(detail)}{detail}"))
        elif peer in self._connections:
            self._connections.remove(peer)
            self._on_peer_gone(peer)
        elif peer == self._neighbour.peer and not self._neighbour.connect_failed(now):
            self._skip_neighbour("gone")

    def _on_submitted(self, message: Message) -> None:
        if self._pending_pick is None or not isinstance(message, Pick) or message not in self._pending_pick.legal:
            raise IllegalMove(message, self.legal)
        self._pending_pick.choice = message

    def _on_timed_out(self, now: float) -> None:
        if self._ends_at is not None and self._ends_at <= now:
            self._drop_all()
            return
        if self._table.polls_at is not None and self._table.polls_at <= now:
            self._table.poll()
        if self._turn.take_resumption(now):
            if self._table.is_deck_empty:
                self._turn.stage = TurnStage.PASSING
            else:
                self._draw()

    def _on_received(self, peer: Peer, message: Message, now: float) -> None:
        if peer == TABLE and self._is_at_table:
            self._apply_outcome(self._table.receive(message, now), now)
        elif peer in self._connections:
            self._held_messages.append((peer, message))

    def _on_malformed(self, peer: Peer, violation: Violation) -> None:
        if peer == TABLE and self._is_at_table:
            if self._table.is_waiting or violation.clause not in IGNORED_REPLY_CLAUSES:
                self._end(PlayerResult("ended", reason=str(violation)))
        elif peer in self._connections:
            self._held_messages.append((peer, violation))

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
                    self._drop_peer(peer)
                continue
            try:
                self._handle_message(peer, message, now)
            except Violation as violation:
                self._connections.send(peer, refusal(violation))

    # The turn.

    def _apply_outcome(self, outcome: TableOutcome | PlayerResult | None, now: float) -> None:
        """Act on the consequence of a message of the table."""
        match outcome:
            case TableOutcome.SEATED:
                self._begin_game()
            case TableOutcome.SETTLED if self._turn.stage is TurnStage.TAKING:
                self._turn.stage = TurnStage.PASSING
            case TableOutcome.NO_CARD:
                self._turn.on_refused(now, self.seat or 0, is_deck_empty=self._table.is_deck_empty)
            case PlayerResult("out"):
                # A player with cards may still be about to offer, and has to get the answer `out` (oldmaid-7.16).
                self._conclude(outcome)
                self._ends_at = now + self.options.poll_seconds
            case PlayerResult():
                self._end(outcome)

    def _begin_game(self) -> None:
        """Start the game; seat 0 has the first turn (oldmaid-3.16, oldmaid-4.7)."""
        seat, players = self._table.seat, self._table.players
        assert seat is not None, "a seated player has a seat"
        self._neighbour = Neighbour(others_in_ring(players, seat), self.options.retry_seconds)
        if self._turn.is_ours or seat == 0:
            self._turn.begin(TurnStage.TAKING)
            self._draw()
        else:  # the first turn counts as passed on by the last player
            self._turn.is_passed_on = seat == len(players) - 1

    def _draw(self) -> None:
        self._turn.stage = TurnStage.TAKING
        self._table.draw()

    def _advance(self, now: float) -> None:
        """Do what is due and possible: connect to the left neighbour, pass the turn on, pick."""
        neighbour = self._neighbour
        if self._needs_neighbour:
            if self.left_nick is None:
                self._finish_alone()
            elif not neighbour.is_open and (connect := neighbour.connect(now)) is not None:
                self._effects.append(connect)
            elif neighbour.peer is not None and self._connections.is_free(neighbour.peer):
                self._pass_on(neighbour.peer, now)
        pending = self._decided_pick
        if pending is not None and pending.choice is not None and pending.not_before <= now:
            self._connections.request(pending.giver, pending.choice)

    @property
    def _needs_neighbour(self) -> bool:
        """Whether a left neighbour is needed; a player that is out needs one only to pass the turn on."""
        in_game = self.seat is not None and self.result is None
        return in_game and (not self._table.has_reported_out or self._turn.stage is TurnStage.PASSING)

    @property
    def _decided_pick(self) -> PendingPick | None:
        """The pending pick if its card is chosen and no request to the giver is pending."""
        pending = self._pending_pick
        if pending is None or pending.choice is None or not self._connections.is_free(pending.giver):
            return None
        return pending

    def _finish_alone(self) -> None:
        """Handle that no other player is left (oldmaid-7.11, oldmaid-9.10)."""
        if self._table.has_reported_out:
            self._turn.stage = TurnStage.ELSEWHERE
        elif self._out_count == len(self.players) - 1:
            self._end(PlayerResult("lost", len(self.players)))
        else:
            self._end(PlayerResult("ended", reason="nobody is left to play with"))

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
        self._connections.request(peer, Offer(len(self.hand)))
        self._notify(OfferMade(self.left_nick or "", len(self.hand)))

    def _on_peer_gone(self, peer: Peer) -> None:
        if self._pending_pick is not None and peer == self._pending_pick.giver:  # the turn is ours (oldmaid-9.8)
            self._pending_pick = None
            self._turn.stage = TurnStage.PASSING
            self._notify(OfferWithdrawn())
        if peer == self._neighbour.peer:
            self._skip_neighbour("gone")

    def _skip_neighbour(self, reason: Literal["out", "gone"]) -> None:
        """Move to the next left neighbour and take back a turn that may be lost (oldmaid-9.6, 9.7, 9.9)."""
        self._notify(NeighbourSkipped(self.left_nick or "", reason))
        self._neighbour.skip()
        self._turn.recall()

    # Messages of other players.

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
        if self.seat is not None:  # otherwise the player draws when it has the list (oldmaid-4.10)
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
            self._pending_pick = PendingPick(peer, num_cards, now + self.options.pause)

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
            case Offer(), Reply("ok") if self.hand:
                self._turn.stage = TurnStage.GIVING
            case Offer(), Reply("ok"):
                self._turn.pass_on()
            case Offer(), Reply("out"):
                self._on_neighbour_out(peer)
            case Offer(), Reply("error"):
                self._turn.on_refused(now, self.seat or 0, is_deck_empty=self._table.is_deck_empty)
            case Pick(), Reply("ok", card=tuple(card)) if self._table.lacks(card):
                self._pending_pick = None
                self._notify(CardPicked(CARD_NUMBERS[card]))
                self._apply_outcome(self._table.take_card(CARD_NUMBERS[card]), now)
            case Pick(), Reply("error") if self._pending_pick is not None and self._pending_pick.on_refused():
                pass  # `_advance` sends the second pick
            case _:
                self._drop_peer(peer)

    def _on_neighbour_out(self, peer: Peer) -> None:
        """Disconnect a left neighbour that is out and move to the next one (oldmaid-7.9)."""
        self._out_count += 1
        self._table.mark_out(self.left_nick or "")
        self._connections.drop(peer)
        self._skip_neighbour("out")

    # Effects.

    def _notify(self, event: PlayerEvent) -> None:
        self._effects.append(Notify(event))

    def _drop_peer(self, peer: Peer) -> None:
        """Drop a peer that has broken the protocol; it counts as gone (oldmaid-8.11)."""
        self._connections.drop(peer)
        self._on_peer_gone(peer)

    def _conclude(self, result: PlayerResult) -> None:
        self.result = result
        self._table.polls_at = None
        self._notify(PlayerFinished(result))
        if self._is_at_table:
            self._is_at_table = False
            self._effects.append(Drop(TABLE))

    def _end(self, result: PlayerResult) -> None:
        """End the game with a result, unless it has one, and drop all peers."""
        if self.result is None:
            self._conclude(result)
        self._drop_all()

    def _drop_all(self) -> None:
        self._connections.drop_all()
        self._pending_pick = None
        self.is_exhausted = True
