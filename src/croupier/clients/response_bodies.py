"""Readers for HTTP response bodies, with limits on size and time."""

from time import monotonic
from typing import Final

import httpx

from croupier.core.errors import Violation

MAX_BODY_BYTES: Final = 4 << 20
"""Maximum size of a body; a list of 10,000 games is smaller."""

MAX_BODY_SECONDS: Final = 60.0
"""Maximum time from the first to the last byte of a body."""

MAX_LINE_BYTES: Final = 256 << 10
"""Maximum length of a line in a stream, about a hundred times the size of a game with ten players."""

IDENTITY_ENCODING_HEADERS: Final = {"accept-encoding": "identity"}
"""Request headers that forbid compression, because a small compressed body can expand a thousandfold."""


async def read_body(response: httpx.Response) -> bytes:
    """Read the body of a response.

    Raises Violation if it is compressed or too long, and httpx.ReadTimeout if it takes too long.
    """
    check_not_compressed(response)
    body, deadline = bytearray(), monotonic() + MAX_BODY_SECONDS
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise Violation("holdem-1.5", f"a body of more than {MAX_BODY_BYTES:,} bytes", "a body that ends")
        if monotonic() > deadline:
            raise httpx.ReadTimeout(f"a body of more than {MAX_BODY_SECONDS:g} s")
    return bytes(body)


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


def check_not_compressed(response: httpx.Response) -> None:
    """Raise Violation if the body of a response is compressed."""
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in {"", "identity"}:
        raise Violation("holdem-1.5", f"a body in the encoding {coding[:40]}", "an unencoded body, as requested")
