"""Servers under test: ours passes everything, and what cannot be tested is told."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from croupier.conformance.case import Case, select
from croupier.conformance.holdem import check_server, server_cases
from croupier.conformance.program import free_port
from croupier.conformance.results import Outcome, Result
from tests.conformance.holdem.faulty_programs import ROGUES, Reply, Rogue, of_players, of_turn, opened

ALL = server_cases()
QUICK = [case for case in ALL if not case.wait_seconds]
OURS = Rogue(frozenset())


def check(
    cases: Sequence[Case], *, rogue: Rogue = OURS, dialect: str = "readme", seed: int = 1, **more: Any
) -> tuple[Result, ...]:
    settings = {name: more.pop(name) for name in ("turn_seconds", "pause_seconds") if name in more}

    async def main() -> tuple[Result, ...]:
        async with opened(rogue, seed, dialect, **settings) as found:
            options = SimpleNamespace(dialect=dialect)
            return await check_server(None, *found.address, cases=cases, options=options, seed=seed, **more)

    return asyncio.run(main())


def wrong(results: Sequence[Result]) -> list[Result]:
    return [result for result in results if result.outcome not in {Outcome.PASS, Outcome.SKIP}]


@pytest.mark.parametrize("dialect", ["readme", "hspe-go"])
def test_our_own_server_passes(dialect: str) -> None:
    told: list[Result] = []
    results = check(QUICK, dialect=dialect, on_result=told.append)
    assert wrong(results) == []
    assert [result.case for result in results] == [case.id for case in QUICK]
    assert {result.case for result in told} == {result.case for result in results}
    skipped = [result for result in results if result.outcome is Outcome.SKIP and "dialect" not in result.note]
    assert {result.case for result in skipped} <= {"holdem/6.15/played"}


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["readme", "hspe-go"])
@pytest.mark.parametrize("seed", range(2, 40))
def test_our_own_server_passes_with_any_luck(seed: int, dialect: str) -> None:
    assert wrong(check(QUICK, dialect=dialect, seed=seed)) == []


def test_our_own_server_passes_when_it_pauses_between_hands() -> None:
    cases = [case for case in QUICK if case.is_from_walks]
    results = wrong(check(cases, pause_seconds=0.02))
    assert results == []


def test_who_lets_his_time_pass_is_removed() -> None:
    (result,) = check(select(ALL, "holdem/4.16/out-of-time"), turn_seconds=0.2)
    assert result.outcome is Outcome.PASS


def test_a_server_that_never_ends_a_turn_is_found() -> None:
    def expires(turn: Any) -> Any:
        return {**turn, "expiry": "1970-01-01T00:00:00.000Z"}

    rogue = Rogue(frozenset({"holdem-4.16"}), of_turn(expires))
    (result,) = check(select(ALL, "holdem/4.16/out-of-time"), rogue=rogue)
    assert result.failure is not None
    assert result.failure.clause == "holdem-4.16"


def test_a_turn_that_takes_longer_than_the_timeout_is_skipped() -> None:
    (result,) = check(select(ALL, "holdem/4.16/out-of-time"), timeout=2.0)
    assert result.outcome is Outcome.SKIP
    assert "--timeout is 2 s" in result.note


def test_a_turn_of_another_length_is_a_choice() -> None:
    (result,) = check(select(ALL, "holdem/4.15/the-limit-of-a-turn"), turn_seconds=60.0)
    assert result.outcome is Outcome.CHOICE
    assert "found one of 60" in result.note


def test_nobody_there_is_told_at_once() -> None:
    async def main() -> None:
        await check_server(None, "127.0.0.1", await free_port(), cases=QUICK)

    with pytest.raises(ConnectionError, match="found nobody at"):
        asyncio.run(main())


def test_the_run_ends_after_so_many_failures() -> None:
    results = check(QUICK, rogue=ROGUES["no-json"], max_failures=2)
    assert sum(result.outcome is Outcome.FAIL for result in results) == 2
    assert len(results) < len(QUICK)


def test_a_server_that_never_answers_is_found_soon() -> None:
    async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def main() -> tuple[Result, ...]:
        async with await asyncio.start_server(deaf, "127.0.0.1", 0) as server:
            host, port = server.sockets[0].getsockname()[:2]
            return await check_server(None, host, port, cases=select(ALL, "holdem/1"), timeout=0.2)

    results = asyncio.run(main())
    assert Counter(result.outcome for result in results)[Outcome.FAIL] >= 10
    assert {result.failure.clause for result in results if result.failure} == {"holdem-1.8"}


def test_what_is_tolerated_fails_when_the_run_is_strict() -> None:

    slip = Rogue(
        frozenset(),
        of_players(lambda one: {key.replace("small_blind", "small blind"): value for key, value in one.items()}),
    )
    cases = select(ALL, "holdem/5.7/the-small-blind-has-left")
    (result,) = check(cases, rogue=slip)
    assert result.outcome is Outcome.NON_STRICT
    (result,) = check(cases, rogue=slip, strict=True)
    assert result.failure is not None
    assert result.failure.cause == "it has copied the slip of the document's example"


def foreign(reply: Reply) -> Reply:
    """Everything that the document leaves open, as we do not have it."""
    headers = {name: value for name, value in reply.headers.items() if name in {"date", "content-length"}}
    status = {405: 404, 409: 403, 413: 400}.get(reply.status, reply.status)
    if status >= 400:
        return reply._replace(status=status, headers=headers, body=b"no\n")
    found = reply.json
    games = found if isinstance(found, list) else [found]
    for game in games:
        if isinstance(game, dict) and "turn" in game:
            game["round"] = 1
            game["turn"] = (game["turn"]["playerID"] and game["turn"]) or None
            if game["turn"]:
                when = datetime.fromisoformat(game["turn"]["expiry"])
                game["turn"]["expiry"] = f"{when:%Y-%m-%d %H:%M:%S} +0000 UTC"
            game["cards"]["hole"] = game["cards"]["hole"] or None
    return (reply if found is None else reply.told(found))._replace(status=status, headers=headers)


def test_a_server_that_differs_in_what_the_document_leaves_open_does_not_fail() -> None:
    results = check(QUICK, rogue=Rogue(frozenset(), foreign, hasnt="POST games"))
    assert [result for result in results if not result.is_good] == []
    counts = Counter(result.outcome for result in results)
    assert counts[Outcome.CHOICE] >= 10
    assert counts[Outcome.PASS] >= 100


def test_a_server_on_which_no_games_can_be_made_is_tested_all_the_same() -> None:

    results = check(select(QUICK, "holdem/4"), rogue=Rogue(frozenset(), hasnt="POST games"))
    assert wrong(results) == []
    assert Counter(result.outcome for result in results)[Outcome.PASS] >= 20
