"""The store of a server: opened by the first room that needs it, and shared by all rooms."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the store is imported only if something is stored
    from croupier.store.store import Store


class SharedStore:
    """The store that the rooms of a server share.

    `location` is a path, a URL, or None for the default file (see `open_store`). Concurrent writes of all rooms are
    committed together; with separate stores they would wait for each other. `on_open` is called with the store when it
    is opened.
    """

    def __init__(self, location: str | None) -> None:
        self.on_open: Callable[[Store], None] | None = None
        self._location = location
        self._store: Store | None = None

    @property
    def current(self) -> "Store | None":
        """The store, None if no room has opened it yet."""
        return self._store

    @asynccontextmanager
    async def open_for(self, room: str, *, exclusive: bool = True, shared: bool = False) -> AsyncIterator["Store"]:
        """Open the store for a room, which has to close it. If the context raises, the store is closed here.

        `exclusive`: no other server may have this room open in the same store, except, with `shared`, those that share
        it, too. Raises OSError if another server has it, or the store cannot be opened.
        """
        from croupier.store.records import StoreError
        from croupier.store.store import open_store

        try:
            is_first = self._store is None
            store = self._store = await open_store(self._location) if self._store is None else self._store.share()
            try:
                if is_first and self.on_open is not None:
                    self.on_open(store)
                if exclusive:
                    await store.claim(room, shared=shared)
                yield store
            except BaseException:
                await store.close()
                raise
        except StoreError as error:
            raise OSError(f"{error} (--store selects another store; --journal off disables storage)") from error
