"""Parquet files have the rows of the JSON Lines files."""

import json
from pathlib import Path

import pytest
from pyarrow import parquet

from croupier.recording.dataset_columns import columns_of
from croupier.recording.dataset_rows import house_row
from croupier.recording.dataset_writers import BATCH_ROWS, Row
from croupier.recording.datasets import Dataset, server_source
from tests.recording.test_datasets import GAME, OLDMAID, played_hand, row_of, stored

pytestmark = pytest.mark.interop


@pytest.mark.parametrize(
    ("room", "row"),
    [("kuhn", house_row(GAME)), ("holdem", row_of(stored(played_hand()))), ("oldmaid", row_of(OLDMAID))],
)
def test_a_parquet_file_has_the_same_rows(room: str, row: Row, tmp_path: Path) -> None:
    count = BATCH_ROWS + 1
    dataset = Dataset(tmp_path / "out", server_source(room, {}), "parquet")
    for number in range(count):
        dataset.write({**row, "number": number})
    dataset.close(now=0.0)
    table = parquet.read_table(tmp_path / "out" / f"{room}.parquet")
    assert table.to_pylist() == [{**row, "number": number} for number in range(count)]
    assert [field.metadata[b"unit"].decode() for field in table.schema] == [each.unit for each in columns_of(room)]
    assert json.loads((tmp_path / "out" / "datasheet.json").read_text())["rows"] == count


def test_an_empty_dataset_has_its_columns(tmp_path: Path) -> None:
    Dataset(tmp_path / "out", server_source("holdem", {}), "parquet").close(now=0.0)
    table = parquet.read_table(tmp_path / "out" / "holdem.parquet")
    assert (table.num_rows, table.column_names) == (0, [column.name for column in columns_of("holdem")])
