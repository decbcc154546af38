"""Opens connections to an HTTP server: directly or through a proxy, with and without TLS."""

import asyncio
import ssl
from functools import cached_property
from http import HTTPStatus
from ssl import SSLContext
from typing import Final

from croupier.clients.http_connection import HttpConnection
from croupier.clients.response_bodies import WholeBody
from croupier.clients.server_url import ServerUrl
from croupier.core.session import Address
from croupier.net.addresses import check_port, connect_error_reason, format_address, is_not_tls

CONNECT_SECONDS: Final = 10.0
"""How long opening a connection may take."""


class Connector:
    """Opens connections to a server, through its proxy if it has one. `context` is the TLS context for the server.

    Raises ValueError if the URL of the proxy is invalid.
    """

    def __init__(self, server: ServerUrl, context: SSLContext | None = None) -> None:
        self.proxy = server.proxy()
        self._server = server
        self._given_context = context

    async def connect(self) -> HttpConnection:
        """Open a connection. Raises ConnectionError."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await (self._open(self._server.address) if self.proxy is None else self._open_through_proxy())
        except TimeoutError:
            raise ConnectionError(f"no connection within {CONNECT_SECONDS:g} seconds") from None
        except (OSError, UnicodeError, ValueError) as error:  # a name that no resolver takes is no OSError
            raise ConnectionError(self._describe(error)) from error

    def _describe(self, error: Exception) -> str:
        reason = "the server does not speak TLS; use http://" if is_not_tls(error) else connect_error_reason(error)
        return reason if self.proxy is None else f"{reason} (through the proxy {format_address(self.proxy.address)})"

    @cached_property
    def _context(self) -> SSLContext:
        """The TLS context, made when it is needed: loading the default certificates takes time."""
        return self._given_context or ssl.create_default_context()

    async def _open(self, address: Address, *, to_proxy: bool = False) -> HttpConnection:
        check_port(address[1])
        loop = asyncio.get_running_loop()
        connection = HttpConnection(loop)
        context = None
        if self.proxy is not None and to_proxy:
            context = ssl.create_default_context() if self.proxy.is_tls else None
        elif self._server.is_tls:
            context = self._context
        await loop.create_connection(
            lambda: connection, *address, ssl=context, server_hostname=address[0] if context else None
        )
        return connection

    async def _open_through_proxy(self) -> HttpConnection:
        """A connection to the proxy; for a server with TLS, a tunnel to the server. Raises OSError."""
        assert self.proxy is not None, "it has a proxy"
        connection = await self._open(self.proxy.address, to_proxy=True)
        if not self._server.is_tls:
            return connection
        try:
            await self._open_tunnel(connection, self.proxy.authorization)
        except BaseException:
            connection.close()
            raise
        return connection

    async def _open_tunnel(self, connection: HttpConnection, authorization: str) -> None:
        host, port = self._server.address
        target = format_address((host, port))
        lines = [f"CONNECT {target} HTTP/1.1", f"host: {target}"]
        if authorization:
            lines.append(f"proxy-authorization: {authorization}")
        loop = asyncio.get_running_loop()
        receiver = WholeBody(loop)
        connection.send("\r\n".join((*lines, "", "")).encode(), receiver)
        status = (await receiver.head).status
        if status not in HTTPStatus or not HTTPStatus(status).is_success:
            raise ConnectionError(f"status {status}")
        transport = await loop.start_tls(connection.transport, connection, self._context, server_hostname=host)
        assert transport is not None, "a transport that can be upgraded"
        connection.restart(transport)
