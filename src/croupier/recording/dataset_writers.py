"""Writers of datasets: one file with all rows."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from croupier.recording.dataset_columns import Column

type DatasetFormat = Literal["rows", "parquet", "acpc", "phhs"]
"""JSON Lines, Parquet, and in hold'em the log of the ACPC's dealer, or hands in PHH, many in a file."""

type Row = Mapping[str, Any]

BATCH_ROWS: Final = 10_000
"""The rows that are written to a Parquet file at a time."""


class TextWriter:
    """Writes rows to a new file as text. `format_row` returns the text of a row with its number, from 1."""

    def __init__(self, path: Path, format_row: Callable[[Row, int], str]) -> None:
        self._file = path.open("x", encoding="utf-8", newline="\n")
        self._format_row = format_row
        self._count = 0

    def write(self, row: Row) -> None:
        """Write a row."""
        self._count += 1
        self._file.write(self._format_row(row, self._count))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class ParquetWriter:
    """Writes rows to a new Parquet file. Raises ModuleNotFoundError without pyarrow."""

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        types = {
            "string": pa.string(),
            "integer": pa.int64(),
            "number": pa.float64(),
            "boolean": pa.bool_(),
            "list of strings": pa.list_(pa.string()),
            "list of integers": pa.list_(pa.int64()),
        }

        def field(column: Column) -> Any:
            found = types.get(column.type) or pa.list_(pa.struct([*map(field, column.fields)]))
            return pa.field(column.name, found, metadata={"description": column.description, "unit": column.unit})

        self._schema = pa.schema([*map(field, columns)])
        self._new_table: Callable[..., Any] = pa.Table.from_pylist
        self._writer = parquet.ParquetWriter(path, self._schema)
        self._rows: list[Row] = []

    def write(self, row: Row) -> None:
        """Write a row, perhaps later."""
        self._rows.append(row)
        if len(self._rows) == BATCH_ROWS:
            self._flush()

    def close(self) -> None:
        """Write what is left, and close the file."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        self._writer.write_table(self._new_table(self._rows, schema=self._schema))
        self._rows.clear()


TEXT_FORMATS: Final[Mapping[DatasetFormat, Callable[[Row, int], str]]] = {
    "rows": lambda row, _: json.dumps(row, ensure_ascii=False) + "\n",
    "acpc": lambda row, _: f"{row['hand']}\n",
    "phhs": lambda row, number: f"[{number}]\n{row['hand']}\n",
}
"""How the text formats write a row: JSON Lines, a line of a log, a table of one TOML document."""

SUFFIXES: Final[Mapping[DatasetFormat, str]] = {"rows": "jsonl", "parquet": "parquet", "acpc": "log", "phhs": "phhs"}
"""The suffixes of the files."""


def open_writer(path: Path, dataset_format: DatasetFormat, columns: Sequence[Column]) -> TextWriter | ParquetWriter:
    """Create a file for rows with these columns. Raises OSError, and ModuleNotFoundError without pyarrow."""
    if dataset_format == "parquet":
        return ParquetWriter(path, columns)
    return TextWriter(path, TEXT_FORMATS[dataset_format])
