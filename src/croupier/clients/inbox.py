"""What has arrived for the user of a client, in order."""

import asyncio
from collections import deque


class Inbox[T]:
    """A queue whose first item can also be seen without waiting; one task waits at a time."""

    def __init__(self) -> None:
        self._items: deque[T] = deque()
        self._arrived = asyncio.Event()

    def put(self, item: T) -> None:
        """Add an item."""
        self._items.append(item)
        self._arrived.set()

    @property
    def first(self) -> T | None:
        """The first item; None if there is none."""
        return self._items[0] if self._items else None

    def take(self) -> T:
        """Remove the first item and return it. Raises IndexError if there is none."""
        return self._items.popleft()

    async def wait(self) -> T:
        """Wait for an item, remove it and return it."""
        while not self._items:
            self._arrived.clear()
            await self._arrived.wait()
        return self._items.popleft()
