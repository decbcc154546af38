"""`croupier replay`: what was played is looked at again, from the store or from a file."""

from pathlib import Path

import pytest

from tests.cli.test_hands import played
from tests.cli.test_serve_oldmaid import drawn, seated, serving
from tests.processes import Serving, croupier

__all__ = ["played"]


def test_a_hand_of_the_store_is_told(played: tuple[Path, str]) -> None:
    kept, game = played
    lines = croupier("replay", f"{game}/2", "--store", kept).stdout.splitlines()
    assert lines[0] == f"holdem/{game}/2"
    assert any(line.endswith("Everybody has two cards.") for line in lines)
    assert lines[-1].startswith("Board: ")
    again = croupier("replay", f"holdem/{game}/2", "--store", kept).stdout.splitlines()
    assert again == lines


def test_a_file_is_told(played: tuple[Path, str], tmp_path: Path) -> None:
    kept, game = played
    for form in ("phh", "ohh", "jsonl"):
        file = tmp_path / f"hand.{form}"
        file.write_text(croupier("hands", "show", f"{game}/1", "--format", form, "--store", kept).stdout)
        done = croupier("replay", file)
        assert done.returncode == 0
        assert " folds." in done.stdout


def test_games_of_other_rooms_are_told(tmp_path: Path) -> None:
    kept = ("--store", tmp_path / "kept.db")
    with serving("--players", 2, *kept) as server:
        players = seated(server, "ann", "bob")
        drawn(players, 3)
        assert server.stop() == 0
    assert "The game is void." in croupier("replay", "oldmaid/table/1", *kept).stdout
    with Serving("kuhn", "--port", 0, *kept) as server:
        server.talk(b"STRT P_1ACTN FLD")
        assert server.stop() == 0
    (line,) = croupier("hands", "list", "kuhn", *kept).stdout.splitlines()
    place = next(word for word in line.split() if "/" in word)
    name = place if place.startswith("kuhn/") else f"kuhn/{place}"
    assert "The cards, in the order of the deal" in croupier("replay", name, *kept).stdout


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nothing", "found 'nothing'; allowed: a file, TABLE/NUMBER, ROOM/TABLE/NUMBER"),
        ("x/9", "found no game 'x/9'; allowed: one of `croupier hands list`"),
        ("kuhn/x/9", "found no game 'kuhn/x/9'; allowed: one of `croupier hands list`"),
    ],
)
def test_what_is_not_there_is_not_told(played: tuple[Path, str], name: str, told: str) -> None:
    done = croupier("replay", name, "--store", played[0])
    assert (done.returncode, done.stderr) == (1, f"croupier: {told}\n")


@pytest.mark.parametrize(
    ("data", "told"), [(b"\xff", "is not UTF-8"), (b"hello", "which tells no game"), (b"{}", "tells no game")]
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, data: bytes, told: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(data)
    done = croupier("replay", file)
    assert (done.returncode, done.stdout) == (1, "")
    assert told in done.stderr
