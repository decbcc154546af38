"""The store of a server: opened for the first of its rooms that keeps something, and one for all of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a server that keeps nothing needs no store
    from croupier.store.store import Store


class SharedStore:
    """Where the rooms of a server are kept: a path, a URL, or None for the file of this user (see `open_store`).

    What they write at the same time is committed together; two stores would wait for each other.
    """

    def __init__(self, location: str | None) -> None:
        self._location = location
        self._store: Store | None = None

    @asynccontextmanager
    async def open_for(self, room: str, *, exclusive: bool = True) -> AsyncIterator["Store"]:
        """The store, for a room that closes it when it closes itself; it is closed here where the room cannot open.

        `alone`: no other server may have this room open there. Raises OSError on a store that is none.
        """
        from croupier.store.records import StoreError
        from croupier.store.store import open_store

        try:
            store = self._store = await open_store(self._location) if self._store is None else self._store.share()
            try:
                if exclusive:
                    await store.claim(room)
                yield store
            except BaseException:
                await store.close()
                raise
        except StoreError as error:
            raise OSError(f"{error} (--store names another store, --journal off does without)") from error
