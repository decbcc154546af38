"""The hold'em houses that run in this process: opens each from its journal, and ends it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from croupier.core.logger import Logger
from croupier.core.session import Observer
from croupier.http.auth import Authenticator
from croupier.http.closed_accounts import ClosedAccountMonitor
from croupier.http.holdem_service import HoldemService
from croupier.http.house_group import HouseGroup
from croupier.observers.counters import RoomCounters
from croupier.recording.holdem_journal import ROOM_NAME, HoldemJournal, JournalStart, open_journal
from croupier.recording.promises import Promises
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.presentation import ShownTable
from croupier.rooms.holdem.wire import Guid
from croupier.store.records import StoreUnavailable
from croupier.store.store import Store


class LoadedHouse(NamedTuple):
    """A house in its last state, its clock, and its journal; None if nothing is stored."""

    house: House
    clock: Callable[[], float]
    journal: HoldemJournal | None = None


type Loader = Callable[[int], Awaitable[LoadedHouse]]
"""Loads a house by its number. Raises ValueError and StoreUnavailable; see `open_journal`."""


class HouseSource(NamedTuple):
    """Where the houses come from: what loads them, the secret of their GUIDs, their number, and the store if any."""

    load: Loader
    secret: bytes
    houses: int = 1
    store: Store | None = None


class RunningHouse(NamedTuple):
    """A house that runs here, and what frees the seats of closed accounts in it."""

    service: HoldemService
    closed_accounts: ClosedAccountMonitor | None


class LocalHouses:
    """Opens houses, which join `group`, and ends them.

    `on_shown`, if it is set before a house is opened, is called with the number of the house and what it shows from now
    on, also while it is being opened; `on_superseded` with the number of a house that another server has taken over.
    """

    def __init__(
        self,
        group: HouseGroup,
        load: Loader,
        authenticator: Authenticator,
        log: Logger,
        *,
        observers: Sequence[Observer],
        counts: RoomCounters,
        promises: Promises | None = None,
    ) -> None:
        self.on_shown: Callable[[int, Mapping[Guid, ShownTable | None]], None] | None = None
        self.on_superseded: Callable[[int], None] | None = None
        self._group = group
        self._load = load
        self._authenticator = authenticator
        self._log = log
        self._observers = observers
        self._counts = counts
        self._promises = promises
        self._running: dict[int, RunningHouse] = {}

    async def open(self, number: int) -> int:
        """Open a house at the decisions that were pending; return the number of its first entry in the journal.

        That entry ends any former owner.

        If the former owner has written meanwhile, that entry is refused, and the journal is read again. A store that is
        down later does not prevent the opening: requests are refused until it is back. Raises ValueError and
        StoreUnavailable if the journal cannot be read.
        """
        while True:
            loaded = await self._load(number)
            service = self._make_service(number, loaded)
            try:
                with suppress(StoreUnavailable):
                    await service.open()
                if not service.is_outdated:
                    break
                service.abandon()
            except BaseException:  # the task may be cancelled
                service.abandon()
                raise
        monitor = None
        if loaded.journal is not None:
            monitor = ClosedAccountMonitor(service, self._authenticator)
        self._running[number] = RunningHouse(service, monitor)
        self._group.add(number, service)
        return 0 if loaded.journal is None else loaded.journal.last_seq

    async def finish(self, number: int) -> None:
        """End a house after writing what has been requested, so that another server can open it."""
        await self._remove(number).finish()

    async def finish_all(self) -> None:
        """End all houses after writing what has been requested."""
        for number in [*self._running]:
            await self.finish(number)

    def abandon(self, number: int) -> None:
        """End a house at once, because another server may have it open."""
        self._remove(number).abandon()

    def abandon_all(self) -> None:
        """End all houses at once."""
        for number in [*self._running]:
            self.abandon(number)

    def observe(self, observer: Observer) -> None:
        """Call an observer of all houses from now on."""
        self._observers = (*self._observers, observer)
        for running in self._running.values():
            running.service.observe(observer)

    def stop_monitors(self) -> None:
        """Stop checking for closed accounts."""
        for running in self._running.values():
            if running.closed_accounts is not None:
                running.closed_accounts.stop()

    def _remove(self, number: int) -> HoldemService:
        """Take a house out of the group; its requests are refused or forwarded from now on."""
        running = self._running.pop(number)
        del self._group.services[number]
        if running.closed_accounts is not None:
            running.closed_accounts.stop()
        return running.service

    def _make_service(self, number: int, loaded: LoadedHouse) -> HoldemService:
        house, clock, journal = loaded
        house.count_games_elsewhere = lambda user: self._group.count_games_elsewhere(user, number)
        return HoldemService(
            house,
            clock,
            observers=self._observers,
            counts=self._counts,
            log=self._log,
            journal=journal,
            promises=self._promises,
            views=self._group.views,
            on_shown=None if self.on_shown is None else partial(self.on_shown, number),
            on_superseded=lambda: self._superseded(number),
        )

    def _superseded(self, number: int) -> None:
        if number in self._running and self.on_superseded is not None:
            self.on_superseded(number)


def stored_houses(store: Store, first: JournalStart, settings: Settings, log: Logger) -> HouseSource:
    """Return the houses of a store. `first` is the first entry of house 1; `settings` are those from now on."""

    async def load(number: int) -> LoadedHouse:
        start = replace(first, house=number, settings=settings)
        house, journal = await open_journal(store, start, log)
        # The clock starts no earlier than the last journal entry, even if the system clock was set back.
        loop_time = asyncio.get_running_loop().time
        offset = max(time.time(), journal.last_time) - loop_time()
        return LoadedHouse(house, lambda: loop_time() + offset, journal)

    return HouseSource(load, first.server_seed(ROOM_NAME, 0), first.houses, store)
