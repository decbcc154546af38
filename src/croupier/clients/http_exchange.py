"""Sends the requests of a HoldemApi over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from http import HTTPStatus
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from typing import Final

import httpx

from croupier.clients.game_watcher import LONG_POLL_SECONDS
from croupier.clients.holdem_api import ApiRequest, ApiResponse, ConnectionFailed
from croupier.clients.response_bodies import IDENTITY_ENCODING_HEADERS, NdjsonReader, check_not_compressed, read_body

REQUEST_TIMEOUT: Final = httpx.Timeout(10.0, read=LONG_POLL_SECONDS + 10.0)
"""The read timeout is longer than a long poll, for which the server delays its answer."""


class HttpExchange:
    """Connections to the server at an address, which has a scheme."""

    def __init__(
        self, address: str, ssl: SSLContext | None = None, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=address,
            headers=IDENTITY_ENCODING_HEADERS,
            verify=verify_option(address, ssl),
            timeout=REQUEST_TIMEOUT,
            transport=transport,
        )

    async def request(self, request: ApiRequest) -> ApiResponse | ConnectionFailed:
        """See `Exchange.request`."""
        response_context = self._http.stream(
            request.method, request.path, content=request.body or None, headers=dict(request.headers)
        )
        try:
            async with response_context as response:
                body = await read_body(response)
        except httpx.TransportError as error:
            return connection_failed(error)
        return ApiResponse(response.status_code, response.headers, body)

    def stream(self, request: ApiRequest) -> "HttpStream":
        """See `Exchange.stream`."""
        return HttpStream(self._http, request)

    async def wait(self, seconds: float) -> None:
        """See `Exchange.wait`."""
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        """See `Exchange.close`."""
        await self._http.aclose()


class HttpStream:
    """A streamed response: one state of a game per line, of which only the newest matters."""

    def __init__(self, http: httpx.AsyncClient, request: ApiRequest) -> None:
        self._http = http
        self._request = request
        self._response: httpx.Response | None = None
        self._chunks: AsyncIterator[bytes]
        self._lines: NdjsonReader

    async def read(self) -> ApiResponse | ConnectionFailed:
        """See `Stream.read`."""
        try:
            response = await self._open() if self._response is None else self._response
            if response.status_code == HTTPStatus.OK:
                check_not_compressed(response)
                async for chunk in self._chunks:
                    if line := self._lines.newest_line(chunk):
                        return ApiResponse(HTTPStatus.OK, response.headers, line)
                last_response: ApiResponse | ConnectionFailed = ConnectionFailed("the stream has ended")
            else:
                last_response = ApiResponse(response.status_code, response.headers, b"")
        except httpx.TransportError as error:
            last_response = connection_failed(error)
        await self.close()
        return last_response

    async def close(self) -> None:
        """See `Stream.close`."""
        response, self._response = self._response, None
        if response is not None:
            await response.aclose()

    async def _open(self) -> httpx.Response:
        request = self._http.build_request(
            self._request.method, self._request.path, headers=dict(self._request.headers)
        )
        self._response = response = await self._http.send(request, stream=True)
        self._chunks = response.aiter_bytes()
        self._lines = NdjsonReader()
        return response


def verify_option(address: str, ssl: SSLContext | None) -> SSLContext | bool:
    """Return the `verify` option of httpx.

    For plain HTTP it is an empty TLS context, because loading the default certificates takes time.
    """
    return ssl or address.startswith("https:") or SSLContext(PROTOCOL_TLS_CLIENT)


def connection_failed(error: httpx.TransportError) -> ConnectionFailed:
    """Describe a transport error of httpx; some of them have no text."""
    if "WRONG_VERSION_NUMBER" in str(error):
        return ConnectionFailed("the server does not speak TLS; use http://")
    return ConnectionFailed(str(error) or type(error).__name__)
