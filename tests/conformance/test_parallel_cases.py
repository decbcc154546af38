"""Cases run at the same time at a house that is slow and serves several clients at once, and at no other."""

import asyncio
from typing import Any

import pytest

from croupier.conformance.results import Outcome
from croupier.conformance.servers.bench import MAX_PARALLEL_CASES
from croupier.conformance.servers.conversing import Conversations
from croupier.conformance.servers.scenarios import send_each
from croupier.conformance.servers.scripted_client import ScriptedClient
from croupier.conformance.servers.test_data import HouseServerCase
from croupier.conformance.suite import Attempt, Bench, Config, find_suite
from croupier.core.room import HouseRoom
from croupier.rooms import HOUSE_ROOMS
from tests.conformance.house_fixture import HouseFixture, new_bench
from tests.conformance.suites import run_bench, server_cases

FIRST_CLIENTS = 2


class SlowHouse(HouseFixture):
    """A house whose answers to its first clients take `first` seconds, and those to all others `later`."""

    def __init__(self, room: HouseRoom, first: float, later: float) -> None:
        super().__init__(room)
        self._first = first
        self._later = later

    async def converse(self, probe: ScriptedClient) -> None:
        await super().converse(probe)
        probe.slowest_seconds = self._first if self.met <= FIRST_CLIENTS else self._later


def find_case(room: str, name: str) -> HouseServerCase:
    return next(each for each in server_cases(HOUSE_ROOMS[room]) if each.id == f"{room}/{name}")


@pytest.mark.parametrize(
    ("room", "opening", "first", "later", "lanes"),
    [
        ("blackjack", "4.1/ply-at-start", 0.5, 0.7, MAX_PARALLEL_CASES),
        ("blackjack", "4.1/ply-at-start", 0.5, 1.5, 1),
        ("blackjack", "4.1/ply-at-start", 0.001, 0.001, 1),
        ("kuhn", "4.1/strt-p1-at-start", 0.5, 0.7, 1),
    ],
    ids=["slow", "slower with several clients", "fast", "its purse is learned"],
)
def test_several_cases_run_at_once_if_clients_do_not_wait_for_each_other(
    room: str, opening: str, first: float, later: float, lanes: int
) -> None:
    async def try_cases() -> tuple[int, int]:
        bench = new_bench(HOUSE_ROOMS[room], SlowHouse(HOUSE_ROOMS[room], first, later))
        for number in range(FIRST_CLIENTS):
            await bench.attempt(find_case(room, opening), number)
        before = bench.lanes
        await bench.attempt(find_case(room, "1.3/pipelined"), 0)
        return before, bench.lanes

    assert asyncio.run(try_cases()) == (1, lanes)


def test_a_house_that_is_slow_need_not_serve_one_client_after_the_other() -> None:
    async def find_out() -> bool:
        room = HOUSE_ROOMS["blackjack"]
        config = Config(seed=0, timeout=2.0)
        conversations = Conversations(find_suite(room, "server").test_data, SlowHouse(room, 0.3, 0.3), config)
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
