"""Where in a stream of bytes one JSON value ends and the next one begins (docs/protocols/oldmaid.md, 8)."""

import re
from collections.abc import Iterator
from typing import Final


class Overlong(Exception):
    """A value does not end within so many bytes as it may have."""


class Framing:
    """Cuts a stream into values by their brackets; what has none ends with its line.

    No byte is looked at twice, however they arrive. `rest` is what has come of a value that is not complete.
    """

    __slots__ = ("_depth", "_longest", "_quoted", "_seen", "rest")

    def __init__(self, longest: int) -> None:
        self.rest = _NOTHING
        self._longest = longest
        self._seen = 0
        self._depth = 0
        self._quoted = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The values that are complete with these bytes. Raises Overlong."""
        if self.rest is _NOTHING:
            self.rest = bytearray()
        self.rest += data
        while self._begun():
            end = self._end()
            seen = self._seen if end is None else end + 1
            if seen > self._longest or (end is None and seen == self._longest):
                raise Overlong
            if end is None:
                return
            # A bracket or a line end closes a value and belongs to it; one that opens is the next value's.
            length = end if self.rest[end] in b"{[" else end + 1
            value = bytes(self.rest[:length])
            del self.rest[:length]
            self._seen = self._depth = 0
            self._quoted = False
            yield value

    def _begun(self) -> bool:
        """Skip white space between values; whether a value has begun."""
        if not self._seen:
            begin = _BEGIN.search(self.rest)
            del self.rest[: begin.start() if begin else len(self.rest)]
        return bool(self.rest)

    def _end(self) -> int | None:
        """The index of the byte that ends the value, or of the one before which it ends; None while it is missing.

        Goes on where it stopped: `_seen` bytes are known, `_depth` brackets are open, and `_quoted` is within a string.
        """
        rest = self.rest
        if rest[0] not in b"{[":
            stop = _TEXT_END.search(rest, self._seen)
            self._seen = len(rest)
            return stop.start() if stop else None
        at, depth, quoted = self._seen, self._depth, self._quoted
        while stop := (_INSIDE if quoted else _OUTSIDE).search(rest, at):
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
        self._seen, self._depth, self._quoted = at, depth, quoted
        return None


_NOTHING: Final = bytearray()
"""What is left over on most connections for ever: they share it, and nobody adds to it."""

_BEGIN: Final = re.compile(rb"[^ \t\r\n]")
_TEXT_END: Final = re.compile(rb"[\n{\[]")
_OUTSIDE: Final = re.compile(rb'["{}\[\]]')
_INSIDE: Final = re.compile(rb'["\\\n]')
_QUOTE: Final = ord('"')
_LINE_END: Final = ord("\n")
