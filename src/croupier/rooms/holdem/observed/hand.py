"""A hand as it is followed from outside: how it began, what has been seen of it, and what has been done."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice, product
from typing import Final

from croupier.core.rules import Seat, Turn
from croupier.rooms.holdem.cards import CARDS, Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.pots import Pot, award_pots, side_pots
from croupier.rooms.holdem.engine.ranks import rank
from croupier.rooms.holdem.wire import Guid, PlayerStatus

FULL_BOARD_CARDS: Final = 5
"""The cards of a whole board."""

MAX_UNKNOWN_BOARD_CARDS: Final = 2
"""With so many unknown cards of the board, at most, every end of a hand is tried."""

MAX_ORDERED_HANDS: Final = 5
"""Of so many hands, at most, every order is tried."""

type ObservedAction = tuple[str, Seat, int]
"""What a seat has done: `bet` so many chips, `fold`, or `leave`."""


class ObservedHand:
    """A hand that is followed. `hand` is where it stands by the rules; cards that nobody has seen are any others.

    `acted` has the seats that have acted in this round since the last raise, `left` the players who have gone.
    """

    def __init__(self, players: Sequence[Guid], stacks: Sequence[int], button: Seat, blinds: tuple[int, int]) -> None:
        self.players = tuple(players)
        self.stacks = tuple(stacks)
        self.button = button
        self.blinds = blinds
        self.holes: dict[Guid, tuple[Card, ...]] = {}
        self.board: list[Card] = []
        self.actions: list[ObservedAction] = []
        self.acted_seats: set[Seat] = set()
        self.left_players: set[Guid] = set()
        self.hand = self.hand_on(())

    def seat_of(self, player: Guid) -> Seat | None:
        """Where a player sits in this hand; None where he was not dealt in."""
        return self.players.index(player) if player in self.players else None

    @property
    def seen_cards(self) -> list[Card]:
        """All cards that have been seen, each as often as that."""
        return [*self.board, *(card for hole in self.holes.values() for card in hole)]

    @property
    def has_all_holes(self) -> bool:
        """Whether the hole cards of everybody are known who is still in the hand."""
        return all(player in self.holes for seat, player in enumerate(self.players) if not self.hand.folded[seat])

    def update(self) -> None:
        """Something has been seen or done: see where the hand stands. Raises IllegalMove."""
        self.hand = self.hand_on(self.board)

    def status(self, seat: Seat) -> PlayerStatus:
        """Whether a seat has still to act (holdem-5.9)."""
        if self.hand.folded[seat]:
            return "folded"
        return "called" if seat in self.acted_seats or not self.hand.stacks[seat] else "active"

    def is_decided(self) -> bool:
        """Whether cards are due, and nobody has anything to decide any more."""
        if self.hand.turn is not Turn.CHANCE:
            return False
        trial = self.hand.copy()
        trial.deal(self.unseen_cards(trial.cards_due))
        return not isinstance(trial.turn, int)

    def showdown_pots(self) -> Sequence[Pot]:
        """The pots that are won when nobody bets any more."""
        hand = self.hand
        return side_pots(hand.paid, hand.folded, self._stacks_before_awards(), is_over=True)

    def _stacks_before_awards(self) -> list[int]:
        """The chips behind before anybody was paid."""
        stacks = list(self.hand.stacks)
        for award in self.hand.awards:
            stacks[award.seat] -= award.chips
        return stacks

    def possible_final_stacks(self) -> Sequence[tuple[int, ...]]:
        """The stacks with which the hand may have ended, as far as is known: none where that is too much to tell.

        Where hole cards or most of the board are unknown, any hand may have beaten any other.
        """
        hand = self.hand
        if hand.turn is Turn.OVER and (self.has_all_holes or not hand.showdown_order):
            return [tuple(hand.stacks)]
        live = [seat for seat, out in enumerate(hand.folded) if not out]
        missing = FULL_BOARD_CARDS - len(self.board)
        orders: Iterable[Sequence[int]]
        if missing <= MAX_UNKNOWN_BOARD_CARDS and self.has_all_holes:
            free = [card for card in range(len(CARDS)) if card not in {*self.seen_cards}]
            boards = ([*self.board, *rest] for rest in combinations(free, missing))
            orders = ([rank(hand.holes[seat] + board) for seat in live] for board in boards)
        elif len(live) <= MAX_ORDERED_HANDS:
            orders = product(range(len(live)), repeat=len(live))
        else:
            return ()
        pots, stacks, first, seats = (
            self.showdown_pots(),
            self._stacks_before_awards(),
            hand.button + 1,
            len(hand.stacks),
        )
        found = set()
        for order in {_rank_order(order) for order in orders}:
            end = stacks[:]
            for award in award_pots(pots, dict(zip(live, order, strict=True)), first, seats):
                end[award.seat] += award.chips
            found.add(tuple(end))
        return sorted(found)

    def unseen_cards(self, count: int) -> Sequence[Card]:
        """So many cards that nobody has seen, and that stand for no unknown ones."""
        taken = {*self.seen_cards, *self.hand.board, *(card for hole in self.hand.holes for card in hole)}
        return [*islice((card for card in range(len(CARDS)) if card not in taken), count)]

    def hand_on(self, board: Iterable[Card]) -> Hand:
        """The hand on a board that is known as far as this. Raises IllegalMove."""
        shown = tuple(board)
        hand = Hand(self.stacks, button=self.button, blinds=self.blinds)
        seen = {*shown, *self.seen_cards}
        free = (card for card in range(len(CARDS)) if card not in seen)
        holes = [self.holes.get(player) or (next(free), next(free)) for player in self.players]
        order = [(hand.small_blind + place) % len(holes) for place in range(len(holes))]
        hand.deal([holes[seat][turn] for turn in range(2) for seat in order])
        self.acted_seats = set()
        cards = iter(shown)
        self._deal_known(hand, cards)
        for kind, seat, chips in self.actions:
            self._apply(hand, kind, seat, chips)
            self._deal_known(hand, cards)
        return hand

    def _deal_known(self, hand: Hand, cards: Iterator[Card]) -> None:
        """Lay on the board what is due and known."""
        while hand.turn is Turn.CHANCE:
            due = [*islice(cards, hand.cards_due)]
            if len(due) < hand.cards_due:
                return
            hand.deal(due)
            self.acted_seats.clear()

    def _apply(self, hand: Hand, kind: str, seat: Seat, chips: int) -> None:
        """Do what was done."""
        before = hand.to_match
        if kind == "leave":
            hand.leave(seat)
        elif kind == "fold":
            hand.fold()
        else:
            hand.bet(chips)
            if hand.to_match > before:
                self.acted_seats.clear()
            self.acted_seats.add(seat)


def _rank_order(ranks: Sequence[int]) -> tuple[int, ...]:
    """Ranks by their order alone: the best is 0, and equal ones are equal."""
    order = sorted({*ranks})
    return tuple(order.index(one) for one in ranks)
