"""Framing: splits a byte stream into JSON values (docs/protocols/oldmaid.md, section 8)."""

import re
from collections.abc import Iterator
from typing import Final


class JsonValueTooLong(Exception):
    """A JSON value is longer than the limit."""


class JsonFramer:
    """Splits a stream into JSON values by their brackets; a value without brackets ends at the end of its line.

    Each byte is scanned once, however the stream is chunked. `buffer` holds the incomplete value.

    >>> list(JsonFramer(100).feed(b'{"cmd": "draw"} {"cmd"'))
    [b'{"cmd": "draw"}']
    """

    __slots__ = ("_depth", "_in_string", "_max_bytes", "_scanned", "buffer")

    def __init__(self, max_bytes: int) -> None:
        self.buffer = _EMPTY_BUFFER
        self._max_bytes = max_bytes
        self._scanned = 0
        self._depth = 0
        self._in_string = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the values that these bytes complete. Raises JsonValueTooLong."""
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
            # A closing bracket or a line end belongs to its value; an opening bracket starts the next one.
            length = end if self.buffer[end] in b"{[" else end + 1
            value = bytes(self.buffer[:length])
            del self.buffer[:length]
            self._scanned = self._depth = 0
            self._in_string = False
            yield value

    def _skip_whitespace(self) -> bool:
        """Skip white space between values. Returns whether a value has begun."""
        if not self._scanned:
            begin = _VALUE_START.search(self.buffer)
            del self.buffer[: begin.start() if begin else len(self.buffer)]
        return bool(self.buffer)

    def _find_end(self) -> int | None:
        """The index of the last byte of the value or of the bracket that starts the next one; None if it is not there.

        The scan resumes where it stopped: after `_scanned` bytes, at `_depth` open brackets, `_in_string` or not.
        """
        buffer = self.buffer
        if buffer[0] not in b"{[":
            stop = _TEXT_END.search(buffer, self._scanned)
            self._scanned = len(buffer)
            return stop.start() if stop else None
        position, depth, in_string = self._scanned, self._depth, self._in_string
        while stop := (_STRING_STOP if in_string else _STRUCTURE_STOP).search(buffer, position):
            byte, position = buffer[stop.start()], stop.end()
            if byte == _QUOTE:
                in_string = not in_string
            elif in_string:
                if byte == _LINE_END:
                    return stop.start()
                if position == len(buffer):  # a backslash whose escaped character is still missing
                    position = stop.start()
                    break
                position += 1
            elif byte in b"{[":
                depth += 1
            else:
                depth -= 1
                if not depth:
                    return stop.start()
        else:
            position = len(buffer)
        self._scanned, self._depth, self._in_string = position, depth, in_string
        return None


_EMPTY_BUFFER: Final = bytearray()
"""The shared initial buffer; idle connections need none of their own. It must never be modified."""

_VALUE_START: Final = re.compile(rb"[^ \t\r\n]")
_TEXT_END: Final = re.compile(rb"[\n{\[]")
_STRUCTURE_STOP: Final = re.compile(rb'["{}\[\]]')
_STRING_STOP: Final = re.compile(rb'["\\\n]')
_QUOTE: Final = ord('"')
_LINE_END: Final = ord("\n")
