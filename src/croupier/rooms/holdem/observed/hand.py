"""A hand followed from outside: its initial state, the cards seen so far, and the actions."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations, groupby, islice, product
from typing import Final

from msgspec.structs import replace

from croupier.core.errors import IllegalMove
from croupier.core.rules import Seat, Turn
from croupier.rooms.holdem.cards import CARDS, Card
from croupier.rooms.holdem.engine.awards import Award, Pot
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.pots import award_pots, side_pots
from croupier.rooms.holdem.engine.ranks import rank
from croupier.rooms.holdem.engine.stakes import Stakes
from croupier.rooms.holdem.engine.streets import BOARD_CARDS
from croupier.rooms.holdem.wire import Guid, PlayerStatus

MAX_UNKNOWN_BOARD_CARDS: Final = 2
"""The most unknown board cards for which all boards are enumerated."""

MAX_ORDERED_HANDS: Final = 5
"""The most unknown hands for which all orders of strength are enumerated."""

type ObservedAction = tuple[str, Seat, int]
"""The kind of an action (`bet`, `fold` or `leave`), the seat, and the chips of a bet."""


class ObservedHand:
    """A hand that is followed from outside. `hand` is its state by the rules, with arbitrary cards for unseen ones.

    `left_players` are the players who have left the game.
    """

    def __init__(self, players: Sequence[Guid], stacks: Sequence[int], button: Seat, stakes: Stakes) -> None:
        self.players = tuple(players)
        self.stacks = tuple(stacks)
        self.button = button
        self.stakes = stakes
        self.holes: dict[Guid, tuple[Card, ...]] = {}
        self.board: list[Card] = []
        self.actions: list[ObservedAction] = []
        self.left_players: set[Guid] = set()
        self.hand = self.hand_on(())

    def seat_of(self, player: Guid) -> Seat | None:
        """Return the seat of a player in this hand; None if they were not dealt in."""
        return self.players.index(player) if player in self.players else None

    @property
    def seen_cards(self) -> list[Card]:
        """All cards that have been seen, with duplicates if there are any."""
        return [*self.board, *(card for hole in self.holes.values() for card in hole)]

    @property
    def has_all_holes(self) -> bool:
        """Whether the hole cards of all players still in the hand are known."""
        return all(player in self.holes for seat, player in enumerate(self.players) if not self.hand.folded[seat])

    @property
    def last_to_act(self) -> Guid:
        """The player of the last action, of which there has to be one."""
        return self.players[self.actions[-1][1]]

    def act(self, kind: str, seat: Seat, chips: int) -> None:
        """Apply an action, see `actions`. Raises IllegalMove."""
        self.actions.append((kind, seat, chips))
        _apply(self.hand, kind, seat, chips)
        _deal_known(self.hand, iter(self.board[len(self.hand.board) :]))

    def update(self) -> None:
        """Recompute `hand` after new cards. Raises IllegalMove."""
        self.hand = self.hand_on(self.board)

    def with_folds(self, places: Collection[int]) -> "ObservedHand | None":
        """Return the hand with folds in place of these actions; None if the other actions are impossible then."""
        return self._with_actions(self._replace_actions(places, "fold"), self.board)

    def with_check(self, place: int, board: Sequence[Card]) -> "ObservedHand | None":
        """Return the hand with a check in place of an action, and this board; None if the player could not check."""
        return self._with_actions(self._replace_actions([place], "bet"), board)

    def with_fold_of(self, seat: Seat) -> "ObservedHand | None":
        """Return the hand with a fold of this seat, in turn or not, at its end; None if it has no hand to fold."""
        return self._with_actions([*self.actions, ("leave", seat, 0)], self.board)

    def _replace_actions(self, places: Collection[int], new_kind: str) -> list[ObservedAction]:
        return [
            (new_kind, seat, 0) if place in places else (kind, seat, chips)
            for place, (kind, seat, chips) in enumerate(self.actions)
        ]

    def _with_actions(self, actions: list[ObservedAction], board: Sequence[Card]) -> "ObservedHand | None":
        altered = ObservedHand(self.players, self.stacks, self.button, self.stakes)
        altered.holes, altered.board, altered.left_players = self.holes, [*board], self.left_players
        altered.actions = actions
        try:
            altered.update()
        except IllegalMove:
            return None
        return altered

    def status(self, seat: Seat) -> PlayerStatus:
        """Return the state of a seat's player (holdem-5.9)."""
        if self.hand.folded[seat]:
            return "folded"
        return "active" if self.hand.to_act >> seat & 1 else "called"

    def is_over(self) -> bool:
        """Return whether the hand has ended or needs no more decisions."""
        return self.hand.over or self.is_decided()

    def is_decided(self) -> bool:
        """Return whether cards are due and no decision is left."""
        if self.hand.turn is not Turn.CHANCE:
            return False
        trial = self.hand.copy()
        trial.deal(self.unseen_cards(trial.cards_due))
        return not isinstance(trial.turn, int)

    def showdown_pots(self) -> Sequence[Pot]:
        """Return the pots as they are won if there is no more betting."""
        hand = self.hand
        return side_pots(hand.paid, hand.folded, self._stacks_before_awards(), is_over=True)

    def _stacks_before_awards(self) -> list[int]:
        stacks = list(self.hand.stacks)
        for award in self.hand.awards:
            stacks[award.seat] -= award.chips
        return stacks

    def returned_bet(self) -> tuple[Seat, int]:
        """Return the seat with an uncalled bet, and how many of its chips were returned; 0 if there was none."""
        hand = self.hand
        put_in = [min(self.stakes.ante, stack) for stack in self.stacks]
        for seat, blind in hand.blinds:
            put_in[seat] += min(blind, self.stacks[seat] - put_in[seat])
        for kind, seat, chips in self.actions:
            put_in[seat] += chips if kind == "bet" else 0
        returned = [before - paid for before, paid in zip(put_in, hand.paid, strict=True)]
        seat = max(range(len(returned)), key=returned.__getitem__)
        return seat, returned[seat]

    def possible_orders(self) -> Sequence[Sequence[int]]:
        """Return the orders of strength of the live hands that the known cards allow; empty if there are too many.

        If hole cards or more than two board cards are unknown, every order of the hands is considered possible.
        """
        missing = BOARD_CARDS - len(self.board)
        if missing > MAX_UNKNOWN_BOARD_CARDS or not self.has_all_holes:
            return self.all_orders()
        free = [card for card in range(len(CARDS)) if card not in {*self.seen_cards}]
        boards = ([*self.board, *rest] for rest in combinations(free, missing))
        return [*{_rank_order([rank(self.hand.holes[seat] + board) for seat in self._live]) for board in boards}]

    def all_orders(self) -> Sequence[Sequence[int]]:
        """Return all orders of strength of the live hands, ties included; empty if there are too many."""
        count = len(self._live)
        return (
            [*{_rank_order(order) for order in product(range(count), repeat=count)}]
            if count <= MAX_ORDERED_HANDS
            else ()
        )

    @property
    def _live(self) -> Sequence[Seat]:
        return [seat for seat, out in enumerate(self.hand.folded) if not out]

    def possible_final_stacks(self) -> Sequence[tuple[int, ...]]:
        """Return all final stacks that are possible given the known cards; empty if there are too many to enumerate."""
        hand = self.hand
        if hand.over and not hand.showdown_order:
            return [tuple(hand.stacks)]
        return sorted({end for order in self.possible_orders() for end in self.final_stacks(order)})

    def final_stacks(self, order: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Yield the final stacks of a showdown with an order of the live hands.

        The odd chips of a pot may go to its first winner, or one each to its first winners (holdem-6.15).
        """
        first, seats = self.hand.button + 1, len(self.hand.stacks)
        awards = award_pots(self.showdown_pots(), dict(zip(self._live, order, strict=True)), first, seats)
        for paid in (awards, _with_odd_chips_apart(awards)):
            end = self._stacks_before_awards()
            for award in paid:
                end[award.seat] += award.chips
            yield tuple(end)

    def unseen_cards(self, count: int) -> Sequence[Card]:
        """Return `count` unseen cards that are not used as placeholders in `hand` either."""
        taken = {*self.seen_cards, *self.hand.board, *(card for hole in self.hand.holes for card in hole)}
        return [*islice((card for card in range(len(CARDS)) if card not in taken), count)]

    def hand_on(self, board: Iterable[Card]) -> Hand:
        """Return the state of the hand on a partially known board. Raises IllegalMove."""
        shown = tuple(board)
        hand = Hand(self.stacks, button=self.button, stakes=self.stakes)
        seen = {*shown, *self.seen_cards}
        free = (card for card in range(len(CARDS)) if card not in seen)
        holes = [self.holes.get(player) or (next(free), next(free)) for player in self.players]
        order = [(hand.small_blind + place) % len(holes) for place in range(len(holes))]
        hand.deal([holes[seat][turn] for turn in range(2) for seat in order])
        cards = iter(shown)
        _deal_known(hand, cards)
        for kind, seat, chips in self.actions:
            _apply(hand, kind, seat, chips)
            _deal_known(hand, cards)
        return hand


def _deal_known(hand: Hand, cards: Iterator[Card]) -> None:
    """Deal the due board cards as far as they are known."""
    while hand.turn is Turn.CHANCE:
        due = [*islice(cards, hand.cards_due)]
        if len(due) < hand.cards_due:
            return
        hand.deal(due)


def _apply(hand: Hand, kind: str, seat: Seat, chips: int) -> None:
    if kind == "leave":
        hand.leave(seat)
    elif kind == "fold":
        hand.fold()
    else:
        hand.bet(chips)


def _rank_order(ranks: Sequence[int]) -> tuple[int, ...]:
    """Reduce ranks to their order: the best is 0, ties are equal."""
    order = sorted({*ranks})
    return tuple(order.index(rank_) for rank_ in ranks)


def _with_odd_chips_apart(awards: Sequence[Award]) -> Iterator[Award]:
    """Yield awards with the odd chips of each pot one each for its first winners, in place of all for the first."""
    for _, pot in groupby(awards, key=lambda award: award.pot):
        shares = [*pot]
        least = shares[-1].chips
        odd = shares[0].chips - least
        for place, award in enumerate(shares):
            yield replace(award, chips=least + (place < odd))
