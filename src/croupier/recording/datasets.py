"""Datasets of recorded games: one row for each game, in one file, with a data sheet beside it."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path
from typing import Any, Final, NamedTuple

from croupier.core.plural import format_count
from croupier.recording.dataset_columns import Column, columns_of
from croupier.recording.dataset_writers import SUFFIXES, DatasetFormat, Row, open_writer
from croupier.rooms import ROOMS
from croupier.version import __version__

SHEET_FILE: Final = "datasheet.json"
README_FILE: Final = "README.md"


class Source(NamedTuple):
    """Where the games of a dataset come from, for its data sheet. `chosen` says which of them, by values or in words.

    `order` is that of the rows; `made`, `seed` and `people` are sentences about how the data was made.
    """

    room: str
    title: str
    chosen: Mapping[str, str] | str
    order: str
    made: str
    seed: str
    people: str
    is_tournament: bool = False


def server_source(room: str, filters: Mapping[str, str]) -> Source:
    """The games of a room that a server has recorded. `filters` says which were chosen."""
    return Source(
        room=room,
        title=f"Recorded games: {ROOMS[room].title}",
        chosen=dict(filters) or "all games of the room",
        order="in order of time, in hold'em and Old Maid the newest first",
        made="Recorded by a server of croupier, game by game as they ended, with all cards, hidden ones too.",
        seed="The cards follow from the seeds of the server, which are in its record of deals (serve --deals).",
        people="Names of players and accounts are as they were registered. Publish them only with consent.",
    )


class Dataset:
    """A dataset that is being written to a new folder.

    Raises OSError if it cannot be written, and ModuleNotFoundError if a library is missing; then nothing is left.
    """

    def __init__(self, folder: Path, source: Source, dataset_format: DatasetFormat) -> None:
        self.row_count = 0
        self._source = source
        self._columns = columns_of(source.room, dataset_format, is_tournament=source.is_tournament)
        folder.mkdir(parents=True)
        self._path = folder / f"{source.room}.{SUFFIXES[dataset_format]}"
        try:
            self._writer = open_writer(self._path, dataset_format, self._columns)
        except ModuleNotFoundError:
            folder.rmdir()
            raise

    def write(self, row: Row) -> None:
        """Write a game."""
        self._writer.write(row)
        self.row_count += 1

    def close(self, now: float) -> None:
        """Close the file, and write the data sheet. `now` is the time in seconds since 1970."""
        self._writer.close()
        sheet = self._sheet(now)
        text = json.dumps(sheet, ensure_ascii=False, indent=2)
        (self._path.parent / SHEET_FILE).write_text(f"{text}\n", encoding="utf-8")
        (self._path.parent / README_FILE).write_text(readme(sheet), encoding="utf-8")

    def discard(self) -> None:
        """Remove the file and the folder."""
        self._writer.close()
        self._path.unlink()
        self._path.parent.rmdir()

    def _sheet(self, now: float) -> dict[str, Any]:
        with self._path.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        source = self._source
        return {
            "title": source.title,
            "room": source.room,
            "file": self._path.name,
            "rows": self.row_count,
            "sha256": digest,
            "bytes": self._path.stat().st_size,
            "exported": f"{datetime.fromtimestamp(now, UTC):%Y-%m-%dT%H:%M:%SZ}",
            "croupier": __version__,
            "chosen": source.chosen,
            "order": source.order,
            "made": source.made,
            "seed": source.seed,
            "people": source.people,
            "licence": None,
            "columns": [_column_values(column) for column in self._columns],
        }


def _column_values(column: Column) -> dict[str, Any]:
    """A column of the data sheet."""
    values: dict[str, Any] = {"name": column.name, "type": column.type, "description": column.description}
    if column.unit:
        values["unit"] = column.unit
    if column.fields:
        values["fields"] = [*map(_column_values, column.fields)]
    return values


def readme(sheet: Mapping[str, Any]) -> str:
    """A data sheet as a page for people."""
    chosen = sheet["chosen"]
    if not isinstance(chosen, str):
        chosen = ", ".join(f"{name} {value}" for name, value in chosen.items())
    lines = [
        f"# {sheet['title']}",
        "",
        f"`{sheet['file']}` has {format_count(sheet['rows'], 'row')}, one for each game ({chosen}).",
        f"They are {sheet['order']}.",
        "",
        f"- **How it was made.** {sheet['made']}",
        f"- **Seed.** {sheet['seed']}",
        f"- **People.** {sheet['people']}",
        f"- **Exported** {sheet['exported']} by croupier {sheet['croupier']}.",
        f"- **SHA-256** of the file: `{sheet['sha256']}` ({sheet['bytes']:,} bytes).",
        "- **Licence.** Not stated: the author of the dataset has to choose one.",
        "",
        "| Column | Type | Unit | Meaning |",
        "|---|---|---|---|",
    ]
    for column in sheet["columns"]:
        lines.append(_readme_row(column, column["name"]))
        lines += [_readme_row(field, f"{column['name']}.{field['name']}") for field in column.get("fields", ())]
    return "\n".join([*lines, ""])


def _readme_row(column: Mapping[str, Any], name: str) -> str:
    return f"| `{name}` | {column['type']} | {column.get('unit', '')} | {column['description']} |"
