"""Players of a house in simulated time: what the open loop measures and the closed loop hides; visits and errors."""

from typing import Any

import pytest

from croupier.core.errors import Violation
from croupier.core.session import Closing, Connect, Drop, Effect, Joined, Left, Malformed, Received, Send, TimedOut
from croupier.load.house_players import HousePlayers
from croupier.load.measurement import Measurement, decode
from croupier.load.plan import Plan
from croupier.rooms.kuhn.wire import CARD, DISC, STRT
from croupier.rooms.sevenhalf.wire import Stbt
from tests.load.plans import make_plan
from tests.load.simulation import Simulation

ADDRESS = ("127.0.0.1", 1)


def p99_seconds(encoded: bytes) -> float:
    return decode(encoded).get_value_at_percentile(99) / 1_000_000


def test_the_response_time_of_the_open_loop_shows_a_stall_that_the_service_time_hides() -> None:
    plan = make_plan("kuhn", players=5, rate=20.0)
    figures = Simulation(plan, delay=0.001, stall=(4.0, 5.0)).run(10.0)
    assert figures.achieved > 900
    assert 0.85 <= p99_seconds(figures.response) <= 1.01
    assert p99_seconds(figures.service) < 0.02


def test_the_closed_loop_hides_a_stall_of_a_second() -> None:
    plan = make_plan("kuhn", players=5)
    figures = Simulation(plan, delay=0.03, stall=(4.0, 5.0)).run(10.0)
    assert figures.achieved > 1000
    assert p99_seconds(figures.service) < 0.04
    assert decode(figures.service).get_max_value() > 900_000


def test_players_leave_after_their_games_and_come_again() -> None:
    figures = Simulation(make_plan("kuhn", players=2, rate=50.0, games=5), delay=0.001).run(4.0)
    assert figures.connections == pytest.approx(figures.games / 5, abs=2)
    assert figures.connections > 10
    assert not figures.errors


def test_the_same_seed_makes_the_same_load() -> None:
    first, second = (Simulation(make_plan("kuhn", players=3, rate=20.0), delay=0.001).run(2.0) for _ in range(2))
    assert (first.offered, first.games, first.response) == (second.offered, second.games, second.response)


class Probe:
    """One player, whose events come from the test. `now` is the time."""

    def __init__(self, **options: Any) -> None:
        self.measurement = Measurement()
        plan: Plan = make_plan("kuhn", players=1, answer_seconds=5.0, **options)
        self._players = HousePlayers(plan, range(1), ADDRESS, self.measurement, 0.0)
        self.now = 0.0

    @property
    def deadline(self) -> float | None:
        return self._players.deadline

    def on(self, event: Any, after: float = 0.0) -> list[Effect[Any]]:
        self.now += after
        return [*self._players.on(event, self.now)]

    def connect(self) -> list[Effect[Any]]:
        """Let the player connect; return what it does first."""
        assert self.on(TimedOut()) == [Connect(0, ADDRESS)]
        return self.on(Joined(0))


def test_a_player_that_cannot_connect_tries_again_later_and_later() -> None:
    probe, delays = Probe(), []
    for _ in range(4):
        assert probe.on(TimedOut()) == [Connect(0, ADDRESS)]
        assert probe.on(Left(0, "connection refused")) == []
        assert probe.deadline is not None
        delays.append(round(probe.deadline - probe.now, 6))
        probe.now = probe.deadline
    assert delays == [0.1, 0.2, 0.4, 0.8]
    assert probe.measurement.errors == {"cannot connect: connection refused": 4}


def test_a_house_that_does_not_answer_is_left_and_counted_once() -> None:
    probe = Probe()
    assert probe.connect() == [Send(0, STRT["P_1"])]
    effects = probe.on(TimedOut(), after=5.0)
    assert Drop(0) in effects
    probe.on(Left(0))
    assert probe.measurement.errors == {"no answer within 5 seconds": 1}
    assert probe.measurement.figures(0.0, probe.now, 0.0, (0,) * 19).backlog == 0


def test_a_house_that_breaks_a_clause_is_counted_by_the_clause() -> None:
    probe = Probe()
    probe.connect()
    effects = probe.on(Malformed(0, Violation("kuhn-2.7", "HELO", "CARD")))
    assert effects == [Send(0, DISC), Drop(0)]
    probe.on(Left(0))
    assert probe.measurement.errors == {"the server broke kuhn-2.7": 1}


def test_a_house_that_closes_is_counted() -> None:
    probe = Probe()
    probe.connect()
    probe.on(Left(0, "hung up"))
    assert probe.measurement.errors == {"the server closed the connection": 1}


def test_an_act_waits_until_it_is_due() -> None:
    probe = Probe(rate=1.0)
    assert probe.connect() == []
    assert probe.deadline is not None
    due = probe.deadline
    assert due > 0.0
    probe.now = due
    assert probe.on(TimedOut()) == [Send(0, STRT["P_1"])]
    probe.on(Received(0, CARD["K"]), after=0.25)
    figures = probe.measurement.figures(0.0, probe.now, 0.0, (0,) * 19)
    assert decode(figures.response).get_max_value() == pytest.approx(250_000, rel=0.002)


def test_a_bot_that_fails_is_counted(tmp_path: Any) -> None:
    bot = tmp_path / "bad.py"
    bot.write_text("class Bad:\n    def choose(self, view, legal, luck):\n        raise RuntimeError('no idea')\n")
    probe = Probe(bot=f"{bot}:Bad")
    probe.connect()
    assert Drop(0) in probe.on(Received(0, CARD["K"]))
    probe.on(Left(0))
    assert probe.measurement.errors == {"the bot has failed: line 3: RuntimeError: no idea": 1}


def test_a_bot_that_makes_an_illegal_move_is_counted(tmp_path: Any) -> None:
    bot = tmp_path / "bold.py"
    bot.write_text("class Bold:\n    def choose(self, view, legal, luck):\n        return 10**9\n")
    plan = make_plan("sevenhalf", players=1, bot=f"{bot}:Bold")
    measurement = Measurement()
    players = HousePlayers(plan, range(1), ADDRESS, measurement, 0.0)
    players.on(TimedOut(), 0.0)
    players.on(Joined(0), 0.0)
    effects = players.on(Received(0, Stbt(100)), 0.0)
    assert Drop(0) in effects
    assert [kind[:18] for kind in measurement.errors] == ["the bot has failed"]


def test_closing_players_say_goodbye_and_do_not_come_again() -> None:
    probe = Probe()
    probe.connect()
    assert probe.on(Closing()) == [Send(0, DISC), Drop(0)]
    probe.on(Left(0))
    assert probe.on(TimedOut(), after=100.0) == []
    assert not probe.measurement.errors
