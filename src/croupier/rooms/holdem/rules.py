"""No-limit hold'em for two to ten, by the full rules of the game (docs/protocols/holdem.md).

A `Hand` changes as it is played; `Holdem` asks the questions that all our rules answer of hands that stay as they are.
"""

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Final

from croupier.core.errors import IllegalMove
from croupier.core.rules import Seat, Turn
from croupier.rooms.holdem.cards import CARD_NUMBERS, CARDS, card_names
from croupier.rooms.holdem.engine.blinds import BLINDS, MAX_SEATS
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import FOLD, IllegalBet, Legal, Move
from croupier.rooms.holdem.engine.log import HandLogEntry
from croupier.rooms.holdem.engine.pots import Award, Pot

__all__ = [
    "BLINDS",
    "FOLD",
    "HOLDEM",
    "MAX_SEATS",
    "STARTING_STACK",
    "Award",
    "Hand",
    "HandLogEntry",
    "Holdem",
    "Legal",
    "Move",
    "Pot",
]

STARTING_STACK: Final = 10_000
"""What everybody has at the beginning (holdem, General rules)."""


class Holdem:
    """The rules of one hand as questions about a `Hand` that nobody changes.

    Chance moves one card at a time, by its name (`AS`); a seat moves by FOLD, or by the chips that it adds.
    """

    def __init__(
        self,
        stacks: Sequence[int] = (STARTING_STACK, STARTING_STACK),
        *,
        button: Seat = 0,
        blinds: tuple[int, int] = BLINDS,
        ante: int = 0,
        straddle: int = 0,
    ) -> None:
        self._start = Hand(stacks, button=button, blinds=blinds, ante=ante, straddle=straddle)
        self.seats = len(stacks)

    def start(self) -> Hand:
        """Before the first card, with the blinds posted."""
        return self._start.copy()

    def turn(self, state: Hand) -> Seat | Turn:
        """Who is to move: a seat, CHANCE, or OVER."""
        return state.turn

    def legal(self, state: Hand) -> Sequence[str | int]:
        """The cards that may come, or what the seat may do: that contains every legal size, and lists a few."""
        if state.turn is Turn.CHANCE:
            return card_names(state.unseen)
        return state.legal

    def odds(self, state: Hand) -> Mapping[str | int, Fraction]:
        """Every card that has not been dealt is as likely as any other."""
        if state.turn is not Turn.CHANCE:
            return {}
        cards = state.unseen
        return {CARDS[card]: Fraction(1, len(cards)) for card in cards}

    def play(self, state: Hand, move: str | int) -> Hand:
        """The hand after a card, a fold or a bet. Raises IllegalMove."""
        legal = self.legal(state)
        if move not in legal:
            raise IllegalBet(move, legal) if isinstance(legal, Legal) else IllegalMove(move, legal)
        after = state.copy()
        if state.turn is Turn.CHANCE:
            after.deal([CARD_NUMBERS[str(move)]])
        elif isinstance(move, int):
            after.bet(move)
        else:
            after.fold()
        return after

    def payoff(self, state: Hand) -> tuple[int, ...]:
        """What each seat has won, negative if it has lost, when OVER."""
        return state.payoff()

    def view(self, state: Hand, seat: Seat) -> Hashable:
        """All that this seat may know."""
        return state.view(seat)


HOLDEM: Final = Holdem()
