"""A house with its books: they are opened before it, and closed behind its last client."""

import time
from typing import TYPE_CHECKING, Any, Literal

from croupier.core.room import HouseRoom
from croupier.core.session import Address
from croupier.logs import Log
from croupier.net.endpoint import Switchboard
from croupier.observers.counters import Counts
from croupier.recording.promises import Promises
from croupier.recording.shared_store import Shelf

if TYPE_CHECKING:  # a house without books needs no store
    from croupier.recording.accounts import By
    from croupier.recording.recorder import Daybook


async def open_books(
    shelf: Shelf,
    room: HouseRoom,
    settings: Any,
    log: Log,
    *,
    journal: Literal["async", "durable"],
    by: "By | None",
    promises: Promises | None = None,
) -> "Daybook":
    """The books of a house, with accounts told apart `by` something. `promises` are made durable if its games are.

    Any number of servers may keep a room's games in one store, but only one of them its accounts.
    Raises OSError on a store that is none.
    """
    from croupier.recording.accounts import Purses
    from croupier.recording.recorder import Daybook

    async with shelf.lend(room.name, alone=by is not None) as store:
        purses = None
        if by is not None:
            house = await store.house_account(room.name)
            purses = Purses(store, room, log, by=by, usual=room.purse(settings), house=house)
        durable = journal == "durable"
        kept = promises if durable else None
        return Daybook(store, room, log, time.time, durable=durable, purses=purses, promises=kept)


class Booked:
    """An open house whose games are written down. See `Open`."""

    def __init__(self, board: Switchboard, books: "Daybook") -> None:
        self._board = board
        self._books = books
        self._final = False
        books.doors = board

    async def listen(self, host: str, port: int, context: Any) -> Address:
        """Take connections on an address: the one that was taken. Raises OSError, and then the books are closed."""
        try:
            return await self._board.listen(host, port, context)
        except BaseException:
            await self._books.close()
            raise

    @property
    def counts(self) -> Counts:
        """What has happened in it."""
        return self._board.counts

    @property
    def connected(self) -> int:
        """How many are connected now."""
        return self._board.connected

    @property
    def trouble(self) -> str | None:
        """Why games cannot be written down now; None if they can."""
        return self._books.trouble or self._books.down

    def halt(self, *, final: bool) -> None:
        """No new games; when `final`, running ones are void, and nobody waits for a store that is down."""
        self._final = final
        self._board.halt(final=final)
        self._books.halt(final=final)

    async def empty(self) -> None:
        """Wait until nobody is connected any more, and after the final halt until everything is written."""
        await self._board.empty()
        if self._final:
            await self._books.close()
