"""Bytes to messages and back, without ever waiting."""

from collections.abc import Sequence, Set
from typing import Protocol

from croupier.core.errors import Violation


class Codec[In, Out](Protocol):
    """One end of one wire. Each message's parse stands beside its render, and the round trip is a law.

    `feed` answers all that the bytes so far complete. After a violation that is `lost` it answers nothing any more.
    What it has to keep between two calls is bounded. `departures` names the clauses whose tolerance the peer has
    needed.
    """

    @property
    def departures(self) -> Set[str]: ...  # noqa: D102 -- told above

    def feed(self, data: bytes) -> Sequence[In | Violation]: ...  # noqa: D102 -- told above

    def encode(self, message: Out) -> bytes: ...  # noqa: D102 -- told above
