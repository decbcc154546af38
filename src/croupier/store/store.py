"""The store: everything that a room writes down and reads again, durable before anybody is answered.

The same words are said to SQLite and to PostgreSQL, so both keep the same books.
"""

import asyncio
from asyncio import Future
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from time import time
from typing import Any, BinaryIO, Self

import msgspec

from croupier.store import scripts
from croupier.store.engine import Engine, Facts, Script, StatementGenerator
from croupier.store.group_commit import RETRY_DELAYS_SECONDS, GroupCommitter
from croupier.store.records import (
    Account,
    JournalEntry,
    JournalHead,
    Match,
    Posting,
    Snapshot,
    StatementEntry,
    StoredHand,
    StoreError,
    StoreFinding,
    Transfer,
)
from croupier.store.urls import AnyStoreLocation, PostgresLocation, parse_location

MAX_PENDING_FACTS = 65_536
"""So many facts may wait to be written."""

FETCH_FACTS = 1000
"""So many facts of a journal are read at a time."""

_decode_names = msgspec.json.Decoder(tuple[str, ...]).decode


async def open_store(
    location: str | None = None,
    *,
    create: bool = True,
    clock: Callable[[], float] = time,
    max_pending: int = MAX_PENDING_FACTS,
    retry_delays: tuple[float, float] = RETRY_DELAYS_SECONDS,
) -> "Store":
    """Open a store: a path, a URL, or None for the file of this user. Where nothing is yet it is made, if it is `new`.

    `clock` tells the seconds since 1970; `most` facts may wait to be written; `pauses` are the first and the longest
    time in s after which a store that is down is tried again. Raises StoreError, which says what is there instead.
    """
    found = parse_location(location)
    engine: Engine
    if isinstance(found, PostgresLocation):
        try:
            from croupier.store.postgres import PostgresEngine, open_database
        except ModuleNotFoundError as error:
            raise missing_driver_error(error) from None
        await open_database(found, create=create)
        engine = PostgresEngine(found, clock)
    else:
        from croupier.store.sqlite import SqliteEngine
        from croupier.store.sqlite_file import open_file

        await asyncio.to_thread(open_file, found, create=create)
        engine = SqliteEngine(found, clock)
    try:
        await engine.reconnect()
    except StoreError as error:
        await engine.close()
        raise StoreError(f"found a store that cannot be written to: {error}") from error
    return Store(engine, found, clock, GroupCommitter(engine, max_pending, retry_delays))


async def upgrade_store(location: str | None = None) -> AnyStoreLocation:
    """Make a store, or bring an older one to this croupier's revision: where it is. Raises StoreError."""
    found = parse_location(location)
    if isinstance(found, PostgresLocation):
        try:
            from croupier.store.postgres import upgrade_database
        except ModuleNotFoundError as error:
            raise missing_driver_error(error) from None
        await upgrade_database(found)
    else:
        from croupier.store.sqlite_file import upgrade_store_file

        await asyncio.to_thread(upgrade_store_file, found)
    return found


def missing_driver_error(error: ModuleNotFoundError) -> StoreError:
    """What to say when the driver of PostgreSQL is not installed."""
    return StoreError(f"found no {error.name}, which speaks to PostgreSQL; pip install 'croupier[postgresql]'")


class Store:
    """The books of one or more rooms. It belongs to the loop on which it was opened.

    What is written is queued, and committed together with what others write; each future is done when it is durable.
    It fails with Refused when that is not allowed, which harms nobody else, and with StoreDown when nothing can be
    written. What is read is what was durable when it was asked for; reading raises StoreDown.
    """

    def __init__(
        self, engine: Engine, location: AnyStoreLocation, clock: Callable[[], float], committer: GroupCommitter
    ) -> None:
        self.location = location
        self._engine = engine
        self._clock = clock
        self._committer = committer
        self._holder_count = 1
        self.accounts_version = engine.accounts_version  # without a detour, for it is asked at every request

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    @property
    def outage(self) -> str | None:
        """Why nothing can be written now; None if it can."""
        return self._committer.outage

    @property
    def is_full(self) -> bool:
        """Whether so much waits to be written that nothing more may."""
        return self._committer.is_full

    async def wait_for_space(self) -> None:
        """Wait while the store is full."""
        await self._committer.wait_for_space()

    async def wait_until_up(self) -> None:
        """Wait while the store is down."""
        await self._committer.wait_until_up()

    def share(self) -> Self:
        """The same store for somebody else, who closes it, too."""
        self._holder_count += 1
        return self

    async def close(self) -> None:
        """Write what waits, and let go of everything, unless somebody else still has this store."""
        self._holder_count -= 1
        if self._holder_count:
            return
        await self._committer.close()
        await self._engine.close()

    # The journal

    def append(self, entries: Sequence[JournalEntry], hands: Sequence[StoredHand] = ()) -> Future[None]:
        """Write facts and the hands that they have ended, all or nothing. A number that a table has had is refused.

        Whoever is told StoreDown has to look with `last` what is there before it goes on.
        Raises UnicodeDecodeError for a fact that is not UTF-8.
        """
        rows = [(e.room, e.table, e.seq, e.fact.decode(), e.time) for e in entries]
        return self._committer.submit(Facts(rows, len(rows) + len(hands), hands))

    async def read_journal(self, room: str, table: str, after: int = 0) -> AsyncIterator[JournalEntry]:
        """The facts of a table in order, from the one that follows `after`."""
        while True:
            rows = await self._engine.fetch(
                """SELECT seq, fact, time FROM journal
                WHERE room = $1 AND "table" = $2 AND seq > $3 ORDER BY seq LIMIT $4""",
                *(room, table, after, FETCH_FACTS),
            )
            for after, fact, moment in rows:  # noqa: PLR1704 -- the next portion begins where this one ends
                yield JournalEntry(room, table, after, fact.encode(), moment)
            if len(rows) < FETCH_FACTS:
                return

    async def last_seq(self, room: str, table: str) -> int:
        """The number of the last fact of a table, 0 if there is none."""
        rows = await self._engine.fetch('SELECT MAX(seq) FROM journal WHERE room = $1 AND "table" = $2', room, table)
        return rows[0][0] or 0

    async def journal_heads(self, room: str) -> list[JournalHead]:
        """All tables of a room that have a journal, and how far it goes, in the order of their names."""
        rows = await self._engine.fetch(
            """WITH RECURSIVE found(name) AS (
                SELECT MIN("table") FROM journal WHERE room = $1
                UNION ALL SELECT (SELECT MIN("table") FROM journal WHERE room = $1 AND "table" > found.name)
                FROM found WHERE found.name IS NOT NULL
            )
            SELECT name, (SELECT MAX(seq) FROM journal WHERE room = $1 AND "table" = name)
            FROM found WHERE name IS NOT NULL ORDER BY name""",
            room,
        )
        return [JournalHead(*row) for row in rows]

    def save_snapshot(self, snapshot: Snapshot) -> Future[None]:
        """Keep the state of a table instead of the one before."""
        return self._write(lambda: scripts.save_snapshot(snapshot))

    async def load_snapshot(self, room: str, table: str) -> Snapshot | None:
        """The latest state of a table that was kept."""
        rows = await self._engine.fetch(
            'SELECT seq, state, time FROM snapshots WHERE room = $1 AND "table" = $2', room, table
        )
        return Snapshot(room, table, rows[0][0], rows[0][1].encode(), rows[0][2]) if rows else None

    # Accounts and the ledger

    def add_account(
        self, name: str, password: str | None = None, *, coins: int = 0, reason: str = "opened"
    ) -> Future[Account]:
        """Open a player's account, with coins from the cashier. `password` is an argon2 hash."""
        now = self._clock()
        return self._write(lambda: scripts.add_account(name, password, coins, reason, now))

    def house_account(self, room: str) -> Future[Account]:
        """The account of a room, made if it is not there."""
        now = self._clock()
        return self._write(lambda: scripts.ensure_house_account(room, now))

    async def account(self, name: str) -> Account | None:
        """The player's account of this name."""
        rows = await self._engine.fetch(
            f"SELECT {scripts.ACCOUNT_COLUMNS} FROM accounts WHERE name = $1 AND NOT house",  # noqa: S608 -- columns of ours
            name,
        )
        return scripts.account_from_row(rows[0]) if rows else None

    async def accounts(self) -> list[Account]:
        """All accounts, those of the house first, in the order of their names."""
        rows = await self._engine.fetch(f"SELECT {scripts.ACCOUNT_COLUMNS} FROM accounts")  # noqa: S608 -- columns of ours
        return sorted(map(scripts.account_from_row, rows), key=lambda account: (not account.house, account.name))

    async def set_password(self, name: str, password: str | None, *, reason: str) -> None:
        """Change the hash of a password; None lets nobody log in. When this returns the former one is good nowhere."""
        now = self._clock()
        try:
            await self._write(lambda: scripts.set_password(name, password, reason, now))
        finally:
            await self._engine.announce_accounts()

    def credit(self, name: str, coins: int, *, reason: str) -> Future[Account]:
        """Give a player coins from the cashier, or take them if negative."""
        now = self._clock()
        return self._write(lambda: scripts.credit(name, coins, reason, now))

    async def close_account(self, name: str, *, reason: str) -> int:
        """Close a player's account for good, and at once: so many coins have gone to the cashier."""
        now = self._clock()
        try:
            coins: int = await self._write(lambda: scripts.close_account(name, reason, now))
        finally:
            await self._engine.announce_accounts()
        return coins

    async def watch_accounts(self) -> None:
        """From now on `accounts_version` is another number whenever an account is closed or has a new password.

        It is None as long as a change could be missed. Raises StoreError.
        """
        await self._engine.watch_accounts()

    def transfer(self, reason: str, postings: Sequence[Posting], key: str | None = None) -> Future[int]:
        """Move coins between accounts: the number of the transfer. The same key moves them only once."""
        now = self._clock()
        return self._write(lambda: scripts.transfer(reason, postings, key, now))

    def transfer_all(self, transfers: Sequence[Transfer]) -> Future[None]:
        """Make transfers in this order, or none of them if one is refused."""
        now = self._clock()
        return self._write(lambda: scripts.transfer_all(transfers, now))

    async def balance(self, account: int) -> int:
        """How many coins are in an account. Raises StoreError if there is none of this number."""
        rows = await self._engine.fetch("SELECT balance FROM accounts WHERE id = $1", account)
        if not rows:
            raise StoreError(f"found no account {account}; allowed: the number of one")
        return int(rows[0][0])

    async def statement(self, account: int) -> list[StatementEntry]:
        """Everything that has moved in an account, the oldest first."""
        rows = await self._engine.fetch(
            """SELECT t.id, t.time, t.reason, e.coins, CAST(SUM(e.coins) OVER (ORDER BY t.id) AS bigint)
            FROM entries e JOIN transfers t ON t.id = e.transfer WHERE e.account = $1 ORDER BY t.id""",
            account,
        )
        return [StatementEntry(*row) for row in rows]

    # Hands and matches

    def add_hand(self, hand: StoredHand) -> Future[None]:
        """Keep a hand that was played. A number that the table has had is refused."""
        return self._write(lambda: scripts.add_hand(hand))

    async def hands(
        self,
        room: str | None = None,
        table: str | None = None,
        player: str | None = None,
        *,
        since: float | None = None,
        until: float | None = None,
        limit: int = 100,
    ) -> list[StoredHand]:
        """The latest hands that were played in a room, at a table, by a player, in a span of time; the latest first."""
        sql, arguments = scripts.select_hands(room, table, player, since, until)
        return [_hand_from_row(row) for row in await self._engine.fetch(f"{sql} LIMIT {int(limit)}", *arguments)]

    async def iterate_hands(
        self, room: str, table: str | None = None, player: str | None = None
    ) -> AsyncIterator[StoredHand]:
        """All hands of a room, at a table, by a player, as they are now; read in portions, the latest first."""
        sql, arguments = scripts.select_hands(room, table, player)
        async with self._engine.read_transaction() as moment:
            async for rows in moment.rows(sql, *arguments):
                for row in rows:
                    yield _hand_from_row(row)

    async def hand(self, room: str, table: str, number: int) -> StoredHand | None:
        """The hand of this number at a table."""
        rows = await self._engine.fetch(
            """SELECT room, "table", number, time, players, record, summary FROM hands
            WHERE room = $1 AND "table" = $2 AND number = $3""",
            *(room, table, number),
        )
        return _hand_from_row(rows[0]) if rows else None

    def add_match(self, match: Match) -> Future[int]:
        """Keep a match that was played: its id."""
        return self._write(lambda: scripts.add_match(match))

    async def matches(self, room: str, *, limit: int = 100) -> list[Match]:
        """The latest matches of a room, the latest first."""
        rows = await self._engine.fetch(
            "SELECT room, time, players, result, id FROM matches WHERE room = $1 ORDER BY id DESC LIMIT $2", room, limit
        )
        return [Match(row[0], row[1], _decode_names(row[2]), row[3].encode(), row[4]) for row in rows]

    # The books as a whole

    async def find_problems(self) -> list[StoreFinding]:
        """Everything in the books that is not as it must be."""
        from croupier.store.checks import find_problems

        found = [StoreFinding("engine", told) for told in await self._engine.find_faults()]
        async with self._engine.read_transaction() as moment:
            return found + [finding async for finding in find_problems(moment)]

    async def claim(self, name: str) -> None:
        """Be the only server that has a room of this name open here, until this store is closed. Raises StoreError.

        Where nobody can be kept away the journal does it: of two who write the same number one is refused.
        """
        await self._engine.claim(name)

    async def backup(self, path: Path) -> None:
        """Write the books as they are now to a new file of SQLite, while the house goes on. Raises OSError for it."""
        await self._engine.backup(path)

    async def export(self, stream: BinaryIO) -> int:
        """Write the books as they are now as JSON, a row a line, without passwords: how many rows there are."""
        from croupier.store.copies import export_rows

        async with self._engine.read_transaction() as moment:
            return await export_rows(moment, stream, self._clock())

    def _write(self, make_statements: Callable[[], StatementGenerator[Any]]) -> Future[Any]:
        return self._committer.submit(Script(make_statements))


def _hand_from_row(row: Sequence[Any]) -> StoredHand:
    return StoredHand(row[0], row[1], row[2], row[3], _decode_names(row[4]), row[5], row[6])
