"""The steps of a walk: what users try at a table, told in such a way that it means the same in any other hand."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Final, Literal, NamedTuple

from croupier.rooms.holdem.engine.legal import Legal
from croupier.rooms.holdem.wire import BET, FOLD

type Amount = str | int
"""How many chips: a number, or a key of AMOUNTS."""

AMOUNTS: Final[Mapping[str, Callable[[Legal, int], int]]] = {
    "call": lambda legal, _: legal.call,
    "smallest raise": lambda legal, _: legal.bounds[0] if legal.bounds else legal.call,
    "pot": lambda legal, _: legal.share() or (legal.bounds[0] if legal.bounds else legal.call),
    "everything": lambda _, stack: stack,
    "more than everything": lambda _, stack: stack + 1,
    "less than the call": lambda legal, _: legal.owed - 1,
    "more than the call": lambda legal, _: legal.owed + 1,
    "less than a raise": lambda legal, _: legal.bounds[0] - 1 if legal.bounds else legal.owed + 1,
}
"""Amounts by what they are to whoever may do this, and has so many chips."""

OUT_OF_TURN: Final = ((FOLD, 0), (BET, 0), (BET, 20), (BET, 10_000), (BET, -1))
"""Acts that are tried when it is not one's turn."""

GARBAGE: Final = (
    b"",
    b"{",
    b"[]",
    b"fold",
    b'{"action": 7}',
    b'{"betAmount": 20}',
    b'{"action": "1", "betAmount": 20}',
)
"""Acts of wrong form."""

LOOKS: Final = 0.3
"""After so many of his acts somebody looks at his own cards, too."""


class Step(NamedTuple):
    """A step of a walk. `who` counts those who sit from the one whose turn it is, who is 0.

    An act is an `action` and an amount, or a `body` of wrong form; with `looks` he looks at his own cards behind it.
    """

    kind: Literal["act", "garbage", "leave"]
    who: int = 0
    action: int = BET
    chips: Amount = 0
    body: bytes = b""
    looks: bool = False


def amount(chips: Amount, legal: Legal, stack: int) -> int:
    """How many chips somebody bets who may do this, and has so many."""
    return chips if isinstance(chips, int) else AMOUNTS[chips](legal, stack)


def chosen(luck: Random, legal: Legal, stack: int, sitting: int) -> Step:
    """A step at random, where so many sit and one of them may do this and has so many chips."""
    chance = luck.random()
    looks = luck.random() < LOOKS
    if chance < 0.08 and sitting > 1:
        action, chips = luck.choice(OUT_OF_TURN)
        return Step("act", luck.randrange(1, sitting), action, chips, looks=looks)
    if chance < 0.12:
        return Step("garbage", body=luck.choice(GARBAGE))
    if chance < 0.15 and sitting > 2:
        return Step("leave", luck.randrange(sitting))
    if chance < 0.22:
        return Step("act", chips=_invalid(luck, legal, stack), looks=looks)
    return _valid(luck, legal)._replace(looks=looks)


def _valid(luck: Random, legal: Legal) -> Step:
    """A valid act; the hand goes on more often than not."""
    chance = luck.random()
    if legal.bounds is not None and chance < 0.30:
        low, high = legal.bounds
        some = min(high, luck.randint(low, min(high, 40 * low)))
        return Step("act", chips=luck.choice(("smallest raise", "smallest raise", "pot", some, "everything")))
    return Step("act", action=FOLD) if chance > 0.90 else Step("act", chips="call")


def _invalid(luck: Random, legal: Legal, stack: int) -> Amount:
    """An invalid bet, of any kind that there is now."""
    found: list[Amount] = [-1, -20, "more than everything", 10**30]
    if 0 < legal.owed <= stack:
        found += ["less than the call"] * 2
    if 1 < legal.owed <= stack:
        found += [0, 1]
    if legal.bounds is not None and legal.bounds[0] < stack and legal.bounds[0] - 1 > legal.call:
        found += ["less than a raise", "more than the call"] * 2
    if legal.bounds is None and stack > legal.owed:
        found += ["more than the call", "everything"] * 3
    return luck.choice([chips for chips in found if amount(chips, legal, stack) not in legal])
