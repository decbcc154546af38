"""Player of Old Maid, for a person, a bot or a program: a client of the table and a peer of the other players.

The player draws, discards pairs, offers its hand to the left and picks from the right; its only decision is which card
to pick (docs/protocols/oldmaid.md, sections 3 to 9).
"""

from collections.abc import Sequence

from croupier.core.bots import Bot, choose_legal
from croupier.core.dealer import Luck
from croupier.core.rules import Seat
from croupier.core.session import (
    HUNG_UP,
    Closing,
    Drop,
    Effect,
    Event,
    Joined,
    Left,
    Malformed,
    Notify,
    Received,
    Submitted,
    TimedOut,
)
from croupier.rooms.oldmaid.cards import Card
from croupier.rooms.oldmaid.ring.member import RingMember
from croupier.rooms.oldmaid.ring.player_events import PlayerEvent, PlayerFinished, PlayerResult
from croupier.rooms.oldmaid.ring.table_client import TABLE, Effects, Options, TableClient, TableOutcome, ended_by
from croupier.rooms.oldmaid.ring.turns import IGNORED_REPLY_CLAUSES
from croupier.rooms.oldmaid.rules import View
from croupier.rooms.oldmaid.wire import ListedPlayer, Message, Pick

__all__ = ["TABLE", "Options", "Player"]


class Player:
    """The session of one game; each needs a new Player. See `Session`, and `ClientSession` for `legal` and `decide`.

    Peer 0 is the table, to which the caller connects. Connections that the player opens itself (Connect) have negative
    numbers, incoming ones positive numbers. Submitted(Pick) is the player's decision, Closing makes it leave, and
    Notify carries a PlayerEvent.

    `result` is the result of the game, None until it ends. The player `is_exhausted` once it has dropped all peers.
    """

    def __init__(self, options: Options, luck: Luck, *, strict: bool = False) -> None:
        self.options = options
        self.result: PlayerResult | None = None
        self.is_exhausted = False
        self._effects: Effects = []
        self._table = TableClient(options, luck, self._effects)
        self._is_at_table = False
        self._ring = RingMember(self._table, options, self._effects, strict=strict)
        self._ends_at: float | None = None
        self._ends_by = 0.0

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
        pending = self._ring.pending_pick
        return None if pending is None else pending.num_cards

    @property
    def left_nick(self) -> str | None:
        """The nick of the left neighbour; None if there is none."""
        return self._ring.left_nick

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
        times = (*self._ring.due_times, self._table.polls_at, self._ends_at)
        return min((time for time in times if time is not None), default=None)

    @property
    def legal(self) -> Sequence[Pick]:
        """The picks that the player may choose now."""
        return self._ring.legal

    def decide(self, bot: Bot[View, int], luck: Luck, game: int = 0) -> Pick | None:  # noqa: ARG002 -- the signature of RoomClient
        """The bot's pick, None while there is nothing to pick."""
        legal = self.legal
        return legal[choose_legal(bot, self.view, range(len(legal)), luck)] if legal else None

    # Events.

    def on(self, event: Event[Message], now: float) -> Sequence[Effect[Message | PlayerEvent]]:
        """Process an event. Raises IllegalMove for a Submitted message that is not in `legal`."""
        match event:
            case Joined(peer) if self.is_exhausted:
                return [Drop(peer)]
            case Submitted(message):
                self._ring.choose(message)
            case _ if self.is_exhausted:
                return []
            case TimedOut():
                self._on_timed_out(now)
            case Closing():
                self._end(PlayerResult("ended", reason="we have left"))
            case Joined(peer) | Received(peer) | Malformed(peer) | Left(peer) if peer == TABLE:
                self._on_table_event(event, now)
            case _:
                self._ring.on(event, now)
        if (result := self._ring.advance(now)) is not None:
            self._end(result)
        effects = self._effects[:]
        self._effects.clear()
        return effects

    def _on_table_event(self, event: Event[Message], now: float) -> None:
        match event:
            case Joined():
                self._is_at_table = True
                self._table.join()
            case _ if not self._is_at_table:
                pass
            case Received(_, message):
                self._apply_outcome(self._table.receive(message, now), now)
            case Malformed(_, violation):
                if self._table.is_waiting or violation.clause not in IGNORED_REPLY_CLAUSES:
                    self._end(ended_by(violation))
            case Left(_, reason):
                self._is_at_table = False
                detail = self._table.last_error or ("" if reason == HUNG_UP else reason)
                self._end(
                    PlayerResult("ended", reason=f"the server closed the connection{': ' * bool(detail)}{detail}")
                )

    def _apply_outcome(self, outcome: TableOutcome | PlayerResult | None, now: float) -> None:
        """Act on the consequence of a message of the table."""
        match outcome:
            case TableOutcome.SEATED:
                self._ring.begin_game()
            case TableOutcome.SETTLED:
                self._ring.on_settled()
            case TableOutcome.NO_CARD:
                self._ring.on_turn_refused(now)
            case PlayerResult("out"):
                # A player with cards may still be about to offer, and has to get the answer `out` (oldmaid-7.16).
                self._conclude(outcome)
                self._ring.drop_neighbour()
                self._ends_at = now + self.options.poll_seconds
                self._ends_by = now + self.options.retry_seconds
            case PlayerResult():
                self._end(outcome)

    def _on_timed_out(self, now: float) -> None:
        if self._ends_at is not None and self._ends_at <= now:
            is_late = now > self._ends_at + self.options.poll_seconds / 2  # offers may have come and not been read yet
            if (is_late or self._ring.has_followers) and now < self._ends_by:
                self._ends_at = now + self.options.poll_seconds
            else:
                self._drop_all()
            return
        if self._table.polls_at is not None and self._table.polls_at <= now:
            self._table.poll()
        self._ring.resume_turn(now)

    # The end.

    def _conclude(self, result: PlayerResult) -> None:
        self.result = result
        self._table.polls_at = None
        self._ring.is_over = True
        self._effects.append(Notify(PlayerFinished(result)))
        if self._is_at_table:
            self._is_at_table = False
            self._effects.append(Drop(TABLE))

    def _end(self, result: PlayerResult) -> None:
        """End the game with a result, unless it has one, and drop all peers."""
        if self.result is None:
            self._conclude(result)
        self._drop_all()

    def _drop_all(self) -> None:
        self._ring.drop_all()
        self.is_exhausted = True
