"""A hold'em room with its houses in a store, in process and without a socket."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from croupier.app.holdem_room import HoldemRoom
from croupier.core.logger import Logger, SilentLogger
from croupier.http.auth import QUICK_HASHER, Authenticator
from croupier.http.holdem_service import HoldemService
from croupier.http.house_group import HouseGroup
from croupier.http.local_houses import stored_houses
from croupier.http.stored_users import StoredUsers
from croupier.recording.holdem_journal import JournalStart, open_store_of_houses
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from croupier.store.store import Store, open_store
from tests.http.service_fixture import InProcessService


class StoredRoom(InProcessService):
    """A room whose houses are opened by the test; requests are sent to it as to a service."""

    def __init__(self, room: HoldemRoom, store: Store) -> None:
        self.room = self.service = room  # type: ignore[assignment]  # an application, as the other one
        self.store = store

    @property
    def group(self) -> HouseGroup:
        return self.room.service

    def house_service(self, number: int) -> HoldemService:
        """The service of a house that runs here."""
        service = self.group.services[number]
        assert isinstance(service, HoldemService)
        return service

    def house(self, number: int) -> House:
        """A house that runs here."""
        return self.house_service(number).house

    async def open_houses(self, *numbers: int) -> None:
        for number in numbers:
            await self.room.houses.open(number)

    async def games(self, user: str | None = None) -> list[Any]:
        """The games as the list shows them."""
        games: list[Any] = (await self.ask("GET", "/games/", user)).json
        return games


@asynccontextmanager
async def stored_room(
    url: str, houses: int | None = None, *, log: Logger = SilentLogger(), **options: Any
) -> AsyncIterator[StoredRoom]:
    """A room with a store of its own connection; none of its houses is open yet."""
    settings = Settings(**options)
    async with await open_store(url) as store:
        await store.watch_accounts()
        wanted = JournalStart(1, settings=settings)
        start = await open_store_of_houses(store, wanted, houses)
        authenticator = Authenticator(StoredUsers(store), hasher=QUICK_HASHER)
        room = HoldemRoom(stored_houses(store, start, settings, SilentLogger()), settings, authenticator, log)
        try:
            yield StoredRoom(room, store)
        finally:
            room.houses.abandon_all()
            authenticator.close()
