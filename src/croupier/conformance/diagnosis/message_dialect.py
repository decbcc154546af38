"""Dialects of JSON protocols: consistent departures from a document, which are reported once and then undone."""

import re
from collections.abc import Callable
from functools import reduce
from typing import Any

from msgspec import Struct

from croupier.conformance.diagnosis.cause import CONJUNCTION

type MessageTransform[M, R] = Callable[[M, R], M]
"""Maps a message as received, and the request that it answers, to the message that the document prescribes.

A message that is not in the dialect stays as it is.
"""


class MessageDialect[M, R](Struct, frozen=True):
    """A consistent way to write messages that differs from the document.

    `description` is a phrase that follows "it": `puts quotes around its numbers`. The `transforms` correct every
    message, one after the other. A program with a `published` dialect is tested by the clauses of that.
    """

    description: str
    transforms: tuple[MessageTransform[M, R], ...] = ()
    published: Any = None

    def read(self, message: M, request: R) -> M:
        """Return a message as the document prescribes it; unchanged if it is not in this dialect."""
        return reduce(lambda read, transform: transform(read, request), self.transforms, message)

    def __add__(self, other: "MessageDialect[M, R]") -> "MessageDialect[M, R]":
        """Combine two dialects."""
        description = f"{self.description}{CONJUNCTION}{other.description}"
        return MessageDialect(description, self.transforms + other.transforms, other.published or self.published)


def normalise(word: str) -> str:
    """Return a word in lower case without separators, so that spellings can be compared."""
    return re.sub(r"[\W_]", "", word).lower()
