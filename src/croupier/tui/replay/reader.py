"""Finds out what a file tells: a PHH file, Open Hand History, lines of JSON, or a transcript."""

import json
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import ValidationError

from croupier.core.transcript import parse_transcript as read_paper
from croupier.rooms.holdem.histories import from_phh
from croupier.rooms.holdem.histories.notation import seat_order
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.table.persistence import HandSnapshot
from croupier.rooms.oldmaid.table.persistence import OldMaidRecord
from croupier.tui.replay.games import deal_step, house_game_replay, oldmaid_replay, transcript_replay
from croupier.tui.replay.holdem import hand_replay as of_holdem
from croupier.tui.replay.ohh import ohh_replay
from croupier.tui.replay.steps import GameReplay, ReplayStep

ALLOWED_FORMATS = "a PHH file, Open Hand History, lines of JSON that croupier has written, or a transcript"


def read_replay(text: str, name: str) -> GameReplay:
    """The story that a text tells; several games follow each other. Raises ValueError, which says what is there."""
    try:
        if text.lstrip().startswith("{"):
            return _read_json(text, name)
        if any(line.startswith("clause:") for line in text.splitlines()):
            return transcript_replay(read_paper(text, name))
        if any(line.replace(" ", "").startswith("variant=") for line in text.splitlines()):
            return phh_replay(text, name)
    except (ValidationError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"found {name}, which cannot be read: {error}; allowed: {ALLOWED_FORMATS}") from None
    raise ValueError(f"found {name}, which tells no game; allowed: {ALLOWED_FORMATS}")


def phh_replay(text: str, name: str) -> GameReplay:
    """The story of a PHH file. Raises ValueError."""
    hand = from_phh(text)
    fields = tomllib.loads(text)
    seats = seat_order(len(hand.stacks), hand.button)
    players = fields.get("players")
    if not isinstance(players, list) or len(players) != len(seats):
        players = [f"p{number}" for number in range(1, len(seats) + 1)]
    by_seat = {seat: str(player) for seat, player in zip(seats, players, strict=True)}
    return of_holdem(hand, [by_seat[seat] for seat in range(len(seats))], name)


def saved_hand_replay(saved_hand: HandSnapshot) -> GameReplay:
    """The story of a hand of hold'em that was kept. Raises ValueError."""
    played = FinishedHand.from_snapshot(saved_hand)
    return of_holdem(played.hand, played.players, f"holdem/{played.table}/{played.table_hand_number}")


def _read_json(text: str, name: str) -> GameReplay:
    """One object, or one a line."""
    try:
        found = [json.loads(text)]
    except json.JSONDecodeError:
        try:
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
        except json.JSONDecodeError as error:
            raise ValueError(f"found {name}, which is no JSON: {error}; allowed: {ALLOWED_FORMATS}") from None
    stories = [*_json_replays(found, name)]
    if len(stories) == 1:
        return stories[0]
    steps = [step for story in stories for step in (ReplayStep(f"{story.title}:"), *story.steps)]
    return GameReplay(name, steps)


def _json_replays(objects: Sequence[Any], name: str) -> Iterator[GameReplay]:
    """The stories of some objects; the lines of a dealer's record are one."""
    deals: list[ReplayStep] = []
    for found in objects:
        match found:
            case {"ohh": _}:
                yield ohh_replay(found)
            case {"guids": _}:
                yield saved_hand_replay(HandSnapshot.from_json(json.dumps(found).encode()))
            case {"course": _}:
                record = OldMaidRecord.from_json(json.dumps(found).encode())
                yield oldmaid_replay(record, f"oldmaid/table/{record.game}")
            case {"done": _}:
                yield house_game_replay(found)
            case {"deal": _}:
                deals.append(deal_step(found))
            case _:
                raise ValueError(
                    f"found {name}, in which {json.dumps(found)[:100]} tells no game; allowed: {ALLOWED_FORMATS}"
                )
    if deals:
        yield GameReplay(name, deals)
