"""What a client of hold'em reads of an answer, however much a server sends."""

from time import monotonic
from typing import Final

import httpx

from croupier.core.errors import Violation

MAX_BODY_BYTES: Final = 4 << 20
"""The longest body that is read: the list of 10,000 games is not as long."""

MAX_BODY_SECONDS: Final = 60.0
"""For how long a body may arrive, once it has begun."""

MAX_LINE_BYTES: Final = 256 << 10
"""The longest line of a stream: a game of ten players takes a hundredth of it."""

IDENTITY_ENCODING_HEADERS: Final = {"accept-encoding": "identity"}
"""The headers that ask for bodies as they are: what is packed may be a thousand times as long when it is unpacked."""


class ResponseBody:
    """The body of an answer that arrives in pieces. Raises Violation where it is packed, or does not end."""

    def __init__(self, response: httpx.Response) -> None:
        check_not_compressed(response)
        self._chunks: list[bytes] = []
        self._length = 0
        self._deadline = monotonic() + MAX_BODY_SECONDS

    def add(self, chunk: bytes) -> None:
        """The next piece."""
        self._length += len(chunk)
        if self._length > MAX_BODY_BYTES:
            raise Violation("holdem-1.5", f"a body of more than {MAX_BODY_BYTES:,} bytes", "a body that ends")
        if monotonic() > self._deadline:
            raise httpx.ReadTimeout(f"a body of more than {MAX_BODY_SECONDS:g} s")
        self._chunks.append(chunk)

    def to_bytes(self) -> bytes:
        """All of it."""
        return b"".join(self._chunks)


class NdjsonReader:
    """A body of lines that goes on, of which only the newest line matters."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def newest_line(self, chunk: bytes) -> bytes:
        """The last line that a piece completes; empty lines only keep the connection alive. Raises Violation."""
        if len(self._buffer) > MAX_LINE_BYTES:
            raise Violation("holdem-9.6", f"a line of more than {MAX_LINE_BYTES:,} bytes", "a game a line")
        self._buffer += chunk
        if b"\n" not in chunk:
            return b""
        *lines, self._buffer = self._buffer.split(b"\n")
        return next((bytes(line) for line in reversed(lines) if line.strip()), b"")


def check_not_compressed(response: httpx.Response) -> None:
    """Raise Violation where the body of an answer is packed."""
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in {"", "identity"}:
        raise Violation("holdem-1.5", f"a body in the encoding {coding[:40]}", "a body as it is, which was asked for")
