"""Writers of datasets: one file with all rows."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from croupier.recording.dataset_columns import Column

type DatasetFormat = Literal["rows", "parquet", "acpc", "phhs"]
"""JSON Lines, Parquet, and in hold'em the log of the ACPC's dealer, or hands in PHH, many in a file."""

type Row = Mapping[str, Any]

BATCH_ROWS: Final = 10_000
"""The rows that are written to a Parquet file at a time."""


class RowWriter(ABC):
    """Writes rows to a new file. `suffix` is that of its name."""

    suffix: str

    @abstractmethod
    def __init__(self, path: Path, columns: Sequence[Column]) -> None: ...

    @abstractmethod
    def write(self, row: Row) -> None:
        """Write a row."""

    @abstractmethod
    def close(self) -> None:
        """Write what is left, and close the file."""


class TextWriter(RowWriter):
    """Writes rows as text. See `RowWriter`."""

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:  # noqa: ARG002 -- text needs no schema
        self._file = path.open("x", encoding="utf-8", newline="\n")
        self._count = 0

    def write(self, row: Row) -> None:
        """See `RowWriter`."""
        self._count += 1
        self._file.write(self.format(row, self._count))

    def close(self) -> None:
        """See `RowWriter`."""
        self._file.close()

    @abstractmethod
    def format(self, row: Row, number: int) -> str:
        """The text of a row, with its number from 1."""


class JsonLinesWriter(TextWriter):
    """Writes each row as a line of JSON. See `RowWriter`."""

    suffix = "jsonl"

    def format(self, row: Row, number: int) -> str:  # noqa: ARG002 -- see `TextWriter`
        """See `TextWriter`."""
        return json.dumps(row, ensure_ascii=False) + "\n"


class AcpcWriter(TextWriter):
    """Writes hands as lines of a log. See `RowWriter`."""

    suffix = "log"

    def format(self, row: Row, number: int) -> str:  # noqa: ARG002 -- see `TextWriter`
        """See `TextWriter`."""
        return f"{row['hand']}\n"


class PhhsWriter(TextWriter):
    """Writes hands in PHH as tables of one TOML document, named by their numbers. See `RowWriter`."""

    suffix = "phhs"

    def format(self, row: Row, number: int) -> str:
        """See `TextWriter`."""
        return f"[{number}]\n{row['hand']}\n"


class ParquetWriter(RowWriter):
    """Writes rows to a Parquet file. See `RowWriter`. Raises ModuleNotFoundError without pyarrow."""

    suffix = "parquet"

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
        """See `RowWriter`."""
        self._rows.append(row)
        if len(self._rows) == BATCH_ROWS:
            self._flush()

    def close(self) -> None:
        """See `RowWriter`."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        self._writer.write_table(self._new_table(self._rows, schema=self._schema))
        self._rows.clear()


WRITERS: Final[Mapping[DatasetFormat, type[RowWriter]]] = {
    "rows": JsonLinesWriter,
    "parquet": ParquetWriter,
    "acpc": AcpcWriter,
    "phhs": PhhsWriter,
}
