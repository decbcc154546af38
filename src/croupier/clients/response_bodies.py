"""Readers of HTTP responses, with limits on their size."""

import asyncio
from asyncio import Future
from collections.abc import Mapping
from typing import Final

from croupier.clients.http_connection import ResponseHead
from croupier.core.errors import Violation
from croupier.net.event_loop import resolve

MAX_BODY_BYTES: Final = 4 << 20
"""Maximum size of a body; a list of 10,000 games is smaller."""

MAX_LINE_BYTES: Final = 256 << 10
"""Maximum length of a line in a stream, about a hundred times the size of a game with ten players."""


class WholeBody:
    """Receives a response with its whole body; see `ResponseReceiver`.

    `head` is done when the head has arrived, and `body` when the response is complete. They raise ConnectionError if
    the connection ends before, and Violation if the body is compressed or too long.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.head: Future[ResponseHead] = loop.create_future()
        self.body: Future[bytes] = loop.create_future()
        self._received = bytearray()

    def on_head(self, head: ResponseHead) -> None:
        """See `ResponseReceiver`."""
        if (violation := compression_violation(head.headers)) is not None:
            self._fail(violation)
        elif not self.head.done():
            self.head.set_result(head)

    def on_body(self, data: bytes) -> None:
        """See `ResponseReceiver`."""
        if self.body.done():
            return
        self._received += data
        if len(self._received) > MAX_BODY_BYTES:
            self._fail(Violation("holdem-1.5", f"a body of more than {MAX_BODY_BYTES:,} bytes", "a body that ends"))

    def on_end(self) -> None:
        """See `ResponseReceiver`."""
        if not self.body.done():
            self.body.set_result(bytes(self._received))

    def on_failure(self, error: ConnectionError) -> None:
        """See `ResponseReceiver`."""
        self._fail(error)

    def _fail(self, error: Exception) -> None:
        for future in (self.head, self.body):
            if not future.done():
                future.set_exception(error)
                future.exception()  # it is seen, whichever of the two is awaited


class NewestLine:
    """Receives a streamed response, of which only the newest complete line matters; see `ResponseReceiver`.

    `head` is done when the head has arrived. `changed` is done when anything has, and renewed by `take`.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.head: Future[ResponseHead] = loop.create_future()
        self.changed: Future[None] = loop.create_future()
        self.has_ended = False
        self._loop = loop
        self._lines = NdjsonReader()
        self._newest = b""
        self._error: Exception | None = None

    def take(self) -> bytes:
        """Return the newest line, b"" if there is none since the last call. Raises Violation and ConnectionError."""
        line, self._newest = self._newest, b""
        if not line and self._error is not None:
            raise self._error
        if self.changed.done():
            self.changed = self._loop.create_future()
        return line

    def on_head(self, head: ResponseHead) -> None:
        """See `ResponseReceiver`."""
        self._error = compression_violation(head.headers)
        if not self.head.done():
            self.head.set_result(head)

    def on_body(self, data: bytes) -> None:
        """See `ResponseReceiver`."""
        if self._error is None:
            try:
                self._newest = self._lines.newest_line(data) or self._newest
            except Violation as violation:
                self._error = violation
        resolve(self.changed)

    def on_end(self) -> None:
        """See `ResponseReceiver`."""
        self.has_ended = True
        resolve(self.changed)

    def on_failure(self, error: ConnectionError) -> None:
        """See `ResponseReceiver`."""
        self._error = self._error or error
        if not self.head.done():
            self.head.set_exception(error)
            self.head.exception()  # it is seen: the stream may have been closed
        resolve(self.changed)


class NdjsonReader:
    """Reads a stream of lines, of which only the newest complete one matters."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def newest_line(self, chunk: bytes) -> bytes:
        r"""Add a chunk; return the last line that it completes, or b"".

        Empty lines, which keep the connection alive, are skipped. Raises Violation if a line is too long.

        >>> reader = NdjsonReader()
        >>> reader.newest_line(b'{"a": 1}\n{"a": 2}\n{"a"')
        b'{"a": 2}'
        """
        if len(self._buffer) > MAX_LINE_BYTES:
            raise Violation("holdem-9.6", f"a line of more than {MAX_LINE_BYTES:,} bytes", "one game per line")
        self._buffer += chunk
        if b"\n" not in chunk:
            return b""
        *lines, self._buffer = self._buffer.split(b"\n")
        return next((bytes(line) for line in reversed(lines) if line.strip()), b"")


def compression_violation(headers: Mapping[str, str]) -> Violation | None:
    """Return a violation if the body of a response with these headers is compressed."""
    coding = headers.get("content-encoding", "identity").strip().lower()
    if coding in {"", "identity"}:
        return None
    return Violation("holdem-1.5", f"a body in the encoding {coding[:40]}", "an unencoded body, as requested")
