"""The errors of the core: illegal moves of our own side, violations by a peer, and addresses without a server.

A failed `assert` marks a bug of croupier.
"""

from collections.abc import Collection
from enum import Enum, auto
from typing import Any, final

from croupier.core.text import printable


class IllegalMove(ValueError):
    """A move or a message of our own that is not allowed in this state. The state has not changed.

    Example:
        >>> from croupier.kuhn import KUHN
        >>> try:
        ...     KUHN.play(KUHN.start(), "A")
        ... except IllegalMove as error:
        ...     print(error.found, error.allowed)
        A ('J', 'Q', 'K')
    """

    def __init__(self, found: object, allowed: Collection[object]) -> None:
        listed = ", ".join(map(str, allowed)) or "nothing"
        super().__init__(f"{found} is not allowed here; allowed: {listed}")
        self.found = found
        self.allowed = tuple(allowed)


class AddressError(ConnectionError):
    """No server of the wanted game answers at an address, which the text names."""


class FoundKind(Enum):
    """What a peer did in violation of a clause."""

    MESSAGE = auto()
    """It sent something."""
    SILENCE = auto()
    """It sent nothing, although it had to."""
    CLOSED = auto()
    """It closed the connection."""
    STILL_OPEN = auto()
    """It did not close the connection, although it had to."""


@final
class Violation(Exception):
    """A peer broke a clause of its protocol.

    `clause` is the id of the clause (`kuhn-2.7`); `found` and `allowed` are text for people. `fatal` means that the
    rest of the stream cannot be parsed, because the start of the next message is unknown. `kind` is the kind of what
    was found. `wanted` are the messages that are allowed instead, empty if there are too many to list. `limit` is the
    largest amount that is allowed, if what was found is more. `about` is what the violation is about, where one clause
    is about several: a key of an object, or the user whose client it was. `code` is that of a message that is invalid
    in its other fields.

    >>> print(Violation("kuhn-2.7", "ACTN FLD", "ACTN CHK, ACTN BET"))
    kuhn-2.7: found ACTN FLD; allowed: ACTN CHK, ACTN BET
    """

    def __init__(
        self,
        clause: str,
        found: str,
        allowed: str,
        *,
        fatal: bool = False,
        kind: FoundKind = FoundKind.MESSAGE,
        wanted: tuple[object, ...] = (),
        limit: int | None = None,
        about: str = "",
        code: str = "",
    ) -> None:
        super().__init__(printable(f"{clause}: found {found}; allowed: {allowed}"))
        self.clause = clause
        self.found = found
        self.allowed = allowed
        self.fatal = fatal
        self.kind = kind
        self.wanted = wanted
        self.limit = limit
        self.about = about
        self.code = code

    def replace(self, **changes: Any) -> "Violation":
        """Return a violation with other values of these fields."""
        return Violation(**{**vars(self), **changes})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Violation) and (self.args, self.fatal) == (other.args, other.fatal)

    def __hash__(self) -> int:
        return hash((self.args, self.fatal))
