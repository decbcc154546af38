"""Results are the same on any runner, also when processes die, and a bot that hangs or dies forfeits."""

from collections.abc import Mapping
from multiprocessing import active_children
from pathlib import Path

import pytest

from croupier.arena.plan import Plan
from croupier.arena.runner import MAX_DEATHS, Job, ProcessRunner, SerialRunner
from croupier.arena.tally import Fault, Tally
from croupier.arena.tournament import Tournament
from tests.arena import bots

FILE = Path(bots.__file__)


def plan(*names: str, pairs: int = 3000, until_sure: bool = False) -> Plan:
    return Plan("kuhn", names, pairs=pairs, seed=1, duplicate=True, adjust="kuhn-random-1", until_sure=until_sure)


def serial_result(played: Plan) -> bytes:
    tournament = Tournament(played)
    for _ in tournament.play(SerialRunner(played)):
        pass
    return tournament.result().to_json()


@pytest.mark.extended
@pytest.mark.parametrize("until_sure", [False, True])
def test_the_result_is_the_same_on_one_process_and_on_two(until_sure: bool) -> None:
    played = plan("equilibrium", "book:always-bet", "script:BET,CAL", until_sure=until_sure)
    for processes in (1, 2):
        tournament = Tournament(played)
        with ProcessRunner(played, processes) as runner:
            for _ in tournament.play(runner):
                pass
        assert tournament.result().to_json() == serial_result(played)


@pytest.mark.extended
def test_a_killed_process_changes_nothing() -> None:
    played = plan("equilibrium", "random", pairs=20_000)
    tournament = Tournament(played)
    with ProcessRunner(played, 2) as runner:
        kills = 0
        for series in tournament.play(runner):
            if series.tallies and not kills:
                active_children()[0].kill()
                kills += 1
        assert kills == 1
        assert sum(runner.deaths.values()) <= 1  # 0 if the process had no chunk at that moment
    assert tournament.result().to_json() == serial_result(played)


def run_all(played: Plan, *, move_timeout: float) -> Mapping[Job, Tally]:
    with ProcessRunner(played, 1, move_timeout) as runner:
        return dict(runner.run(Job((0, 1), chunk) for chunk in range(played.chunks)))


def test_a_bot_that_ends_its_process_forfeits() -> None:
    played = plan("random", f"{FILE}:Exits", pairs=100)
    with ProcessRunner(played, 1) as runner:
        (found,) = runner.run([Job((0, 1), 0)])
        assert runner.deaths == {Job((0, 1), 0): MAX_DEATHS}
    assert found == (Job((0, 1), 0), Tally(0, faults=(Fault(1, 1, "its process died"),), forfeit=1))


@pytest.mark.extended
def test_a_bot_that_hangs_forfeits_and_the_others_go_on() -> None:
    played = plan(f"{FILE}:Hangs", "random", "book", pairs=1000)
    tournament = Tournament(played)
    with ProcessRunner(played, 1, move_timeout=1.0) as runner:
        for _ in tournament.play(runner):
            pass
    found = {(pair.a.rpartition(":")[2], pair.b): (pair.status, pair.hands) for pair in tournament.result().pairs}
    assert found == {
        ("Hangs", "random"): ("forfeit", 0),
        ("Hangs", "book"): ("forfeit", 0),
        ("random", "book"): ("finished", 2000),
    }
    first = tournament.result().pairs[0]
    assert [(fault.bot, fault.hand, fault.reason) for fault in first.faults] == [("a", 1, "no move after 1 seconds")]


def test_an_invalid_plan_is_an_error_of_the_first_process() -> None:
    played = plan("random", "clever")
    with ProcessRunner(played, 1) as runner, pytest.raises(ValueError, match="found the bot 'clever'"):
        next(runner.run([Job((0, 1), 0)]))
