"""`croupier hands`: what was played in rooms whose store it is, hands of hold'em and games against a house."""

import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal
from urllib.parse import quote

from cyclopts import App, Parameter

from croupier.cli.db import StoreArgument, with_store
from croupier.cli.games import export_games, list_games, show_game
from croupier.cli.output import fail, print_json, use_utf8_output
from croupier.cli.output import print_line as show_line
from croupier.core.plural import format_count
from croupier.core.text import printable
from croupier.rooms import HOUSE_ROOMS

if TYPE_CHECKING:
    from croupier.store.records import StoredHand
    from croupier.store.store import Store

app = App(name="hands", help="Hands that were played: list them, show one, export them.")

type ExportFormat = Literal["phh", "ohh", "jsonl"]

HOLDEM: Final = "holdem"
OLDMAID: Final = "oldmaid"
RECORDED_ROOMS: Final = (HOLDEM, OLDMAID, *HOUSE_ROOMS)
"""The rooms whose hands or games are kept."""


@app.command(name="list")
def list_hands(
    room: str = HOLDEM,
    *,
    table: str | None = None,
    player: str | None = None,
    limit: int = 20,
    json: bool = False,
    store: StoreArgument = None,
) -> int:
    """List the latest hands of a room, the latest first.

    Parameters
    ----------
    room:
        holdem, oldmaid, or a house: kuhn, sevenhalf, blackjack.
    table:
        Only those of this table; in a house, of this connection.
    player:
        Only those that this user has played; in a house, whoever has this account.
    limit:
        How many are listed.
    json:
        Print a JSON object a line.
    """
    if limit < 1:
        return fail(f"found {limit} hands; allowed: 1 or more")
    if room not in RECORDED_ROOMS:
        return fail(_unknown_room_message(room))

    async def story(store: "Store") -> int:
        if room in HOUSE_ROOMS:
            return await list_games(store, room, table, player, limit=limit, as_json=json)
        found = await store.hands(room, table, player, limit=limit)
        (_print_hands_json if json else _print_hands)(found)
        return 0

    return with_store(store, story)


@app.command
def show(
    hand: str,
    *,
    export_format: Annotated[ExportFormat | None, Parameter(name="--format")] = None,
    store: StoreArgument = None,
) -> int:
    """Show one hand, with all cards.

    Parameters
    ----------
    hand:
        Its table and its number, as `list` has them, TABLE/NUMBER; of another room than hold'em ROOM/TABLE/NUMBER.
    export_format:
        Of hold'em: as a PHH file (without this flag), as Open Hand History, or as it is kept. Other games are shown as
        JSON.
    """
    place, slash, number = hand.rpartition("/")
    if not slash or not (number.isascii() and number.isdecimal() and len(number) < 19):
        return fail(f"found the hand {hand[:100]!r}; allowed: TABLE/NUMBER, ROOM/TABLE/NUMBER")
    given, slash, table = place.rpartition("/")
    room = given if slash else HOLDEM
    if room not in RECORDED_ROOMS:
        return fail(_unknown_room_message(room))
    if room != HOLDEM and export_format not in {None, "jsonl"}:
        return fail(f"found --format {export_format} for a game of {room}; allowed: jsonl")

    async def story(store: "Store") -> int:
        if room in HOUSE_ROOMS:
            return await show_game(store, room, table, int(number))
        found = await store.hand(room, table, int(number))
        if found is None:
            return fail(f"found no hand {hand[:100]!r}; allowed: one of `croupier hands list`")
        use_utf8_output()
        try:
            text = FORMATTERS[export_format or DEFAULT_FORMATS[room]](found)
            sys.stdout.write(printable(text, len(text), keep="\n") if sys.stdout.isatty() else text)
        except ValueError as error:
            return fail(f"hand {hand}: {error}")
        return 0

    return with_store(store, story)


@app.command
def export(
    folder: Path,
    *,
    room: str = HOLDEM,
    export_format: Annotated[ExportFormat | None, Parameter(name="--format")] = None,
    table: str | None = None,
    player: str | None = None,
    store: StoreArgument = None,
) -> int:
    """Write hands into a new folder, with all cards: each into a file of its own, or all games of a house into one.

    Parameters
    ----------
    folder:
        Nothing may be there.
    room:
        holdem, oldmaid, or a house: kuhn, sevenhalf, blackjack.
    export_format:
        Of hold'em: PHH files (without this flag), Open Hand History, or as they are kept. Other games are lines of
        JSON.
    table:
        Only those of this table; in a house, of this connection.
    player:
        Only those that this user has played; in a house, whoever has this account.
    """
    if room not in RECORDED_ROOMS:
        return fail(_unknown_room_message(room))
    if room != HOLDEM and export_format not in {None, "jsonl"}:
        return fail(f"found --format {export_format} for games of {room}; allowed: jsonl")

    async def story(store: "Store") -> int:
        if room in HOUSE_ROOMS:
            return await export_games(store, room, folder, table, player)
        told, suffix = (
            FORMATTERS[export_format or DEFAULT_FORMATS[room]],
            FILE_SUFFIXES[export_format or DEFAULT_FORMATS[room]],
        )
        count = 0
        try:
            folder.mkdir(parents=True)
            async for each in store.iterate_hands(room, table, player):
                name = f"{quote(each.table, safe='')}-{each.number}.{suffix}"  # a table's name is never a path
                with (folder / name).open("x", encoding="utf-8", newline="\n") as file:
                    file.write(told(each))
                count += 1
        except OSError as error:
            return fail(f"cannot write {folder}: {error.strerror}")
        except ValueError as error:
            return fail(f"hand {each.table}/{each.number}: {error}")
        print(f"{format_count(count, 'hand')} of {store.location} {'is' if count == 1 else 'are'} in {folder}")
        return 0

    return with_store(store, story)


def _unknown_room_message(room: str) -> str:
    return f"found the room {room[:100]!r}; allowed: {', '.join(RECORDED_ROOMS)}"


def _format_phh(hand: "StoredHand") -> str:
    from croupier.rooms.holdem.histories import to_phh
    from croupier.rooms.holdem.table.finished_hands import FinishedHand
    from croupier.rooms.holdem.table.persistence import HandSnapshot

    played = FinishedHand.from_snapshot(HandSnapshot.from_json(hand.record.encode()))
    return to_phh(played.hand, players=hand.players, table=hand.table, number=hand.number)


def _format_ohh(hand: "StoredHand") -> str:
    from croupier.rooms.holdem.histories import to_ohh
    from croupier.rooms.holdem.table.finished_hands import FinishedHand
    from croupier.rooms.holdem.table.persistence import HandSnapshot

    played = FinishedHand.from_snapshot(HandSnapshot.from_json(hand.record.encode()))
    told = to_ohh(played.hand, players=hand.players, table=hand.table, number=hand.number)
    return f"{told.decode()}\n"


FORMATTERS: Final[dict[ExportFormat, Callable[["StoredHand"], str]]] = {
    "phh": _format_phh,
    "ohh": _format_ohh,
    "jsonl": lambda hand: f"{hand.record}\n",
}
DEFAULT_FORMATS: Final[dict[str, ExportFormat]] = {HOLDEM: "phh", OLDMAID: "jsonl"}
"""How the hands of a room are told unless somebody wants it otherwise."""

FILE_SUFFIXES: Final[dict[ExportFormat, str]] = {"phh": "phh", "ohh": "json", "jsonl": "jsonl"}


def _utc_time(hand: "StoredHand") -> datetime:
    return datetime.fromtimestamp(hand.time, UTC)


def _print_hands_json(hands: "Sequence[StoredHand]") -> None:
    for hand in hands:
        told = {"table": hand.table, "number": hand.number, "time": hand.time, "players": hand.players}
        print_json(told | {"summary": hand.summary})


def _print_hands(hands: "Sequence[StoredHand]") -> None:
    for hand in hands:
        place = "" if hand.room == HOLDEM else f"{hand.room}/"
        show_line(f"{_utc_time(hand):%Y-%m-%d %H:%M:%S}  {place}{hand.table}/{hand.number}  {hand.summary}")
