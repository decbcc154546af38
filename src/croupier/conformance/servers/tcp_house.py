"""A house under test that is reached over TCP."""

import asyncio
from ssl import SSLContext
from typing import Final

from croupier.conformance.diagnosis.dialect import Dialect, DialectCodec
from croupier.conformance.servers.scripted_client import ScriptedClient
from croupier.core.logger import SilentLogger
from croupier.core.referee import HOUSE
from croupier.core.session import Address, Event, Joined
from croupier.net.endpoint import Endpoint, EndpointLimits

CONNECT_TIMEOUT_SECONDS: Final = 5.0
"""How long a server may take to accept a connection; the answer timeout, if that is longer."""

CLOSE_TIMEOUT_SECONDS: Final = 0.25
"""How long a server may take to close a finished connection before the connection is aborted."""

MAX_CLOSING_CONNECTIONS: Final = 64


class TcpHouse:
    """A house that is reached over TCP, or over TLS if there is `ssl`. See `HouseUnderTest`.

    With a dialect, what it sends is read in it.
    """

    max_closing = MAX_CLOSING_CONNECTIONS

    def __init__(self, answer_timeout: float, dialect: Dialect | None = None, ssl: SSLContext | None = None) -> None:
        self._address: Address = ("", 0)
        self._dialect = dialect
        self._ssl = ssl
        self._limits = EndpointLimits(
            close_timeout=CLOSE_TIMEOUT_SECONDS, connect_timeout=max(CONNECT_TIMEOUT_SECONDS, answer_timeout)
        )
        self._closing: set[asyncio.Task[None]] = set()

    async def open(self, address: Address) -> None:
        """See `HouseUnderTest`. It does not connect: that would be the first client of the server."""
        self._address = address

    async def converse(self, probe: ScriptedClient) -> None:
        """See `HouseUnderTest`."""
        over = asyncio.Event()

        def watch(event: Event[object], *_: object) -> None:
            if type(event) is Joined and event.address is not None:
                self._address = event.address  # resolve a host name only once
            if probe.is_over or probe.connect_error:
                over.set()

        endpoint = Endpoint(
            probe, lambda: DialectCodec(self._dialect), SilentLogger(), observers=[watch], limits=self._limits
        )
        local_address = (probe.local_host, 0) if probe.local_host else None
        await endpoint.connect(HOUSE, self._address, self._ssl, local_address=local_address, acknowledges_at_once=True)
        try:
            await over.wait()
        except asyncio.CancelledError:
            endpoint.halt(final=True)
            raise
        if probe.resets:
            endpoint.disconnect(HOUSE, resets=True)
        closed = asyncio.create_task(endpoint.wait_drained())
        self._closing.add(closed)
        closed.add_done_callback(self._closing.discard)
        while len(self._closing) > self.max_closing:
            await asyncio.wait(self._closing, return_when=asyncio.FIRST_COMPLETED)

    async def close(self) -> None:
        """Wait until all connections are closed."""
        while self._closing:
            await asyncio.wait(self._closing)
