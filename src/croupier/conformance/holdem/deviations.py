"""Where a program departs from the page, and how much that matters: what the document fixes, what it leaves open."""

from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct

from croupier.conformance.clauses import find_clause
from croupier.conformance.results import Outcome

DIALECT_CLAUSE_PREFIX: Final = "holdem-7."
"""The clauses of dialect hspe-go: who asks for it wants them kept, although no document has them."""

RULED_CLAUSES: Final = frozenset(
    f"holdem-{section}.{number}"
    for section, numbers in (
        (1, (3, 4, 6, 7)),
        (2, (3, 4)),
        (3, (2, 4)),
        (4, (3,)),
        (5, (12, 16, 18)),
        (8, (2, 6)),
    )
    for number in numbers
)
"""Clauses whose sections of the document tell where they belong, and not what they say: that is ruled."""

OUTCOMES_WORST_FIRST: Final = (Outcome.FAIL, Outcome.UNIMPLEMENTED, Outcome.NON_STRICT, Outcome.CHOICE)
"""What comes of departures, the gravest first."""


class Deviation(Struct, frozen=True):
    """A clause that was not kept: what it demands and what was found, as text for people.

    `wanted` are the bytes that should have come, where there is just one way to say it, and `got` those that came.
    `lines` is how long the dialogue was when it showed.
    """

    clause: str
    outcome: Outcome
    expected: str
    actual: str
    wanted: bytes | None = None
    got: bytes = b""
    line_count: int = 0


class CaseAborted(Exception):
    """A conversation cannot go on: what has been found is all that there is to find."""


class NotReached(Exception):
    """A case could not be shown; the text says why."""


def default_outcome(name: str) -> Outcome:
    """What comes of a departure from a clause: it fails where the document fixes it, and is a choice elsewhere."""
    if name.startswith(DIALECT_CLAUSE_PREFIX):
        return Outcome.FAIL
    return Outcome.FAIL if find_clause(name).sections and name not in RULED_CLAUSES else Outcome.CHOICE


def worst_deviation(deviations: Sequence[Deviation], *, preferred: Collection[str]) -> Deviation | None:
    """The gravest departure, of equal ones from clauses of one's `own` the first; None where there is none."""
    return min(
        deviations, key=lambda one: (OUTCOMES_WORST_FIRST.index(one.outcome), one.clause not in preferred), default=None
    )
