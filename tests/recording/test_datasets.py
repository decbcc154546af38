"""Rows of recorded games, and their data sheets."""

import json
import sys
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from croupier.core.rules import Turn
from croupier.recording.dataset_columns import GAME_COLUMNS, HOLDEM_COLUMNS, OLDMAID_COLUMNS, columns_of
from croupier.recording.dataset_rows import house_row, stored_row
from croupier.recording.dataset_writers import Row
from croupier.recording.datasets import Dataset, server_source
from croupier.recording.game_records import GameRecord
from croupier.rooms import ROOMS
from croupier.rooms.holdem.cards import parse_cards
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.stakes import Stakes
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.oldmaid.table.persistence import OldMaidRecord
from croupier.store.records import StoredHand

GAME = GameRecord("kuhn", "1-7", 3, 12.5, 0, -2, ("Q", "K"), ("BET", "CAL"), "ann")
TYPES: dict[str, type] = {"string": str, "integer": int, "number": float, "boolean": bool}


def played_hand() -> Hand:
    hand = Hand([1000, 400], button=1, stakes=Stakes(5, 10))
    hand.deal_from(parse_cards("AsKdAhKc2h3h4c9sTs"))
    for chips in (5, 0, 20, 20):
        hand.bet(chips)
    hand.fold()
    return hand


def stored(hand: Hand, players: tuple[str, ...] = ("ann", "bob")) -> StoredHand:
    finished = FinishedHand("g", 1, 1, players, ("p", "q"), hand, ())
    return StoredHand("holdem", "g", 1, 99.0, players, finished.json.decode())


OLDMAID_RECORD = OldMaidRecord(
    4, ("ann", "bob"), False, ("bob", "ann"), [("drew", 0, "AH"), ("threw", 0, "AH", "AD"), ("out", 1)]
)
OLDMAID = StoredHand("oldmaid", "table", 4, 5.0, ("ann", "bob"), OLDMAID_RECORD.to_json().decode())


def row_of(hand: StoredHand) -> Row:
    row = stored_row(hand)
    assert row is not None
    return row


def test_a_hand_of_holdem_is_a_row() -> None:
    row = row_of(stored(played_hand()))
    assert row["hole_cards"] == ["KD KC", "AS AH"]
    assert row["board"] == ["2H", "3H", "4C", "9S"]
    assert row["actions"] == [
        {"seat": 1, "street": 0, "move": "bet", "chips": 5},
        {"seat": 0, "street": 0, "move": "bet", "chips": 0},
        {"seat": 0, "street": 1, "move": "bet", "chips": 20},
        {"seat": 1, "street": 1, "move": "bet", "chips": 20},
        {"seat": 0, "street": 2, "move": "fold", "chips": 0},
    ]
    assert row["net"] == [-30, 30]


def test_a_void_hand_has_no_net() -> None:
    hand = Hand([1000, 400], button=1, stakes=Stakes(5, 10))
    hand.deal(parse_cards("AsKdAhKc"))
    row = row_of(stored(hand))
    assert hand.turn is not Turn.OVER
    assert stored_row(stored(hand), "acpc") is None, "it has no result"
    assert (row["net"], row["board"], row["actions"]) == ([], [], [])


def test_a_game_of_old_maid_is_a_row() -> None:
    row = row_of(OLDMAID)
    assert (row["number"], row["is_void"], row["ranking"]) == (4, False, ["bob", "ann"])
    assert row["actions"] == [
        {"seat": 0, "move": "drew", "cards": ["AH"]},
        {"seat": 0, "move": "threw", "cards": ["AH", "AD"]},
        {"seat": 1, "move": "out", "cards": []},
    ]


@pytest.mark.parametrize(
    ("room", "row"),
    [("kuhn", house_row(GAME)), ("holdem", row_of(stored(played_hand()))), ("oldmaid", row_of(OLDMAID))],
)
def test_rows_have_the_columns_of_the_data_sheet(room: str, row: dict[str, Any]) -> None:
    columns = columns_of(room)
    assert [column.name for column in columns] == [*row]
    for column in columns:
        if column.type in TYPES:
            assert isinstance(row[column.name], TYPES[column.type])
        else:
            assert isinstance(row[column.name], list)
        if column.fields:
            assert all([field.name for field in column.fields] == [*action] for action in row[column.name])


def test_a_damaged_record_is_an_error() -> None:
    with pytest.raises(ValueError, match="a malformed snapshot"):
        stored_row(StoredHand("holdem", "g", 1, 99.0, (), "{}"))


def test_all_rooms_have_columns() -> None:
    assert all(columns_of(room)[: len(GAME_COLUMNS)] == GAME_COLUMNS for room in ROOMS)
    assert HOLDEM_COLUMNS != OLDMAID_COLUMNS


def test_a_dataset_is_described_by_its_data_sheet(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    dataset = Dataset(folder, server_source("kuhn", {"table": "1-7"}), "rows")
    dataset.write(house_row(GAME))
    dataset.close(now=0.0)
    data = (folder / "kuhn.jsonl").read_bytes()
    assert json.loads(data) == house_row(GAME)
    sheet = json.loads((folder / "datasheet.json").read_text())
    assert sheet["sha256"] == sha256(data).hexdigest()
    assert (sheet["bytes"], sheet["exported"], sheet["chosen"]) == (len(data), "1970-01-01T00:00:00Z", {"table": "1-7"})
    page = (folder / "README.md").read_text()
    assert "`kuhn.jsonl` has 1 row, one for each game (table 1-7)" in page
    assert "| `net` | integer | coins | what the client has won |" in page


def test_hands_of_holdem_are_lines_of_an_acpc_log(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path / "out", server_source("holdem", {}), "acpc")
    for number in (1, 2):
        row = stored_row(replace(stored(played_hand(), ("ann", "b:o b")), number=number), "acpc")
        assert row is not None
        dataset.write(row)
    dataset.close(now=0.0)
    line = "STATE:1:cc/r30c/f:KdKc|AsAh/2h3h4c/9s:-30|30:ann|b_o_b"
    assert (tmp_path / "out" / "holdem.log").read_text() == f"{line}\n{line.replace(':1:', ':2:', 1)}\n"


def test_hands_of_holdem_are_tables_of_a_phhs_document(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path / "out", server_source("holdem", {}), "phhs")
    for _ in range(2):
        row = stored_row(stored(played_hand()), "phhs")
        assert row is not None
        dataset.write(row)
    dataset.close(now=0.0)
    document = tomllib.loads((tmp_path / "out" / "holdem.phhs").read_text())
    assert [*document] == ["1", "2"]
    assert document["2"]["finishing_stacks"] == [970, 430]
    assert json.loads((tmp_path / "out" / "datasheet.json").read_text())["columns"][0]["name"] == "hand"


def test_a_dataset_that_fails_can_be_discarded(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path / "out", server_source("kuhn", {}), "rows")
    dataset.write(house_row(GAME))
    dataset.discard()
    assert not (tmp_path / "out").exists()


def test_without_pyarrow_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError):
        Dataset(tmp_path / "out", server_source("kuhn", {}), "parquet")
    assert not (tmp_path / "out").exists()
