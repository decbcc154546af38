"""Datasets of recorded games: one row for each game, in one file, with a data sheet beside it."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Protocol

from msgspec import to_builtins

from croupier.core.plural import format_count
from croupier.recording.game_records import GameRecord
from croupier.rooms import ROOMS
from croupier.rooms.holdem.cards import card_names
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.play import OVER
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.table.persistence import HandSnapshot
from croupier.rooms.oldmaid.table.persistence import OldMaidRecord
from croupier.store.records import StoredHand
from croupier.version import __version__

type DatasetFormat = Literal["rows", "parquet"]
"""JSON Lines, or Parquet."""

type Row = Mapping[str, Any]

SHEET_FILE: Final = "datasheet.json"
README_FILE: Final = "README.md"
BATCH_ROWS: Final = 10_000
"""The rows that are written to a Parquet file at a time."""


class Column(NamedTuple):
    """A column: the type of its values, what they mean, and their unit.

    The values of the type `list of actions` are structures, whose values are described in `fields`.
    """

    name: str
    type: Literal["string", "integer", "number", "boolean", "list of strings", "list of integers", "list of actions"]
    description: str
    unit: str = ""
    fields: Sequence["Column"] = ()


GAME_COLUMNS: Final = (
    Column("table", "string", "the table; against a house RUN-CONNECTION, one table for each connection"),
    Column("number", "integer", "the number of the game at its table, from 1"),
    Column("time", "number", "when the game ended", "seconds since 1970-01-01 UTC"),
)

HOUSE_COLUMNS: Final = (
    *GAME_COLUMNS,
    Column("seat", "integer", "the seat of the client: 0 acts first"),
    Column("net", "integer", "what the client has won", "coins"),
    Column("cards", "list of strings", "all cards, in the order of the deal"),
    Column("done", "list of strings", "the moves: of both sides in Kuhn poker, else of the client"),
    Column("client", "string", "the account of the client; empty without accounts"),
)

HOLDEM_COLUMNS: Final = (
    *GAME_COLUMNS,
    Column("players", "list of strings", "the names of the players, by seat"),
    Column("stacks", "list of integers", "the stacks before the forced bets, by seat", "chips"),
    Column("button", "integer", "the seat of the dealer button"),
    Column("small_blind", "integer", "the small blind", "chips"),
    Column("big_blind", "integer", "the big blind", "chips"),
    Column("ante", "integer", "the ante of each player", "chips"),
    Column("straddle", "integer", "the straddle, 0 if there is none", "chips"),
    Column("hole_cards", "list of strings", "the two cards of each seat, separated by a blank"),
    Column("board", "list of strings", "the cards on the board, in the order of the deal"),
    Column(
        "actions",
        "list of actions",
        "what the players did, in order",
        fields=(
            Column("seat", "integer", "who acts"),
            Column("street", "integer", "the betting round: 0 before the flop, 1 flop, 2 turn, 3 river"),
            Column("move", "string", "bet (also a check, a call or a raise), fold or leave"),
            Column("chips", "integer", "what the move adds to the pot", "chips"),
        ),
    ),
    Column("net", "list of integers", "what each seat has won; empty for a void hand", "chips"),
)

OLDMAID_COLUMNS: Final = (
    *GAME_COLUMNS,
    Column("players", "list of strings", "the nicks, in the order of the ring"),
    Column("is_void", "boolean", "whether the game has no result"),
    Column("ranking", "list of strings", "the nicks from the winner to the loser; empty for a void game"),
    Column(
        "actions",
        "list of actions",
        "what the table has seen, in order; picks are between players",
        fields=(
            Column("seat", "integer", "who acts"),
            Column("move", "string", "drew, threw (a pair), out or gone"),
            Column("cards", "list of strings", "the cards of the move"),
        ),
    ),
)

COLUMNS: Final[Mapping[str, Sequence[Column]]] = {"holdem": HOLDEM_COLUMNS, "oldmaid": OLDMAID_COLUMNS}
"""The columns of the rooms with shared tables; the others have `HOUSE_COLUMNS`."""


def columns_of(room: str) -> Sequence[Column]:
    """The columns of a room's games."""
    return COLUMNS.get(room, HOUSE_COLUMNS)


def house_row(game: GameRecord) -> Row:
    """The row of a game against a house."""
    fields = {**to_builtins(game), "cards": [*game.cards], "done": [*game.done]}
    return {column.name: fields[column.name] for column in HOUSE_COLUMNS}


def stored_row(stored: StoredHand) -> Row:
    """The row of a hand of hold'em or a game of Old Maid. Raises ValueError if its record is damaged."""
    row = {"table": stored.table, "number": stored.number, "time": stored.time, "players": [*stored.players]}
    if stored.room == "oldmaid":
        record = OldMaidRecord.from_json(stored.record.encode())
        actions = [{"seat": seat, "move": move, "cards": cards} for move, seat, *cards in record.course]
        return {**row, "is_void": record.void, "ranking": [*record.ranking], "actions": actions}
    hand = FinishedHand.from_snapshot(HandSnapshot.from_json(stored.record.encode())).hand
    return {
        **row,
        "stacks": [*hand.start_stacks],
        "button": hand.button,
        "small_blind": hand.stakes.small_blind,
        "big_blind": hand.stakes.big_blind,
        "ante": hand.stakes.ante,
        "straddle": hand.stakes.straddle,
        "hole_cards": [" ".join(card_names(cards)) for cards in hand.holes],
        "board": [*card_names(hand.board)],
        "actions": _holdem_actions(hand),
        "net": [*hand.payoff()] if hand.turn is OVER else [],
    }


def _holdem_actions(hand: Hand) -> Sequence[Row]:
    """What the players did in a hand."""
    actions: list[Row] = []
    street = 0
    for entry in hand.log:
        match entry:
            case ("deal", dealt_to, _):
                street += dealt_to is None
            case ("bet", seat, chips):
                actions.append({"seat": seat, "street": street, "move": "bet", "chips": chips})
            case (move, seat):
                actions.append({"seat": seat, "street": street, "move": move, "chips": 0})
    return actions


class RowWriter(Protocol):
    """Writes rows to a file. `suffix` is that of its name."""

    suffix: str

    def write(self, row: Row) -> None:
        """Write a row."""
        ...

    def close(self) -> None:
        """Write what is left, and close the file."""
        ...


class JsonLinesWriter:
    """Writes each row as a line of JSON. See `RowWriter`."""

    suffix = "jsonl"

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:  # noqa: ARG002 -- JSON needs no schema
        self._file = path.open("x", encoding="utf-8", newline="\n")

    def write(self, row: Row) -> None:
        """See `RowWriter`."""
        self._file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def close(self) -> None:
        """See `RowWriter`."""
        self._file.close()


class ParquetWriter:
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


WRITERS: Final[Mapping[DatasetFormat, Callable[[Path, Sequence[Column]], RowWriter]]] = {
    "rows": JsonLinesWriter,
    "parquet": ParquetWriter,
}
SUFFIXES: Final[Mapping[DatasetFormat, str]] = {"rows": JsonLinesWriter.suffix, "parquet": ParquetWriter.suffix}


class Dataset:
    """A dataset that is being written to a new folder. `filters` says which games were chosen.

    Raises OSError if it cannot be written, and ModuleNotFoundError if a library is missing; then nothing is left.
    """

    def __init__(self, folder: Path, room: str, dataset_format: DatasetFormat, filters: Mapping[str, str]) -> None:
        self.row_count = 0
        self._room = room
        self._filters = filters
        folder.mkdir(parents=True)
        self._path = folder / f"{room}.{SUFFIXES[dataset_format]}"
        try:
            self._writer = WRITERS[dataset_format](self._path, columns_of(room))
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

    def _sheet(self, now: float) -> dict[str, Any]:
        with self._path.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        return {
            "title": f"Recorded games: {ROOMS[self._room].title}",
            "room": self._room,
            "file": self._path.name,
            "rows": self.row_count,
            "sha256": digest,
            "bytes": self._path.stat().st_size,
            "exported": f"{datetime.fromtimestamp(now, UTC):%Y-%m-%dT%H:%M:%SZ}",
            "croupier": __version__,
            "chosen": dict(self._filters) or "all games of the room",
            "made": "Recorded by a server of croupier, game by game as they ended, with all cards, hidden ones too.",
            "seed": "The cards follow from the seeds of the server, which are in its record of deals (serve --deals).",
            "people": "Names of players and accounts are as they were registered. Publish them only with consent.",
            "licence": None,
            "columns": [_column_values(column) for column in columns_of(self._room)],
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
        "They are in order of time, in hold'em and Old Maid the newest first.",
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
