"""How every server at a PostgreSQL database learns that accounts have changed, before whoever changed them goes on.

A server that trusts what it knows of accounts holds a lock, shared with the others. An announcement is a notification
and the lock for its sender alone: it gets it when every server has let go of it, which has forgotten what it knew.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

import asyncpg  # type: ignore[import-untyped]  # it has no types of its own

from croupier.store.records import StoreError

CHANNEL: Final = "croupier_accounts"
LOCK_KEY: Final = 0x6163636F756E7473
"""The number of the lock: "accounts"."""

NOTIFY_INTERVAL_SECONDS: Final = 0.05
CONFIRM_TIMEOUT_SECONDS: Final = 10.0
HEARTBEAT_SECONDS: Final = 5.0
"""How often a server sees whether its connection is still there, and how long it waits for the answer."""

CONNECTION_ERRORS: Final = (
    OSError,
    TimeoutError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
)

type Connector = Callable[[], Awaitable[Any]]


async def announce(connect: Connector) -> None:
    """Let every server forget what it knows of accounts. Raises StoreError when one of them does not say that it has.

    Until the lock is free the notification is sent again and again: a server may have taken the lock anew before we
    have asked for it.
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
        told = f"within {CONFIRM_TIMEOUT_SECONDS:g} s; restart it if it does not answer"
        raise StoreError(f"The account is changed, but a server has not confirmed that {told}.") from None
    finally:
        lock.cancel()
        await asyncio.wait([lock])
        waiter.terminate()
        sender.terminate()


class AnnouncementListener:
    """A server's connection for announcements, made anew whenever it is lost."""

    def __init__(self, connect: Connector) -> None:
        self._connect = connect
        self._version = 0
        self._is_current = False
        self._announced = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def version(self) -> int | None:
        """Another number after every announcement; None while one could be missed."""
        return self._version if self._is_current else None

    async def start(self) -> None:
        """Listen from now on."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run(), name="announcements")
            await self._announced.wait()

    async def close(self) -> None:
        """Listen no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        while True:
            with suppress(*CONNECTION_ERRORS):
                await self._listen()
            self._announced.set()  # whoever waits for the start has waited long enough
            await asyncio.sleep(HEARTBEAT_SECONDS / 5)

    async def _listen(self) -> None:
        """Hear announcements until the connection is lost."""
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
