"""Cases run at the same time at a house that is slow and serves several clients at once, and at no other."""

import asyncio
from collections.abc import Callable
from itertools import cycle
from typing import Any

import pytest

from croupier.conformance.results import Outcome
from croupier.conformance.servers.bench import CLOSING_PART, FEWER, MAX_CLIENTS, MAX_SEARCHING_CLIENTS
from croupier.conformance.servers.conversing import Conversations
from croupier.conformance.servers.scenarios import send_each
from croupier.conformance.servers.scripted_client import ScriptedClient
from croupier.conformance.servers.test_data import HouseServerCase
from croupier.conformance.suite import Attempt, Bench, Config, find_suite
from croupier.core.room import HouseRoom
from croupier.rooms import HOUSE_ROOMS
from tests.conformance.house_fixture import HouseFixture, Table, new_bench
from tests.conformance.suites import run_bench, server_cases
from tests.rooms.conversation_fixture import honest

FEWER_CLIENTS = MAX_CLIENTS // FEWER


class SlowHouse(HouseFixture):
    """A house whose answers to a client take `seconds` by the number of the client, from 1."""

    def __init__(self, room: HouseRoom, seconds: Callable[[int], float]) -> None:
        super().__init__(room)
        self._seconds = seconds

    async def converse(self, probe: ScriptedClient) -> None:
        await super().converse(probe)
        probe.slowest_seconds = self._seconds(self.met)


class UnequalPurses(SlowHouse):
    """A slow house at which every second client has fewer coins."""

    def __init__(self, room: HouseRoom) -> None:
        super().__init__(room, lambda _: 0.5)
        coins = cycle(("10", "6"))
        self.table = lambda: Table(room, {"coins": next(coins)}, honest, self.met, strict=False)


def find_case(room: str, name: str) -> HouseServerCase:
    return next(each for each in server_cases(HOUSE_ROOMS[room]) if each.id == f"{room}/{name}")


def lanes_at(house: HouseFixture, room: str, opening: str) -> tuple[int, int]:
    """How many cases may run at once, before the second case and after it."""

    async def try_cases() -> tuple[int, int]:
        bench = new_bench(HOUSE_ROOMS[room], house)
        await bench.attempt(find_case(room, opening), 0)
        before = bench.lanes
        await bench.attempt(find_case(room, opening), 1)
        return before, bench.lanes

    return asyncio.run(try_cases())


@pytest.mark.parametrize(
    ("room", "opening", "seconds", "clients"),
    [
        ("blackjack", "4.1/ply-at-start", lambda number: 0.5 if number == 1 else 0.7, MAX_CLIENTS),
        ("blackjack", "4.1/ply-at-start", lambda number: 0.5 if number == 1 else 1.5, 1),
        ("blackjack", "4.1/ply-at-start", lambda number: 1.5 if 1 < number <= MAX_CLIENTS + 1 else 0.5, FEWER_CLIENTS),
        ("blackjack", "4.1/ply-at-start", lambda _: 0.001, 1),
        ("kuhn", "4.1/strt-p1-at-start", lambda _: 0.5, MAX_CLIENTS),
    ],
    ids=["slow", "slower with several clients", "slower with many clients", "fast", "its purses are equal"],
)
def test_several_cases_run_at_once_if_clients_do_not_wait_for_each_other(
    room: str, opening: str, seconds: Callable[[int], float], clients: int
) -> None:
    lanes = lanes_at(SlowHouse(HOUSE_ROOMS[room], seconds), room, opening)
    assert lanes == (1, clients - clients // CLOSING_PART)


def test_cases_run_one_after_the_other_if_clients_have_different_purses() -> None:
    assert lanes_at(UnequalPurses(HOUSE_ROOMS["kuhn"]), "kuhn", "4.1/strt-p1-at-start") == (1, 1)


@pytest.mark.parametrize(
    "name", ["3.10/tie-at-21", "2.1/cut-everywhere"], ids=["what few games show", "scenarios that are independent"]
)
def test_clients_of_one_case_play_at_once_at_a_slow_house(name: str) -> None:
    async def count_clients(house: SlowHouse) -> int:
        bench = new_bench(HOUSE_ROOMS["blackjack"], house)
        for number in range(2):
            await bench.attempt(find_case("blackjack", "4.1/ply-at-start"), number)
        before = house.met
        attempt = await bench.attempt(find_case("blackjack", name), 0)
        assert attempt.failure is None
        return house.met - before

    case = find_case("blackjack", name)
    clients = MAX_SEARCHING_CLIENTS if case.is_rare else len(case.scenarios)
    assert asyncio.run(count_clients(SlowHouse(HOUSE_ROOMS["blackjack"], lambda _: 0.5))) == clients


def test_a_house_that_is_slow_need_not_serve_one_client_after_the_other() -> None:
    async def find_out() -> bool:
        room = HOUSE_ROOMS["blackjack"]
        config = Config(seed=0, timeout=2.0)
        conversations = Conversations(find_suite(room, "server").test_data, SlowHouse(room, lambda _: 0.3), config)
        await conversations.play(send_each(b"PLY"))
        return await conversations.is_serial()

    assert not asyncio.run(find_out())


class CountingBench(Bench):
    """A bench with room for several cases that counts those that it tries at the same time."""

    lanes = 3

    def __init__(self) -> None:
        self.running: set[str] = set()
        self.seen: dict[str, int] = {}

    async def attempt(self, case: Any, number: int, *, is_patient: bool = False) -> Attempt:
        self.running.add(case.slug)
        await asyncio.sleep(0)
        self.seen[case.slug] = len(self.running)
        await asyncio.sleep(0)
        self.running.remove(case.slug)
        return Attempt(Outcome.PASS)


def test_a_case_that_counts_clients_or_deals_runs_alone() -> None:
    bench = CountingBench()
    names = ("1.3/pipelined", "1.3/glued", "1.2/many-at-once", "3.1/fair-deal")
    asyncio.run(run_bench(bench, [find_case("blackjack", name) for name in names]))
    assert bench.seen == {"pipelined": 2, "glued": 2, "many-at-once": 1, "fair-deal": 1}
