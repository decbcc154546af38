"""Records of games against a house: encoding for the journal, which stores many games in one entry, and queries."""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.json import Encoder

from croupier.core.room import HouseRoom
from croupier.core.session import Settle
from croupier.core.stored import Stored
from croupier.store.records import JournalEntry
from croupier.store.store import FETCH_FACTS, Store

INITIAL_LOOKBACK_FACTS: Final = 10
"""Number of journal entries read first when the latest games are wanted; it grows tenfold up to FETCH_FACTS."""


class StoredGame(Struct, frozen=True, array_like=True, omit_defaults=True, gc=False):
    """A finished game as it is stored in a journal entry.

    `peer` is the number of the connection, `hand` counts its games from 1, `seat` is the client's seat and `net` its
    result in coins. `cards` are in dealing order; `done` are the moves (`HouseRoom.commands`). `client` is the name of
    the account, or empty.
    """

    peer: int
    hand: int
    seat: int
    net: int
    cards: tuple[str, ...]
    done: tuple[str, ...]
    client: str = ""


class GameRecord(Struct, frozen=True):
    """A finished game with its identity.

    `table` is RUN-CONNECTION, where a run is one opening of the house; `time` is in seconds since 1970. For the other
    fields see StoredGame.
    """

    room: str
    table: str
    number: int
    time: float
    seat: int
    net: int
    cards: tuple[str, ...]
    done: tuple[str, ...]
    client: str = ""


class GamesFact(Stored, frozen=True):
    """A journal entry of a house: games in the order in which they ended."""

    MALFORMED = "a malformed entry of a house's journal"

    games: tuple[StoredGame, ...]


_encode: Final = Encoder().encode


def encode_games(room: HouseRoom, games: Iterable[Settle], clients: Sequence[str] = ()) -> bytes:
    """Encode games of a room as a `GamesFact`, each with the name of its client's account if there are accounts.

    It takes about a microsecond per game.
    """
    dealt_cards, commands = room.dealt_cards, room.commands
    rows: list[tuple[Any, ...]] = [
        (g.peer, g.hand_number, g.seat, g.net, dealt_cards(g.state), commands(g.state)) for g in games
    ]
    if clients:
        rows = [(*row, client) for row, client in zip(rows, clients, strict=True)]
    return _encode({"games": rows})


def read_games(entry: JournalEntry) -> Iterator[GameRecord]:
    """Yield the games of a journal entry. Raises ValueError if the entry is not a `GamesFact`."""
    for game in GamesFact.from_json(entry.fact).games:
        table = f"{entry.table}-{game.peer}"
        yield GameRecord(
            *(entry.room, table, game.hand, entry.time, game.seat, game.net, game.cards, game.done, game.client)
        )


async def latest_games(
    store: Store, room: str, table: str | None = None, client: str | None = None
) -> AsyncIterator[GameRecord]:
    """Yield the games of a room, latest first; only those of a table or of a client's account, if given."""
    run = table.rpartition("-")[0] if table is not None else None
    for head in reversed(await store.journal_heads(room)):
        if run is not None and head.table != run:
            continue
        end, size = head.seq, INITIAL_LOOKBACK_FACTS
        while end > 0:
            entries = [entry async for entry in _read_facts(store, room, head.table, max(0, end - size), end)]
            for entry in reversed(entries):
                for game in reversed([*read_games(entry)]):
                    if table in (None, game.table) and client in (None, game.client):
                        yield game
            # Between the first fact and the others there may be a gap, because old facts are pruned.
            end = entries[0].seq - 1 if entries else min(1, end - size)
            size = min(10 * size, FETCH_FACTS)


async def all_games(
    store: Store, room: str, table: str | None = None, client: str | None = None
) -> AsyncIterator[GameRecord]:
    """Yield the same games as `latest_games`, oldest first."""
    for head in await store.journal_heads(room):
        if table is None or table.rpartition("-")[0] == head.table:
            async for entry in store.read_journal(room, head.table):
                for game in read_games(entry):
                    if table in (None, game.table) and client in (None, game.client):
                        yield game


async def _read_facts(store: Store, room: str, run: str, after: int, last: int) -> AsyncIterator[JournalEntry]:
    """Yield the journal entries of a run after `after`, up to and including `last`."""
    async for entry in store.read_journal(room, run, after):
        if entry.seq <= last:
            yield entry
        if entry.seq >= last:
            return


async def find_game(store: Store, room: str, table: str, number: int) -> GameRecord | None:
    """Return the game with this table and number, or None."""
    async for game in latest_games(store, room, table):
        if game.number == number:
            return game
    return None
