"""Gives up the seats of users whose accounts are closed while they are in a game (holdem-9.13)."""

import asyncio
from typing import Final

from croupier.http.auth import Denied, Guard
from croupier.http.holdem_service import Desk
from croupier.rooms.holdem.wire import Close, Refused

INTERVAL_SECONDS: Final = 1.0


class ClosedAccounts:
    """Looks once a second whether accounts have changed, and if so at the account of every user who is in a game.

    The first look finds accounts that were closed while no server was running.
    """

    def __init__(self, desk: Desk, guard: Guard, interval: float = INTERVAL_SECONDS) -> None:
        self._desk = desk
        self._guard = guard
        self._interval = interval
        self._seen: int | None = None
        self._task = asyncio.get_running_loop().create_task(self._watch(), name="closed accounts")

    def stop(self) -> None:
        """Look no more."""
        self._task.cancel()

    async def _watch(self) -> None:
        while True:
            version = self._guard.version()
            if version is not None and version != self._seen and await self._release():
                self._seen = version
            await asyncio.sleep(self._interval)

    async def _release(self) -> bool:
        """Give up the seats of closed accounts: False while the store is down, after which it has to be done again."""
        for user in self._desk.house.users:
            try:
                if await self._guard.is_user(user):
                    continue
            except Denied:
                return False
            if isinstance(await self._desk.answer(Close(user)), Refused):
                return False
        return True
