"""Games against a house, as `croupier hands` lists, shows and exports them: JSON, a game a line."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from croupier.cli.output import fail, show, show_json
from croupier.core.plural import counted
from croupier.recording.game_records import Told, every, find, latest

if TYPE_CHECKING:
    from croupier.store.store import Store


async def list_games(
    store: "Store", room: str, table: str | None, player: str | None, *, most: int, as_json: bool
) -> int:
    """Print the latest games, the latest first."""
    left = most
    async for game in latest(store, room, table, player):
        if as_json:
            show_json(msgspec.to_builtins(game))
        else:
            show(_line(game))
        left -= 1
        if not left:
            break
    return 0


async def show_game(store: "Store", room: str, table: str, number: int) -> int:
    """Print one game."""
    game = await find(store, room, table, number)
    if game is None:
        return fail(f"found no game {room}/{table}/{number}; allowed: one of `croupier hands list {room}`")
    show_json(msgspec.to_builtins(game))
    return 0


async def export_games(store: "Store", room: str, folder: Path, table: str | None, player: str | None) -> int:
    """Write games into one file of a new folder, the oldest first."""
    count = 0
    try:
        folder.mkdir(parents=True)
        with (folder / f"{room}.jsonl").open("wb") as file:
            async for game in every(store, room, table, player):
                file.write(msgspec.json.encode(game) + b"\n")
                count += 1
    except OSError as error:
        return fail(f"cannot write {folder}: {error.strerror}")
    print(f"{counted(count, 'game')} of {store.place} {'is' if count == 1 else 'are'} in {folder}")
    return 0


def _line(game: Told) -> str:
    time = datetime.fromtimestamp(game.time, UTC)
    told = " ".join((*game.cards, "|", *game.done))
    return f"{time:%Y-%m-%d %H:%M:%S}  {game.table}/{game.number}  {game.client or 'the client'} {game.net:+,}  {told}"
