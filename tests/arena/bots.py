"""Bots with faults, for `FILE.py:CLASS`."""

import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from croupier.core.dealer import Luck


class First:
    """Plays the first legal move."""

    def choose(self, view: object, legal: Sequence[Any], luck: Luck) -> Any:
        return legal[0]


class Raises(First):
    """Raises an exception at the n-th decision of every seating."""

    def __init__(self, decision: str = "50") -> None:
        self.left = int(decision)

    def choose(self, view: object, legal: Sequence[Any], luck: Luck) -> Any:
        self.left -= 1
        if not self.left:
            raise RuntimeError("no idea", object())
        return legal[0]


class Illegal:
    """Never plays a legal move."""

    def choose(self, view: object, legal: Sequence[Any], luck: Luck) -> Any:
        return ["CHK"]


class Exits:
    """Ends its process without an exception."""

    def choose(self, view: object, legal: Sequence[Any], luck: Luck) -> Any:
        os._exit(3)


class Hangs:
    """Never answers."""

    def choose(self, view: object, legal: Sequence[Any], luck: Luck) -> Any:
        while True:
            pass


class Prints(First):
    """Prints what it sees."""

    def choose(self, view: object, legal: Sequence[Any], luck: Luck) -> Any:
        print(view)
        return legal[0]


class Liar(First):
    """Would play the first legal move, but says that it plays all of them."""

    def policy(self, view: object, legal: Sequence[Any]) -> Mapping[Any, Fraction]:
        return dict.fromkeys(legal, Fraction(1, len(legal)))


class Unsure(Liar):
    """Publishes probabilities whose sum is not 1."""

    def policy(self, view: object, legal: Sequence[Any]) -> Mapping[Any, Fraction]:
        return dict.fromkeys(legal, Fraction(1, 3))
