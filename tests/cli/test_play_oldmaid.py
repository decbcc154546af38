"""`croupier play oldmaid`: bots in one or several processes, summaries, and errors."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from croupier.cli.oldmaid import summary_text
from croupier.clients.luck import make_luck
from croupier.clients.ring import RingTally
from croupier.rooms.oldmaid.bots import BOT_SPECS
from tests.ports import closed_port
from tests.processes import PATIENCE, Background, Serving, croupier

FAST_PLAY = ("--pause", 0, "--poll-seconds", 0.05)


def play(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a bot: a random one unless another is named."""
    bot = () if "--bot" in arguments else ("--bot", "random")
    return croupier("play", "oldmaid", *arguments, *bot, variables=variables)


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with Serving("oldmaid", "--port", 0, "--players", 3, "--log-level", "error") as running:
        yield running


def test_five_bots_of_one_process_play_at_one_table() -> None:
    with Serving("oldmaid", "--port", 0, "--players", 5, "--strict") as server:
        done = play(server.address, "--nick", "ann", "--bots", 5, "--games", 2, "--strict", "--json", *FAST_PLAY)
    assert (done.returncode, done.stderr) == (0, "")
    summary = json.loads(done.stdout)
    assert (summary["bot"], summary["table"]) == ("random", server.address)
    players = summary["players"]
    assert [one["nick"] for one in players] == ["ann1", "ann2", "ann3", "ann4", "ann5"]
    assert [(one["games"], one["faults"]) for one in players] == [(2, [])] * 5
    places = [int(place) for one in players for place, count in one["places"].items() for _ in range(count)]
    assert sorted(places) == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert sum(one["lost"] for one in players) == 2 == sum(one["places"].get("5", 0) for one in players)


def test_bots_of_three_processes_play_at_one_table_and_print_text(server: Serving) -> None:
    others = [
        Background("play", "oldmaid", server.address, *FAST_PLAY, "--bot", "random", "--nick", nick)
        for nick in ("bob", "cyd")
    ]
    with others[0], others[1]:
        done = play(server.address, *FAST_PLAY, "--nick", "ann", "--bot", "first")
        outputs = [done.stdout, *(other.end().stdout for other in others)]
    assert done.returncode == 0, done.stderr
    assert outputs[0].startswith(f"first at {server.address}: ")
    assert outputs[1].startswith(f"random at {server.address}: ")
    lines = [text.splitlines()[1] for text in outputs]
    assert [line.split(":")[0] for line in lines] == ["ann", "bob", "cyd"]
    assert sorted(line.split(", ", 1)[1] for line in lines) == [
        "0 lost, place 1: 1",
        "0 lost, place 2: 1",
        "1 lost, place 3: 1",
    ]


def test_explicit_ports_count_up() -> None:
    port = closed_port(2)
    with Serving("oldmaid", "--port", 0, "--players", 2, "--log-level", "debug") as server:
        done = play(server.address, "--bots", 2, "--listen", f"127.0.0.1:{port}", *FAST_PLAY)
        assert (done.returncode, done.stderr) == (0, "")
        joined = [entry["address"] for entry in server.entries if entry["event"] == "joined"]
    assert sorted(joined) == [["127.0.0.1", port], ["127.0.0.1", port + 1]]


def test_an_interrupted_bot_prints_its_summary() -> None:
    with (
        Serving("oldmaid", "--port", 0, "--log-level", "debug") as server,
        Background("play", "oldmaid", server.address, "--bot", "random", "--json") as process,
    ):
        server.wait_for_event("received")
        process.signal(signal.SIGINT)
        done = process.end()
    assert done.returncode == 130
    (player,) = json.loads(done.stdout)["players"]
    assert player == {"nick": "croupier", "games": 0, "lost": 0, "places": {}, "faults": []}


def test_the_bots_are_listed_without_a_table() -> None:
    done = play("--bot", "help")
    assert [line.split()[0] for line in done.stdout.splitlines()[:-2]] == [*BOT_SPECS]
    assert "FILE.py:CLASS" in done.stdout


def test_a_seed_fixes_the_randomness_and_differs_by_player() -> None:
    first, again, other = make_luck(4, "oldmaid bot", 1), make_luck(4, "oldmaid bot", 1), make_luck(4, "oldmaid bot", 2)
    drawn = [first.below(1000) for _ in range(20)]
    assert drawn == [again.below(1000) for _ in range(20)]
    assert drawn != [other.below(1000) for _ in range(20)]


def test_environment_variables_set_flags(server: Serving) -> None:
    done = play(
        CROUPIER_PLAY_OLDMAID_SERVER=server.host,
        CROUPIER_PLAY_OLDMAID_PORT=str(server.port),
        CROUPIER_PLAY_OLDMAID_NICK="zoe",
        CROUPIER_PLAY_OLDMAID_BOTS="3",
        CROUPIER_PLAY_OLDMAID_PAUSE="0",
    )
    assert [line.split(":")[0] for line in done.stdout.splitlines()[1:]] == ["zoe1", "zoe2", "zoe3"]


def test_help_does_not_import_the_network_client() -> None:
    script = (
        "import sys; from croupier.cli import app; app(['play', 'oldmaid', '--help'], result_action='return_value'); "
        "sys.exit('croupier.cli.oldmaid' not in sys.modules or 'croupier.clients.ring' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert "--listen" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bot", "nobody"], "found the bot 'nobody'; allowed: random, first, last"),
        (["--games", "0"], "found --games 0; allowed: 1 or more"),
        (["--bots", "0"], "found --bots 0; allowed: 1 or more"),
        (["--announce", "65536"], "found --announce 65536; allowed: 1 to 65535"),
        (["--poll-seconds", "0"], "found --poll-seconds 0; allowed: more than 0"),
        (["--pause", "nan"], "found --pause nan; allowed: 0 or more"),
        (["--retry-seconds", "-1"], "found --retry-seconds -1; allowed: 0 or more"),
        (["--listen", "127.0.0.1:x"], "found --listen 127.0.0.1:x; allowed: IP, IP:PORT, :PORT"),
        (["127.0.0.1:x"], "found '127.0.0.1:x'; allowed: HOST or HOST:PORT"),
        (["--tls-ca", "/nowhere.pem"], "cannot read /nowhere.pem: No such file"),
    ],
)
def test_an_invalid_argument_is_explained(arguments: list[str], message: str) -> None:
    done = play(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_unreachable_table_and_a_refused_nick_are_reported(server: Serving) -> None:
    port = closed_port()
    done = play(f"127.0.0.1:{port}")
    assert done.returncode == 1
    assert done.stderr.startswith(f"croupier: no table answers at 127.0.0.1:{port}: ")
    done = play(server.address, "--nick", "x" * 65)
    assert done.returncode == 1
    assert f"the table does not let {'x' * 65} in: oldmaid-3.7: " in done.stderr
    done = play(server.address, "--listen", "192.0.2.1")
    assert done.returncode == 1
    assert done.stderr.startswith("croupier: cannot listen on 192.0.2.1:0: ")


def test_a_summary_counts_places() -> None:
    tally = RingTally("ann", games=3, losses=1)
    tally.places.update({4: 1, 1: 2})
    assert summary_text([tally, RingTally("bob", games=1)], "random", "table", 1.25) == (
        "random at table: 1.2 s\nann: 3 games, 1 lost, place 1: 2, place 4: 1\nbob: 1 game, 0 lost"
    )
