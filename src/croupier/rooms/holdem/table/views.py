"""The view of a hand that bots decide on: own cards, the board, all stacks and bets, and the legal moves."""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, overload

from msgspec import Struct

from croupier.core.rules import Seat
from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import FOLD, NO_MOVES, Legal, Move, StructSequenceMeta
from croupier.rooms.holdem.engine.seat_sets import SeatSet


class VisiblePlayer(Struct, frozen=True, gc=False):
    """A player at the table. `stack` is the chips left, `bet` the chips put in during this betting round."""

    name: str
    stack: int
    bet: int
    folded: bool
    small_blind: bool


class View:
    """Everything that one player may know of a hand. Cards are numbers (`cards.CARDS` has their names).

    `names`, `stacks` and `bets` are those of the players dealt in, clockwise; `live` is the set of the players who have
    not folded, `small_blind` the player with the small blind (None if unknown), and `me` the index of the viewer. `pot`
    includes the bets of this round. `to_match` is the bet to match in this round, `min_raise` the smallest raise on top
    of it. `legal` are the viewer's legal moves, empty out of turn.

    A view keeps its values while the hand goes on.

    Example:
        >>> from croupier.holdem import card_names, parse_cards
        >>> hand = Hand([1000, 1000], button=0)
        >>> hand.deal(parse_cards("AsKdAhKc"))
        >>> view = View.of(hand, 0)
        >>> card_names(view.hole), view.call, view.raise_by_percent(100)
        (('AS', 'AH'), 10, 50)
    """

    __slots__ = ()

    hole: tuple[Card, ...]
    board: tuple[Card, ...]
    names: tuple[str, ...]
    stacks: tuple[int, ...]
    bets: tuple[int, ...]
    live: SeatSet
    small_blind: Seat | None
    me: Seat
    pot: int
    to_match: int
    min_raise: int
    big_blind: int
    legal: Legal

    @staticmethod
    def of(hand: Hand, seat: Seat, names: tuple[str, ...] = ()) -> "SnapshotView":
        """Return what a seat may know of a hand. Without `names`, the numbers of the seats name the players."""
        return SnapshotView(
            hand.hole_of(seat),
            hand.shown_board,
            names,
            tuple(hand.stacks),
            tuple(hand.bets),
            hand.live,
            hand.small_blind,
            seat,
            hand.pot,
            hand.to_match,
            hand.min_raise,
            hand.stakes.big_blind,
            hand.legal if hand.turn == seat else NO_MOVES,
        )

    @property
    def players(self) -> tuple[VisiblePlayer, ...]:
        """The players dealt in, clockwise."""
        names = self.names or tuple(map(str, range(len(self.stacks))))
        return tuple(
            [
                VisiblePlayer(name, stack, bet, not self.live >> seat & 1, seat == self.small_blind)
                for seat, (name, stack, bet) in enumerate(zip(names, self.stacks, self.bets, strict=True))
            ]
        )

    @property
    def stack(self) -> int:
        """The viewer's chips left."""
        return self.stacks[self.me]

    @property
    def bet(self) -> int:
        """The chips that the viewer has put in during this betting round."""
        return self.bets[self.me]

    @property
    def call(self) -> int:
        """The chips that a call adds: 0 if there is nothing to call, at most the viewer's stack."""
        to_call, stack = self.to_match - self.bets[self.me], self.stacks[self.me]
        return 0 if to_call < 0 else to_call if to_call < stack else stack

    @property
    def check_or_fold(self) -> Move:
        """The move that adds no chips: a check if possible, else FOLD."""
        return FOLD if self.call else 0

    @property
    def rivals(self) -> tuple[VisiblePlayer, ...]:
        """The other players still in the hand."""
        return tuple(player for seat, player in enumerate(self.players) if seat != self.me and not player.folded)

    @property
    def pot_before_round(self) -> int:
        """The part of the pot that was put in before this betting round."""
        return self.pot - sum(self.bets)

    def raise_by_percent(self, percent: int) -> Move:
        """Return the legal raise nearest to a percentage of the pot after the call, or the call if none is legal."""
        legal = self.legal
        if len(legal) < 3 or legal.raise_range is None:
            return self.call
        low, high = legal.raise_range
        return max(low, min(high, self.call + (self.pot + self.call) * percent // 100))


class SnapshotView(View, Struct, frozen=True, gc=False):
    """A view with all its values."""

    hole: tuple[Card, ...]
    board: tuple[Card, ...]
    names: tuple[str, ...]
    stacks: tuple[int, ...]
    bets: tuple[int, ...]
    live: SeatSet
    small_blind: Seat | None
    me: Seat
    pot: int
    to_match: int
    min_raise: int
    big_blind: int
    legal: Legal


def _snapshot_value(name: str) -> Any:
    """Return a property that reads a value from the snapshot of a view."""
    read = attrgetter(name)
    return property(lambda view: read(view.snapshot))


class HandView(View, Struct, gc=False, eq=False):
    """A view whose values are read from the hand when a bot asks for them: a simulation makes one at every decision.

    The amount to call, which is all that many bots read, comes from the hand itself, everything else from a snapshot.
    If the hand has gone on, the snapshot shows it as it was when its log had `log_length` entries. There is no
    `__getattr__`, which would make every access slow, also to the attributes that exist.
    """

    _hand: Hand
    me: Seat
    names: tuple[str, ...]
    _log_length: int
    _snapshot: SnapshotView | None = None

    hole = _snapshot_value("hole")
    board = _snapshot_value("board")
    stacks = _snapshot_value("stacks")
    bets = _snapshot_value("bets")
    live = _snapshot_value("live")
    small_blind = _snapshot_value("small_blind")
    pot = _snapshot_value("pot")
    to_match = _snapshot_value("to_match")
    min_raise = _snapshot_value("min_raise")
    big_blind = _snapshot_value("big_blind")
    legal = _snapshot_value("legal")

    @property
    def snapshot(self) -> SnapshotView:
        """The view with all its values."""
        if self._snapshot is None:
            hand = self._hand
            was = hand if len(hand.compact_log) == self._log_length else hand.as_of(self._log_length)
            self._snapshot = View.of(was, self.me, self.names)
        return self._snapshot

    @property
    def call(self) -> int:
        """See `View.call`."""
        hand, me = self._hand, self.me
        if len(hand.compact_log) != self._log_length:
            return self.snapshot.call
        to_call, stack = hand.to_match - hand.bets[me], hand.stacks[me]
        return to_call if to_call < stack else stack

    def __reduce__(self) -> str | tuple[Any, ...]:
        return self.snapshot.__reduce__()

    def __repr__(self) -> str:
        return repr(self.snapshot)


class LazyLegal(Struct, Sequence[Move], metaclass=StructSequenceMeta, eq=False, gc=False):
    """The legal moves of a view, which are computed when a bot asks for them. They have all attributes of `Legal`."""

    _view: View

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view.legal, name)

    def __contains__(self, move: object) -> bool:
        return move in self._view.legal

    def __iter__(self) -> Iterator[Move]:
        return iter(self._view.legal)

    def __len__(self) -> int:
        return len(self._view.legal)

    @overload
    def __getitem__(self, index: int) -> Move: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Move]: ...

    def __getitem__(self, index: int | slice) -> Move | Sequence[Move]:
        return self._view.legal[index]

    def __repr__(self) -> str:
        return repr(self._view.legal)
