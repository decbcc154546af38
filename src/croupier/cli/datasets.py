"""Datasets of recorded games, for `croupier hands export`."""

from contextlib import aclosing
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from croupier.cli.db import with_store
from croupier.cli.output import fail, fail_without
from croupier.core.plural import format_count
from croupier.rooms import HOUSE_ROOMS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from croupier.recording.datasets import DatasetFormat, Row
    from croupier.store.store import Store


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
    from croupier.recording.datasets import Dataset

    filters = {name: value for name, value in (("table", table), ("player", player)) if value is not None}

    async def action(store: "Store") -> int:
        try:
            dataset = Dataset(folder, room, dataset_format, filters)
            async with aclosing(_rows(store, room, table, player)) as rows:
                async for row in rows:
                    dataset.write(row)
            dataset.close(time())
        except ModuleNotFoundError as error:
            return fail_without(error)
        except OSError as error:
            return fail(f"cannot write {folder}: {error.strerror}")
        count = format_count(dataset.row_count, "game" if room in HOUSE_ROOMS else "hand")
        print(f"{count} of {store.location} {'is' if dataset.row_count == 1 else 'are'} in {folder}")
        return 0

    return with_store(location, action)


async def _rows(store: "Store", room: str, table: str | None, player: str | None) -> "AsyncGenerator[Row]":
    """Yield the rows of a room. Raises ValueError for a damaged record."""
    from croupier.recording.datasets import house_row, stored_row
    from croupier.recording.game_records import all_games

    if room in HOUSE_ROOMS:
        async for game in all_games(store, room, table, player):
            yield house_row(game)
        return
    async with aclosing(store.iterate_hands(room, table, player)) as hands:
        async for hand in hands:
            try:
                yield stored_row(hand)
            except ValueError as error:
                raise ValueError(f"hand {hand.table}/{hand.number}: {error}") from error
