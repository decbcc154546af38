"""The steps of walks, described relative to the hand so that they can be replayed in another one."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Final, Literal, NamedTuple

from croupier.rooms.holdem.engine.legal import Legal
from croupier.rooms.holdem.wire import ACTION_BET, ACTION_FOLD

type Amount = str | int
"""An amount of chips: a number, or a key of AMOUNTS."""

AMOUNTS: Final[Mapping[str, Callable[[Legal, int], int]]] = {
    "call": lambda legal, _: legal.call,
    "smallest raise": lambda legal, _: legal.raise_range[0] if legal.raise_range else legal.call,
    "pot": lambda legal, _: legal.pot_sized() or (legal.raise_range[0] if legal.raise_range else legal.call),
    "everything": lambda _, stack: stack,
    "odd raise": lambda legal, _: (
        min(legal.raise_range[0] + 1 - legal.raise_range[0] % 2, legal.raise_range[1])
        if legal.raise_range
        else legal.call
    ),
    "more than everything": lambda _, stack: stack + 1,
    "less than the call": lambda legal, _: legal.to_call - 1,
    "more than the call": lambda legal, _: legal.to_call + 1,
    "less than a raise": lambda legal, _: legal.raise_range[0] - 1 if legal.raise_range else legal.to_call + 1,
}
"""Computes a named amount from the legal moves and the player's stack."""

OUT_OF_TURN: Final = ((ACTION_FOLD, 0), (ACTION_BET, 0), (ACTION_BET, 20), (ACTION_BET, 10_000), (ACTION_BET, -1))
"""Acts that are sent out of turn."""

MALFORMED_ACTS: Final = (
    b"",
    b"{",
    b"[]",
    b"fold",
    b'{"action": 7}',
    b'{"betAmount": 20}',
    b'{"action": 1}',
    b'{"action": 1, "betAmount": "20"}',
    b'{"action": 1, "betAmount": 20.5}',
    b'{"action": "1", "betAmount": 20}',
)
"""Malformed bodies of acts."""

LOOK_PROBABILITY: Final = 0.3
"""The probability that a player reads their own cards after an act."""


ALL_IN_PROBABILITY: Final = 0.01
RAISE_PROBABILITY: Final = 0.7
"""How often players go all-in and raise on the way to showdowns."""


class WalkStep(NamedTuple):
    """One step of a walk. `seat_offset` counts seats from the player to act, who is 0.

    "seat" is the first step of a walk that is replayed: the number of players is its `seat_offset`. An "act" has an
    `action` and an amount, "garbage" has a malformed `body`. With `is_followed_by_look` the player
    reads the game as themselves afterwards.
    """

    kind: Literal["seat", "act", "garbage", "leave"]
    seat_offset: int = 0
    action: int = ACTION_BET
    chips: Amount = 0
    body: bytes = b""
    is_followed_by_look: bool = False


type StepChoice = Callable[[Random, Legal, int, int], WalkStep]
"""Chooses a step from the legal moves and the stack of the player to act, and the number of players."""


def resolve_amount(chips: Amount, legal: Legal, stack: int) -> int:
    """Return the chips of an amount, for these legal moves and this stack."""
    return chips if isinstance(chips, int) else AMOUNTS[chips](legal, stack)


def random_step(rng: Random, legal: Legal, stack: int, players: int) -> WalkStep:
    """Return a random step; `players` is the number of seated players."""
    chance = rng.random()
    looks_after = rng.random() < LOOK_PROBABILITY
    if chance < 0.08 and players > 1:
        action, chips = rng.choice(OUT_OF_TURN)
        return WalkStep("act", rng.randrange(1, players), action, chips, is_followed_by_look=looks_after)
    if chance < 0.12:
        return WalkStep("garbage", body=rng.choice(MALFORMED_ACTS))
    if chance < 0.15 and players > 2:
        return WalkStep("leave", rng.randrange(players))
    if chance < 0.22:
        return WalkStep("act", chips=_random_invalid_amount(rng, legal, stack), is_followed_by_look=looks_after)
    return _random_valid_act(rng, legal)._replace(is_followed_by_look=looks_after)


def showdown_step(rng: Random, legal: Legal, stack: int, players: int) -> WalkStep:  # noqa: ARG001 -- as random_step
    """Return a step towards a showdown of all players: one raises by an odd number of chips, the others call.

    An odd amount to call has been raised already: another odd raise would make the bets even again.
    """
    chance = rng.random()
    if _may_be_folded(legal):
        return WalkStep("act", chips="call")
    if chance < ALL_IN_PROBABILITY:
        return WalkStep("act", chips="everything")
    is_unraised = legal.to_call > 0 and legal.to_call % 2 == 0
    return WalkStep("act", chips="odd raise" if is_unraised and chance > 1 - RAISE_PROBABILITY else "call")


def _random_valid_act(rng: Random, legal: Legal) -> WalkStep:
    """Return a random valid act that continues the hand more often than not."""
    chance = rng.random()
    if legal.raise_range is not None and chance < 0.30 and not _may_be_folded(legal):
        low, high = legal.raise_range
        chips = min(high, rng.randint(low, min(high, 40 * low)))
        return WalkStep("act", chips=rng.choice(("smallest raise", "smallest raise", "pot", chips, "everything")))
    return WalkStep("act", action=ACTION_FOLD) if chance > 0.90 else WalkStep("act", chips="call")


def _may_be_folded(legal: Legal) -> bool:
    """Whether a server may fold a bet of more than the call, as nobody can answer it (P28).

    Where the player faces as much as a full raise, the betting has been reopened, and every full raise is valid.
    """
    if legal.can_be_answered or legal.raise_range is None:
        return False
    low, high = legal.raise_range
    return low == high or legal.to_call < low - legal.to_call


def _random_invalid_amount(rng: Random, legal: Legal, stack: int) -> Amount:
    """Return a random invalid bet of a kind that exists in this situation."""
    amounts: list[Amount] = [-1, -20, "more than everything", 10**30]
    if 0 < legal.to_call <= stack:
        amounts += ["less than the call"] * 2
    if 1 < legal.to_call <= stack:
        amounts += [0, 1]
    if not legal.can_be_answered:
        pass  # a raise of any size may count as a call (P28)
    elif legal.raise_range is None and stack > legal.to_call:
        amounts += ["more than the call", "everything"] * 3
    elif legal.raise_range is not None and legal.call < legal.raise_range[0] - 1 < stack - 1:
        amounts += ["less than a raise", "more than the call"] * 2
    return rng.choice([chips for chips in amounts if resolve_amount(chips, legal, stack) not in legal])
