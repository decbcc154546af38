"""Servers that deal the same cards whenever they are started."""

import asyncio
import shlex
import sys
import time
from pathlib import Path

import pytest

from croupier.conformance.plan import Plan
from croupier.conformance.results import Outcome
from croupier.conformance.run import check
from croupier.conformance.starts import SAME_SEED, find_same_deal
from croupier.rooms import ROOMS
from tests.sampling import extended

SERVER = """
import sys
from croupier.cli import main
room, port, *numbers = sys.argv[1:]
sys.exit(main(["serve", room, "--port", port, *(f"--seed={number}" for number in numbers)]))
"""


def plan_for(folder: Path, room: str, *numbers: str, selection: str = "", arguments: tuple[str, ...] = ()) -> Plan:
    """Return the plan for a server of ours that deals by this number, if there is one."""
    program = folder / "server.py"
    program.write_text(SERVER, encoding="ascii")
    command = shlex.join([sys.executable, str(program), room, "{port}", *numbers])
    room_cases = selection or room
    return Plan(room=ROOMS[room], role="server", selection=room_cases, command=command, arguments=arguments)


@pytest.mark.parametrize("room", extended(ROOMS, 5))
def test_a_server_that_deals_the_same_after_each_start_is_found(tmp_path: Path, room: str) -> None:
    plan = plan_for(tmp_path, room, "5")
    failure = asyncio.run(find_same_deal(plan, plan.config, f"{room}-3.2"))
    assert failure is not None
    assert (failure.clause, failure.cause) == (f"{room}-3.2", SAME_SEED)


@pytest.mark.extended
@pytest.mark.parametrize("room", ROOMS)
def test_a_server_that_deals_at_random_is_right(tmp_path: Path, room: str) -> None:
    plan = plan_for(tmp_path, room)
    assert asyncio.run(find_same_deal(plan, plan.config, f"{room}-3.2")) is None


def test_a_server_that_is_told_a_seed_may_deal_the_same(tmp_path: Path) -> None:
    plan = plan_for(tmp_path, "kuhn", "5", arguments=("--env", "SEED=5"))
    assert asyncio.run(find_same_deal(plan, plan.config, "kuhn-3.2")) is None


@pytest.mark.extended
@pytest.mark.parametrize(("numbers", "outcome"), [(("5",), Outcome.FAIL), ((), Outcome.PASS)])
def test_a_run_with_the_case_about_fair_deals_looks_at_the_starts(
    tmp_path: Path, numbers: tuple[str, ...], outcome: Outcome
) -> None:
    plan = plan_for(tmp_path, "kuhn", *numbers, selection="kuhn/3.2/fair-deal")
    (result,) = asyncio.run(check(plan, lambda _: None, time.time())).results
    assert result.outcome is outcome
