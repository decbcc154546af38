"""Experiments with bots that fail: what in the last Game they cannot take, and whether the responses' form matters."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from croupier.conformance.channel.json_values import json_object
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.holdem.delivery import (
    DEFAULT_DELIVERY,
    cut_expiry,
    fill_board,
    fill_hole,
    game_transform,
    hide_turn,
    merge_pots,
    strip_quotes,
    unchanged,
    write_in_array,
)
from croupier.conformance.holdem.setups import HoldemClientCase
from croupier.conformance.results import Outcome
from croupier.conformance.suite import Attempt
from croupier.http.wire import ReceivedResponse

type Trial = Callable[[HoldemClientCase], Awaitable[Attempt]]
"""Runs the bot with a case."""

MIN_RUNS: Final = 2
"""How often the bot has to go on without what it cannot take, and to crash with it."""

MAX_RUNS: Final = 8
"""How often the bot may play until it has crashed that often: not each run deals what it cannot take."""


class Feature(NamedTuple):
    """Something in a Game that a bot may not be able to take: the clause about it, and bodies that do not have it."""

    clause: str
    cause: str
    is_in: Callable[[Mapping[str, Any]], bool]
    leave_out: Callable[[bytes], bytes]


FEATURES: Final = (
    Feature(
        "holdem-5.15",
        "it ends when it reads a Game with a side pot",
        lambda game: len(game["pots"]) > 1,
        game_transform(merge_pots),
    ),
    Feature(
        "holdem-4.13",
        "it ends when it is another player's turn while it waits for the next hand itself",
        lambda game: bool(game["turn"]["playerID"]) and not game["cards"]["hole"],
        game_transform(hide_turn),
    ),
    Feature(
        "holdem-5.5",
        "it ends when it reads a Game with null for the cards to come",
        lambda game: None in game["cards"].values(),
        game_transform(fill_board),
    ),
    Feature(
        "holdem-5.11",
        "it ends when it reads an expiry with decimals",
        lambda game: "." in str(game["turn"]["expiry"]),
        game_transform(cut_expiry),
    ),
    Feature(
        "holdem-5.6",
        "it ends when it reads a Game without its own cards, as before the deal, or without its credentials",
        lambda game: not game["cards"]["hole"],
        game_transform(fill_hole),
    ),
    Feature(
        "holdem-5.2",
        "it takes the answer to GET /games/:gameID for an array, as the document's example shows it",
        lambda _: True,
        game_transform(unchanged, write_in_array),
    ),
    Feature(
        "holdem-3.5",
        "it takes the quotes around the GUID of a player for a part of it",
        lambda _: True,
        strip_quotes,
    ),
)
"""What is looked for, the rarest first."""


async def explain_crash(case: HoldemClientCase, attempt: Attempt, run: Trial) -> Attempt:
    """Return a crash on the clause of what the bot cannot take; the attempt itself if no experiment shows it."""
    game = _last_game(attempt)
    if attempt.failure is None or game is None or not attempt.is_close or case.setup.transform_body is not None:
        return attempt
    for clause, text, is_in, leave_out in FEATURES:
        if is_in(game):
            without = replace(case, setup=replace(case.setup, transform_body=leave_out))
            if await _never_crashes(run, without) and await _crashes_with(is_in, run, case):
                return attempt.blamed(clause, Cause(text, clause=clause))
    return attempt


async def explain_variation(case: HoldemClientCase, attempt: Attempt, run: Trial) -> Attempt:
    """Return a failure on the clause of the case, if it is about responses of another form and passes without them."""
    failure, setup = attempt.failure, case.setup
    usual = replace(setup, delivery=DEFAULT_DELIVERY, transform_body=None)
    if failure is None or failure.clause == case.clause or usual == setup or failure.cause is not None:
        return attempt
    if (await run(replace(case, setup=usual))).outcome is not Outcome.PASS:
        return attempt
    return attempt.blamed(case.clause, None)


async def _never_crashes(run: Trial, case: HoldemClientCase) -> bool:
    """Whether the bot goes on in each of MIN_RUNS runs."""
    for _ in range(MIN_RUNS):
        if (await run(case)).is_close:
            return False
    return True


async def _crashes_with(is_in: Callable[[Mapping[str, Any]], bool], run: Trial, case: HoldemClientCase) -> bool:
    """Whether the bot crashes again MIN_RUNS times, and only when it has read a Game that the predicate is true for."""
    crashes = 0
    for _ in range(MAX_RUNS):
        attempt = await run(case)
        if attempt.is_close:
            game = _last_game(attempt)
            if game is None or not is_in(game):
                return False
            crashes += 1
        if crashes == MIN_RUNS:
            return True
    return False


def _last_game(attempt: Attempt) -> Mapping[str, Any] | None:
    """The Game in the last response of a dialogue, None if there is none."""
    messages = [line.message for line in attempt.dialogue if isinstance(line.message, ReceivedResponse)]
    shown = json_object(messages[-1].body) if messages else {}
    return shown if {"pots", "cards", "turn"} <= shown.keys() else None
