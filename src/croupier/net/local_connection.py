"""Connections between two endpoints of one process, through memory instead of sockets."""

import asyncio
from typing import Any, Final

from croupier.core.session import Address, Peer
from croupier.net.connection import Connection
from croupier.net.endpoint import Endpoint

MAX_BUFFERED_BYTES: Final = 65_536
"""A protocol is asked to pause writing while more than this waits to be read by the other one."""


class LocalTransport(asyncio.Transport):
    """One end of a connection through memory. Data and closes arrive in later turns of the event loop, in order.

    `extra` are the values of `get_extra_info`: `peername` and `peercert` describe the other end. With
    `closes_with_other` this end is closed as soon as the other one is, after everything that it has written.
    """

    def __init__(self, protocol: asyncio.Protocol, extra: dict[str, Any], *, closes_with_other: bool = False) -> None:
        super().__init__(extra)
        self._closes_with_other = closes_with_other
        self.other: LocalTransport
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._incoming = bytearray()
        self._is_reading_paused = False
        self._is_writing_paused = False
        self._has_written_eof = False
        self._has_read_eof = False
        self._is_closing = False

    # Called by the protocol.

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Deliver bytes to the other end; they are lost if it is closed."""
        if self._is_closing or self._has_written_eof or self.other._is_closing:
            return
        self.other._incoming += data
        self.other._deliver_soon()
        if not self._is_writing_paused and len(self.other._incoming) > MAX_BUFFERED_BYTES:
            self._is_writing_paused = True
            self._protocol.pause_writing()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Let another protocol handle this end from now on."""
        assert isinstance(protocol, asyncio.Protocol), "bytes are delivered"
        self._protocol = protocol

    def get_write_buffer_size(self) -> int:
        """The number of bytes that the other end has not read yet."""
        return len(self.other._incoming)

    def can_write_eof(self) -> bool:
        """Whether one direction can be closed alone: yes."""
        return True

    def write_eof(self) -> None:
        """Close the direction to the other end after everything written so far."""
        self._has_written_eof = True
        self.other._deliver_soon()

    def pause_reading(self) -> None:
        """Deliver nothing to the protocol until `resume_reading`."""
        self._is_reading_paused = True

    def resume_reading(self) -> None:
        """Deliver what has arrived meanwhile."""
        self._is_reading_paused = False
        self._deliver_soon()

    def is_closing(self) -> bool:
        """Whether this end is closed, or will be."""
        return self._is_closing

    def close(self) -> None:
        """Close both directions. The other end still reads what was written."""
        if not self._is_closing:
            self._is_closing = True
            self._incoming.clear()
            self.write_eof()
            self._loop.call_soon(self._lose)

    def abort(self) -> None:
        """Close both directions at once."""
        self.close()

    # Called by the event loop.

    def _deliver_soon(self) -> None:
        self._loop.call_soon(self._deliver)

    def _deliver(self) -> None:
        """Pass on what has arrived, and then the end of the input."""
        if self._is_closing or self._is_reading_paused:
            return
        if self._incoming:
            data = bytes(self._incoming)
            self._incoming.clear()
            self.other._resume_writing()
            self._protocol.data_received(data)
            self._deliver_soon()
        elif self.other._has_written_eof and not self._has_read_eof:
            self._has_read_eof = True
            if not self._protocol.eof_received() or (self._closes_with_other and self.other._is_closing):
                self.close()
        elif self._has_read_eof and self._closes_with_other and self.other._is_closing:
            self.close()

    def _resume_writing(self) -> None:
        if self._is_writing_paused and not self._is_closing:
            self._is_writing_paused = False
            self._protocol.resume_writing()

    def _lose(self) -> None:
        self._protocol.connection_lost(None)


def connect_local(
    client: Endpoint, peer: Peer, server: Endpoint, address: Address | None, certificate: dict[str, Any] | None = None
) -> None:
    """Connect an endpoint to another one in this process; the bytes are those of a connection through sockets.

    `peer` is the number of the server in the client's session. The server takes `address` and `certificate` for those
    of its client, and treats it as any other: it may refuse it, and limits, accounts and observers apply.
    """
    _connect(Connection(client, peer), server.make_connection(), address, certificate, closes_with_server=False)


def connect_stream(
    stream: asyncio.Protocol, server: Endpoint, address: Address | None, certificate: dict[str, Any] | None = None
) -> None:
    """Connect a protocol, which has the bytes of a client, to an endpoint as `connect_local` does.

    The connection of the protocol is lost when the endpoint has closed that of the client.
    """
    _connect(stream, Connection(server), address, certificate, closes_with_server=True)


def _connect(
    client: asyncio.Protocol,
    accepted: asyncio.Protocol,
    address: Address | None,
    certificate: dict[str, Any] | None,
    *,
    closes_with_server: bool,
) -> None:
    server_end = LocalTransport(accepted, {"peername": address, "peercert": certificate})
    client_end = LocalTransport(client, {}, closes_with_other=closes_with_server)
    server_end.other, client_end.other = client_end, server_end
    accepted.connection_made(server_end)
    client.connection_made(client_end)
