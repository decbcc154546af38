"""Takes connections of which some come from proxies, which say first for whom they are."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from croupier.core.session import Address
from croupier.logs import Log
from croupier.net.client_addresses import TrustedProxies
from croupier.net.proxy_protocol import BadHeader, proxy_header
from croupier.observers.counters import Counts

BACKLOG: Final = 4096
PAUSE_SECONDS: Final = 1.0
"""How long nobody is taken after the system had no place for another connection."""


class ProxiedServer:
    """Sockets that listen. It stands for the server of a loop, which begins TLS before a header could be read.

    A connection from a trusted proxy begins with a header of the PROXY protocol, within `seconds`, or is closed;
    at most `most` of them are waited for at the same time. From anybody else a header is what it is in the room's own
    protocol: an error.
    """

    def __init__(
        self,
        protocol: Callable[[Address], asyncio.Protocol],
        proxies: TrustedProxies,
        *,
        counts: Counts,
        log: Log,
        seconds: float,
        most: int,
        tls: dict[str, Any],
    ) -> None:
        self.sockets: list[socket.socket] = []
        self._protocol = protocol
        self._proxies = proxies
        self._counts = counts
        self._log = log
        self._seconds = seconds
        self._most = most
        self._tls = tls
        self._loop = asyncio.get_running_loop()
        self._reading = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self, host: str, port: int) -> None:
        """Take connections on all addresses of a host. Raises OSError."""
        found = await self._loop.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        try:
            for family, _, _, _, address in dict.fromkeys(found):
                listening = socket.create_server(address[:2], family=family, backlog=BACKLOG)
                listening.setblocking(False)
                self.sockets.append(listening)
        except OSError:
            self.close()
            raise
        for listening in self.sockets:
            self._begin(self._accept(listening))

    def close(self) -> None:
        """Take no more connections, and close those of which nobody knows whose they are."""
        for task in self._tasks:
            task.cancel()
        while self.sockets:
            self.sockets.pop().close()

    def _begin(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                connected, peer = await self._loop.sock_accept(listening)
            except OSError as error:  # too many open files: those who are there have to leave first
                self._log.warning("no connection can be taken", reason=str(error))
                await asyncio.sleep(PAUSE_SECONDS)
            else:
                self._begin(self._take(connected, peer[:2]))

    async def _take(self, connected: socket.socket, peer: Address) -> None:
        try:
            address = await self._client(connected, peer) if peer[0] in self._proxies else peer
        except (BadHeader, OSError, TimeoutError) as error:
            self._counts.refused["proxy"] += 1
            self._log.warning("refused", address=peer, reason="proxy", error=str(error) or type(error).__name__)
            connected.close()
        except BaseException:
            connected.close()
            raise
        else:
            with suppress(OSError):  # it has gone, or speaks no TLS
                await self._loop.connect_accepted_socket(lambda: self._protocol(address), connected, **self._tls)

    async def _client(self, connected: socket.socket, peer: Address) -> Address:
        """The address that a proxy's header names. Raises BadHeader, OSError, TimeoutError."""
        if self._reading >= self._most:
            raise BadHeader(f"found {self._reading} connections without a header; allowed: {self._most}")
        self._reading += 1
        try:
            async with asyncio.timeout(self._seconds):
                return await self._read(connected) or peer
        finally:
            self._reading -= 1

    async def _read(self, connected: socket.socket) -> Address | None:
        header = proxy_header()
        wanted = next(header)
        while True:
            data = b""
            while len(data) < wanted:
                piece = await self._loop.sock_recv(connected, wanted - len(data))
                if not piece:
                    raise BadHeader("found the end of the connection; allowed: a header of the PROXY protocol")
                data += piece
            try:
                wanted = header.send(data)
            except StopIteration as end:
                address: Address | None = end.value
                return address
