"""`croupier replay`: replays from the store and from files."""

from pathlib import Path

import pytest

from tests.cli.test_hands import played
from tests.cli.test_serve_oldmaid import drawn, seated, serving
from tests.processes import Serving, croupier

__all__ = ["played"]


def test_a_stored_hand_is_replayed(played: tuple[Path, str]) -> None:
    store, game = played
    lines = croupier("replay", f"{game}/2", "--store", store).stdout.splitlines()
    assert lines[0] == f"holdem/{game}/2"
    assert any(line.endswith("Each player is dealt two cards.") for line in lines)
    assert lines[-1].startswith("On the table: ")
    again = croupier("replay", f"holdem/{game}/2", "--store", store).stdout.splitlines()
    assert again == lines


def test_a_file_is_replayed(played: tuple[Path, str], tmp_path: Path) -> None:
    store, game = played
    for form in ("phh", "ohh", "jsonl"):
        file = tmp_path / f"hand.{form}"
        file.write_text(croupier("hands", "show", f"{game}/1", "--format", form, "--store", store).stdout)
        done = croupier("replay", file)
        assert done.returncode == 0
        assert " folds." in done.stdout


def test_games_of_other_rooms_are_replayed(tmp_path: Path) -> None:
    store = ("--store", tmp_path / "kept.db")
    with serving("--players", 2, *store) as server:
        players = seated(server, "ann", "bob")
        drawn(players, 3)
        assert server.stop() == 0
    assert "The game is void." in croupier("replay", "oldmaid/table/1", *store).stdout
    with Serving("kuhn", "--port", 0, *store) as server:
        server.talk(b"STRT P_1ACTN FLD")
        assert server.stop() == 0
    (line,) = croupier("hands", "list", "kuhn", *store).stdout.splitlines()
    name = next(word for word in line.split() if "/" in word)
    assert croupier("hands", "show", name, *store).stdout.startswith('{"room": "kuhn"')
    replayed = croupier("replay", name, *store).stdout
    assert "The client plays as P_1." in replayed
    assert "Cards, in the order of the deal" in replayed


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing", "found 'nothing'; allowed: a file, TABLE/NUMBER, ROOM/TABLE/NUMBER"),
        ("x/9", "there is no game 'x/9'; `croupier hands list` lists them"),
        ("kuhn/x/9", "there is no game 'kuhn/x/9'; `croupier hands list` lists them"),
    ],
)
def test_unknown_games_are_reported(played: tuple[Path, str], name: str, message: str) -> None:
    done = croupier("replay", name, "--store", played[0])
    status = 1 if message.startswith("there is no") else 2
    assert (done.returncode, done.stderr) == (status, f"croupier: {message}\n")


@pytest.mark.parametrize(
    ("data", "message"), [(b"\xff", "is not UTF-8 text"), (b"hello", "contains no game"), (b"{}", "which is no game")]
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(data)
    done = croupier("replay", file)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
