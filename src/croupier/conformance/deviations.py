"""How a case ends if it does not pass: deviations from clauses, and situations that were not reached."""

from collections.abc import Sequence
from typing import ClassVar

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.results import Failure, Outcome
from croupier.conformance.suite import Attempt


class Ended(Exception):
    """A case has ended and not passed; the text says why."""

    outcome: ClassVar[Outcome]


class NotReached(Ended):
    """The case did not reach the situation it is about; the text says why."""

    outcome = Outcome.SKIP


class Deviation(Failure, frozen=True, kw_only=True):
    """A deviation from a clause, and how serious it is."""

    outcome: Outcome


def make_attempt(found: Deviation, dialogue: Sequence[DialogueLine], note: str = "", *, strict: bool) -> Attempt:
    """Return the attempt that ended with a deviation; a strict one fails by what is only tolerated.

    The `note` reports a deviation that is no failure.
    """
    outcome = Outcome.FAIL if found.outcome is Outcome.NON_STRICT and strict else found.outcome
    if outcome is Outcome.FAIL:
        return Attempt(outcome, failure=found, dialogue=dialogue)
    note = note or f"expected {found.expected}; found {found.actual}"
    return Attempt(outcome, note, dialogue=dialogue, is_optional=outcome is Outcome.CHOICE)
