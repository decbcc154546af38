"""Lists, shows and exports recorded games against a house, for `croupier hands`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from croupier.cli.output import WRONG_USE_STATUS, fail, print_count, print_json, print_line
from croupier.recording.game_records import GameRecord, all_games, find_game, latest_games

if TYPE_CHECKING:
    from croupier.store.store import Store


def parse_place(text: str) -> tuple[str, str, int] | None:
    """Room, table and number of TABLE/NUMBER, which is in hold'em, or ROOM/TABLE/NUMBER; None for any other text.

    >>> parse_place("main/7"), parse_place("kuhn/3/12"), parse_place("kuhn")
    (('holdem', 'main', 7), ('kuhn', '3', 12), None)
    """
    place, slash, number = text.rpartition("/")
    if not slash or not (number.isascii() and number.isdecimal() and len(number) < 19):
        return None
    room, slash, table = place.rpartition("/")
    return room if slash else "holdem", table, int(number)


async def list_games(
    store: "Store", room: str, table: str | None, player: str | None, *, limit: int, as_json: bool
) -> bool:
    """Print the latest `limit` games, newest first, and return whether there is any."""
    remaining = limit
    async for game in latest_games(store, room, table, player):
        if as_json:
            print_json(msgspec.to_builtins(game))
        else:
            print_line(_game_line(game))
        remaining -= 1
        if not remaining:
            break
    return remaining < limit


async def show_game(store: "Store", room: str, table: str, number: int) -> int:
    """Print one game as JSON and return the exit status."""
    game = await find_game(store, room, table, number)
    if game is None:
        return fail(f"there is no game {room}/{table}/{number}; `croupier hands list {room}` lists them")
    print_json(msgspec.to_builtins(game))
    return 0


async def export_games(store: "Store", room: str, folder: Path, table: str | None, player: str | None) -> int:
    """Write games to one JSON Lines file in a new folder, oldest first, and return the exit status."""
    count = 0
    try:
        folder.mkdir(parents=True)
        with (folder / f"{room}.jsonl").open("wb") as file:
            async for game in all_games(store, room, table, player):
                file.write(msgspec.json.encode(game) + b"\n")
                count += 1
    except OSError as error:
        return fail(f"cannot write {folder}: {error.strerror}", WRONG_USE_STATUS)
    print_count(count, "game", store.location, folder)
    return 0


def _game_line(game: GameRecord) -> str:
    time = datetime.fromtimestamp(game.time, UTC)
    place = f"{game.room}/{game.table}/{game.number}"
    play = " ".join((*game.cards, "|", *game.done))
    return f"{time:%Y-%m-%d %H:%M:%S}  {place}  {game.client or 'the client'} {game.net:+,}  {play}"
