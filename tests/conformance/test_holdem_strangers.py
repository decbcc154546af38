"""Hold'em with an independent server and bot: they play with our programs."""

import asyncio
import importlib
import json
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
import trustme

from croupier.conformance.case_runner import CaseRunner
from croupier.conformance.plan import Plan
from croupier.conformance.program import ProgramUnderTest
from croupier.conformance.results import Outcome, Result
from croupier.conformance.run import check
from croupier.conformance.server_process import ServerProcess
from croupier.conformance.suite import Config, find_suite
from croupier.rooms.holdem import ROOM
from tests.conformance.stranger_processes import hosted, run_programs
from tests.conformance.strangers import FOLDER, TURN
from tests.conformance.suites import server_cases
from tests.processes import COMMAND, PATIENCE, Serving

SERVER = "holdem_server.py"
BOT = "holdem_client.py"


def bot_command(url: str, number: int, options: str) -> list[str]:
    """Return the command of an independent bot."""
    user = ["--user", f"stranger{number}", "--password", "secret"]
    return [sys.executable, "-S", str(FOLDER / BOT), "--url", url, *user, *shlex.split(options)]


def play(url: str, strangers: Sequence[str], *options: str) -> dict[str, Any]:
    """Let our bot play some hands with strangers with these options; return its summary."""
    ours = [*COMMAND, "play", "holdem", url, "--user", "ours", "--password", "secret", "--bot", "caller", *options]
    companions = [bot_command(url, number, words) for number, words in enumerate(strangers)]
    (output,) = run_programs([[*ours, "--hands", "5", "--json"]], companions)
    summary: dict[str, Any] = json.loads(output)
    return summary


STRANGERS = ("--style caller", "--style caller --connection each --look list --slashes never --register late")


@pytest.mark.slow
@pytest.mark.parametrize("options", ["--button random", "--pause 0.05 --json pretty --framing chunked", "--guid upper"])
def test_our_bots_and_strangers_play_at_an_independent_server(options: str) -> None:
    with hosted(SERVER, f"{TURN} {options}") as server:
        summary = play(f"http://{server.address}", STRANGERS)
    assert (summary["hands"], summary["fault"]) == (5, None)


@pytest.mark.slow
def test_our_bots_and_strangers_play_at_our_server() -> None:
    with Serving("holdem", "--port", 0, "--turn-seconds", 4) as server:
        summary = play(f"http://{server.address}", STRANGERS)
    assert (summary["hands"], summary["fault"]) == (5, None)


@pytest.mark.slow
def test_independent_programs_play_over_tls(tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    trust, files = str(tmp_path / "ca.pem"), str(tmp_path / "server.pem")
    with hosted(SERVER, f"{TURN} --tls-cert {files} --tls-key {files}") as server:
        summary = play(f"https://{server.address}", [f"--style caller --ca {trust}"], "--tls-ca", trust)
    assert (summary["hands"], summary["fault"]) == (5, None)


READS_AN_OBJECT = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import holdem_client
ask = holdem_client.Server.ask
def ask_and_read_an_object(self, method, path, *rest, **options):
    status, found = ask(self, method, path, *rest, **options)
    if path == "/users/":
        self.player = found["PlayerID"]
    return status, self.player if path.endswith("/players/") else found
holdem_client.Server.ask = ask_and_read_an_object
holdem_client.Bot(holdem_client.parse_options()).run()
"""
"""A stranger that fails at the GUID of the document."""


@pytest.mark.extended
def test_a_bot_that_reads_only_hspe_go_is_tested_in_that_dialect() -> None:
    program = shlex.join([sys.executable, "-S", "-c", READS_AN_OBJECT, str(FOLDER)])
    plan = Plan(
        room=ROOM,
        role="client",
        selection="holdem/4",
        command=f"{program} --url {{url}} --user {{user}} --password {{password}}",
    )
    report = asyncio.run(check(plan, lambda _: None, time.time()))
    assert report.spoken_dialect == "hspe-go"
    causes = {result.failure.clause: str(result.failure.cause) for result in report.results if result.failure}
    assert causes["holdem-7.1"].startswith("it reads responses in no form but")


CHANGED_SERVER = """
import os, sys, threading
sys.path.insert(0, sys.argv.pop(1))
import holdem_server, holdem_table
remove, act, begin = holdem_table.Game.remove, holdem_table.Game.act, holdem_table.Game.begin_if_possible
def changed_remove(game, one):
    return remove(game, one) if one.playing else os._exit(1)
def changed_act(game, one, action, amount):
    threading.Timer(0.0, os._exit, [1]).start()
    return act(game, one, action, amount)
def changed_begin(game):
    begin(game)
    if game.running:
        os._exit(1)
route = holdem_server.Handler.route
def changed_route(handler, body):
    handler.house.options.redirect = 301 if handler.path.endswith("/players") else 0
    return route(handler, body)
{change}
holdem_server.main()
"""
ENDS_AT_LEAVING = CHANGED_SERVER.format(change="holdem_table.Game.remove = changed_remove")
ENDS_AFTER_ACTS = CHANGED_SERVER.format(change="holdem_table.Game.act = changed_act")
ENDS_AT_DEALS = CHANGED_SERVER.format(change="holdem_table.Game.begin_if_possible = changed_begin")
REDIRECTS_PLAYERS = CHANGED_SERVER.format(change="holdem_server.Handler.route = changed_route")
"""Strangers that end when a player leaves who was not dealt in yet, after an act, and when a hand begins, and one
that redirects the path of players without its slash."""


async def run_cases_on(source: str, options: str, *names: str) -> dict[str, Result]:
    """Run cases on a server that is started by Python code, and again after each of its ends; return the results."""

    async def start(port: int, _: int) -> ProgramUnderTest:
        program = [sys.executable, "-S", "-c", source, str(FOLDER), str(port), *shlex.split(options)]
        return await ProgramUnderTest.start(shlex.join(program), {})

    cases = sorted((case for case in server_cases(ROOM) if case.id in names), key=lambda case: case.rank)
    async with ServerProcess(start, PATIENCE) as server:
        await server.open()
        bench = find_suite(ROOM, "server").bench(Config(server=server))
        await bench.open(server.address)
        runner = CaseRunner(bench, server=server)
        await runner.run(cases)
    return runner.results


@pytest.mark.extended
@pytest.mark.parametrize("options", ["", "--games one --created never", "--pause 0.3"])
def test_a_server_that_ends_when_players_leave_fails_only_by_that(options: str) -> None:
    played = "holdem/3.1/what-everybody-brings", "holdem/4.14/one-act-a-turn", "holdem/5.6/whose-cards-are-shown"
    results = asyncio.run(run_cases_on(ENDS_AT_LEAVING, options, *played, "holdem/3.12/leaving-alone"))
    assert [results[name].outcome for name in played] == [Outcome.PASS] * 3
    result = results["holdem/3.12/leaving-alone"]
    assert result.failure is not None
    assert result.failure.clause == "holdem-3.12"
    assert result.failure.expected == "status 200 to the DELETE of a player who was not dealt in yet"
    assert result.failure.actual == "the end of the server (exit status 1)"
    assert result.dialogue[-1].data.startswith(b"DELETE ")


@pytest.mark.extended
@pytest.mark.parametrize("seconds", ["0.0", "0.01"])
def test_a_server_that_ends_at_an_act_fails_the_case_with_the_act(seconds: str) -> None:
    source = ENDS_AFTER_ACTS.replace("Timer(0.0", f"Timer({seconds}")
    names = "holdem/4.6/folding-for-nothing", "holdem/3.1/what-everybody-brings", "holdem/3.12/leaving-alone"
    results = asyncio.run(run_cases_on(source, "", *names))
    assert [results[name].outcome for name in names] == [Outcome.FAIL, Outcome.PASS, Outcome.PASS]


@pytest.mark.extended
def test_a_server_that_ends_while_its_settings_are_learned_fails_only_where_hands_begin() -> None:
    names = "holdem/2.7/a-wrong-password", "holdem/3.12/leaving-alone", "holdem/3.1/what-everybody-brings"
    results = asyncio.run(run_cases_on(ENDS_AT_DEALS, "", *names))
    assert [results[name].outcome for name in names] == [Outcome.PASS, Outcome.PASS, Outcome.FAIL]
    assert results[names[2]].dialogue


@pytest.mark.extended
def test_a_player_who_is_all_in_may_be_active_again_in_a_later_round() -> None:
    name = "holdem/6.10/a-short-blind"
    results = asyncio.run(run_cases_on(CHANGED_SERVER.format(change=""), "--all-in-state active", name))
    assert results[name].outcome is Outcome.PASS


@pytest.mark.extended
def test_a_redirect_of_players_is_no_fault_and_is_reported() -> None:
    names = "holdem/1.3/no-redirects", "holdem/1.3/paths-of-players"
    results = asyncio.run(run_cases_on(REDIRECTS_PLAYERS, "", *names))
    assert [results[name].outcome for name in names] == [Outcome.NON_STRICT, Outcome.PASS]


def test_the_tap_finds_no_fault_between_independent_programs() -> None:
    with (
        hosted(SERVER, TURN) as server,
        Serving(server.address, command=[*COMMAND, "tap", "holdem", "0"]) as tap,
    ):
        options = "--acts 20 --patience 3 --goodbye --poll 0.02"
        run_programs([bot_command(f"http://{tap.address}", number, options) for number in range(2)])
        status, output = tap.stop(), tap.read_output()
    assert output.rstrip().endswith("nothing is broken"), output
    assert status == 0


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of the server that ranks hands and divides pots."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("holdem_table")


def pokerkit_hand(cards: Sequence[str]) -> Any:
    from pokerkit import StandardHighHand  # takes half a second

    return StandardHighHand.from_game("".join(rank + suit.lower() for rank, suit in cards))


def expected_wins(bets: dict[str, int], live: Sequence[str], hands: dict[str, Any]) -> dict[str, int]:
    """Divide the bets by layers between two different bets; layers with the same claimants are one pot."""
    pots: list[tuple[list[str], int]] = []
    below = 0
    for level in sorted({*bets.values()} - {0}):
        claimants = [one for one in live if bets[one] >= level] or pots[-1][0]
        size = sum(min(bet, level) - min(bet, below) for bet in bets.values())
        if pots and pots[-1][0] == claimants:
            pots[-1] = claimants, pots[-1][1] + size
        else:
            pots.append((claimants, size))
        below = level
    won = dict.fromkeys(live, 0)
    for claimants, size in pots:
        winners = [one for one in claimants if hands[one] == max(hands[other] for other in claimants)]
        for place, one in enumerate(winners):
            won[one] += size // len(winners) + (place < size % len(winners))
    return won


def test_the_server_ranks_and_pays_as_pokerkit_does(table: ModuleType) -> None:
    luck = Random(19)
    for _ in range(150):
        deck = luck.sample(table.DECK, len(table.DECK))
        names = [f"p{number}" for number in range(luck.randint(2, 9))]
        cards = {one: deck[5 + 2 * at : 7 + 2 * at] + deck[:5] for at, one in enumerate(names)}
        stacks = {one: luck.randint(1, 60) for one in names}
        bet = luck.randint(1, 60)
        live = sorted(luck.sample(names, luck.randint(1, len(names))))
        bets = {one: min(stacks[one], bet if one in live else luck.randint(0, bet)) for one in names}
        all_in = [one for one in live if bets[one] == stacks[one]]
        hands = {one: pokerkit_hand(cards[one]) for one in live}
        values = {one: table.best(cards[one]) for one in live}
        assert sorted(live, key=hands.__getitem__) == sorted(live, key=values.__getitem__)
        won = table.share(table.split_pots(bets, live, all_in, "joined"), values, live)
        assert won == expected_wins(bets, live, hands)
        assert sum(won.values()) == sum(bets.values())
