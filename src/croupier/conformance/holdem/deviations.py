"""Deviations from clauses, and how serious each one is: failure, choice or optional feature."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from croupier.conformance.clauses import find_clause
from croupier.conformance.deviations import Deviation
from croupier.conformance.results import Outcome
from croupier.http.wire import ReceivedResponse, SentRequest

DIALECT_CLAUSE_PREFIX: Final = "holdem-7."
"""The clauses of dialect hspe-go: not in the document, but required of servers tested with that dialect."""

ADDITION_CLAUSE_PREFIX: Final = "holdem-9."
"""The clauses of croupier's additions, which no server needs."""

OUTCOMES_WORST_FIRST: Final = (Outcome.FAIL, Outcome.UNIMPLEMENTED, Outcome.NON_STRICT, Outcome.CHOICE)
"""Outcomes of deviations, the most serious first."""


class HttpDeviation(Deviation, frozen=True, kw_only=True):
    """A deviation that requests and responses show.

    `about` is the key of an object that is wrong, where one clause is about several; empty for all else.
    `line_count` is the length of the dialogue when it was found. `wanted_status` is the expected status if the status
    is what deviates, and `exchange` the last request with its response; None if there is none.
    """

    about: str = ""
    line_count: int = 0
    wanted_status: int | None = None
    exchange: tuple[SentRequest, ReceivedResponse] | None = None


class CaseAborted(Exception):
    """The conversation cannot go on; the deviations recorded so far are all."""


class OtherSettings(Exception):
    """The case is about other settings of a table than those of the server; the text says which."""


def default_outcome(name: str) -> Outcome:
    """Return the outcome of a deviation: FAIL if the document or a ruling on it fixes the clause, CHOICE otherwise.

    NON_STRICT if the clause is tolerated.
    """
    if name.startswith(DIALECT_CLAUSE_PREFIX):
        return Outcome.FAIL
    clause = find_clause(name)
    if clause.is_tolerated:
        return Outcome.NON_STRICT
    return Outcome.CHOICE if name.startswith(ADDITION_CLAUSE_PREFIX) or clause.is_open else Outcome.FAIL


def deviation(clause: str, expected: str, actual: str, outcome: Outcome | None = None, **more: Any) -> HttpDeviation:
    """Return a deviation with `more` fields; without an outcome the clause decides it."""
    return HttpDeviation(clause, expected, actual, outcome=outcome or default_outcome(clause), **more)


def worst_deviation(deviations: Sequence[HttpDeviation], *, preferred: Collection[str]) -> HttpDeviation | None:
    """Return the most serious deviation, preferring the clauses in `preferred`; None if there is none."""
    return min(
        deviations,
        key=lambda each: (OUTCOMES_WORST_FIRST.index(each.outcome), each.clause not in preferred),
        default=None,
    )
