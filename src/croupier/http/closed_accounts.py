"""Frees the seats of users whose accounts are closed during a game (holdem-9.13)."""

import asyncio
from typing import Final

from croupier.core.usernames import has_account
from croupier.http.auth import Authenticator, AuthError
from croupier.http.holdem_service import HoldemService
from croupier.rooms.holdem.wire import Close, RequestRefused

CHECK_INTERVAL_SECONDS: Final = 1.0


class ClosedAccountMonitor:
    """Checks once a second whether accounts have changed, and if so the account of every user who is in a game.

    The first check finds accounts that were closed while no server was running.
    """

    def __init__(
        self, service: HoldemService, authenticator: Authenticator, interval: float = CHECK_INTERVAL_SECONDS
    ) -> None:
        self._service = service
        self._authenticator = authenticator
        self._interval = interval
        self._checked_version: int | None = None
        self._task = asyncio.get_running_loop().create_task(self._run(), name="closed accounts")

    def stop(self) -> None:
        """Stop checking."""
        self._task.cancel()

    async def _run(self) -> None:
        while True:
            version = self._authenticator.version()
            if version is not None and version != self._checked_version and await self._release_closed_seats():
                self._checked_version = version
            await asyncio.sleep(self._interval)

    async def _release_closed_seats(self) -> bool:
        """Free the seats of closed accounts. Returns False if the store is down, so that the check is repeated."""
        for user in self._service.house.users:
            try:
                if not has_account(user) or await self._authenticator.is_user(user):
                    continue
            except AuthError:
                return False
            if isinstance(await self._service.execute(Close(user)), RequestRefused):
                return False
        return True
