"""Logins of browsers: which session belongs to which account of the hold'em room."""

from collections import OrderedDict
from typing import Final

from croupier.http.auth import Authenticator, AuthError, VerifiedLogin

MAX_LOGINS: Final = 10_000


class Logins:
    """The logins by session, at most MAX_LOGINS: one more ends the oldest one. A restart of the server ends all.

    A login ends when its account is closed or gets another password.
    """

    def __init__(self, authenticator: Authenticator | None) -> None:
        self._authenticator = authenticator
        self._logins: OrderedDict[str, VerifiedLogin] = OrderedDict()

    async def account(self, session: str) -> str | None:
        """Return the name of the account to which a session belongs, if it has one."""
        login = self._logins.get(session)
        if login is None or self._authenticator is None:
            return None
        try:
            await self._authenticator.confirm(login)
        except AuthError as error:
            if error.reason == "wrong":
                self.remove(session)
            return None
        return login.name

    def add(self, session: str, login: VerifiedLogin) -> None:
        """Log a session in."""
        self._logins[session] = login
        if len(self._logins) > MAX_LOGINS:
            self._logins.popitem(last=False)

    def remove(self, session: str) -> None:
        """Log a session out."""
        self._logins.pop(session, None)
