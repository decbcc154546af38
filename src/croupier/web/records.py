"""What a server has recorded: finished games in its store, and deals in the dealer's record."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

from msgspec import Struct

from croupier.core.presentation import TableView, Text, verbatim
from croupier.recording.game_records import GameRecord, find_game, latest_games
from croupier.replay.deals import Deal, DealPlace, find_deal
from croupier.replay.reader import stored_replay
from croupier.replay.steps import GameReplay, ReplayStep
from croupier.rooms import HOUSE_ROOMS, ROOMS
from croupier.rooms.holdem.table.persistence import HandSnapshot
from croupier.rooms.oldmaid.table.persistence import OldMaidRecord
from croupier.store.records import StoredHand
from croupier.store.store import Store
from croupier.web.frames import FrameView
from croupier.web.replay_page import Moment, ReplayPage

MAX_LISTED: Final = 20
"""The number of games of a room that are listed: the latest ones."""


class Record(Struct, frozen=True):
    """A record that can be replayed. `steps` is the number of its messages or moves, None if unknown."""

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
            found = await stored_replay(store, room, table, number, is_public=True)
        deal = "" if self._deals is None else f"/fair/{room}/{quote(table, safe='')}/{number}"
        return None if found is None else replay_page(room, found, deal)

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
    return Record(game.room, f"{quote(game.table, safe='')}/{game.number}", title, len(game.done))


def _hand_record(hand: StoredHand) -> Record:
    title = f"{hand.table}/{hand.number}: {hand.summary or ', '.join(hand.players)}"
    return Record(hand.room, f"{quote(hand.table, safe='')}/{hand.number}", title)


async def _deal_place(store: Store, room: str, table: str, number: int) -> DealPlace | None:
    """Return where the dealer's record has the deal of a game, None if there is no such game."""
    if room in HOUSE_ROOMS:
        game = await find_game(store, room, table, number)
        return None if game is None else DealPlace(room, int(game.table.rpartition("-")[2]), number, game.cards)
    hand = await store.hand(room, table, number)
    if hand is None:
        return None
    if room == "holdem":
        return DealPlace(room, HandSnapshot.from_json(hand.record.encode()).deal, 1)
    return DealPlace(room, OldMaidRecord.from_json(hand.record.encode()).game, 1)


def replay_page(room: str, replay: GameReplay, deal: str = "") -> ReplayPage:
    """Return the pages of a recorded game: its moves in place of messages."""
    first, *others = replay.steps
    players = [*dict.fromkeys(replay.players)]
    start = _table(room, first)
    return ReplayPage(
        room=room,
        title=replay.title,
        parties=players,
        start=start,
        moments=[_moment(room, at, step, players) for at, step in enumerate(others, start=1)],
        start_note=_note(first),
        has_messages=False,
        deal=deal,
    )


def _moment(room: str, at: float, step: ReplayStep, players: Sequence[str]) -> Moment:
    party = players.index(step.actor) if step.actor in players else None
    return Moment(FrameView(step.actor, "", "", ""), party, at, _note(step), _table(room, step))


def _note(step: ReplayStep) -> Text:
    return step.note if isinstance(step.note, Text) else verbatim(step.note)


def _table(room: str, step: ReplayStep) -> TableView:
    """Return the table after a step; where the record does not show it, what has happened stands for it."""
    return step.table or TableView(title=verbatim(ROOMS[room].title), seats=(), announcements=(_note(step),))
