"""A hand of no-limit hold'em with copying, replay, JSON serialization and per-seat views."""

from collections.abc import Hashable, Iterable

from croupier.core.errors import IllegalMove
from croupier.core.rules import Seat, Turn
from croupier.rooms.holdem.cards import card_names
from croupier.rooms.holdem.engine.log import HandLogEntry, SavedHand, SavedLeave, card_numbers, to_saved_steps
from croupier.rooms.holdem.engine.play import HandEngine
from croupier.rooms.holdem.engine.stakes import Stakes


class Hand(HandEngine):
    """A hand of no-limit hold'em. It is mutable: `deal`, `bet`, `fold` and `leave` advance it.

    Two hands are equal if their initial states and their logs are equal, whatever cards are still to come.

    Example:
        Two players with 1,000 chips each; seat 0 has the button and, heads-up, the small blind.

        >>> from croupier.rooms.holdem.cards import parse_cards
        >>> from croupier.rooms.holdem.engine.stakes import Stakes
        >>> hand = Hand([1000, 1000], button=0, stakes=Stakes(5, 10))
        >>> hand.deal(parse_cards("AsKdAhKc"))  # seat 0 gets the aces
        >>> hand.turn, hand.legal.call, hand.legal.raise_range
        (0, 5, (15, 995))
        >>> hand.bet(25)  # raise to 30
        >>> hand.fold()
        >>> hand.turn, hand.payoff()
        (<Turn.OVER: 'over'>, (10, -10))
    """

    __slots__ = ()

    def replay(self, log: Iterable[HandLogEntry]) -> "Hand":
        """Return a new hand with the same initial state, advanced through all entries of a log.

        Its deck is not known: cards after the log must be dealt. Raises IllegalMove if an entry breaks the rules.
        """
        hand = Hand(self.start_stacks, button=self.button, stakes=self.stakes)
        for entry in log:
            match entry:
                case ("deal", _, cards):
                    hand.deal(cards)
                case ("leave", seat):
                    hand.leave(seat)
                case (_, seat, *_) if seat != hand.turn:
                    raise IllegalMove(f"a move of seat {seat}", [f"one of {hand.turn}"])
                case ("bet", _, chips):
                    hand.bet(chips)
                case _:
                    hand.fold()
        return hand

    def view(self, seat: Seat) -> Hashable:
        """Return what a seat may know: the initial state and the log, without the hole cards hidden from the seat."""
        seen = {seat, *self.showdown_order}
        entries = (
            ("deal", entry[1]) if entry[0] == "deal" and entry[1] is not None and entry[1] not in seen else entry
            for entry in self.log
        )
        return (seat, *self._setup, *entries)

    @property
    def _setup(self) -> tuple[tuple[int, ...], Seat, Stakes]:
        """The initial stacks, the button and the stakes."""
        return self.start_stacks, self.button, self.stakes

    def copy(self) -> "Hand":
        """Return an independent copy in the same state."""
        twin = object.__new__(Hand)
        twin.start_stacks, twin.button, twin.stakes = self.start_stacks, self.button, self.stakes
        twin.small_blind, twin.big_blind = self.small_blind, self.big_blind
        twin.turn, twin.cards_due, twin.street = self.turn, self.cards_due, self.street
        twin.to_match, twin.min_raise = self.to_match, self.min_raise
        twin._live, twin._can_act, twin._to_act = self._live, self._can_act, self._to_act
        twin._no_reopen, twin._aggressor = self._no_reopen, self._aggressor
        twin._pot, twin._may_have_side_pots, twin._last_blind = self._pot, self._may_have_side_pots, self._last_blind
        twin._cards, twin._deck_known, twin._log = self._cards, self._deck_known, self._log[:]
        twin.stacks, twin.bets, twin.awards = self.stacks[:], self.bets[:], self.awards[:]
        return twin

    def to_json(self) -> bytes:
        """Serialize the hand, for `from_json`. Cards still to come are included if the deck is known."""
        deck = (
            card_names(self._cards[len(self._dealt_cards) :])
            if self._deck_known and self.turn is not Turn.OVER
            else None
        )
        return SavedHand.of(*self._setup, to_saved_steps(self.log), deck).to_json()

    @staticmethod
    def from_json(data: bytes) -> "Hand":
        """Restore a hand saved by `to_json`. Raises ValueError if the data is malformed or breaks the rules."""
        saved = SavedHand.from_json(data)
        hand = Hand(saved.stacks, button=saved.button, stakes=saved.stakes)
        for step in saved.log:
            match step:
                case int():
                    hand.bet(step)
                case list():
                    hand.deal(card_numbers(step))
                case SavedLeave():
                    hand.leave(step.leave)
                case _:
                    hand.fold()
        if saved.deck is not None:
            hand.deal_from(card_numbers(saved.deck))
        return hand

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hand) and self._setup == other._setup and self.log == other.log

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        return f"Hand.from_json({self.to_json()!r})"
