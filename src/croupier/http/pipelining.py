"""Limits pipelining on an HTTP connection: a request is parsed only after the ones before it are answered.

Bytes that arrive earlier are kept unparsed. Above `MAX_UNPARSED_BYTES`, reading from the socket stops until the
responses catch up.
"""

import asyncio
from typing import Any

from uvicorn import Config
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

MAX_CHUNK_BYTES = 16_384
"""Maximum number of bytes fed to the parser at once, with the end of at most one head among them."""

MAX_UNPARSED_BYTES = 16_384

MAX_CHUNKS_PER_TURN = 32
"""Maximum number of chunks parsed in one turn of the event loop; then other connections have their turn."""

HEAD_END = b"\r\n\r\n"


class ReadFlow(FlowControl):
    """Flow control that does not resume reading while unparsed bytes are held."""

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__(transport)
        self._held = False

    def hold(self) -> None:
        """Stop reading until `release` is called."""
        self._held = True
        if not self._transport.is_closing():
            self.pause_reading()

    def release(self) -> None:
        """Resume reading."""
        self._held = False
        self.resume_reading()

    def resume_reading(self) -> None:
        """Resume reading, unless unparsed bytes are held or the connection is closed."""
        if not self._held and not self._transport.is_closing():
            super().resume_reading()


class PipeliningProtocol(HttpToolsProtocol):
    """uvicorn's protocol with at most two parsed requests: one being answered and one waiting."""

    flow: ReadFlow
    cycle: RequestResponseCycle | None  # type: ignore[assignment]  # None before the first request

    def __init__(self, config: Config, state: ServerState, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(config, state, {}, loop)
        self._is_parsing = False
        self._in_message = False
        self._input_is_ignored = False  # all further input is discarded
        self._current_cycle: RequestResponseCycle | None = None
        self._unparsed_bytes = b""
        self._offset = 0  # where the unparsed bytes begin
        self._has_pending_eof = False  # the peer has closed its direction, after the unparsed bytes

    def connection_made(self, transport: Any) -> None:
        """Install the flow control that can hold unparsed bytes."""
        super().connection_made(transport)
        self.flow = ReadFlow(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Mark every unanswered request as disconnected; uvicorn does so only for the newest."""
        unanswered = [self._current_cycle, *(cycle for cycle, _ in self.pipeline)]
        self.pipeline.clear()
        self._ignore_input()
        super().connection_lost(exc)
        for cycle in unanswered:
            if cycle is not None and not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()

    def data_received(self, data: bytes) -> None:
        """Parse what may be parsed now and keep the rest."""
        if not self._unparsed_bytes:
            self._parse(data, 0)
        elif not self._input_is_ignored:
            self._keep_unparsed(self._unparsed_bytes[self._offset :] + data, 0)

    def eof_received(self) -> bool:  # type: ignore[override]  # False closes the connection
        """Return whether the connection stays open for a while because unparsed requests are still to be answered."""
        self._has_pending_eof = bool(self._unparsed_bytes) and self.scheme != "https"
        return self._has_pending_eof

    def on_message_begin(self) -> None:
        """Note that a request has begun."""
        super().on_message_begin()
        self._in_message = True

    def on_message_complete(self) -> None:
        """Note that a request is complete."""
        super().on_message_complete()
        self._in_message = False

    def on_response_complete(self) -> None:
        """Continue with the waiting request, or with the unparsed bytes."""
        super().on_response_complete()
        self._resume_parsing()

    def _resume_parsing(self) -> None:
        if not self._unparsed_bytes or self._input_is_ignored or self._is_full or self.transport.is_closing():
            return
        data, start = self._unparsed_bytes, self._offset
        self._unparsed_bytes = b""
        self._parse(data, start)
        if self._unparsed_bytes:
            return
        self.flow.release()
        if self._has_pending_eof and not self.eof_received():
            self.transport.close()

    @property
    def _is_full(self) -> bool:
        """Whether a response has to be sent before more is parsed."""
        if self.pipeline:
            return True
        return not self._in_message and self.cycle is not None and not self.cycle.response_complete

    def _parse(self, data: bytes, start: int) -> None:
        end = len(data)
        chunks = 0
        self._is_parsing = True
        while start < end and not self._is_full:
            if chunks == MAX_CHUNKS_PER_TURN:
                self.loop.call_soon(self._resume_parsing)
                break
            stop = _chunk_end(data, start, end)
            self._parse_chunk(data[start:stop])
            start = stop
            chunks += 1
        self._is_parsing = False
        if start < end and not self._input_is_ignored:
            self._keep_unparsed(data, start)
        self._on_parsed()

    def _parse_chunk(self, data: bytes) -> None:
        """Feed the parser."""
        super().data_received(data)

    def _on_parsed(self) -> None:
        """Called after everything that may be parsed now has been parsed."""

    def _keep_unparsed(self, data: bytes, start: int) -> None:
        self._unparsed_bytes, self._offset = data, start
        if len(data) - start > MAX_UNPARSED_BYTES:
            self.flow.hold()

    def _ignore_input(self) -> None:
        """Discard all further input."""
        self._input_is_ignored = True
        self._unparsed_bytes = b""

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:  # noqa: ARG002 -- as uvicorn calls it
        """Answer a request in a task."""
        self._current_cycle = cycle
        super()._start_asgi_task(cycle, self._run_app)

    async def _run_app(self, scope: Any, receive: Any, send: Any) -> None:
        """Run the application; messages it sends after the connection is closed are dropped without an error."""

        async def send_while_open(message: Any) -> None:
            if self.transport.is_closing():
                return
            try:
                await send(message)
            except RuntimeError:
                if not self.transport.is_closing():
                    raise

        try:
            await self.app(scope, receive, send_while_open)
        except Exception as error:
            self.loop.call_exception_handler({"message": "a request could not be answered", "exception": error})
            raise


def _chunk_end(data: bytes, start: int, end: int) -> int:
    """Where the next chunk ends: after the first head if it contains the end of another one, else with the data."""
    limit = start + MAX_CHUNK_BYTES
    head_end = data.find(HEAD_END, start, limit)
    if head_end >= 0 and data.find(HEAD_END, head_end + len(HEAD_END), limit) >= 0:
        return head_end + len(HEAD_END)
    return min(limit, end)
