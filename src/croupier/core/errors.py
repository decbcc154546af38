"""The three errors, and whose fault they are: the move's, the peer's, and (with `assert`) ours."""

from collections.abc import Collection
from typing import final

from croupier.core.text import printable


class IllegalMove(ValueError):
    """A move, or a message of our own, that the rules do not allow here. Nothing has changed."""

    def __init__(self, found: object, allowed: Collection[object]) -> None:
        listed = ", ".join(map(str, allowed)) or "nothing"
        super().__init__(f"{found} is not allowed here; allowed: {listed}")
        self.found = found
        self.allowed = tuple(allowed)


@final
class Violation(Exception):
    """A peer broke a clause of its protocol.

    `clause` is the clause's id (`kuhn-2.7`); `found` and `allowed` are text for people. `lost` says that
    the stream cannot be followed any further, because nothing tells where its next message begins.
    """

    def __init__(self, clause: str, found: str, allowed: str, *, fatal: bool = False) -> None:
        super().__init__(printable(f"{clause}: found {found}; allowed: {allowed}"))
        self.clause = clause
        self.found = found
        self.allowed = allowed
        self.fatal = fatal

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Violation) and (self.args, self.fatal) == (other.args, other.fatal)

    def __hash__(self) -> int:
        return hash((self.args, self.fatal))
