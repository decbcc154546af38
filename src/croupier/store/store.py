"""The store of one or more rooms: journals, accounts and hands, in SQLite or PostgreSQL.

Servers wait for writes to be durable before they answer clients. Both databases run the same SQL on the same schema.
"""

import asyncio
from asyncio import Future
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter, time
from typing import Any, BinaryIO, Self

import msgspec

from croupier.core.histogram import Histogram
from croupier.store import scripts
from croupier.store.engine import Engine, Facts, Script, StatementGenerator
from croupier.store.group_commit import RETRY_DELAYS_SECONDS, GroupCommitter
from croupier.store.records import (
    Account,
    Holding,
    JournalEntry,
    JournalHead,
    LedgerEntry,
    PruneCounts,
    Snapshot,
    StoredHand,
    StoreError,
    StoreFinding,
    Transfer,
)
from croupier.store.urls import AnyStoreLocation, PostgresLocation, parse_location

MAX_PENDING_FACTS = 65_536
"""The default limit of the queue of pending writes."""

FETCH_FACTS = 1000
"""The number of facts fetched at a time from a journal."""

_decode_names = msgspec.json.Decoder(tuple[str, ...]).decode


async def open_store(
    location: str | None = None,
    *,
    create: bool = True,
    clock: Callable[[], float] = time,
    max_pending: int = MAX_PENDING_FACTS,
    retry_delays: tuple[float, float] = RETRY_DELAYS_SECONDS,
) -> "Store":
    """Open a store at a path or URL; None is the default file of this user.

    A missing store is created if `create` is set. `clock` returns the seconds since 1970. At most `max_pending` facts
    may be waiting to be written. `retry_delays` are the first and the maximum delay in seconds between attempts to
    reconnect during an outage. Raises StoreError if the location is not a store of the last revision, or if it is not
    writable.
    """
    parsed_location = parse_location(location)
    engine: Engine
    if isinstance(parsed_location, PostgresLocation):
        postgres = import_postgres()
        await postgres.open_database(parsed_location, create=create)
        engine = postgres.PostgresEngine(parsed_location, clock)
    else:
        from croupier.store.sqlite import SqliteEngine
        from croupier.store.sqlite_file import open_file

        await asyncio.to_thread(open_file, parsed_location, create=create)
        engine = SqliteEngine(parsed_location, clock)
    try:
        await engine.reconnect()
    except BaseException as error:
        await engine.close()
        if isinstance(error, StoreError):
            raise StoreError(f"found a store that cannot be written to: {error}") from error
        raise
    return Store(engine, parsed_location, clock, GroupCommitter(engine, max_pending, retry_delays))


async def upgrade_store(location: str | None = None) -> AnyStoreLocation:
    """Create a store, or migrate an older one to the last revision; returns its location. Raises StoreError."""
    parsed_location = parse_location(location)
    if isinstance(parsed_location, PostgresLocation):
        await import_postgres().upgrade_database(parsed_location)
    else:
        from croupier.store.sqlite_file import upgrade_store_file

        await asyncio.to_thread(upgrade_store_file, parsed_location)
    return parsed_location


def import_postgres() -> Any:
    """Import the module of the PostgreSQL engine. Raises StoreError if the driver is not installed."""
    try:
        from croupier.store import postgres
    except ModuleNotFoundError as error:
        raise StoreError(
            f"found no {error.name}, the driver of PostgreSQL; pip install 'croupier[postgresql]'"
        ) from None
    return postgres


class Store:
    """An open store. It belongs to the event loop on which it was opened.

    Writes are queued and committed in groups; each returned future resolves when its write is durable. It fails with
    WriteRefused if the write is not allowed, which does not affect other writes, and with StoreUnavailable if nothing
    can be written. Reads return the durable state at the time of the call, or raise StoreUnavailable.
    """

    def __init__(
        self, engine: Engine, location: AnyStoreLocation, clock: Callable[[], float], committer: GroupCommitter
    ) -> None:
        self.location = location
        self._engine = engine
        self._clock = clock
        self._committer = committer
        self._holder_count = 1
        self.accounts_version = engine.accounts_version  # bound directly, because every request calls it

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    @property
    def outage(self) -> str | None:
        """The reason why nothing can be written now, None if the store is writable."""
        return self._committer.outage

    @property
    def pending_count(self) -> int:
        """The number of facts that wait to be written, or are being written; any other write counts as one."""
        return self._committer.pending_count

    @property
    def commit_times(self) -> Mapping[str, Histogram]:
        """How long commits took, by the place where they were made: loop and thread (SQLite), server (PostgreSQL)."""
        return self._engine.commit_times

    async def wait_until_up(self) -> None:
        """Wait until the store is writable."""
        await self._committer.wait_until_up()

    def share(self) -> Self:
        """Return this store for another owner, who also calls `close`."""
        self._holder_count += 1
        return self

    async def close(self) -> None:
        """Commit pending writes and close the store, unless another owner still uses it."""
        self._holder_count -= 1
        if self._holder_count:
            return
        await self._committer.close()
        await self._engine.close()

    # The journal

    def append(self, entries: Sequence[JournalEntry], hands: Sequence[StoredHand] = ()) -> Future[None]:
        """Write facts and the hands that they end, atomically. A sequence number that exists already is refused.

        After StoreUnavailable the outcome is unknown: check `last_seq` before writing again.
        """
        return self._committer.submit(Facts(entries, len(entries) + len(hands), hands))

    async def read_journal(self, room: str, table: str, after: int = 0) -> AsyncIterator[JournalEntry]:
        """The facts of a table in order, starting after the sequence number `after`."""
        while True:
            rows = await self._engine.fetch(
                """SELECT seq, fact, time FROM journal
                WHERE room = $1 AND "table" = $2 AND seq > $3 ORDER BY seq LIMIT $4""",
                *(room, table, after, FETCH_FACTS),
            )
            for after, fact, written_at in rows:  # noqa: PLR1704 -- the next portion starts after this one
                yield JournalEntry(room, table, after, fact, written_at)
            if len(rows) < FETCH_FACTS:
                return

    async def last_seq(self, room: str, table: str) -> int:
        """The sequence number of the last fact of a table, 0 if there is none."""
        rows = await self._engine.fetch('SELECT MAX(seq) FROM journal WHERE room = $1 AND "table" = $2', room, table)
        return rows[0][0] or 0

    async def journal_heads(self, room: str) -> list[JournalHead]:
        """The tables of a room that have a journal, with their last sequence numbers, sorted by name."""
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
        """Store the snapshot of a table, and replace the former one unless that is newer."""
        return self._write(scripts.save_snapshot, snapshot)

    async def load_snapshot(self, room: str, table: str) -> Snapshot | None:
        """The latest snapshot of a table, None if there is none."""
        rows = await self._engine.fetch(
            'SELECT seq, state, time FROM snapshots WHERE room = $1 AND "table" = $2', room, table
        )
        return Snapshot(room, table, rows[0][0], rows[0][1], rows[0][2]) if rows else None

    # Accounts and the ledger

    def add_account(
        self, name: str, password: str | None = None, *, coins: int = 0, reason: str = "opened"
    ) -> Future[Account]:
        """Open a player's account, with coins from the cashier. `password` is an argon2 hash.

        Refused if there is an account with this name, or with a name that looks like it.
        """
        return self._write(scripts.add_account, name, password, coins, reason, self._clock())

    def house_account(self, room: str) -> Future[Account]:
        """The account of a room, created if it does not exist."""
        return self._write(scripts.ensure_house_account, room, self._clock())

    async def account(self, name: str) -> Account | None:
        """The player's account of this name, None if there is none."""
        rows = await self._engine.fetch(
            f"SELECT {scripts.ACCOUNT_COLUMNS} FROM accounts WHERE name = $1 AND NOT house",  # noqa: S608 -- constant columns
            name,
        )
        return scripts.account_from_row(rows[0]) if rows else None

    async def accounts(self) -> list[Account]:
        """All accounts, sorted by name, those of the house first."""
        rows = await self._engine.fetch(f"SELECT {scripts.ACCOUNT_COLUMNS} FROM accounts")  # noqa: S608 -- constant columns
        return sorted(map(scripts.account_from_row, rows), key=lambda account: (not account.house, account.name))

    async def newest_entries(self, limit: int) -> list[LedgerEntry]:
        """The newest entries of the ledger, at most `limit`, the newest transfer first."""
        rows = await self._engine.fetch(
            """SELECT transfers.time, accounts.name, entries.coins, transfers.reason FROM entries
            JOIN transfers ON transfers.id = entries.transfer JOIN accounts ON accounts.id = entries.account
            ORDER BY entries.transfer DESC, accounts.name LIMIT $1""",
            limit,
        )
        return [LedgerEntry(*row) for row in rows]

    async def set_password(self, name: str, password: str | None, *, reason: str) -> None:
        """Change a password hash; None disables login. After the return no server accepts the former password."""
        try:
            await self._write(scripts.set_password, name, password, reason, self._clock())
        finally:
            await self._engine.announce_accounts()

    def take_account(self, holding: Holding, holder: bytes) -> Future[Account]:
        """Note in the journal of an account that a server, which `holder` describes, has taken it; return the account.

        From then on, transfers of the former holder are refused. Refused if another server was faster.
        """
        return self._write(scripts.take_account, holding, holder, self._clock())

    async def last_entry(self, room: str, table: str) -> JournalEntry | None:
        """The last fact of a table, None if there is none."""
        rows = await self._engine.fetch(
            'SELECT seq, fact, time FROM journal WHERE room = $1 AND "table" = $2 ORDER BY seq DESC LIMIT 1',
            room,
            table,
        )
        return JournalEntry(room, table, *rows[0]) if rows else None

    def credit(self, name: str, coins: int, *, reason: str) -> Future[Account]:
        """Move coins from the cashier to a player's account, or back if negative."""
        return self._write(scripts.credit, name, coins, reason, self._clock())

    async def close_account(self, name: str, *, reason: str) -> int:
        """Close a player's account permanently on all servers; returns the coins that moved to the cashier."""
        try:
            coins: int = await self._write(scripts.close_account, name, reason, self._clock())
        finally:
            await self._engine.announce_accounts()
        return coins

    async def watch_accounts(self) -> None:
        """Start to track changes of accounts: `accounts_version()` changes with every closing and every new password.

        It returns None while a change could be missed. Raises StoreError.
        """
        await self._engine.watch_accounts()

    def transfer_all(self, transfers: Sequence[Transfer]) -> Future[None]:
        """Execute transfers in this order; if one is refused, none is executed."""
        return self._write(scripts.transfer_all, transfers, self._clock())

    # Hands

    async def hands(
        self,
        room: str | None = None,
        table: str | None = None,
        player: str | None = None,
        *,
        limit: int = 100,
    ) -> list[StoredHand]:
        """The latest hands of a room, of a table, of a player: at most `limit`, latest first."""
        sql, arguments = scripts.select_hands(room, table, player)
        return [_hand_from_row(row) for row in await self._engine.fetch(f"{sql} LIMIT {int(limit)}", *arguments)]

    async def iterate_hands(
        self, room: str, table: str | None = None, player: str | None = None
    ) -> AsyncGenerator[StoredHand]:
        """All current hands of a room, of a table, of a player, latest first; fetched in portions.

        A transaction is open until the end: close the generator (`contextlib.aclosing`) before the store.
        """
        sql, arguments = scripts.select_hands(room, table, player)
        async with self._engine.read_transaction() as transaction:
            async for rows in transaction.rows(sql, *arguments):
                for row in rows:
                    yield _hand_from_row(row)

    async def hand(self, room: str, table: str, number: int) -> StoredHand | None:
        """The hand of this number at a table, None if there is none."""
        rows = await self._engine.fetch(
            """SELECT room, "table", number, time, players, record, summary FROM hands
            WHERE room = $1 AND "table" = $2 AND number = $3""",
            *(room, table, number),
        )
        return _hand_from_row(rows[0]) if rows else None

    # The store as a whole

    async def find_problems(self) -> list[StoreFinding]:
        """Check the integrity of the database and of its content; returns all problems."""
        from croupier.store.checks import find_problems

        findings = [StoreFinding("engine", fault) for fault in await self._engine.find_faults()]
        async with self._engine.read_transaction() as transaction:
            return findings + [finding async for finding in find_problems(transaction)]

    async def claim(self, name: str, *, shared: bool = False) -> None:
        """Claim a room for this server, until the store is closed. Raises NameTaken if another server has it.

        With `shared`, other servers may have it as well that share it: the nodes of a cluster.

        On platforms without file locks the journal protects the room: of two writes with the same sequence number, one
        is refused.
        """
        await self._engine.claim(name, shared=shared)

    async def backup(self, path: Path) -> None:
        """Copy the current state to a new SQLite file, during operation. Raises OSError if it cannot be created."""
        await self._engine.backup(path)

    async def export(self, stream: BinaryIO) -> int:
        """Export the current state as JSON lines, one per row, without password hashes; returns the number of rows."""
        from croupier.store.copies import export_rows

        async with self._engine.read_transaction() as transaction:
            return await export_rows(transaction, stream, self._clock())

    async def prune(self, before: float, game_rooms: Sequence[str], *, is_dry_run: bool = False) -> PruneCounts:
        """Delete the records from before this time that neither recovery nor the ledger needs; see `prune`.

        Returns the numbers of the records that are deleted, or with `is_dry_run` would be. Other processes can use the
        store meanwhile: after each transaction they have as much time as it took.
        """
        from croupier.store.prune import make_plan

        async with self._engine.read_transaction() as transaction:
            plan = await make_plan(transaction, before, game_rooms)
        for step in () if is_dry_run else plan.steps():
            started = perf_counter()
            while await self._write(step):
                await asyncio.sleep(perf_counter() - started)
                started = perf_counter()
        return plan.counts

    def _write(self, make_statements: Callable[..., StatementGenerator[Any]], *arguments: object) -> Future[Any]:
        return self._committer.submit(Script(partial(make_statements, *arguments)))


def _hand_from_row(row: Sequence[Any]) -> StoredHand:
    return StoredHand(row[0], row[1], row[2], row[3], _decode_names(row[4]), row[5], row[6])
