"""A hand of no-limit hold'em with what players and simulations ask of it, copying, replay and JSON serialization."""

from collections.abc import Iterable

from croupier.core.errors import IllegalMove
from croupier.core.rules import Seat
from croupier.rooms.holdem.cards import Card, card_names, card_numbers
from croupier.rooms.holdem.engine.awards import Pot
from croupier.rooms.holdem.engine.compilation import mypyc_attr
from croupier.rooms.holdem.engine.legal import FOLD, Move
from croupier.rooms.holdem.engine.log import HandLogEntry, SavedHand, SavedLeave, expand_log, to_saved_steps
from croupier.rooms.holdem.engine.play import HandEngine
from croupier.rooms.holdem.engine.pots import side_pots
from croupier.rooms.holdem.engine.seat_sets import HAS_SEVERAL, SEAT_BITS
from croupier.rooms.holdem.engine.stakes import Stakes
from croupier.rooms.holdem.engine.streets import BOARD_SIZES


@mypyc_attr(allow_interpreted_subclasses=True)
class Hand(HandEngine):
    """A hand of no-limit hold'em. It is mutable: `deal`, `play` (or `call`, `bet`, `fold`) and `leave` advance it.

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
        >>> hand.play("fold")
        >>> hand.over, hand.payoff()
        (True, (10, -10))
    """

    @property
    def fcpa(self) -> tuple[Move, ...]:
        """The moves of the fcpa betting abstraction: FOLD, call, a raise by the pot, all-in.

        FOLD is omitted if there is nothing to call. Raises are omitted if they are not legal or no opponent could
        answer them. Simulations read this at every decision, so it does not build a Legal.
        """
        seat = self.turn
        if type(seat) is not int:
            return ()
        stack, to_call = self.stacks[seat], self.to_match - self.bets[seat]
        if stack <= to_call:
            return (FOLD, stack)
        if self._can_act == SEAT_BITS[seat] or (
            self._no_reopen and self._no_reopen & SEAT_BITS[seat] and to_call < self.min_raise
        ):
            return (FOLD, to_call) if to_call else (to_call,)
        pot = 2 * to_call + self.pot
        if pot < stack:  # at least the minimum raise, because at least that many chips are in the pot
            return (FOLD, to_call, pot, stack) if to_call else (to_call, pot, stack)
        return (FOLD, to_call, stack) if to_call else (to_call, stack)

    def hole_of(self, seat: Seat) -> tuple[Card, ...]:
        """Return the hole cards of a player, in the order of the deal."""
        seats = len(self.start_stacks)
        return self._cards[(seat - self.small_blind) % seats : 2 * seats : seats]

    @property
    def holes(self) -> list[list[Card]]:
        """The hole cards of each seat, in the order of the deal."""
        return [[*self.hole_of(seat)] for seat in range(len(self.start_stacks))]

    @property
    def shown_board(self) -> tuple[Card, ...]:
        """The cards on the board, in the order of the deal, as a tuple: the cheapest form for simulations."""
        first = 2 * len(self.start_stacks)
        return self._cards[first : first + BOARD_SIZES[self.street]]

    @property
    def board(self) -> list[Card]:
        """The cards on the board, in the order of the deal."""
        return [*self.shown_board]

    def payoff(self) -> tuple[int, ...]:
        """Return the net result of each seat in chips; the results sum to 0. The hand must be over."""
        assert self.over, "the payoff of a hand that is not over"
        before = self.start_stacks
        return tuple([left - before[seat] for seat, left in enumerate(self.stacks)])

    @property
    def pots(self) -> list[Pot]:
        """The pots including current bets, main pot first; after the end, as they were awarded."""
        return side_pots(self.paid, self.folded, self.stacks, is_over=self.over)

    @property
    def showdown_order(self) -> list[Seat]:
        """The seats that show their cards, in order; empty before the end, and if all but one have folded.

        The last player to raise in the last betting round shows first; without a raise, the first live seat left of
        the button (H7).
        """
        if not self.over or not HAS_SEVERAL[self.live]:
            return []
        seats = len(self.stacks)
        live, raiser = self.live, self._aggressor
        first = self.button + 1 if raiser is None or not live >> raiser & 1 else raiser
        return [seat % seats for seat in range(first, first + seats) if live >> seat % seats & 1]

    @property
    def log(self) -> list[HandLogEntry]:
        """Everything that has happened since the blinds, in order, with one entry per hole card."""
        return expand_log(self.compact_log, self._cards, self.small_blind, len(self.start_stacks))

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

    def as_of(self, length: int) -> "Hand":
        """Return a copy of the hand as it was when `compact_log` had `length` entries. Its deck is not known."""
        return self.replay(expand_log(self.compact_log[:length], self._cards, self.small_blind, len(self.start_stacks)))

    @property
    def _setup(self) -> tuple[tuple[int, ...], Seat, Stakes]:
        """The initial stacks, the button and the stakes."""
        return self.start_stacks, self.button, self.stakes

    def copy(self) -> "Hand":
        """Return an independent copy in the same state."""
        twin = Hand.__new__(Hand)
        twin.start_stacks, twin.button, twin.stakes = self.start_stacks, self.button, self.stakes
        twin.small_blind, twin.big_blind = self.small_blind, self.big_blind
        twin.turn, twin.cards_due, twin.street = self.turn, self.cards_due, self.street
        twin.to_match, twin.min_raise = self.to_match, self.min_raise
        twin.live, twin._can_act, twin.to_act = self.live, self._can_act, self.to_act
        twin._no_reopen, twin._aggressor = self._no_reopen, self._aggressor
        twin.pot, twin._may_have_side_pots, twin._last_blind = self.pot, self._may_have_side_pots, self._last_blind
        twin._cards, twin._deck_known, twin.compact_log = self._cards, self._deck_known, self.compact_log[:]
        twin.stacks, twin.bets, twin.awards = self.stacks[:], self.bets[:], self.awards[:]
        return twin

    def to_json(self) -> bytes:
        """Serialize the hand, for `from_json`. Cards still to come are included if the deck is known."""
        deck = card_names(self._cards[len(self._dealt_cards) :]) if self._deck_known and not self.over else None
        return SavedHand.of(*self._setup, to_saved_steps(self.log), deck).to_json()

    @staticmethod
    def from_json(data: bytes) -> "Hand":
        """Restore a hand saved by `to_json`. Raises ValueError if the data is malformed or breaks the rules."""
        saved = SavedHand.from_json(data)
        hand = Hand(saved.stacks, button=saved.button, stakes=saved.stakes)
        for step in saved.log:
            match step:
                case list():
                    hand.deal(card_numbers(step))
                case SavedLeave():
                    hand.leave(step.leave)
                case _:
                    hand.play(step)
        if saved.deck is not None:
            hand.deal_from(card_numbers(saved.deck))
        return hand

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hand) and self._setup == other._setup and self.log == other.log

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        return f"Hand.from_json({self.to_json()!r})"
