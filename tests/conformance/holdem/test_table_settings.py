"""Servers with other seats, blinds, antes, straddles and stacks: the tester learns them, and accuses none of them."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from croupier.conformance.case import select
from croupier.conformance.holdem import learning, walks
from croupier.conformance.holdem.replay import most_players
from croupier.conformance.holdem.server_bench import HoldemServerBench
from croupier.conformance.holdem.table_settings import TableSettings
from croupier.conformance.resources import transcripts
from croupier.conformance.results import Outcome, Result
from croupier.conformance.suite import Config, TargetGone
from croupier.rooms.holdem import ROOM
from croupier.rooms.holdem.engine.stakes import Stakes
from tests.conformance.holdem.faulty_programs import FaultyServer, open_faulty_server, status
from tests.conformance.suites import run_bench, server_cases

ALL = server_cases(ROOM)
FAST_CASES = [case for case in ALL if not case.beside]
ONE_CASE = select(ALL, "holdem/6.3/the-blinds")

OTHER_SETTINGS = {"6.3/the-blinds", "3.1/what-everybody-brings", "3.6/a-full-table"}
"""The cases that tell which settings a server has, each as a choice."""


def check(
    cases: Sequence[Any], faulty: FaultyServer, dialect: str = "readme"
) -> tuple[TableSettings, Mapping[str, Result]]:
    """Run cases at a server; return what was learned about its tables, and the results by case."""

    async def main() -> tuple[TableSettings, Mapping[str, Result]]:
        async with open_faulty_server(faulty, dialect=dialect) as service:
            bench = HoldemServerBench(Config(known_options=SimpleNamespace(dialect=dialect)))
            results = await run_bench(bench, cases, service.address)
            assert bench.learned is not None
            return bench.learned, {result.case.removeprefix("holdem/"): result for result in results}

    return asyncio.run(main())


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait less for a hand that does not come."""
    monkeypatch.setattr(learning, "MAX_PAUSE_SECONDS", 0.5)


def right_server(**settings: Any) -> FaultyServer:
    return FaultyServer(frozenset(), settings=settings)


@pytest.mark.parametrize("dialect", ["readme", "hspe-go"])
@pytest.mark.parametrize(("seats", "learned"), [(2, 2), (3, 3), (5, 5), (6, 10), (9, 10), (10, 10)])
def test_the_seats_are_learned_where_cases_need_more(seats: int, learned: int, dialect: str) -> None:
    settings, _ = check(ONE_CASE, right_server(seats=seats), dialect)
    assert settings.seats == learned


@pytest.mark.parametrize(
    ("settings", "stakes", "stack"),
    [
        ({"blinds": "25/75", "stack": 1000}, Stakes(25, 75), 1000),
        ({"blinds": "0/20"}, Stakes(0, 20), 10_000),
        ({"blinds": "20/20"}, Stakes(20, 20), 10_000),
        ({"ante": 5}, Stakes(10, 20, 5), 10_000),
        ({"ante": 3, "straddle": 50, "seats": 3}, Stakes(10, 20, 3, 50), 10_000),
        ({"stack": 15}, Stakes(10, 20), 15),
        ({"stack": 100, "ante": 50}, Stakes(10, 20, 50), 100),
        ({"stack": 10}, Stakes(10, 10), 10),
    ],
    ids=str,
)
def test_the_stakes_and_the_stack_are_learned(settings: dict[str, Any], stakes: Stakes, stack: int) -> None:
    learned, results = check(ONE_CASE, right_server(**settings))
    assert (learned.stakes, learned.stack) == (stakes, stack)
    assert {result.outcome for result in results.values()} <= {Outcome.PASS, Outcome.CHOICE, Outcome.SKIP}


SERVERS: Sequence[dict[str, Any]] = (
    {"seats": 2},
    {"seats": 3},
    {"seats": 4, "ante": 5},
    {"seats": 5, "straddle": 40},
    {"seats": 6},
    {"seats": 9},
    {"blinds": "1/2", "stack": 100, "ante": 1, "straddle": 5},
    {"blinds": "0/20"},
    {"stack": 150},
)


@pytest.mark.parametrize(
    ("settings", "dialect", "part"),
    [
        ({"seats": 2}, "readme", 4),
        ({"seats": 3, "ante": 5, "straddle": 40}, "readme", 4),
        *(pytest.param(*each, 1, marks=pytest.mark.extended) for each in product(SERVERS, ("readme", "hspe-go"))),
    ],
    ids=str,
)
def test_no_settings_are_accused(
    settings: dict[str, Any], dialect: str, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walks, "WALK_SIZES", (2, 5))
    monkeypatch.setattr(walks, "SHOWDOWN_WALK_SIZES", (3,))
    cases = {case.id: case for case in [*FAST_CASES[::part], *select(FAST_CASES, "holdem/3")]}
    _, results = check([*cases.values()], right_server(**settings), dialect)
    assert [result for result in results.values() if not result.is_good] == []
    choices = {name for name, result in results.items() if result.outcome is Outcome.CHOICE}
    assert choices <= OTHER_SETTINGS
    counts = Counter(result.outcome for result in results.values() if result.applies)
    assert counts[Outcome.PASS] >= 110 / part
    assert counts[Outcome.SKIP] <= 10


@pytest.mark.parametrize("stack", [10, 15, 40])
def test_stacks_of_few_blinds_are_accused_of_nothing(stack: int) -> None:
    cases = [*select(ALL, "holdem/4")[::4], *select(ALL, "holdem/1.3"), *ONE_CASE]
    _, results = check([case for case in cases if not case.beside], right_server(stack=stack))
    assert {result.outcome for result in results.values()} == {Outcome.PASS, Outcome.SKIP}


def test_a_server_that_answers_each_late_player_as_one_who_waits_has_no_fewer_seats() -> None:
    wrong = FaultyServer(frozenset({"holdem-3.5"}), status("POST games/:/players", 201, 202))
    settings, results = check(select(ALL, "holdem/3.5"), wrong)
    assert settings.seats == 10
    assert results["3.5/joining-in-mid-hand"].outcome is Outcome.FAIL


def test_what_was_not_learned_of_a_server_that_had_gone_is_learned_when_it_runs_again() -> None:
    case = next(case for case in ALL if case.needs_luck)

    async def main() -> tuple[TableSettings | None, TableSettings | None]:
        bench = HoldemServerBench(Config())
        async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0) as listening:
            await bench.open(listening.sockets[0].getsockname()[:2])
        with pytest.raises(TargetGone):
            await bench.attempt(case, 0)
        at_first = bench.learned
        async with open_faulty_server(right_server(stack=300), dialect="readme") as service:
            await bench.open(service.address)
            await bench.attempt(case, 0)
        return at_first, bench.learned

    at_first, learned = asyncio.run(main())
    assert at_first is None
    assert learned is not None
    assert learned.stack == 300


def test_what_a_walk_needs_is_learned_before_it_alone_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walks, "WALK_SIZES", (5,))
    settings, results = check(select(ALL, "holdem/3.5/played"), right_server(seats=3, ante=5))
    assert (settings.seats, settings.stakes.ante) == (3, 5)
    assert results["3.5/played"].outcome is Outcome.PASS


def test_the_players_of_transcripts_are_counted() -> None:
    named = {transcript.name: transcript for transcript in transcripts("holdem")}
    found = [most_players(named[name]) for name in ("coming-back", "the-order-of-three", "ten-seats")]
    assert found == [2, 3, 11]
