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

from croupier.conformance.run import Plan, check
from croupier.rooms.holdem import ROOM
from tests.conformance.stranger_processes import hosted, run_programs
from tests.conformance.strangers import FOLDER, TURN
from tests.processes import COMMAND, Serving

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
