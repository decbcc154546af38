"""A room that is asked over HTTP, from its opening to the last farewell."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from ssl import SSLContext
from typing import Any, Self

from croupier.core.session import Address, Effect, Event, Tap
from croupier.http.auth import Guard
from croupier.http.closed_accounts import ClosedAccounts
from croupier.http.holdem_app import Opened, Service, open_service
from croupier.http.limits import Limits, Reception
from croupier.http.stored_users import Members
from croupier.logs import Log
from croupier.net.client_addresses import TrustedProxies
from croupier.observers.counters import Counts
from croupier.recording.holdem_journal import Journal
from croupier.recording.promises import Promises
from croupier.rooms.holdem.house import House
from croupier.store.records import StoreDown


class Web:
    """The house of hold'em, open at `address`. As a tap it hears when the last hand is over."""

    _opened: Opened

    def __init__(
        self,
        house: House,
        told: Log,
        taps: Sequence[Tap],
        *,
        clock: Callable[[], float],
        journal: Journal | None = None,
        promises: Promises | None = None,
        proxies: TrustedProxies = TrustedProxies(),
    ) -> None:
        self._house = house
        self._journal = journal
        settings = house.settings if journal is None else journal.settings
        self._guard = Guard(None if journal is None else Members(journal.store))
        self._closed_accounts: ClosedAccounts | None = None
        self._service = Service(
            house,
            self._guard,
            settings.dialect,
            clock=clock,
            log=told,
            taps=(*taps, self),
            limits=Limits(requests=settings.requests_per_minute),
            journal=journal,
            promises=promises,
            proxies=proxies,
        )
        self._quiet = asyncio.Event()
        self._halted = False
        self._stopping: asyncio.Task[None] | None = None

    async def open(self, address: Address, ssl: SSLContext | None, reception: Reception) -> Self:
        """Listen on an address. Raises OSError when it cannot be had; who asks while the store is down is told so."""
        self._opened = await open_service(self._service, *address, ssl=ssl, reception=reception)
        with suppress(StoreDown):
            await self._service.desk.open()
        if self._journal is not None:
            self._closed_accounts = ClosedAccounts(self._service.desk, self._guard)
        return self

    def __call__(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- a Tap
        """Something has happened at the tables."""
        if self._halted and not self._house.playing:
            self._quiet.set()

    @property
    def address(self) -> Address:
        """Where it listens."""
        return self._opened.address

    @property
    def counts(self) -> Counts:
        """What has happened since it was opened."""
        return self._service.counts

    @property
    def connected(self) -> int:
        """How many connections there are."""
        return self._opened.connected

    @property
    def trouble(self) -> str | None:
        """Why nothing can be played here now; None if it can."""
        return self._service.desk.trouble

    def halt(self, *, final: bool) -> None:
        """No new hands; when `final`, running ones are void, and everybody is seen off."""
        self._halted = True
        if final:
            if self._closed_accounts is not None:
                self._closed_accounts.stop()
            self._quiet.set()
            self._stopping = asyncio.get_running_loop().create_task(self._opened.stop())
        else:
            self._service.halt(final=False)

    async def empty(self) -> None:
        """Wait until no hand is running any more, and after the final halt until nobody is connected."""
        await self._quiet.wait()
        if self._stopping is not None:
            await self._stopping
            if self._journal is not None:
                await self._journal.store.close()
