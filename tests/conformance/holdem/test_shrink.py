"""A walk is made shorter as long as it still shows the same, and told in six lines at most."""

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
    lines = [line for step in steps for line in (said(f"POST /games/g/players/p/acts/ {step.chips}"), heard("201"))]
    return DeviationTrace(
        Deviation(clause, Outcome.FAIL, "a fold", "a raise", line_count=len(lines)), lines, players, steps
    )


def said(text: str) -> DialogueLine:
    return DialogueLine(CLIENT, text.encode(), text, 0.0)


def heard(text: str) -> DialogueLine:
    return DialogueLine(HOUSE, text.encode(), text, 0.0)


def shortened(
    long: DeviationTrace, shows: Sequence[WalkStep], players: int = 2, seconds: float = 5.0
) -> DeviationTrace:
    """The walk made shorter, where these steps in this order show the fault among so many."""

    async def again(many: int, steps: Sequence[WalkStep]) -> Sequence[DeviationTrace]:
        left = iter(steps)
        right = many >= players and all(step in left for step in shows)
        return [trace(many, steps, "holdem-5.9"), trace(many, steps)] if right else [trace(many, steps, "holdem-5.9")]

    return asyncio.run(shrink(long, again, seconds))


def test_only_what_shows_it_is_left() -> None:
    long = trace(4, [LOW] * 9 + [HIGH] + [LOW] * 7 + [BAD])
    best = shortened(long, [HIGH, BAD])
    assert [*best.steps] == [HIGH, BAD]
    assert best.players == 2


def test_it_may_take_three_to_show_it() -> None:
    best = shortened(trace(6, [LOW] * 12 + [BAD]), [BAD], players=3)
    assert ([*best.steps], best.players) == ([BAD], 3)


def test_what_shows_without_any_step_is_told_without_any() -> None:
    assert len(shortened(trace(3, [LOW] * 20), []).steps) == 0


def test_what_does_not_show_again_is_told_as_it_was() -> None:
    long = trace(3, [LOW] * 5)
    assert shortened(long, [BAD]) is long


def test_it_takes_no_longer_than_it_may() -> None:
    long = trace(3, [LOW] * 5 + [BAD])

    async def never(many: int, steps: Sequence[WalkStep]) -> Sequence[DeviationTrace]:
        await asyncio.Event().wait()
        return []

    assert asyncio.run(shrink(long, never, 0.01)) is long


@given(st.lists(st.sampled_from([LOW, HIGH, BAD]), max_size=20), st.integers(2, 6))
def test_it_is_never_longer_and_shows_the_same(steps: list[WalkStep], players: int) -> None:
    long = trace(players, [*steps, BAD])
    best = shortened(long, [BAD])
    assert len(best.steps) <= len(long.steps)
    assert best.deviation.clause == "holdem-4.11"
    assert BAD in best.steps


WORDS = st.sampled_from(
    ["POST /users/", "POST /games/", "POST /games/g/players/", "GET /games/g", "POST /games/g/players/p/acts/"]
)


@given(st.lists(st.tuples(WORDS, st.sampled_from(["200 a", "200 b", "201", ""])), min_size=1, max_size=15))
def test_six_lines_at_most_are_told_and_the_last_is_where_it_shows(pairs: list[tuple[str, str]]) -> None:
    lines = [line for word, answer in pairs for line in ([said(word), heard(answer)] if answer else [said(word)])]
    found = excerpt(lines)
    assert 0 < len(found) <= MAX_SHOWN_LINES
    assert found[-1] is lines[-1]


@pytest.mark.parametrize("looks", [1, 3])
def test_the_acts_that_led_to_it_are_told_before_looks(looks: int) -> None:
    act, look = "POST /games/g/players/p/acts/", "GET /games/g"
    words = [act, *[look] * looks, act, *[look] * looks]
    lines = [line for number, word in enumerate(words) for line in (said(word), heard(f"200 {number}"))]
    assert [line.message for line in excerpt(lines)[::2]] == [act, act, look]
