"""The steps of a walk: what users try at a table, told in such a way that it means the same in any other hand."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Final, Literal, NamedTuple

from croupier.rooms.holdem.engine.legal import Legal
from croupier.rooms.holdem.wire import ACTION_BET, ACTION_FOLD

type Amount = str | int
"""How many chips: a number, or a key of AMOUNTS."""

AMOUNTS: Final[Mapping[str, Callable[[Legal, int], int]]] = {
    "call": lambda legal, _: legal.call,
    "smallest raise": lambda legal, _: legal.raise_range[0] if legal.raise_range else legal.call,
    "pot": lambda legal, _: legal.pot_sized() or (legal.raise_range[0] if legal.raise_range else legal.call),
    "everything": lambda _, stack: stack,
    "more than everything": lambda _, stack: stack + 1,
    "less than the call": lambda legal, _: legal.to_call - 1,
    "more than the call": lambda legal, _: legal.to_call + 1,
    "less than a raise": lambda legal, _: legal.raise_range[0] - 1 if legal.raise_range else legal.to_call + 1,
}
"""Amounts by what they are to whoever may do this, and has so many chips."""

OUT_OF_TURN: Final = ((ACTION_FOLD, 0), (ACTION_BET, 0), (ACTION_BET, 20), (ACTION_BET, 10_000), (ACTION_BET, -1))
"""Acts that are tried when it is not one's turn."""

MALFORMED_ACTS: Final = (
    b"",
    b"{",
    b"[]",
    b"fold",
    b'{"action": 7}',
    b'{"betAmount": 20}',
    b'{"action": "1", "betAmount": 20}',
)
"""Acts of wrong form."""

LOOK_PROBABILITY: Final = 0.3
"""After so many of his acts somebody looks at his own cards, too."""


class WalkStep(NamedTuple):
    """A step of a walk. `who` counts those who sit from the one whose turn it is, who is 0.

    An act is an `action` and an amount, or a `body` of wrong form; with `looks` he looks at his own cards behind it.
    """

    kind: Literal["act", "garbage", "leave"]
    seat_offset: int = 0
    action: int = ACTION_BET
    chips: Amount = 0
    body: bytes = b""
    is_followed_by_look: bool = False


def resolve_amount(chips: Amount, legal: Legal, stack: int) -> int:
    """How many chips somebody bets who may do this, and has so many."""
    return chips if isinstance(chips, int) else AMOUNTS[chips](legal, stack)


def random_step(luck: Random, legal: Legal, stack: int, players: int) -> WalkStep:
    """A step at random, where so many sit and one of them may do this and has so many chips."""
    chance = luck.random()
    looks = luck.random() < LOOK_PROBABILITY
    if chance < 0.08 and players > 1:
        action, chips = luck.choice(OUT_OF_TURN)
        return WalkStep("act", luck.randrange(1, players), action, chips, is_followed_by_look=looks)
    if chance < 0.12:
        return WalkStep("garbage", body=luck.choice(MALFORMED_ACTS))
    if chance < 0.15 and players > 2:
        return WalkStep("leave", luck.randrange(players))
    if chance < 0.22:
        return WalkStep("act", chips=_random_invalid_amount(luck, legal, stack), is_followed_by_look=looks)
    return _random_valid_act(luck, legal)._replace(is_followed_by_look=looks)


def _random_valid_act(luck: Random, legal: Legal) -> WalkStep:
    """A valid act; the hand goes on more often than not."""
    chance = luck.random()
    if legal.raise_range is not None and chance < 0.30:
        low, high = legal.raise_range
        some = min(high, luck.randint(low, min(high, 40 * low)))
        return WalkStep("act", chips=luck.choice(("smallest raise", "smallest raise", "pot", some, "everything")))
    return WalkStep("act", action=ACTION_FOLD) if chance > 0.90 else WalkStep("act", chips="call")


def _random_invalid_amount(luck: Random, legal: Legal, stack: int) -> Amount:
    """An invalid bet, of any kind that there is now."""
    found: list[Amount] = [-1, -20, "more than everything", 10**30]
    if 0 < legal.to_call <= stack:
        found += ["less than the call"] * 2
    if 1 < legal.to_call <= stack:
        found += [0, 1]
    if legal.raise_range is not None and legal.raise_range[0] < stack and legal.raise_range[0] - 1 > legal.call:
        found += ["less than a raise", "more than the call"] * 2
    if legal.raise_range is None and stack > legal.to_call:
        found += ["more than the call", "everything"] * 3
    return luck.choice([chips for chips in found if resolve_amount(chips, legal, stack) not in legal])
