"""Reads recorded games: PHH files, Open Hand History, JSON Lines of croupier, and transcripts."""

import json
import tomllib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import ValidationError, convert

from croupier.core.transcript import parse_transcript
from croupier.recording.game_records import GameRecord, find_game
from croupier.replay.games import deal_step, house_game_replay, oldmaid_replay, transcript_replay
from croupier.replay.holdem import hand_replay
from croupier.replay.ohh import ohh_replay
from croupier.replay.steps import GameReplay, ReplayStep
from croupier.rooms import HOUSE_ROOMS
from croupier.rooms.holdem.histories import from_phh
from croupier.rooms.holdem.histories.notation import seat_order
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.oldmaid.table.persistence import OldMaidRecord

if TYPE_CHECKING:  # a file is replayed without a store
    from croupier.store.store import Store

ALLOWED_FORMATS = "a PHH file, Open Hand History, JSON Lines written by croupier, or a transcript"


def read_replay(text: str, name: str) -> GameReplay:
    """Return the replay of a file's text, whose format is detected. Several games become one replay.

    Raises ValueError if the text is in no known format.
    """
    try:
        if text.lstrip().startswith("{"):
            return _read_json(text, name)
        if any(line.startswith("clause:") for line in text.splitlines()):
            return transcript_replay(parse_transcript(text, name))
        if any(line.replace(" ", "").startswith("variant=") for line in text.splitlines()):
            return phh_replay(text, name)
    except (ValidationError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"cannot read {name}: {error}; allowed: {ALLOWED_FORMATS}") from None
    raise ValueError(f"{name} contains no game; allowed: {ALLOWED_FORMATS}")


def phh_replay(text: str, name: str) -> GameReplay:
    """Return the replay of a PHH file. Raises ValueError."""
    hand = from_phh(text)
    fields = tomllib.loads(text)
    seats = seat_order(len(hand.stacks), hand.button)
    players = fields.get("players")
    if not isinstance(players, list) or len(players) != len(seats):
        players = [f"p{number}" for number in range(1, len(seats) + 1)]
    by_seat = {seat: str(player) for seat, player in zip(seats, players, strict=True)}
    return hand_replay(hand, [by_seat[seat] for seat in range(len(seats))], name)


def finished_hand_replay(played: FinishedHand, *, is_public: bool = False) -> GameReplay:
    """Return the replay of a hold'em hand; if it `is_public`, with the hole cards that were shown (holdem-9.7)."""
    open_seats = frozenset(played.hand.showdown_order) if is_public else None
    return hand_replay(played.hand, played.players, f"holdem/{played.table}/{played.table_hand_number}", open_seats)


type StoredRecord = GameRecord | FinishedHand | OldMaidRecord
"""What a store has of a game against a house, a hand of hold'em, or a game of Old Maid."""


async def stored_record(store: "Store", room: str, table: str, number: int) -> StoredRecord | None:
    """Return a recorded game or hand, None if there is none. Raises ValueError if the record is damaged."""
    if room in HOUSE_ROOMS:
        return await find_game(store, room, table, number)
    stored = await store.hand(room, table, number)
    if stored is None:
        return None
    return (FinishedHand if room == "holdem" else OldMaidRecord).from_json(stored.record.encode())


def record_replay(record: StoredRecord, title: str, *, is_public: bool = False) -> GameReplay:
    """Return the replay of a recorded game or hand; see `finished_hand_replay`. Raises ValueError if it is damaged."""
    match record:
        case GameRecord():
            return house_game_replay(record)
        case FinishedHand():
            return finished_hand_replay(record, is_public=is_public)
        case OldMaidRecord():
            return oldmaid_replay(record, title)


async def stored_replay(store: "Store", room: str, table: str, number: int) -> GameReplay | None:
    """Return the replay of a recorded game or hand with all cards, None if there is none.

    Raises ValueError if the record is damaged.
    """
    record = await stored_record(store, room, table, number)
    return None if record is None else record_replay(record, f"{room}/{table}/{number}")


def _read_json(text: str, name: str) -> GameReplay:
    """Return the replay of a JSON object, or of one object per line."""
    try:
        objects = [json.loads(text)]
    except json.JSONDecodeError:
        try:
            objects = [json.loads(line) for line in text.splitlines() if line.strip()]
        except json.JSONDecodeError as error:
            raise ValueError(f"{name} is not valid JSON: {error}; allowed: {ALLOWED_FORMATS}") from None
    replays = [*_json_replays(objects, name)]
    if len(replays) == 1:
        return replays[0]
    steps = [step for replay in replays for step in (ReplayStep(f"{replay.title}:"), *replay.steps)]
    return GameReplay(name, steps)


def _json_replays(objects: Sequence[Any], name: str) -> Iterator[GameReplay]:
    """Yield a replay per object; the lines of a deal record become one replay."""
    deals: list[ReplayStep] = []
    for fields in objects:
        match fields:
            case {"ohh": _}:
                yield ohh_replay(fields)
            case {"guids": _}:
                yield finished_hand_replay(FinishedHand.from_json(json.dumps(fields).encode()))
            case {"course": _}:
                record = OldMaidRecord.from_json(json.dumps(fields).encode())
                yield oldmaid_replay(record, f"oldmaid/table/{record.game}")
            case {"done": _}:
                yield house_game_replay(convert(fields, GameRecord))
            case {"deal": _}:
                deals.append(deal_step(fields))
            case _:
                raise ValueError(
                    f"{name} contains {json.dumps(fields)[:100]}, which is no game; allowed: {ALLOWED_FORMATS}"
                )
    if deals:
        yield GameReplay(name, deals)
