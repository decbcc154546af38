"""Dialects of JSON protocols: consistent departures from a document, which are reported once and then undone."""

import re
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import permutations

from msgspec import Struct

from croupier.conformance.diagnosis.cause import CONJUNCTION, Cause, dialect_cause

type MessageTransform[M, R] = Callable[[M, R], M]
"""Maps a message as received, and the request that it answers, to the message that the document prescribes.

A message that is not in the dialect stays as it is.
"""


class MessageDialect[M, R](Struct, frozen=True):
    """A consistent way to write messages that differs from the document.

    `description` is a phrase that follows "it": `puts quotes around its numbers`. The `transforms` correct every
    message, one after the other. The program sends a `greeting`, if it has one, before its first message. `option` is
    the name that the room has for the dialect, empty if it has none, and `section` the number of the clause from which
    one departs that speaks only that. `combined` are the dialects that were added to each other, empty if there are
    none.
    """

    description: str
    transforms: tuple[MessageTransform[M, R], ...] = ()
    greeting: bytes = b""
    option: str = ""
    section: str = ""
    combined: tuple["MessageDialect[M, R]", ...] = ()

    @property
    def parts(self) -> tuple["MessageDialect[M, R]", ...]:
        """The dialects that were added to each other; the dialect itself if there are none."""
        return self.combined or (self,)

    def read(self, message: M, request: R) -> M:
        """Return a message as the document prescribes it; unchanged if it is not in this dialect."""
        return reduce(lambda read, transform: transform(read, request), self.transforms, message)

    def __add__(self, other: "MessageDialect[M, R]") -> "MessageDialect[M, R]":
        """Combine two dialects."""
        description = f"{self.description}{CONJUNCTION}{other.description}"
        return MessageDialect(
            description,
            self.transforms + other.transforms,
            other.greeting or self.greeting,
            other.option or self.option,
            combined=(*self.parts, *other.parts),
        )


def likely_dialect[M, R](
    message: M, request: R, dialects: Sequence[MessageDialect[M, R]], is_right: Callable[[M], bool]
) -> Cause | None:
    """Return the likely dialect of a wrong message, None if none fits. Single dialects are tried before pairs.

    `is_right` decides whether a corrected message is right. An empty one is none: nothing is wrong with it.
    """
    for chains in ([(each,) for each in dialects], permutations(dialects, 2)):
        for chain in chains:
            meant = message
            for each in chain:
                changed = each.read(meant, request) if meant else meant
                if changed == meant:
                    break
                meant = changed
            else:
                if not meant or is_right(meant):
                    return dialect_cause(chain)
    return None


def normalise(word: str) -> str:
    """Return a word in lower case without separators, so that spellings can be compared."""
    return re.sub(r"[\W_]", "", word).lower()
