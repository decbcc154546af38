"""The login of the user who sent a request, and the refusal of other credentials."""

from math import ceil
from typing import Final

from croupier.http.auth import Authenticator, AuthError, VerifiedLogin
from croupier.http.messages import HTTPError, Request
from croupier.rooms.holdem.wire import Dialect

BASIC_CHALLENGE: Final = (b"www-authenticate", b'Basic realm="croupier", charset="UTF-8"')


class RequestLogins:
    """Finds the logins of requests with an authenticator; refusals are those of a dialect."""

    def __init__(self, authenticator: Authenticator, dialect: Dialect) -> None:
        self.authenticator = authenticator
        self._dialect: Dialect = dialect

    def cached(self, request: Request, authorization: bytes | None) -> VerifiedLogin | None:
        """The login of a request with this header if it needs no verification, else None."""
        login = request.login
        if login is not None and self.authenticator.is_current(login):
            return login
        request.login = None if authorization is None else self.authenticator.cached_login(authorization)
        return request.login

    async def authenticate(self, request: Request, clause: str) -> VerifiedLogin:
        """The login of a request. Raises HTTPError, citing the clause that requires credentials."""
        try:
            return await self.authenticator.authenticate(request.fields.get(b"authorization"), request.address)
        except AuthError as error:
            raise self._http_error(error, clause) from None

    async def confirm(self, login: VerifiedLogin) -> None:
        """Check that the user has, now, the password with which a login was verified. Raises HTTPError."""
        try:
            if not await self.authenticator.confirm(login):
                raise AuthError("wrong", f"found another password of {login.name!r} now; allowed: to log in again")
        except AuthError as error:
            raise self._http_error(error, "holdem-2.8") from None

    async def register(self, request: Request) -> str:
        """Create a user of the credentials of a request, and return the name. Raises HTTPError."""
        try:
            return await self.authenticator.register(
                request.fields.get(b"authorization"), request.address, idempotent=self._dialect == "hspe-go"
            )
        except AuthError as error:
            raise self._http_error(error, "holdem-2.5") from None

    def _http_error(self, error: AuthError, clause: str) -> HTTPError:
        """The refusal of credentials. `clause` requires them: holdem-2.5 (a new user), 2.7 or 2.8."""
        headers = () if error.retry_after is None else ((b"retry-after", b"%d" % ceil(error.retry_after)),)
        match error.reason:
            case "often":
                return HTTPError(429, "holdem-2.9", error.detail, *headers)
            case "busy" | "full":
                return HTTPError(503, "holdem-2.10", error.detail, *headers)
            case "taken":
                return HTTPError(403, "holdem-7.1" if self._dialect == "hspe-go" else "holdem-2.6", error.detail)
            case "missing" | "malformed" if clause == "holdem-2.5":
                return HTTPError(400, clause, error.detail)
            case "missing" | "malformed" if self._dialect == "hspe-go":
                return HTTPError(400, "holdem-7.5", error.detail)
            case _:
                return HTTPError(401, clause, error.detail, BASIC_CHALLENGE)
