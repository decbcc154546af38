"""What a server has recorded: finished games in its store, and deals in the dealer's record."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Final
from urllib.parse import quote

from msgspec import Struct

from croupier.core.presentation import TableView, Text, verbatim
from croupier.recording.game_records import GameRecord, latest_games
from croupier.replay.deals import Deal, DealPlace, find_deal
from croupier.replay.reader import record_replay, stored_record
from croupier.replay.steps import GameReplay, ReplayStep
from croupier.rooms import HOUSE_ROOMS, ROOMS
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.oldmaid.table.persistence import OldMaidRecord
from croupier.store.records import StoredHand
from croupier.store.store import Store
from croupier.web.frames import FrameView, message_frame
from croupier.web.recorded_messages import OWN_PARTIES, REMARKS, recorded_messages
from croupier.web.replay_page import Moment, RecordedMessage, ReplayPage, StepMessages

MAX_LISTED: Final = 20
"""The number of games of a room that are listed: the latest ones."""


class Record(Struct, frozen=True):
    """A record that can be replayed. `steps` is the number of its messages, None if unknown."""

    room: str
    id: str
    title: str
    steps: int | None = None


class Records:
    """The recorded games and deals of a server.

    `store` returns its store, None if nothing is stored. `deals` is the file of the dealer's record, None without one.
    Searches read many records, so only one runs at a time.
    """

    def __init__(self, store: Callable[[], Store | None] = lambda: None, deals: Path | None = None) -> None:
        self._store = store
        self._deals = deals
        self._search = asyncio.Lock()

    async def latest(self, room: str) -> Sequence[Record]:
        """Return the latest finished games of a room, newest first."""
        store = self._store()
        if store is None:
            return []
        if room in HOUSE_ROOMS:
            return [_game_record(game) async for game in _first(latest_games(store, room), MAX_LISTED)]
        return [_hand_record(hand) for hand in await store.hands(room, limit=MAX_LISTED)]

    async def replay(self, room: str, table: str, number: int) -> ReplayPage | None:
        """Return the replay of a finished game, None if there is none.

        Hands of hold'em have the cards that the table has shown.
        """
        store = self._store()
        if store is None:
            return None
        async with self._search:
            record = await stored_record(store, room, table, number)
            if record is None:
                return None
            found = record_replay(record, f"{room}/{table}/{number}", is_public=True)
            messages = await asyncio.to_thread(recorded_messages, record, found)
        deal = "" if self._deals is None else f"/fair/{room}/{quote(table, safe='')}/{number}"
        return replay_page(room, found, messages, deal)

    async def deal(self, room: str, table: str, number: int) -> Deal | None:
        """Return the deal of a finished game, None if the dealer's record does not have it."""
        store = self._store()
        if store is None or self._deals is None:
            return None
        async with self._search:
            place = await _deal_place(store, room, table, number)
            return None if place is None else await asyncio.to_thread(find_deal, self._deals, place)


async def _first[T](items: AsyncIterator[T], count: int) -> AsyncIterator[T]:
    """Yield the first `count` items."""
    async for item in items:
        yield item
        count -= 1
        if not count:
            return


def _game_record(game: GameRecord) -> Record:
    title = f"{game.table}/{game.number}: {' '.join((*game.cards, '|', *game.done))} {game.net:+d}"
    return Record(game.room, f"{quote(game.table, safe='')}/{game.number}", title)


def _hand_record(hand: StoredHand) -> Record:
    title = f"{hand.table}/{hand.number}: {hand.summary or ', '.join(hand.players)}"
    return Record(hand.room, f"{quote(hand.table, safe='')}/{hand.number}", title)


async def _deal_place(store: Store, room: str, table: str, number: int) -> DealPlace | None:
    """Return where the dealer's record has the deal of a game, None if there is no such game."""
    match await stored_record(store, room, table, number):
        case None:
            return None
        case GameRecord(table=name, cards=cards):
            return DealPlace(room, int(name.rpartition("-")[2]), number, cards)
        case FinishedHand(hand_number=hand):
            return DealPlace(room, hand, 1)
        case OldMaidRecord(game=game):
            return DealPlace(room, game, 1)


def replay_page(room: str, replay: GameReplay, messages: StepMessages, deal: str = "") -> ReplayPage:
    """Return the pages of a recorded game: the messages of each step, and the step itself if it has none."""
    first = replay.steps[0]
    parties = [*dict.fromkeys(replay.players)]
    if messages and room not in HOUSE_ROOMS:
        parties.append(OWN_PARTIES[room])
    return ReplayPage(
        room=room,
        title=replay.title,
        parties=parties,
        start=_table(room, first),
        moments=[*_moments(room, replay.steps, messages, parties)],
        start_note=_note(first),
        has_messages=bool(messages),
        remark=REMARKS[room] if messages or room in OWN_PARTIES else None,
        deal=deal,
    )


def _moments(
    room: str, steps: Sequence[ReplayStep], messages: StepMessages, parties: Sequence[str]
) -> Iterator[Moment]:
    """Yield the moments of a recorded game. What a step means, and its table, come with its last message."""
    table, times = _table(room, steps[0]), count(1)
    for number, step in enumerate(steps):
        before, table = table, _table(room, step)
        found = messages.get(number, ())
        for nth, message in enumerate(found, start=1):
            is_last = nth == len(found)
            note = _note(step) if is_last and number else None
            yield Moment(*_frame(message, step, parties), next(times), note, table if is_last else before)
        if number and not found:
            party = parties.index(step.actor) if step.actor in parties else None
            yield Moment(FrameView(step.actor, "", "", ""), party, next(times), _note(step), table)


def _frame(message: RecordedMessage, step: ReplayStep, parties: Sequence[str]) -> tuple[FrameView, int]:
    """Return the frame of a message, and its party: the last one replies, and the first one begins the game."""
    party = len(parties) - 1 if message.is_reply else parties.index(step.actor or parties[0])
    return message_frame(parties[party], message.text, message.data, message.clause), party


def _note(step: ReplayStep) -> Text:
    return step.note if isinstance(step.note, Text) else verbatim(step.note)


def _table(room: str, step: ReplayStep) -> TableView:
    """Return the table after a step; where the record does not show it, what has happened stands for it."""
    return step.table or TableView(title=verbatim(ROOMS[room].title), seats=(), announcements=(_note(step),))
