"""Listener that reads PROXY protocol headers on connections from trusted proxies."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from croupier.core.logger import Logger
from croupier.core.session import Address
from croupier.net.client_addresses import TrustedProxies
from croupier.net.event_loop import start_task
from croupier.net.listening_socket import BoundSocket
from croupier.net.proxy_protocol import ProxyHeaderError, parse_proxy_header
from croupier.observers.counters import RoomCounters

ACCEPT_RETRY_SECONDS: Final = 1.0
"""Pause after the system could not accept a connection."""


class ProxyListener:
    """Listening sockets that read a PROXY protocol header before TLS begins, which an asyncio server cannot do.

    A connection from a trusted proxy that sends no valid header within `header_timeout` seconds is closed; at most
    `max_pending_headers` of them wait for their header at the same time. On other connections no header is
    expected, and the room's own protocol treats one as an error.
    """

    def __init__(
        self,
        protocol_factory: Callable[[Address], asyncio.Protocol],
        proxies: TrustedProxies,
        *,
        counts: RoomCounters,
        log: Logger,
        header_timeout: float,
        max_pending_headers: int,
        tls_options: dict[str, Any],
    ) -> None:
        self.sockets: list[socket.socket] = []
        self._protocol_factory = protocol_factory
        self._proxies = proxies
        self._counts = counts
        self._log = log
        self._header_timeout = header_timeout
        self._max_pending_headers = max_pending_headers
        self._tls_options = tls_options
        self._loop = asyncio.get_running_loop()
        self._pending_headers = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def listen(self, sockets: Sequence[BoundSocket]) -> None:
        """Accept the connections of listening sockets."""
        self.sockets += sockets
        for listening in sockets:
            start_task(self._tasks, self._accept(listening))

    def close(self) -> None:
        """Accept no more connections, and close those whose header is not complete."""
        for task in self._tasks:
            task.cancel()
        while self.sockets:
            self.sockets.pop().close()

    async def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                connected, peer = await self._loop.sock_accept(listening)
            except OSError as error:  # too many open files: wait until other connections close
                self._log.warning("a connection could not be accepted", reason=str(error))
                await asyncio.sleep(ACCEPT_RETRY_SECONDS)
            else:
                start_task(self._tasks, self._handle_connection(connected, peer[:2]))

    async def _handle_connection(self, connected: socket.socket, peer: Address) -> None:
        try:
            address = await self._client_address(connected, peer) if peer[0] in self._proxies else peer
        except (ProxyHeaderError, OSError, TimeoutError) as error:
            self._counts.refused["proxy"] += 1
            self._log.warning("refused", address=peer, reason="proxy", error=str(error) or type(error).__name__)
            connected.close()
        except BaseException:
            connected.close()
            raise
        else:
            with suppress(OSError):  # the client is gone, or does not speak TLS
                await self._loop.connect_accepted_socket(
                    lambda: self._protocol_factory(address), connected, **self._tls_options
                )

    async def _client_address(self, connected: socket.socket, peer: Address) -> Address:
        """The address in a proxy's header. Raises ProxyHeaderError, OSError or TimeoutError."""
        if self._pending_headers >= self._max_pending_headers:
            raise ProxyHeaderError(
                f"found {self._pending_headers} connections without a header; allowed: {self._max_pending_headers}"
            )
        self._pending_headers += 1
        try:
            async with asyncio.timeout(self._header_timeout):
                return await self._read_header(connected) or peer
        finally:
            self._pending_headers -= 1

    async def _read_header(self, connected: socket.socket) -> Address | None:
        header = parse_proxy_header()
        wanted = next(header)
        while True:
            data = b""
            while len(data) < wanted:
                chunk = await self._loop.sock_recv(connected, wanted - len(data))
                if not chunk:
                    raise ProxyHeaderError("found the end of the connection; allowed: a header of the PROXY protocol")
                data += chunk
            try:
                wanted = header.send(data)
            except StopIteration as end:
                address: Address | None = end.value
                return address
