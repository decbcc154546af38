"""Cases that run at the same time at one server, and may disturb each other."""

from collections.abc import Collection, Sequence
from typing import Final

from croupier.conformance.case import Case
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.results import Failure
from croupier.core.errors import FoundKind

DOUBTFUL_KINDS: Final = frozenset({FoundKind.SILENCE, FoundKind.CLOSED})

CROWD_CAUSE: Final = Cause("it mixes up games that are played at the same time: one game alone is right")


class Crowd:
    """Knows which cases ran at the same time as others: what fails there has to be seen alone, too.

    A right server may be too busy for several clients, or have no room for them, so that it is silent or closes a
    connection. A wrong message is a fault at any time. `clause` is what a server breaks that ends when it has several
    clients; if it is empty, every failure is believed (`Bench.crowd_clause`). `is_disturbing`: a case has failed among
    others and has passed alone.
    """

    def __init__(self, clause: str) -> None:
        self.clause = clause
        self.is_disturbing = False
        self._crowded: set[str] = set()
        self._alone: set[str] = set()
        self._clauses_broken_alone: set[str] = set()

    def start(self, due: Sequence[Case], running: Collection[Case]) -> None:
        """Record that cases start; they and others are `running` now. Those that run beside others do not count."""
        occupants = {case.id for case in running if not case.beside}
        self._crowded -= {case.id for case in due}
        if len(occupants) > 1:
            self._crowded |= occupants

    def runs_alone(self, case: Case) -> bool:
        """Whether no other case may run at the same time."""
        return case.runs_alone or case.id in self._alone

    def is_doubtful(self, case: Case, failure: Failure) -> bool:
        """Whether to see a failure of a running case alone before it is believed, as `has_to_run_again` says then."""
        if not self.clause or not self.was_crowded(case):
            self._clauses_broken_alone.add(failure.clause)
        elif failure.kind in DOUBTFUL_KINDS and failure.clause not in self._clauses_broken_alone:
            self._alone.add(case.id)
            return True
        return False

    def was_crowded(self, case: Case) -> bool:
        """Whether a case ran at the same time as others."""
        return case.id in self._crowded

    def has_to_run_again(self, case: Case) -> bool:
        """Whether a case that has run must run again, alone."""
        return case.id in self._crowded & self._alone

    def finish(self, case_id: str, failure: Failure | None) -> None:
        """Record what has come of a case at last."""
        if case_id in self._alone and failure is None:
            self.is_disturbing = True
