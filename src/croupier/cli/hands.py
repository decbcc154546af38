"""`croupier hands`: list, show and export the hands and games recorded in a store."""

import sys
from collections.abc import Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal
from urllib.parse import quote

from cyclopts import App, Parameter

from croupier.cli.datasets import DATASET_FORMATS, HOLDEM_FORMATS, export_dataset, export_tournament
from croupier.cli.db import StoreArgument, with_store
from croupier.cli.games import export_games, list_games, parse_place, show_game
from croupier.cli.options import check_minimum
from croupier.cli.output import (
    WRONG_USE_STATUS,
    fail,
    print_count,
    print_error,
    print_json,
    print_line,
    use_utf8_output,
)
from croupier.core.text import printable
from croupier.rooms import HOUSE_ROOMS

if TYPE_CHECKING:
    from croupier.store.records import StoredHand
    from croupier.store.store import Store

app = App(name="hands")

type HandFormat = Literal["phh", "ohh", "jsonl"]
type ExportFormat = Literal["phh", "ohh", "jsonl", "rows", "parquet", "acpc", "phhs"]

HOLDEM: Final = "holdem"
OLDMAID: Final = "oldmaid"
RECORDED_ROOMS: Final = (HOLDEM, OLDMAID, *HOUSE_ROOMS)
"""Rooms whose hands or games are recorded."""


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
    """List the latest hands of a room, newest first.

    Parameters
    ----------
    room:
        Room: holdem, oldmaid, kuhn, sevenhalf or blackjack.
    table:
        Only hands of this table. In kuhn, sevenhalf and blackjack a table is a connection.
    player:
        Only hands of this user.
    limit:
        Maximum number of hands.
    json:
        Print one JSON object per line.
    """
    check_minimum(1, limit=limit)
    _check_room(room)

    async def action(store: "Store") -> int:
        if room in HOUSE_ROOMS:
            is_any = await list_games(store, room, table, player, limit=limit, as_json=json)
        else:
            hands = await store.hands(room, table, player, limit=limit)
            (_print_hands_json if json else _print_hands)(hands)
            is_any = bool(hands)
        if not is_any:
            print_error(f"there is no such hand of {room}; `croupier hands list ROOM` lists those of another room")
        return 0

    return with_store(store, action)


@app.command
def show(
    hand: str,
    *,
    export_format: Annotated[HandFormat | None, Parameter(name="--format")] = None,
    store: StoreArgument = None,
) -> int:
    """Show one hand, including all cards.

    Parameters
    ----------
    hand:
        Hand as `croupier hands list` prints it: TABLE/NUMBER, or ROOM/TABLE/NUMBER for other rooms than holdem.
    export_format:
        phh, ohh (Open Hand History) or jsonl (as stored). [default: phh for holdem; others have only jsonl]
    """
    place = parse_place(hand)
    if place is None:
        raise ValueError(f"found the hand {hand[:100]!r}; allowed: TABLE/NUMBER, ROOM/TABLE/NUMBER")
    room, table, number = place
    _check_room(room, export_format)

    async def action(store: "Store") -> int:
        if room in HOUSE_ROOMS:
            return await show_game(store, room, table, number)
        stored_hand = await store.hand(room, table, number)
        if stored_hand is None:
            return fail(f"there is no hand {hand[:100]!r}; `croupier hands list` lists them")
        use_utf8_output()
        try:
            text = _format_hand(stored_hand, export_format or DEFAULT_FORMATS[room])
            sys.stdout.write(printable(text, len(text), keep="\n") if sys.stdout.isatty() else text)
        except ValueError as error:
            return fail(f"hand {hand}: {error}")
        return 0

    return with_store(store, action)


@app.command
def export(
    folder: Path,
    *,
    room: str | None = None,
    export_format: Annotated[ExportFormat | None, Parameter(name="--format")] = None,
    table: str | None = None,
    player: str | None = None,
    tournament: Path | None = None,
    store: StoreArgument = None,
) -> int:
    """Export hands, including all cards, to a new folder.

    Hands of holdem and oldmaid are written to one file each, games of the other rooms to one JSON Lines file. The
    formats rows, parquet, acpc and phhs make a dataset instead: one file with all hands, and a data sheet.

    Parameters
    ----------
    folder:
        Folder to create. It must not exist.
    room:
        Room: holdem, oldmaid, kuhn, sevenhalf or blackjack. [default: holdem]
    export_format:
        phh, ohh (Open Hand History) or jsonl (as stored), of which only holdem has the first two; for a dataset rows
        (JSON Lines) or parquet, in holdem also acpc (the log of the ACPC's dealer) or phhs (PHH, all hands in a file).
        [default: phh for holdem, jsonl for others; rows with --tournament]
    table:
        Only hands of this table. In kuhn, sevenhalf and blackjack a table is a connection.
    player:
        Only hands of this user.
    tournament:
        Folder of `croupier arena --out`, whose hands are exported: all that count, played again with the same results.
    """
    if tournament is not None:
        given = {"--room": room, "--table": table, "--player": player, "--store": store}
        if found := [name for name, value in given.items() if value is not None]:
            raise ValueError(f"found {found[0]} with --tournament; allowed: one of them")
        match export_format:
            case None | "rows" | "parquet" | "acpc" | "phhs":
                return export_tournament(folder, tournament, export_format or "rows")
            case _:
                formats = ", ".join(DATASET_FORMATS)
                raise ValueError(f"found --format {export_format} with --tournament; allowed: {formats}")
    room = room or HOLDEM
    _check_room(room, export_format, ("jsonl", *(each for each in DATASET_FORMATS if each not in HOLDEM_FORMATS)))
    match export_format:
        case "rows" | "parquet" | "acpc" | "phhs":
            return export_dataset(folder, room, export_format, table=table, player=player, location=store)
        case _:
            chosen_format = export_format or DEFAULT_FORMATS.get(room, "jsonl")

    async def action(store: "Store") -> int:
        if room in HOUSE_ROOMS:
            return await export_games(store, room, folder, table, player)
        suffix = FILE_SUFFIXES[chosen_format]
        count = 0
        try:
            folder.mkdir(parents=True)
            async with aclosing(store.iterate_hands(room, table, player)) as hands:
                async for each in hands:
                    name = f"{quote(each.table, safe='')}-{each.number}.{suffix}"  # the name may contain a slash
                    with (folder / name).open("x", encoding="utf-8", newline="\n") as file:
                        file.write(_format_hand(each, chosen_format))
                    count += 1
        except OSError as error:
            return fail(f"cannot write {folder}: {error.strerror}", WRONG_USE_STATUS)
        except ValueError as error:
            return fail(f"hand {each.table}/{each.number}: {error}")
        print_count(count, "hand", store.location, folder)
        return 0

    return with_store(store, action)


def _check_room(
    room: str, export_format: ExportFormat | None = None, allowed_formats: Sequence[str] = ("jsonl",)
) -> None:
    """Raise ValueError if there is no such room, or if it is not hold'em and does not have this format."""
    if room not in RECORDED_ROOMS:
        raise ValueError(f"found the room {room[:100]!r}; allowed: {', '.join(RECORDED_ROOMS)}")
    if room != HOLDEM and export_format not in {None, *allowed_formats}:
        raise ValueError(f"found --format {export_format} for games of {room}; allowed: {', '.join(allowed_formats)}")


def _format_hand(stored: "StoredHand", export_format: HandFormat) -> str:
    """Return a hand in a format. Raises ValueError if its record is damaged."""
    if export_format == "jsonl":
        return f"{stored.record}\n"
    from croupier.rooms.holdem.histories import to_ohh, to_phh
    from croupier.rooms.holdem.table.finished_hands import FinishedHand

    hand = FinishedHand.from_json(stored.record.encode()).hand
    if export_format == "phh":
        return to_phh(hand, players=stored.players, table=stored.table, number=stored.number)
    ended_at = datetime.fromtimestamp(stored.time, UTC)  # the start is not recorded, and the format requires one
    history = to_ohh(hand, players=stored.players, table=stored.table, number=stored.number, started_at=ended_at)
    return f"{history.decode()}\n"


DEFAULT_FORMATS: Final[dict[str, HandFormat]] = {HOLDEM: "phh", OLDMAID: "jsonl"}
"""The format of a room's hands without --format."""

FILE_SUFFIXES: Final[dict[HandFormat, str]] = {"phh": "phh", "ohh": "json", "jsonl": "jsonl"}


def _print_hands_json(hands: "Sequence[StoredHand]") -> None:
    for hand in hands:
        record = {"table": hand.table, "number": hand.number, "time": hand.time, "players": hand.players}
        print_json(record | {"summary": hand.summary})


def _print_hands(hands: "Sequence[StoredHand]") -> None:
    for hand in hands:
        prefix, time = "" if hand.room == HOLDEM else f"{hand.room}/", datetime.fromtimestamp(hand.time, UTC)
        print_line(f"{time:%Y-%m-%d %H:%M:%S}  {prefix}{hand.table}/{hand.number}  {hand.summary}")
