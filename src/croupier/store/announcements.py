"""Cache invalidation of accounts across the servers of a PostgreSQL database.

Every server that caches accounts holds a shared advisory lock. To announce a change, a sender notifies the servers and
waits for the lock in exclusive mode, which it gets after every server has released its shared lock and invalidated its
cache. So no server uses outdated accounts after the announcement has returned.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

import asyncpg  # type: ignore[import-untyped]  # it is untyped

from croupier.store.records import StoreError

CHANNEL: Final = "croupier_accounts"
LOCK_KEY: Final = 0x6163636F756E7473
"""The key of the advisory lock: "accounts" in ASCII."""

NOTIFY_INTERVAL_SECONDS: Final = 0.05
CONFIRM_TIMEOUT_SECONDS: Final = 10.0
HEARTBEAT_SECONDS: Final = 5.0
"""The interval between checks of a listener's connection, and the timeout of a check."""

DRIVER_ERRORS: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
"""The exceptions of asyncpg when a connection breaks; the last one if it breaks between two messages."""

CONNECTION_ERRORS: Final = (OSError, TimeoutError, *DRIVER_ERRORS)
"""The exceptions when a connection cannot be opened, or breaks."""

type Connector = Callable[[], Awaitable[Any]]


async def announce(connect: Connector) -> None:
    """Make every server invalidate its cached accounts. Raises StoreError if one of them does not confirm in time.

    The notification is repeated until the lock is granted, because a server may take its shared lock again before the
    exclusive lock is requested.
    """
    sender, waiter = await connect(), await connect()
    lock = asyncio.ensure_future(waiter.execute("SELECT pg_advisory_lock($1)", LOCK_KEY))
    try:
        async with asyncio.timeout(CONFIRM_TIMEOUT_SECONDS):
            while not lock.done():
                await sender.execute(f"NOTIFY {CHANNEL}")
                await asyncio.wait([lock], timeout=NOTIFY_INTERVAL_SECONDS)
            await lock
    except TimeoutError:
        remedy = f"within {CONFIRM_TIMEOUT_SECONDS:g} s; restart it if it does not answer"
        raise StoreError(f"The account is changed, but a server has not confirmed that {remedy}.") from None
    finally:
        lock.cancel()
        await asyncio.wait([lock])
        waiter.terminate()
        sender.terminate()


class AnnouncementListener:
    """A server's connection for announcements; it reconnects whenever the connection is lost."""

    def __init__(self, connect: Connector) -> None:
        self._connect = connect
        self._version = 0
        self._is_current = False
        self._announced = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def version(self) -> int | None:
        """A number that changes with every announcement, None while an announcement could be missed."""
        return self._version if self._is_current else None

    async def start(self) -> None:
        """Start listening, and wait for the first connection or its failure."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run(), name="announcements")
            await self._announced.wait()

    async def close(self) -> None:
        """Stop listening."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        while True:
            with suppress(*CONNECTION_ERRORS):
                await self._listen()
            self._announced.set()  # a failed first connection must not block `start`
            await asyncio.sleep(HEARTBEAT_SECONDS / 5)

    async def _listen(self) -> None:
        """Handle announcements until the connection is lost."""
        connection = await self._connect()
        try:
            connection.add_termination_listener(self._on_announcement)
            await connection.add_listener(CHANNEL, self._on_announcement)
            while True:
                await connection.execute("SELECT pg_advisory_lock_shared($1)", LOCK_KEY)
                self._version += 1
                self._is_current = True
                await self._wait_for_announcement(connection)
                await connection.execute("SELECT pg_advisory_unlock_shared($1)", LOCK_KEY)
        finally:
            self._is_current = False
            connection.terminate()

    async def _wait_for_announcement(self, connection: Any) -> None:
        self._announced.set()
        self._announced.clear()
        while self._is_current:
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await self._announced.wait()
            except TimeoutError:
                await connection.execute("SELECT 1", timeout=HEARTBEAT_SECONDS)

    def _on_announcement(self, *_: object) -> None:
        self._is_current = False
        self._announced.set()
