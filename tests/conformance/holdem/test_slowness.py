"""Slow servers, and stalls of the tester, do not count as failures."""

import asyncio
from contextlib import suppress
from functools import partial
from uuid import uuid4

import pytest

from croupier.conformance import timeouts
from croupier.conformance.case import Case, select
from croupier.conformance.diagnosis.cause import MUTE_CAUSE
from croupier.conformance.holdem import exchange, server_bench
from croupier.conformance.holdem.cases import EMPTY_GAME_RANK, HoldemServerCase
from croupier.conformance.holdem.context import HoldemContext
from croupier.conformance.holdem.endpoint import ServerUnderTest
from croupier.conformance.holdem.server_bench import CLIENTS_OF_A_CASE, MAX_LANES, HoldemServerBench
from croupier.conformance.results import Outcome, Result
from croupier.conformance.suite import Config
from croupier.core.http_transcript import NOBODY
from croupier.rooms.holdem import ROOM
from tests.conformance.holdem.faulty_programs import FaultyServer
from tests.conformance.holdem.test_server import ALL, check
from tests.conformance.suites import check_server
from tests.sampling import extended

FAST = 0.1
CASES = [case for name in ("what-everybody-brings", "whose-cards-are-shown") for case in ALL if case.id.endswith(name)]


def slow(first: int, last: int, seconds: float) -> FaultyServer:
    """Return a server that delays some of its responses."""
    return FaultyServer(frozenset(), delay=lambda number: seconds if first <= number <= last else 0.0)


@pytest.fixture(autouse=True)
def short_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the timeouts of the tester."""
    monkeypatch.setattr(timeouts, "FIRST_ANSWER_SECONDS", FAST)
    monkeypatch.setattr(timeouts, "MUTE_SECONDS", FAST / 2)


@pytest.mark.parametrize("at", extended([1, 4, 16, 12], 2), ids=lambda at: f"answer {at}")
def test_one_answer_that_comes_late_is_no_failure(at: int) -> None:
    results = check(CASES, faulty=slow(at, at, 3 * FAST))
    assert {result.outcome for result in results} == {Outcome.PASS}


def test_a_server_that_is_only_slow_to_begin_is_tried_again() -> None:
    reported: list[Result] = []
    results = check(CASES[:1], faulty=slow(1, 2, 3 * FAST), on_result=reported.append)
    assert [result.outcome for result in reported] == [Outcome.PASS]
    assert [result.outcome for result in results] == [Outcome.PASS]


@pytest.mark.extended
def test_a_server_that_is_always_slow_is_waited_for() -> None:
    results = check(CASES[:1], faulty=slow(1, 1000, 1.5 * FAST))
    assert {result.outcome for result in results} == {Outcome.PASS}


def test_a_server_that_falls_silent_is_found_all_the_same() -> None:
    results = check(CASES, faulty=slow(14, 1000, 20 * FAST), timeout=5 * FAST)
    assert {result.failure.clause for result in results if result.failure} == {"holdem-1.8"}


@pytest.mark.parametrize(
    ("answer_seconds", "max_clients", "opens_games", "expected"),
    [
        (0.5, 1000, True, MAX_LANES),
        (0.5, 2 * CLIENTS_OF_A_CASE, True, 2),
        (0.5, 1, True, 1),
        (0.5, 1000, False, 1),
        (0.001, 1000, True, 1),
    ],
    ids=["slow", "of few clients", "of one client", "of one game", "fast"],
)
def test_cases_run_at_once_at_a_slow_server_of_many_clients(
    monkeypatch: pytest.MonkeyPatch, answer_seconds: float, max_clients: int, opens_games: bool, expected: int
) -> None:
    async def serves(_: ServerUnderTest, clients: int) -> bool:
        return clients <= max_clients

    async def learn(server: ServerUnderTest) -> None:
        server.can_open_games = opens_games

    async def play(context: HoldemContext) -> None:
        context.server.answer_timeout.record_answer(answer_seconds)

    async def count_lanes() -> tuple[int, int]:
        bench = HoldemServerBench(Config())
        async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0) as listening:
            await bench.open(listening.sockets[0].getsockname()[:2])
        case = HoldemServerCase(clause="holdem-5.10", slug="nothing", title="", play=play)
        before = bench.lanes
        for number in range(2):
            await bench.attempt(case, number)
        return before, bench.lanes

    monkeypatch.setattr(ServerUnderTest, "serves", serves)
    monkeypatch.setattr(server_bench, "learn_settings", learn)
    assert asyncio.run(count_lanes()) == (1, expected)


def test_cases_with_games_of_their_own_may_run_together() -> None:
    alone = {case.id for case in ALL if case.runs_alone}
    assert "holdem/9.2/an-unchanged-list" in alone
    assert {case.id for case in ALL if case.rank <= EMPTY_GAME_RANK} <= alone
    assert "holdem/4.7/an-invalid-bet-does-not-end-the-game" not in alone


async def record_after_delay(case_context: HoldemContext, seconds: float) -> None:
    """Let time pass and record a deviation afterwards."""
    game = await case_context.seat("ann", "bob")
    await asyncio.sleep(seconds)
    await case_context.get_game(NOBODY, game)
    case_context.add_deviation("holdem-5.10", "the turn of ann", "that of bob", Outcome.FAIL)


def delayed_result(seconds: float) -> Result:
    """Run a case that lets this time pass between two requests."""
    case = HoldemServerCase(
        clause="holdem-5.10",
        slug="dawdling",
        title="A turn may pass",
        play=partial(record_after_delay, seconds=seconds),
    )
    (result,) = check([case])
    return result


def test_deviation_after_a_possibly_expired_turn_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    assert delayed_result(0.0).outcome is Outcome.FAIL
    monkeypatch.setattr(exchange, "MAX_TURN_FRACTION", 0.001)  # of 15 s
    result = delayed_result(0.05)
    assert result.outcome is Outcome.SKIP
    assert result.note == "its responses take so long that turns may have expired"


def test_silent_server_gets_short_timeouts() -> None:
    async def never_answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def main(cases: tuple[Case, ...]) -> tuple[Result, ...]:
        async with await asyncio.start_server(never_answers, "127.0.0.1", 0) as found:
            host, port = found.sockets[0].getsockname()[:2]
            return await check_server(ROOM, host, port, cases=cases, timeout=5 * FAST)

    results = asyncio.run(main(select(ALL, "holdem/2.6") + select(ALL, "holdem/2.7")))
    failures = [result.failure for result in results if result.failure]
    assert len(failures) == len(results)
    # On a busy machine, a connection may take too long as well.
    silences = [failure for failure in failures if "nobody takes a connection" not in failure.actual]
    assert "within 0.5 s" in silences[0].actual
    assert not [failure.actual for failure in silences[1:] if "within 0.05 s" not in failure.actual]
    assert {failure.cause for failure in silences} == {MUTE_CAUSE}


def test_a_server_of_one_connection_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_bench, "MIN_SERIAL_SECONDS", FAST)
    turn = asyncio.Lock()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with turn:
            with suppress(asyncio.IncompleteReadError):
                while request := await reader.readuntil(b"\r\n\r\n"):
                    is_user = request.startswith(b"POST /users/")
                    body = b'"%s"' % str(uuid4()).encode() if is_user else b"[]"
                    head = b"HTTP/1.1 %d OK\r\nContent-Type: application/json\r\n" % (201 if is_user else 200)
                    writer.write(head + b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        writer.close()

    async def main() -> tuple[Result, ...]:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as found:
            host, port = found.sockets[0].getsockname()[:2]
            cases = select(ALL, "holdem/2.1/the-scheme-in-any-case")
            return await check_server(ROOM, host, port, cases=cases, timeout=5 * FAST)

    (result,) = asyncio.run(main())
    assert result.failure is not None
    assert (result.failure.clause, result.failure.cause) == ("holdem-1.8", server_bench.SERIAL)
