"""Where in a stream of bytes one JSON value ends and the next one begins (docs/protocols/oldmaid.md, 8)."""

import re
from collections.abc import Iterator
from typing import Final


class JsonValueTooLong(Exception):
    """A value does not end within so many bytes as it may have."""


class JsonFramer:
    """Cuts a stream into values by their brackets; what has none ends with its line.

    No byte is looked at twice, however they arrive. `rest` is what has come of a value that is not complete.
    """

    __slots__ = ("_depth", "_in_string", "_max_bytes", "_scanned", "buffer")

    def __init__(self, max_bytes: int) -> None:
        self.buffer = _EMPTY_BUFFER
        self._max_bytes = max_bytes
        self._scanned = 0
        self._depth = 0
        self._in_string = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The values that are complete with these bytes. Raises Overlong."""
        if self.buffer is _EMPTY_BUFFER:
            self.buffer = bytearray()
        self.buffer += data
        while self._skip_whitespace():
            end = self._find_end()
            seen = self._scanned if end is None else end + 1
            if seen > self._max_bytes or (end is None and seen == self._max_bytes):
                raise JsonValueTooLong
            if end is None:
                return
            # A bracket or a line end closes a value and belongs to it; one that opens is the next value's.
            length = end if self.buffer[end] in b"{[" else end + 1
            value = bytes(self.buffer[:length])
            del self.buffer[:length]
            self._scanned = self._depth = 0
            self._in_string = False
            yield value

    def _skip_whitespace(self) -> bool:
        """Skip white space between values; whether a value has begun."""
        if not self._scanned:
            begin = _VALUE_START.search(self.buffer)
            del self.buffer[: begin.start() if begin else len(self.buffer)]
        return bool(self.buffer)

    def _find_end(self) -> int | None:
        """The index of the byte that ends the value, or of the one before which it ends; None while it is missing.

        Goes on where it stopped: `_seen` bytes are known, `_depth` brackets are open, and `_quoted` is within a string.
        """
        rest = self.buffer
        if rest[0] not in b"{[":
            stop = _TEXT_END.search(rest, self._scanned)
            self._scanned = len(rest)
            return stop.start() if stop else None
        at, depth, quoted = self._scanned, self._depth, self._in_string
        while stop := (_STRING_STOP if quoted else _STRUCTURE_STOP).search(rest, at):
            byte, at = rest[stop.start()], stop.end()
            if byte == _QUOTE:
                quoted = not quoted
            elif quoted:
                if byte == _LINE_END:
                    return stop.start()
                if at == len(rest):  # a backslash whose letter has not come yet
                    at = stop.start()
                    break
                at += 1
            elif byte in b"{[":
                depth += 1
            else:
                depth -= 1
                if not depth:
                    return stop.start()
        else:
            at = len(rest)
        self._scanned, self._depth, self._in_string = at, depth, quoted
        return None


_EMPTY_BUFFER: Final = bytearray()
"""What is left over on most connections for ever: they share it, and nobody adds to it."""

_VALUE_START: Final = re.compile(rb"[^ \t\r\n]")
_TEXT_END: Final = re.compile(rb"[\n{\[]")
_STRUCTURE_STOP: Final = re.compile(rb'["{}\[\]]')
_STRING_STOP: Final = re.compile(rb'["\\\n]')
_QUOTE: Final = ord('"')
_LINE_END: Final = ord("\n")
