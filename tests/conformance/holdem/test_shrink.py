"""Shrinking of walks, and excerpts of at most six lines."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.holdem.deviations import Deviation
from croupier.conformance.holdem.shrink import MAX_SHOWN_LINES, DeviationTrace, excerpt, shrink
from croupier.conformance.holdem.steps import WalkStep
from croupier.conformance.results import Outcome
from croupier.core.referee import CLIENT, HOUSE

LOW, HIGH, BAD = (WalkStep("act", chips=chips) for chips in (20, 40, 41))


def trace(players: int, steps: Sequence[WalkStep], clause: str = "holdem-4.11") -> DeviationTrace:
    lines = [
        line
        for step in steps
        for line in (request_line(f"POST /games/g/players/p/acts/ {step.chips}"), response_line("201"))
    ]
    return DeviationTrace(
        Deviation(clause, Outcome.FAIL, "a fold", "a raise", line_count=len(lines)), lines, players, steps
    )


def request_line(text: str) -> DialogueLine:
    return DialogueLine(CLIENT, text.encode(), text, 0.0)


def response_line(text: str) -> DialogueLine:
    return DialogueLine(HOUSE, text.encode(), text, 0.0)


def shrunk(
    original: DeviationTrace, shows: Sequence[WalkStep], players: int = 2, seconds: float = 5.0
) -> DeviationTrace:
    """Shrink a walk whose fault shows if these steps occur in this order among enough players."""

    async def rerun(player_count: int, steps: Sequence[WalkStep]) -> Sequence[DeviationTrace]:
        remaining = iter(steps)
        reproduces = player_count >= players and all(step in remaining for step in shows)
        return (
            [trace(player_count, steps, "holdem-5.9"), trace(player_count, steps)]
            if reproduces
            else [trace(player_count, steps, "holdem-5.9")]
        )

    return asyncio.run(shrink(original, rerun, seconds))


def test_only_necessary_steps_are_kept() -> None:
    original = trace(4, [LOW] * 9 + [HIGH] + [LOW] * 7 + [BAD])
    best = shrunk(original, [HIGH, BAD])
    assert [*best.steps] == [HIGH, BAD]
    assert best.players == 2


def test_three_players_are_kept_if_needed() -> None:
    best = shrunk(trace(6, [LOW] * 12 + [BAD]), [BAD], players=3)
    assert ([*best.steps], best.players) == ([BAD], 3)


def test_all_steps_are_dropped_if_unneeded() -> None:
    assert len(shrunk(trace(3, [LOW] * 20), []).steps) == 0


def test_unreproducible_trace_is_unchanged() -> None:
    original = trace(3, [LOW] * 5)
    assert shrunk(original, [BAD]) is original


def test_time_limit() -> None:
    original = trace(3, [LOW] * 5 + [BAD])

    async def never(player_count: int, steps: Sequence[WalkStep]) -> Sequence[DeviationTrace]:
        await asyncio.Event().wait()
        return []

    assert asyncio.run(shrink(original, never, 0.01)) is original


@given(st.lists(st.sampled_from([LOW, HIGH, BAD]), max_size=20), st.integers(2, 6))
def test_result_is_shorter_and_shows_the_same(steps: list[WalkStep], players: int) -> None:
    original = trace(players, [*steps, BAD])
    best = shrunk(original, [BAD])
    assert len(best.steps) <= len(original.steps)
    assert best.deviation.clause == "holdem-4.11"
    assert BAD in best.steps


WORDS = st.sampled_from(
    ["POST /users/", "POST /games/", "POST /games/g/players/", "GET /games/g", "POST /games/g/players/p/acts/"]
)


@given(st.lists(st.tuples(WORDS, st.sampled_from(["200 a", "200 b", "201", ""])), min_size=1, max_size=15))
def test_excerpt_has_six_lines_and_ends_with_the_last(pairs: list[tuple[str, str]]) -> None:
    lines = [
        line
        for word, answer in pairs
        for line in ([request_line(word), response_line(answer)] if answer else [request_line(word)])
    ]
    found = excerpt(lines)
    assert 0 < len(found) <= MAX_SHOWN_LINES
    assert found[-1] is lines[-1]


@pytest.mark.parametrize("looks", [1, 3])
def test_excerpt_prefers_acts_to_reads(looks: int) -> None:
    act, look = "POST /games/g/players/p/acts/", "GET /games/g"
    words = [act, *[look] * looks, act, *[look] * looks]
    lines = [line for number, word in enumerate(words) for line in (request_line(word), response_line(f"200 {number}"))]
    assert [line.message for line in excerpt(lines)[::2]] == [act, act, look]
