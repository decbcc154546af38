"""A naive second implementation of seven and a half: points are fractions, and there are no tables."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

GOAL = Fraction(15, 2)
DECK = [rank + suit for suit in "oceb" for rank in "1234567scr"]
MOST = 2**30 - 1


def points(*cards: str) -> Fraction:
    """sevenhalf-3.2"""
    return sum((Fraction(1, 2) if card[0] in "scr" else Fraction(int(card[0])) for card in cards), Fraction(0))


def written(score: Fraction) -> str:
    """sevenhalf-2.5"""
    return f"{float(score):04.1f}"


def bank_goes_on(client: Fraction, bank: Fraction, drawn: int) -> bool:
    """sevenhalf-3.6 and 3.7"""
    if drawn == 0:
        return True
    if client > GOAL:
        return False
    return bank <= client and bank < GOAL


def gain(bet: int, client: Fraction, bank: Fraction) -> int:
    """The table of section 5."""
    if client > GOAL:
        return -bet
    if client == GOAL:
        return 0 if bank == GOAL else 2 * bet
    assert bank > client
    return bet if bank > GOAL else -bet


@dataclass
class Game:
    """A game against the bank with the cards in a given order."""

    cards: Sequence[str]
    bet: int
    lenient: bool = False
    own: list[str] = field(default_factory=list)
    banks: list[str] = field(default_factory=list)
    raised: bool = False
    passed: bool = False

    @property
    def score(self) -> Fraction:
        return points(*self.own)

    @property
    def over(self) -> bool:
        return self.passed or self.score > GOAL

    @property
    def allowed(self) -> set[str]:
        """sevenhalf-4.2 to 4.4; sevenhalf-9.2 to 9.4 in the dialect"""
        if self.over:
            return set()
        if self.lenient:
            return {"DRAW", "ANTE", "PASS"}
        if not self.own:
            return {"DRAW"}
        return {"DRAW", "ANTE"} if self.raised else {"DRAW", "ANTE", "PASS"}

    def draw(self) -> None:
        self.own.append(self.cards[len(self.own)])
        self.raised = False
        if self.over:
            self._bank()

    def ante(self, coins: int) -> None:
        self.bet += coins
        self.raised = True

    def stop(self) -> None:
        self.passed = True
        self._bank()

    def _bank(self) -> None:
        while bank_goes_on(self.score, points(*self.banks), len(self.banks)):
            self.banks.append(self.cards[len(self.own) + len(self.banks)])

    @property
    def net(self) -> int:
        return gain(self.bet, self.score, points(*self.banks))


def shuffled(luck: random.Random) -> list[str]:
    return luck.sample(DECK, len(DECK))
