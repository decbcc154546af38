"""Finds out what a file tells: a PHH file, Open Hand History, lines of JSON, or a transcript."""

import json
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import ValidationError

from croupier.core.transcript import read as read_paper
from croupier.rooms.holdem.histories import from_phh
from croupier.rooms.holdem.histories.notation import order
from croupier.rooms.holdem.table.finished_hands import Played
from croupier.rooms.holdem.table.persistence import KeptHand
from croupier.rooms.oldmaid.table.persistence import Record
from croupier.tui.replay.games import of_deal, of_house, of_oldmaid, of_paper
from croupier.tui.replay.holdem import story as of_holdem
from croupier.tui.replay.ohh import of_ohh
from croupier.tui.replay.steps import Step, Story

ALLOWED = "a PHH file, Open Hand History, lines of JSON that croupier has written, or a transcript"


def read(text: str, name: str) -> Story:
    """The story that a text tells; several games follow each other. Raises ValueError, which says what is there."""
    try:
        if text.lstrip().startswith("{"):
            return _json(text, name)
        if any(line.startswith("clause:") for line in text.splitlines()):
            return of_paper(read_paper(text, name))
        if any(line.replace(" ", "").startswith("variant=") for line in text.splitlines()):
            return of_phh(text, name)
    except (ValidationError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"found {name}, which cannot be read: {error}; allowed: {ALLOWED}") from None
    raise ValueError(f"found {name}, which tells no game; allowed: {ALLOWED}")


def of_phh(text: str, name: str) -> Story:
    """The story of a PHH file. Raises ValueError."""
    hand = from_phh(text)
    fields = tomllib.loads(text)
    seats = order(len(hand.stacks), hand.button)
    players = fields.get("players")
    if not isinstance(players, list) or len(players) != len(seats):
        players = [f"p{number}" for number in range(1, len(seats) + 1)]
    by_seat = {seat: str(player) for seat, player in zip(seats, players, strict=True)}
    return of_holdem(hand, [by_seat[seat] for seat in range(len(seats))], name)


def of_kept(kept: KeptHand) -> Story:
    """The story of a hand of hold'em that was kept. Raises ValueError."""
    played = Played.of(kept)
    return of_holdem(played.hand, played.players, f"holdem/{played.table}/{played.number}")


def _json(text: str, name: str) -> Story:
    """One object, or one a line."""
    try:
        found = [json.loads(text)]
    except json.JSONDecodeError:
        try:
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
        except json.JSONDecodeError as error:
            raise ValueError(f"found {name}, which is no JSON: {error}; allowed: {ALLOWED}") from None
    stories = [*_stories(found, name)]
    if len(stories) == 1:
        return stories[0]
    steps = [step for story in stories for step in (Step(f"{story.title}:"), *story.steps)]
    return Story(name, steps)


def _stories(objects: Sequence[Any], name: str) -> Iterator[Story]:
    """The stories of some objects; the lines of a dealer's record are one."""
    deals: list[Step] = []
    for found in objects:
        match found:
            case {"ohh": _}:
                yield of_ohh(found)
            case {"guids": _}:
                yield of_kept(KeptHand.from_json(json.dumps(found).encode()))
            case {"course": _}:
                record = Record.from_json(json.dumps(found).encode())
                yield of_oldmaid(record, f"oldmaid/table/{record.game}")
            case {"done": _}:
                yield of_house(found)
            case {"deal": _}:
                deals.append(of_deal(found))
            case _:
                raise ValueError(f"found {name}, in which {json.dumps(found)[:100]} tells no game; allowed: {ALLOWED}")
    if deals:
        yield Story(name, deals)
