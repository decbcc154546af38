"""A server, or a machine, that is slow is no server that breaks a rule."""

import asyncio
from functools import partial

import pytest

from croupier.conformance.case import Case, select
from croupier.conformance.holdem import check_server, context, server
from croupier.conformance.holdem.cases import HoldemServerCase
from croupier.conformance.holdem.context import NOBODY, HoldemContext
from croupier.conformance.results import Outcome, Result
from tests.conformance.holdem.faulty_programs import Rogue
from tests.conformance.holdem.test_server import ALL, check

FAST = 0.1
CASES = [case for name in ("what-everybody-brings", "whose-cards-are-shown") for case in ALL if case.id.endswith(name)]


def slow(first: int, last: int, seconds: float) -> Rogue:
    """A server that takes its time for some of its answers."""
    return Rogue(frozenset(), delay=lambda number: seconds if first <= number <= last else 0.0)


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tester waits a tenth of a second for an answer, half a second for the last time, and half a tenth in vain."""
    monkeypatch.setattr(server, "FIRST_ANSWER_TIMEOUT_SECONDS", FAST)
    monkeypatch.setattr(server, "ANSWER_TIMEOUT_SECONDS", FAST)
    monkeypatch.setattr(server, "LAST_ANSWER_TIMEOUT_SECONDS", 5 * FAST)
    monkeypatch.setattr(server, "SILENT_SERVER_TIMEOUT_SECONDS", FAST / 2)


@pytest.mark.parametrize("at", [1, 4, 12, 16], ids=lambda at: f"answer {at}")
def test_one_answer_that_comes_late_is_no_failure(at: int) -> None:
    results = check(CASES, rogue=slow(at, at, 3 * FAST))
    assert {result.outcome for result in results} == {Outcome.PASS}


def test_a_server_that_is_only_slow_to_begin_is_tried_again() -> None:
    told: list[Result] = []
    results = check(CASES[:1], rogue=slow(1, 2, 3 * FAST), on_result=told.append)
    assert [result.outcome for result in told] == [Outcome.FAIL, Outcome.PASS]
    assert [result.outcome for result in results] == [Outcome.PASS]


def test_a_server_that_is_always_slow_is_waited_for() -> None:
    results = check(CASES[:1], rogue=slow(1, 1000, 1.5 * FAST))
    assert {result.outcome for result in results} == {Outcome.PASS}


def test_a_server_that_falls_silent_is_found_all_the_same() -> None:
    results = check(CASES, rogue=slow(14, 1000, 20 * FAST))
    assert {result.failure.clause for result in results if result.failure} == {"holdem-1.8"}
    assert all("within 0.5 s" in result.failure.actual for result in results if result.failure)


async def dawdles(here: HoldemContext, seconds: float) -> None:
    """Let a turn pass, and find something wrong behind that."""
    game = await here.seat("ann", "bob")
    await asyncio.sleep(seconds)
    await here.get_game(NOBODY, game)
    here.add_deviation("holdem-5.10", "the turn of ann", "that of bob", Outcome.FAIL)


def dawdled(seconds: float) -> Result:
    """What comes of a visit that takes so long between two requests."""
    case = HoldemServerCase(
        id="holdem/5.10/dawdling",
        title="A turn may pass",
        clause="holdem-5.10",
        play=partial(dawdles, seconds=seconds),
        clauses=("holdem-5.10",),
    )
    (result,) = check([case])
    return result


def test_what_shows_behind_a_turn_that_may_be_over_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    assert dawdled(0.0).outcome is Outcome.FAIL
    monkeypatch.setattr(context, "MAX_TURN_FRACTION", 0.001)  # of 15 s
    late = dawdled(0.05)
    assert late.outcome is Outcome.SKIP
    assert late.note == "its answers take so long that turns may have ended by themselves"


def test_a_server_that_never_says_a_word_is_not_waited_for_again_and_again() -> None:
    async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def main(cases: tuple[Case, ...]) -> tuple[Result, ...]:
        async with await asyncio.start_server(deaf, "127.0.0.1", 0) as found:
            host, port = found.sockets[0].getsockname()[:2]
            return await check_server(None, host, port, cases=cases)

    results = asyncio.run(main(select(ALL, "holdem/2.6") + select(ALL, "holdem/2.7")))
    told = [result.failure.actual for result in results if result.failure]
    assert len(told) == len(results)
    assert "within 0.1 s" in told[0]
    assert all("within 0.05 s" in found for found in told[1:])
