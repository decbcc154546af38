"""Hold'em by the interface of all rules, for the properties that they have in common.

`Hand` is mutable; the methods of `Holdem` never change a state.
"""

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Final

from croupier.core.errors import IllegalMove
from croupier.core.rules import Seat, Turn
from croupier.rooms.holdem.cards import CARD_NUMBERS, CARDS, card_names
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import FOLD, IllegalBet, Legal
from croupier.rooms.holdem.engine.stakes import STAKES, Stakes


class Holdem:
    """The `Rules` of one hand. States are `Hand` objects that are never changed.

    A chance move is the name of one card (`AS`); a seat's move is FOLD or the chips that it adds.
    """

    def __init__(
        self,
        stacks: Sequence[int] = (10_000, 10_000),
        *,
        button: Seat = 0,
        stakes: Stakes = STAKES,
    ) -> None:
        self._start = Hand(stacks, button=button, stakes=stakes)
        self.seats = len(stacks)

    def start(self) -> Hand:
        """Return the state before the first card, with the blinds posted."""
        return self._start.copy()

    def turn(self, state: Hand) -> Seat | Turn:
        """Return the seat to act, CHANCE, or OVER."""
        return state.turn

    def legal(self, state: Hand) -> Sequence[str | int]:
        """Return the cards that may be dealt, or a `Legal`, which contains every legal bet but lists only a few."""
        if state.turn is Turn.CHANCE:
            return card_names(state.unseen)
        return state.legal

    def odds(self, state: Hand) -> Mapping[str | int, Fraction]:
        """Return the probability of each undealt card; empty unless chance is to act."""
        if state.turn is not Turn.CHANCE:
            return {}
        cards = state.unseen
        return {CARDS[card]: Fraction(1, len(cards)) for card in cards}

    def play(self, state: Hand, move: str | int) -> Hand:
        """Return the state after a card, a fold or a bet. Raises IllegalMove."""
        legal = self.legal(state)
        if move not in legal:
            raise IllegalBet(move, legal) if isinstance(legal, Legal) else IllegalMove(move, legal)
        after = state.copy()
        if state.turn is Turn.CHANCE:
            after.deal([CARD_NUMBERS[str(move)]])
        else:
            after.play(FOLD if isinstance(move, str) else move)
        return after

    def payoff(self, state: Hand) -> tuple[int, ...]:
        """Return the net result of each seat in chips. The hand must be over."""
        return state.payoff()

    def view(self, state: Hand, seat: Seat) -> Hashable:
        """Return everything that a seat may know: the log, without the hole cards that are hidden from the seat."""
        seen = {seat, *state.showdown_order}
        entries = (
            ("deal", entry[1]) if entry[0] == "deal" and entry[1] is not None and entry[1] not in seen else entry
            for entry in state.log
        )
        return (seat, state.start_stacks, state.button, state.stakes, *entries)


HOLDEM: Final = Holdem()
