"""Games against a house, as they are kept: many of them in one line of the journal, and each to be found again."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct

from croupier.core.room import HouseRoom
from croupier.core.session import Settle
from croupier.store.records import JournalEntry
from croupier.store.store import FETCH_FACTS, Store

INITIAL_LOOKBACK_FACTS: Final = 10
"""So many facts of a run are read at first, when the latest games are wanted; then ten times as many, to a portion."""


class StoredGame(Struct, frozen=True, array_like=True, omit_defaults=True, gc=False):
    """A game that is over: whose it was, what it has brought the client, its cards in the order of the deal.

    `peer` is the number of the connection, `hand` counts its games from 1, `seat` is the client's. `done` is what the
    room tells of it (`HouseRoom.done`). `client` names the account, where there are any.
    """

    peer: int
    hand: int
    seat: int
    net: int
    cards: tuple[str, ...]
    done: tuple[str, ...]
    client: str = ""


class GameRecord(Struct, frozen=True):
    """A game with its place: the table is a run of the house and a connection, RUN-CONNECTION; time in s since 1970."""

    room: str
    table: str
    number: int
    time: float
    seat: int
    net: int
    cards: tuple[str, ...]
    done: tuple[str, ...]
    client: str = ""


class GamesFact(Struct, frozen=True):
    """A fact of a house's journal: games in the order in which they were over."""

    games: tuple[StoredGame, ...]


_decode: Final = msgspec.json.Decoder(GamesFact).decode
_encode: Final = msgspec.json.Encoder().encode


def make_encoder(room: HouseRoom) -> Callable[[Iterable[Settle]], bytes]:
    """What writes games of a room as a `Sheet`. It takes about a microsecond a game, for houses play many."""
    dealt, done = room.dealt_cards, room.commands

    def write(games: Iterable[Settle]) -> bytes:
        rows = [(g.peer, g.hand_number, g.seat, g.net, dealt(g.state), done(g.state)) for g in games]
        return _encode({"games": rows})

    return write


def encode_with_accounts(room: HouseRoom, games: Iterable[tuple[Settle, str]]) -> bytes:
    """The same, with the names of the clients' accounts."""
    rows: list[tuple[Any, ...]] = [
        (g.peer, g.hand_number, g.seat, g.net, room.dealt_cards(g.state), room.commands(g.state), client)
        for g, client in games
    ]
    return _encode({"games": rows})


def read_games(entry: JournalEntry) -> Iterator[GameRecord]:
    """The games of a fact. Raises msgspec.MsgspecError for what is none."""
    for game in _decode(entry.fact).games:
        table = f"{entry.table}-{game.peer}"
        yield GameRecord(
            *(entry.room, table, game.hand, entry.time, game.seat, game.net, game.cards, game.done, game.client)
        )


async def latest_games(
    store: Store, room: str, table: str | None = None, client: str | None = None
) -> AsyncIterator[GameRecord]:
    """The games of a room, the latest first: all of them, those of a table, those of a client's account."""
    run = table.rpartition("-")[0] if table is not None else None
    for tail in reversed(await store.journal_heads(room)):
        if run is not None and tail.table != run:
            continue
        end, size = tail.seq, INITIAL_LOOKBACK_FACTS
        while end > 0:
            found = [entry async for entry in _read_facts(store, room, tail.table, max(0, end - size), end)]
            for entry in reversed(found):
                for game in reversed([*read_games(entry)]):
                    if table in (None, game.table) and client in (None, game.client):
                        yield game
            end, size = end - size, min(10 * size, FETCH_FACTS)


async def all_games(
    store: Store, room: str, table: str | None = None, client: str | None = None
) -> AsyncIterator[GameRecord]:
    """The same games, the oldest first."""
    for tail in await store.journal_heads(room):
        if table is None or table.rpartition("-")[0] == tail.table:
            async for entry in store.read_journal(room, tail.table):
                for game in read_games(entry):
                    if table in (None, game.table) and client in (None, game.client):
                        yield game


async def _read_facts(store: Store, room: str, run: str, after: int, last: int) -> AsyncIterator[JournalEntry]:
    """The facts of a run behind one of them, up to another."""
    async for entry in store.read_journal(room, run, after):
        yield entry
        if entry.seq == last:
            return


async def find_game(store: Store, room: str, table: str, number: int) -> GameRecord | None:
    """One game."""
    async for game in latest_games(store, room, table):
        if game.number == number:
            return game
    return None
