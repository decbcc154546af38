"""The rooms of a server, watching a table, and shell completion."""

import asyncio
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from croupier.cli import main
from croupier.clients import identify, lobby
from croupier.clients.lobby import find_open_rooms
from croupier.rooms import ROOMS
from tests.ports import closed_port
from tests.processes import PATIENCE, Background, Serving, croupier
from tests.tui.fake_terminal import terminal

BOT = ("--password", "secret", "--bot", "caller", "--hands", "9999", "--user")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Serving, Serving]]:
    """Kuhn poker and hold'em on free ports, which the lobby takes for their default ones; no other room is open."""
    with (
        Serving("kuhn", "--port", "0", "--log-level", "error") as kuhn,
        Serving("holdem", "--port", "0", "--log-level", "error") as holdem,
    ):
        ports = {"kuhn": kuhn.port, "holdem": holdem.port}
        rooms = {name: replace(room, port=ports.get(name) or closed_port()) for name, room in ROOMS.items()}
        monkeypatch.setattr(lobby, "ROOMS", rooms)
        monkeypatch.setattr(identify, "PROBE_TIMEOUT_SECONDS", PATIENCE)
        yield kuhn, holdem


def test_the_rooms_and_the_players_of_a_server_are_found(server: tuple[Serving, Serving]) -> None:
    with Background("play", "holdem", server[1].address, *BOT, "bob"):
        while True:
            found = {each.room.name: each.tables for each in asyncio.run(find_open_rooms("127.0.0.1"))}
            assert found.keys() <= {"kuhn", "holdem"}
            if found.get("holdem") and found["holdem"][0].players:
                break
        assert found["kuhn"] is None
        assert [table.players for table in found["holdem"]] == [["bob"]]


def test_a_room_is_chosen_and_played(
    server: tuple[Serving, Serving], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with subprocess.Popen(["printf", r"7\n1\n2\nq\nq\n"], stdout=subprocess.PIPE) as typed:
        assert typed.stdout is not None
        monkeypatch.setattr("sys.stdin", typed.stdout)
        with pytest.raises(SystemExit) as end:
            main(["play"])
    shown = capsys.readouterr().out
    assert end.value.code == 0
    assert f"1  Kuhn poker (port {server[0].port})\n2  No-limit hold'em (port {server[1].port}): 1 table\n" in shown
    assert "found '7'; allowed: 1 to 2, q" in shown
    assert "You are dealt the " in shown
    assert shown.splitlines()[-1] == "You have left the table."


def test_a_server_without_rooms_is_reported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lobby, "ROOMS", {"kuhn": replace(ROOMS["kuhn"], port=closed_port())})
    with pytest.raises(SystemExit) as end:
        main(["play"])
    assert end.value.code == 1
    assert "no room answers at 127.0.0.1; `croupier serve` opens all rooms" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chess"], "found the room 'chess'; allowed: kuhn, sevenhalf, blackjack, holdem, oldmaid, or none"),
        (["--server", "127.0.0.1:1212"], "found --server 127.0.0.1:1212; allowed: HOST"),
        (["--server", "http://127.0.0.1"], "found 'http://127.0.0.1', a URL; allowed: HOST"),
    ],
)
def test_what_is_no_room_and_no_host_is_an_error(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["play", *arguments])
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_a_silent_server_is_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        monkeypatch.setattr(lobby, "ROOMS", {"kuhn": replace(ROOMS["kuhn"], port=port)})
        assert asyncio.run(find_open_rooms("127.0.0.1")) == []


def test_a_table_is_watched_without_an_account() -> None:
    with (
        Serving("holdem", "--port", "0", "--log-level", "error") as holdem,
        Background("play", "holdem", holdem.address, *BOT, "bob"),
        terminal("watch", "holdem", holdem.address) as seat,
    ):
        seat.sees("bob 10000 chips")
        seat.sees("You watch this table.")
        with Background("play", "holdem", holdem.address, *BOT, "cid"):
            seat.sees("cid sits down.")
            seat.sees("has the button.")
            seat.sees("bob ░░")
            seat.plays(("c", "'c' does nothing now: You watch this table."))
            seat.plays(("q", "You have left the table."))
            seat.leaves()


def test_watching_needs_a_game_and_a_server() -> None:
    with Serving("holdem", "--port", "0", "--log-level", "error") as holdem:
        done = croupier("watch", "holdem", holdem.address, "--game", "nowhere")
        assert done.returncode == 1
        assert "404 Not Found: holdem-8.4: found the game 'nowhere'" in done.stdout
    done = croupier("watch", "holdem", f"127.0.0.1:{closed_port()}")
    assert done.returncode == 1
    assert "no answer to GET /games/" in done.stderr


def test_tables_of_all_rooms_are_listed_and_watched_through_the_web_app() -> None:
    with Serving("kuhn", "--port", "0", "--web-port", "0", "--log-level", "error", ready=2) as kuhn:
        web = f"http://127.0.0.1:{kuhn.ports['web']}"
        done = croupier("watch", "web", web, "--table", "kuhn-1")
        assert done.returncode == 1
        assert "there is no table 'kuhn-1'" in done.stderr
        with socket.create_connection(("127.0.0.1", kuhn.ports["kuhn"])) as client:
            client.sendall(b"STRT P_2\n")
            assert client.recv(4) == b"CARD"
            assert croupier("watch", "web", web).stdout == "kuhn-1  Kuhn poker: client 1\n"
            other = croupier("watch", "web", f"127.0.0.1:{kuhn.ports['kuhn']}")
            assert (other.returncode, other.stdout) == (1, "")
            wrong = croupier("watch", "web", f"{web}/protocols/kuhn")
            assert wrong.returncode == 1
            assert "is this the address of a web app?" in wrong.stderr
            with terminal("watch", "web", web, "--table", "kuhn-1") as seat:
                seat.sees("The client: a card face down, to act")
                seat.plays(("q", "The client: a card face down, to act"))
                seat.leaves()
            with terminal("watch", "web", web, "--table", "kuhn-1", "--plain") as seat:
                seat.sees("The client: a card face down, to act")
                client.close()
                seat.sees("This table does not exist any more.")
                seat.leaves()
    done = croupier("watch", "web", f"127.0.0.1:{closed_port()}")
    assert (done.returncode, done.stdout) == (1, "")
    assert "127.0.0.1:" in done.stderr


@pytest.mark.extended
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_completion_script(shell: str) -> None:
    done = croupier("completion", shell)
    assert done.returncode == 0
    assert all(word in done.stdout for word in ("sevenhalf", "watch", "plain"))


@pytest.mark.extended
def test_bash_completes_commands_and_options(tmp_path: Path) -> None:
    script = tmp_path / "croupier.bash"
    script.write_text(croupier("completion", "bash").stdout)
    check = 'source "$0"; COMP_WORDS=(croupier play kuhn --pl); COMP_CWORD=3; _croupier; echo "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", check, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "--plain"


@pytest.mark.extended
def test_completion_is_installed_where_the_shell_looks_for_it(tmp_path: Path) -> None:
    done = croupier("completion", "fish", "--install", variables={"HOME": str(tmp_path)})
    assert done.returncode == 0
    assert (tmp_path / ".config/fish/completions/croupier.fish").exists()
    assert str(tmp_path) in done.stdout
