"""Test results: an outcome for every case, and the report that holds them."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.diagnosis.cause import Cause
from croupier.core.errors import FoundKind

MAX_SKIPPED_SHARE: Final = 0.2
"""A run in which a larger share of the cases was skipped does not pass."""


class Outcome(StrEnum):
    """The outcome of a case."""

    PASS = "PASS"  # noqa: S105 -- not a password
    FAIL = "FAIL"
    NON_STRICT = "NON-STRICT"
    """A departure that the protocol tolerates. With --strict it is a FAIL."""
    CHOICE = "CHOICE"
    """The document is silent; the note says which behaviour the program has chosen."""
    UNIMPLEMENTED = "UNIMPLEMENTED"
    """The program refuses a part of the protocol wherever it is requested, or lacks an optional addition."""
    SKIP = "SKIP"
    """The situation under test never came up, by chance or because of the program."""

    @property
    def is_good(self) -> bool:
        """Whether the run still passes with this outcome."""
        return self not in {Outcome.FAIL, Outcome.UNIMPLEMENTED}


class Failure(Struct, frozen=True):
    """What was wrong. `clause` is the clause that was broken; `expected` and `actual` are text for people.

    `wanted` are the bytes that the document requires at this place, None where it leaves a choice, and `got` the bytes
    that were received. `kind` is the kind of what was found. Failures with the same `cause` have one reason; it is None
    if the cause is not known.
    """

    clause: str
    expected: str
    actual: str
    wanted: bytes | None = None
    got: bytes = b""
    cause: Cause | None = None
    kind: FoundKind = FoundKind.MESSAGE

    def explained(self, cause: Cause | None) -> "Failure":
        """Return the failure with its likely cause, and on the clause that the program breaks by it."""
        return self if cause is None else replace(self, cause=cause, clause=cause.clause or self.clause)


CLAUSE_FAILURES_ALONE: Final = 2
"""At most this many failures without a cause on each clause are run again alone, at a server that has just started."""


class Result(Struct, frozen=True):
    """The result of a case.

    `case` is its id (`kuhn/4.3/check-bet-fold-p1`), `clause` the clause under test (`kuhn-4.3`). `reason` explains the
    outcomes NON-STRICT, CHOICE and SKIP; with SKIP, `try_count` is the number of tries. `dialogue` is the shortest
    dialogue that shows the failure, with the fault in its last line, or the last messages of a case that passed.
    `seconds` is the duration. A case that `is_optional` tests an addition that no program has to implement. A case that
    does not `apply` is about a dialect that the program does not speak, a deck that it is not given, or settings that
    it does not have. A failed case that `passes_alone` does so at a server that has just started, or where no
    other case runs at the same time.
    """

    case: str
    title: str
    clause: str
    outcome: Outcome
    reason: str = ""
    failure: Failure | None = None
    dialogue: tuple[DialogueLine, ...] = ()
    seconds: float = 0.0
    is_optional: bool = False
    applies: bool = True
    try_count: int = 1
    passes_alone: bool = False

    @property
    def note(self) -> str:
        """The reason with the number of tries, if there were several."""
        return f"{self.reason} (in {self.try_count} tries)" if self.try_count > 1 else self.reason

    @property
    def is_good(self) -> bool:
        """Whether the run still passes with this result: an optional addition may be missing."""
        return self.outcome.is_good or (self.is_optional and self.outcome is Outcome.UNIMPLEMENTED)


class Report(Struct, frozen=True):
    """The results of a run. `role` is what was tested (server, client), `target` its address or command.

    `repeat_template` is the command that repeats a case: `croupier check {case} 127.0.0.1:1212 --seed 7`. `version` is
    the version of croupier. `dialect` is a sentence about a systematic departure from the protocol, empty if there
    is none. `spoken_dialect` is the dialect of the room in which all but that departure was tested, empty if it is
    the one that was given. `stderr` is the last output of the program under test on standard error.
    `stopped_reason` says why the run has ended before all cases were run, empty if it did not. `started_at` is in
    seconds since 1970.
    """

    room: str
    role: str
    target: str
    repeat_template: str
    version: str
    seed: int
    started_at: float
    seconds: float
    results: tuple[Result, ...]
    dialect: str = ""
    spoken_dialect: str = ""
    stderr: str = ""
    stopped_reason: str = ""

    def count(self, outcome: Outcome) -> int:
        """The number of cases with this outcome."""
        return sum(result.outcome is outcome for result in self.results)

    @property
    def applicable_results(self) -> Sequence[Result]:
        """The results of the cases that apply to the program."""
        return [result for result in self.results if result.applies]

    @property
    def exit_status(self) -> int:
        """The exit status: 0 if the run passes, 1 if a case fails, 2 if too little could be tested."""
        if not all(result.is_good for result in self.results):
            return 1
        return 2 if self.has_skipped_too_much or self.stopped_reason else 0

    @property
    def has_skipped_too_much(self) -> bool:
        """Whether the cases that were not skipped are too few to prove much; also without any case."""
        applicable = self.applicable_results
        skipped = sum(result.outcome is Outcome.SKIP for result in applicable)
        return skipped > MAX_SKIPPED_SHARE * len(applicable) or not applicable
