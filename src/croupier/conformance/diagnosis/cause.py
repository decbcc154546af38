"""The likely cause of a failure."""

from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import Any, Final, Protocol, Self

from msgspec import Struct


class Dialect(Protocol):
    """A systematic departure from the spelling of a protocol. Dialects of one room can be added to each other."""

    @property
    def description(self) -> str:
        """The predicate of a sentence with the subject "it": `puts quotes around its arguments`."""
        ...

    @property
    def option(self) -> str:
        """The name that the room has for the dialect (`--dialect`), empty if it has none."""
        ...

    @property
    def greeting(self) -> bytes:
        """What the program sends before its first message, empty if it sends nothing then."""
        ...

    @property
    def parts(self) -> tuple[Self, ...]:
        """The dialects that were added to each other; the dialect itself if there are none."""
        ...

    def __add__(self, other: Any) -> Self: ...


CONJUNCTION: Final = ", and it "
"""Joins two dialects in a sentence."""


class Cause(Struct, frozen=True):
    """The likely cause of a failure: a sentence with the subject "it".

    `dialect` is set if the cause is a dialect in which everything that the program sends can be read, `partial_dialect`
    if only the end of it can. `clause` is the clause that the program breaks by it, empty if that is the clause of the
    failure. A cause that `is_guess` was not confirmed by an experiment.
    """

    text: str
    dialect: Any = None
    partial_dialect: Any = None
    is_guess: bool = False
    clause: str = ""

    def __str__(self) -> str:
        return self.text


ONE_READ_CAUSE: Final = Cause(
    "it takes what one read brings for one message: the same messages pass when each is sent alone and in one piece"
)

CUT_LETTER_CAUSE: Final = Cause(
    "it decodes each read by itself: letters of several bytes are lost if they arrive in two reads, and others are not"
)

SPELLING_MATTERS: Final = Cause("it does not read every spelling: the same messages pass in upper case")

WAITS_FOR_LINE_END: Final = Cause("it waits for a line end: the same messages pass with a line end after each")

LINE_CAUSE: Final = Cause("it reads line by line: the same messages pass when each ends with a line end")

MUTE_CAUSE: Final = Cause("it accepts connections and has not answered anything")

SENDS_BACK: Final = Cause("it sends back what the client has sent")


def one_read_cause(code: str) -> Cause:
    """Return the cause of a program that goes on within a message that it reads rightly when it comes alone."""
    return Cause(f"it takes what one read brings for one message: it goes on before the end of {code} has come")


def dialect_cause[D: Dialect](dialects: Iterable[D]) -> Cause:
    """Return the cause of a program that sends everything in these dialects.

    Example:
        >>> from croupier.conformance.diagnosis.layouts import dialects
        >>> str(dialect_cause(dialects("kuhn")[:1])).startswith("it ")
        True
    """
    dialect = reduce(add, dialects)
    return Cause(f"it {dialect.description}", dialect)
