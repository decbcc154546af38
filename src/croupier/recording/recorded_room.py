"""A house with its books: they are opened before it, and closed behind its last client."""

import time
from typing import TYPE_CHECKING, Any, Literal

from croupier.core.room import HouseRoom
from croupier.core.session import Address
from croupier.logs import Logger
from croupier.net.endpoint import Endpoint
from croupier.observers.counters import RoomCounters
from croupier.recording.promises import Promises
from croupier.recording.shared_store import SharedStore

if TYPE_CHECKING:  # a house without books needs no store
    from croupier.recording.accounts import ClientIdentity
    from croupier.recording.recorder import GameRecorder


async def open_recorder(
    shared_store: SharedStore,
    room: HouseRoom,
    settings: Any,
    log: Logger,
    *,
    journal: Literal["async", "durable"],
    identify_by: "ClientIdentity | None",
    promises: Promises | None = None,
) -> "GameRecorder":
    """The books of a house, with accounts told apart `by` something. `promises` are made durable if its games are.

    Any number of servers may keep a room's games in one store, but only one of them its accounts.
    Raises OSError on a store that is none.
    """
    from croupier.recording.accounts import Purses
    from croupier.recording.recorder import GameRecorder

    async with shared_store.open_for(room.name, exclusive=identify_by is not None) as store:
        purses = None
        if identify_by is not None:
            house = await store.house_account(room.name)
            purses = Purses(
                store,
                room,
                log,
                identify_by=identify_by,
                opening_coins=room.initial_purse(settings),
                house_account=house,
            )
        durable = journal == "durable"
        kept = promises if durable else None
        return GameRecorder(store, room, log, time.time, durable=durable, purses=purses, promises=kept)


class RecordedRoom:
    """An open house whose games are written down. See `Open`."""

    def __init__(self, endpoint: Endpoint, recorder: "GameRecorder") -> None:
        self._endpoint = endpoint
        self._recorder = recorder
        self._is_final = False
        recorder.admission = endpoint

    async def listen(self, host: str, port: int, context: Any) -> Address:
        """Take connections on an address: the one that was taken. Raises OSError, and then the books are closed."""
        try:
            return await self._endpoint.listen(host, port, context)
        except BaseException:
            await self._recorder.close()
            raise

    @property
    def counts(self) -> RoomCounters:
        """What has happened in it."""
        return self._endpoint.counts

    @property
    def connection_count(self) -> int:
        """How many are connected now."""
        return self._endpoint.connection_count

    @property
    def unavailable_reason(self) -> str | None:
        """Why games cannot be written down now; None if they can."""
        return self._recorder.trouble or self._recorder.store_trouble

    def halt(self, *, final: bool) -> None:
        """No new games; when `final`, running ones are void, and nobody waits for a store that is down."""
        self._is_final = final
        self._endpoint.halt(final=final)
        self._recorder.halt(final=final)

    async def wait_drained(self) -> None:
        """Wait until nobody is connected any more, and after the final halt until everything is written."""
        await self._endpoint.wait_drained()
        if self._is_final:
            await self._recorder.close()
