"""Ways in which programs spell a protocol otherwise, all along: found once, named, and read as what they mean.

A spelling reads a stream of messages that all depart from the protocol in the same way, and hands on what they are in
the protocol. Which spellings a room knows stands in `spellings.py`.
"""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Final

MOST: Final = 1 << 12
"""So many bytes of a message that is not complete are held back."""

type Mend = Callable[[bytes], bytes]
"""Bytes as they came in, bytes as the protocol has them out. Raises Unlike."""


class Unlike(Exception):
    """These bytes are not spelt in this way."""


class Part:
    """A part of a message: the ways in which it can be spelt, and what it is in the protocol.

    A way is a row of regular expressions, so that what has just begun can be told from what is something else; `begun`
    matches what else may be a beginning. `cases`: lower case letters are other letters.
    """

    def __init__(self, *ways: Sequence[bytes], mend: Mend = bytes, begun: bytes = b"", cases: bool = False) -> None:
        flags = re.DOTALL | (0 if cases else re.IGNORECASE)
        self._whole = re.compile(b"|".join(b"".join(way) for way in ways), flags)
        self._begun = re.compile(b"(?:%s)\\Z" % b"|".join([begun, *map(_begun, ways)]), flags)
        self._mend = mend

    def read(self, data: bytes, at: int) -> tuple[bytes, int] | None:
        """What stands there, in the protocol, and where it ends; None while it is incomplete. Raises Unlike."""
        whole, begun = self._whole.match(data, at), self._begun.match(data, at)
        if begun and not (whole and whole.end() == begun.end()):
            return None
        if whole:
            return self._mend(whole[0]), whole.end()
        raise Unlike


def _begun(way: Sequence[bytes]) -> bytes:
    """What matches every beginning of a way that is not all of it."""
    found = b""
    for piece in reversed(way[:-1]):
        found = b"(?:%s%s)?" % (piece, found)
    return found


class Either(Part):
    """A part that is spelt in one way or in another."""

    def __init__(self, *parts: Part) -> None:
        super().__init__(())
        self._parts = parts

    def read(self, data: bytes, at: int) -> tuple[bytes, int] | None:
        """As in `Part`; the first way in which it is complete counts."""
        begun = False
        for part in self._parts:
            try:
                found = part.read(data, at)
            except Unlike:
                continue
            if found is not None:
                return found
            begun = True
        if begun:
            return None
        raise Unlike


def listed(words: Mapping[bytes, bytes], *, cases: bool = False) -> Part:
    """A part that is one of these words, each with what it is in the protocol; the longest that fits counts."""
    ways = [tuple(re.escape(bytes((c,))) for c in word) for word in sorted(words, key=len, reverse=True)]
    known = words if cases else {word.upper(): meant for word, meant in words.items()}
    return Part(*ways, mend=lambda data: known[data if cases else data.upper()], cases=cases)


CODE: Final = "code"
"""The name of the part that every message begins with."""

AND: Final = ", and it "
"""Stands between two spellings in a sentence."""

type Layout = Mapping[bytes, Sequence[str]]
"""The messages of a protocol: every code with the names of the parts behind it."""


@dataclass(frozen=True)
class Spelling:
    """A way to spell all messages of a room.

    `told` says it in words behind "it": `puts quotes around its arguments`. `plain` has the parts of messages as they
    are in the protocol, CODE among them, and `parts` those that are spelt otherwise; `before` and `behind` stand around
    every message. One that is not `throughout` explains a single message, but nothing can be read by it: a number
    without its sign may be either.
    """

    told: str
    layout: Layout
    plain: Mapping[str, Part]
    parts: Mapping[str, Part]
    before: Part | None = None
    behind: Part | None = None
    throughout: bool = True

    def read(self, data: bytes) -> tuple[bytes, int] | None:
        """The message that the data begins with, as the protocol has it, and its length; None while it is incomplete.

        Raises Unlike when it is not spelt in this way.
        """
        at = 0
        if self.before is not None:
            if (found := self.before.read(data, at)) is None:
                return None
            at = found[1]
        if (found := self._part(CODE).read(data, at)) is None:
            return None
        message, at = found
        for name in self.layout[message]:
            if (found := self._part(name).read(data, at)) is None:
                return None
            piece, at = found
            message += piece
        return message, at

    def _part(self, name: str) -> Part:
        return self.parts.get(name) or self.plain[name]

    def __add__(self, other: "Spelling") -> "Spelling":
        """Both at the same time. What both spell otherwise may be spelt in either way."""
        both = {name: Either(part, self.parts[name]) for name, part in other.parts.items() if name in self.parts}
        return Spelling(
            f"{self.told}{AND}{other.told}",
            self.layout,
            self.plain,
            {**self.parts, **other.parts, **both},
            other.before or self.before,
            other.behind or self.behind,
            self.throughout and other.throughout,
        )


class Translation:
    """Reads what one end sends by its spelling, as it comes, and hands it on as the protocol has it.

    A number in digits ends with the bytes that have come together, for nothing else may follow. What is not spelt in
    this way is handed on as it came, and then `strange` is true.
    """

    def __init__(self, spelling: Spelling) -> None:
        self.strange = False
        self._spelling = spelling
        self._rest = b""
        self._begun = False

    @property
    def rest(self) -> bytes:
        """What has come of a message that is not complete."""
        return self._rest

    def feed(self, data: bytes) -> bytes:
        """More bytes: what they complete."""
        rest, found = self._rest + data, b""
        while rest:
            try:
                if self._begun:
                    rest = self._skipped(rest)
                reading = self._spelling.read(rest) if rest else None
            except Unlike:
                self.strange = True
                self._rest = b""
                return found + rest
            if reading is None:
                break
            message, length = reading
            found += message
            rest = rest[length:]
            self._begun = True
        self._rest = rest if len(rest) < MOST else b""
        return found if len(rest) < MOST else found + rest

    def _skipped(self, data: bytes) -> bytes:
        """What follows behind the end of a message."""
        behind = self._spelling.behind
        if behind is None:
            return data
        try:
            found = behind.read(data, 0)
        except Unlike:
            return data
        return data if found is None else data[found[1] :]


class Understood:
    """The codec of a wire on which every byte counts, with what is heard read by a spelling if there is one."""

    departures: Set[str] = frozenset()

    def __init__(self, spelling: Spelling | None = None) -> None:
        self._translation = None if spelling is None else Translation(spelling)

    def feed(self, data: bytes) -> Sequence[bytes]:
        """What has come, as one message."""
        if self._translation is not None:
            data = self._translation.feed(data)
        return (data,) if data else ()

    def encode(self, message: bytes) -> bytes:
        """What is said, as it is."""
        return message


def named(cause: str, known: Sequence[Spelling]) -> Spelling | None:
    """The spelling that a cause has named (`it ends its messages with a NUL`), if it is all that it says.

    None where it is another cause, or one that holds for single messages only.
    """
    words = {spelling.told: spelling for spelling in known if spelling.throughout}
    found = [words.get(part) for part in cause.removeprefix("it ").split(AND)]
    spellings = [spelling for spelling in found if spelling is not None]
    return reduce(add, spellings) if len(spellings) == len(found) else None
