"""`croupier hands` with hold'em: list, show and export recorded hands."""

import json
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path
from shutil import copyfile

import pytest

from croupier.rooms.holdem.histories import from_phh
from tests.cli.test_serve_holdem import HoldemServer, running_holdem
from tests.processes import croupier


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A store and the id of its game: two finished hands, the second with a showdown, and an unfinished third."""
    store = tmp_path_factory.mktemp("hands") / "store.db"
    with running_holdem("--store", store) as server:
        server.seat("ann", "bob")
        server.act(0)
        for _ in range(4):
            check_or_call(server)
            check_or_call(server)
        game = server.game
        assert server.serving.stop() == 0
    return store, game


def check_or_call(server: HoldemServer) -> None:
    """Let the player to act check or call."""
    turn = server.see()["turn"]
    server.act(1, turn["bet_to_player"] - turn["bet_so_far"])


def test_hands_are_listed_newest_first(played: tuple[Path, str]) -> None:
    store, game = played
    lines = croupier("hands", "list", "--json", "--store", store).stdout.splitlines()
    hands = [json.loads(line) for line in lines]
    assert [(hand["table"], hand["number"]) for hand in hands] == [(game, 2), (game, 1)]
    assert [sorted(hand["players"]) for hand in hands] == [["ann", "bob"]] * 2
    assert sorted(hands[1]["summary"].split(", ")) == ["ann -10", "bob +10"]
    listing = croupier("hands", "list", "--store", store).stdout
    assert listing.index(f"{game}/2") < listing.index(f"{game}/1")
    assert len(croupier("hands", "list", "--json", "--limit", 1, "--store", store).stdout.splitlines()) == 1
    nothing = croupier("hands", "list", "--json", "--player", "cid", "--store", store)
    assert (nothing.returncode, nothing.stdout) == (0, "")
    assert nothing.stderr == (
        "croupier: there is no such hand of holdem; `croupier hands list ROOM` lists those of another room\n"
    )


def test_a_hand_is_shown_with_all_cards_in_every_format(played: tuple[Path, str]) -> None:
    store, game = played
    text = croupier("hands", "show", f"{game}/2", "--store", store).stdout
    hand = from_phh(text)
    assert len(hand.board) == 5
    assert "?" not in text
    from pokerkit import HandHistory  # takes half a second

    (state,) = [[*HandHistory.loads(text)][-1]]
    assert state.stacks == [*hand.stacks] or sorted(state.stacks) == sorted(hand.stacks)
    ohh = json.loads(croupier("hands", "show", f"{game}/2", "--format", "ohh", "--store", store).stdout)["ohh"]
    assert [player["name"] for player in ohh["players"]]
    newest = json.loads(croupier("hands", "list", "--json", "--store", store).stdout.splitlines()[0])
    assert datetime.fromisoformat(ohh["start_date_utc"]).timestamp() == int(newest["time"])
    stored_hand = json.loads(croupier("hands", "show", f"{game}/2", "--format", "jsonl", "--store", store).stdout)
    assert (stored_hand["table"], stored_hand["number"]) == (game, 2)


def test_hands_are_exported_into_a_new_folder(played: tuple[Path, str], tmp_path: Path) -> None:
    store, game = played
    folder = tmp_path / "out"
    done = croupier("hands", "export", folder, "--store", store)
    assert done.stdout == f"2 hands of {store} are in {folder}\n"
    assert sorted(path.name for path in folder.iterdir()) == [f"{game}-1.phh", f"{game}-2.phh"]
    again = croupier("hands", "export", folder, "--store", store)
    assert again.returncode == 2
    assert "File exists" in again.stderr


def test_a_dataset_with_a_damaged_record_leaves_no_folder(played: tuple[Path, str], tmp_path: Path) -> None:
    store, game = played
    damaged, folder = tmp_path / "store.db", tmp_path / "out"
    copyfile(store, damaged)
    with closing(sqlite3.connect(damaged)) as connection:
        connection.execute("UPDATE hands SET record = '{}' WHERE number = 1")
        connection.commit()
    done = croupier("hands", "export", folder, "--format", "rows", "--store", damaged)
    assert (done.returncode, f"hand {game}/1: " in done.stderr, folder.exists()) == (2, True, False)


def test_a_dataset_has_one_row_for_each_hand_and_a_data_sheet(played: tuple[Path, str], tmp_path: Path) -> None:
    store, game = played
    folder = tmp_path / "out"
    done = croupier("hands", "export", folder, "--format", "rows", "--player", "ann", "--store", store)
    assert done.stdout == f"2 hands of {store} are in {folder}\n"
    rows = [json.loads(line) for line in (folder / "holdem.jsonl").read_text().splitlines()]
    assert [(row["table"], row["number"]) for row in rows] == [(game, 2), (game, 1)]
    assert sorted(rows[1]["net"]) == [-10, 10]
    assert [len(row["hole_cards"]) for row in rows] == [2, 2]
    assert len(rows[0]["board"]) == 5
    assert rows[1]["actions"] == [{"seat": rows[1]["button"], "street": 0, "move": "fold", "chips": 0}]
    assert {action["street"] for action in rows[0]["actions"]} == {0, 1, 2, 3}
    sheet = json.loads((folder / "datasheet.json").read_text())
    assert (sheet["rows"], sheet["chosen"]) == (2, {"player": "ann"})
    assert [column["name"] for column in sheet["columns"]] == [*rows[0]]
    assert "| `actions.chips` | integer | chips |" in (folder / "README.md").read_text()


def test_an_acpc_log_has_a_line_for_each_hand(played: tuple[Path, str], tmp_path: Path) -> None:
    store, _ = played
    folder = tmp_path / "out"
    assert croupier("hands", "export", folder, "--format", "acpc", "--store", store).returncode == 0
    lines = (folder / "holdem.log").read_text().splitlines()
    assert [line.split(":")[:3] for line in lines] == [["STATE", "2", "cc/cc/cc/cc"], ["STATE", "1", "f"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "x"], "found the hand 'x'; allowed: TABLE/NUMBER, ROOM/TABLE/NUMBER"),
        (["show", "x/9"], "there is no hand 'x/9'; `croupier hands list` lists them"),
        (["show", "x/1.5"], "found the hand 'x/1.5'; allowed: TABLE/NUMBER, ROOM/TABLE/NUMBER"),
        (["list", "--limit", "0"], "found --limit 0; allowed: 1 or more"),
    ],
)
def test_unknown_hands_and_bad_arguments_are_rejected(
    played: tuple[Path, str], arguments: list[str], message: str
) -> None:
    done = croupier("hands", *arguments, "--store", played[0])
    assert done.returncode == (1 if message.startswith("there is no") else 2)
    assert done.stderr == f"croupier: {message}\n"


def test_a_store_with_hands_passes_db_check(played: tuple[Path, str]) -> None:
    done = croupier("db", "check", "--store", played[0])
    assert done.stdout == f"{played[0]}: 0 faults\n"
