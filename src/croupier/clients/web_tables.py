"""The public tables of a server with a web app: their list, and each as lines of text."""

from collections.abc import Sequence
from http import HTTPStatus
from ssl import SSLContext
from typing import Self
from urllib.parse import quote

from msgspec import DecodeError, Struct
from msgspec.json import decode

from croupier.clients.holdem_api import ApiRequest, ApiResponse
from croupier.clients.http_exchange import HttpExchange


class ListedTable(Struct, frozen=True):
    """A table as the web app lists it."""

    id: str
    title: str
    players: Sequence[str]
    note: str


class WebTables:
    """The public tables of the web app at a URL, in a language. `context` is the TLS context.

    Methods raise ConnectionError, also if there is no web app. Raises ValueError if the URL is invalid.
    """

    def __init__(self, url: str, locale: str, context: SSLContext | None = None) -> None:
        self._exchange = HttpExchange(url, context)
        self._headers = {"accept-language": locale}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._exchange.close()

    async def tables(self) -> Sequence[ListedTable]:
        """Return the tables."""
        response = await self._get("/watch", accept="application/json")
        try:
            return decode(_body(response), type=list[ListedTable])
        except DecodeError:  # ValidationError is one
            raise ConnectionError("the answer is no list of tables: is this the address of a web app?") from None

    async def lines(self, table: str) -> Sequence[str] | None:
        """Return a table as lines of text, None if there is no such table."""
        response = await self._get(f"/watch/{quote(table, safe='')}/text", accept="text/plain")
        if response.status == HTTPStatus.NOT_FOUND:
            return None
        return _body(response).decode(errors="replace").splitlines()

    async def wait(self, seconds: float) -> None:
        """Wait before the next request."""
        await self._exchange.wait(seconds)

    async def _get(self, path: str, *, accept: str) -> ApiResponse:
        return await self._exchange.request(ApiRequest("GET", path, headers={**self._headers, "accept": accept}))


def _body(response: ApiResponse) -> bytes:
    """Return the body of a response. Raises ConnectionError if it is a refusal."""
    if response.status != HTTPStatus.OK:
        raise ConnectionError(f"found the status {response.status}: is this the address of a web app?")
    return response.body
