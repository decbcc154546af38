"""Datasets of recorded games and of tournaments, for `croupier hands export`."""

from contextlib import aclosing, contextmanager
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Final

from croupier.cli.db import with_store
from croupier.cli.output import WRONG_USE_STATUS, fail, print_count
from croupier.rooms import HOUSE_ROOMS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from croupier.recording.dataset_writers import DatasetFormat, Row
    from croupier.recording.datasets import Dataset, Source
    from croupier.store.store import Store

DATASET_FORMATS: Final = ("rows", "parquet", "acpc", "phhs")
HOLDEM_FORMATS: Final = ("acpc", "phhs")
"""Formats that only hold'em has."""


def export_dataset(
    folder: Path,
    room: str,
    dataset_format: "DatasetFormat",
    *,
    table: str | None,
    player: str | None,
    location: str | None,
) -> int:
    """Write the games of a room to one file in a new folder, with a data sheet, and return the exit status."""
    from croupier.recording.datasets import server_source

    filters = {name: value for name, value in (("table", table), ("player", player)) if value is not None}

    async def action(store: "Store") -> int:
        try:
            with _new_dataset(folder, server_source(room, filters), dataset_format) as dataset:
                async with aclosing(_rows(store, room, table, player, dataset_format)) as rows:
                    async for row in rows:
                        dataset.write(row)
        except OSError as error:
            return fail(f"cannot write {folder}: {error.strerror}", WRONG_USE_STATUS)
        print_count(dataset.row_count, "game" if room in HOUSE_ROOMS else "hand", store.location, folder)
        return 0

    return with_store(location, action)


@contextmanager
def _new_dataset(folder: Path, source: "Source", dataset_format: "DatasetFormat") -> "Iterator[Dataset]":
    """Make a dataset in a new folder; a ValueError of the block leaves nothing of it."""
    from croupier.recording.datasets import Dataset

    dataset = Dataset(folder, source, dataset_format)
    try:
        yield dataset
    except ValueError:
        dataset.discard()
        raise
    dataset.close(time())


async def _rows(
    store: "Store", room: str, table: str | None, player: str | None, dataset_format: "DatasetFormat"
) -> "AsyncGenerator[Row]":
    """Yield the rows of a room. Raises ValueError for a damaged record."""
    from croupier.recording.dataset_rows import house_row, stored_row
    from croupier.recording.game_records import all_games

    if room in HOUSE_ROOMS:
        async for game in all_games(store, room, table, player):
            yield house_row(game)
        return
    async with aclosing(store.iterate_hands(room, table, player)) as hands:
        async for hand in hands:
            try:
                row = stored_row(hand, dataset_format)
            except ValueError as error:
                raise ValueError(f"hand {hand.table}/{hand.number}: {error}") from error
            if row is not None:
                yield row


def export_tournament(folder: Path, tournament: Path, dataset_format: "DatasetFormat") -> int:
    """Write the hands of a tournament to one file in a new folder, with a data sheet, and return the exit status."""
    from croupier.arena.hands import RecordedTournament

    recorded = RecordedTournament(tournament)
    room = recorded.plan.room
    if dataset_format in HOLDEM_FORMATS and room != "holdem":
        raise ValueError(f"found --format {dataset_format} for hands of {room}; allowed: rows, parquet")
    with _new_dataset(folder, recorded.source, dataset_format) as dataset:
        for row in recorded.rows(dataset_format):
            dataset.write(row)
    print_count(dataset.row_count, "hand", tournament, folder)
    return 0
