"""Games against a house, as `croupier hands` lists, shows and exports them: JSON, a game a line."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from croupier.cli.output import fail, print_json, print_line
from croupier.core.plural import format_count
from croupier.recording.game_records import GameRecord, all_games, find_game, latest_games

if TYPE_CHECKING:
    from croupier.store.store import Store


async def list_games(
    store: "Store", room: str, table: str | None, player: str | None, *, limit: int, as_json: bool
) -> int:
    """Print the latest games, the latest first."""
    left = limit
    async for game in latest_games(store, room, table, player):
        if as_json:
            print_json(msgspec.to_builtins(game))
        else:
            print_line(_game_line(game))
        left -= 1
        if not left:
            break
    return 0


async def show_game(store: "Store", room: str, table: str, number: int) -> int:
    """Print one game."""
    game = await find_game(store, room, table, number)
    if game is None:
        return fail(f"found no game {room}/{table}/{number}; allowed: one of `croupier hands list {room}`")
    print_json(msgspec.to_builtins(game))
    return 0


async def export_games(store: "Store", room: str, folder: Path, table: str | None, player: str | None) -> int:
    """Write games into one file of a new folder, the oldest first."""
    count = 0
    try:
        folder.mkdir(parents=True)
        with (folder / f"{room}.jsonl").open("wb") as file:
            async for game in all_games(store, room, table, player):
                file.write(msgspec.json.encode(game) + b"\n")
                count += 1
    except OSError as error:
        return fail(f"cannot write {folder}: {error.strerror}")
    print(f"{format_count(count, 'game')} of {store.location} {'is' if count == 1 else 'are'} in {folder}")
    return 0


def _game_line(game: GameRecord) -> str:
    time = datetime.fromtimestamp(game.time, UTC)
    told = " ".join((*game.cards, "|", *game.done))
    return f"{time:%Y-%m-%d %H:%M:%S}  {game.table}/{game.number}  {game.client or 'the client'} {game.net:+,}  {told}"
