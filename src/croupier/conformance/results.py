"""What the tester has found: a result for every case, and the report that holds them."""

from enum import StrEnum

from msgspec import Struct

from croupier.conformance.conversation import DialogueLine


class Outcome(StrEnum):
    """What came of a case."""

    PASS = "PASS"  # noqa: S105 -- no secret
    FAIL = "FAIL"
    NON_STRICT = "NON-STRICT"
    """A departure that the protocol tolerates; with --strict it is a FAIL."""
    CHOICE = "CHOICE"
    """The document is silent; what the program has chosen is told."""
    UNIMPLEMENTED = "UNIMPLEMENTED"
    """What the protocol has is refused wherever it is asked for, or what it allows to be added is not there."""
    SKIP = "SKIP"
    """It could not be shown: luck or the program never brought it up."""

    @property
    def is_good(self) -> bool:
        """Whether the run is green with it."""
        return self not in {Outcome.FAIL, Outcome.UNIMPLEMENTED}


class Failure(Struct, frozen=True):
    """What was wrong: `clause` says what is right, `expected` and `actual` are text for people.

    `wanted` are the bytes that the document fixes at this place, None where it leaves a choice, and `got` those that
    came. `cause` is what has likely led to it, in a sentence, empty where nobody knows; failures with the same cause
    have one reason.
    """

    clause: str
    expected: str
    actual: str
    wanted: bytes | None = None
    got: bytes = b""
    cause: str = ""


class Result(Struct, frozen=True):
    """What came of a case. `case` is its id (`kuhn/4.3/check-bet-fold-p1`), `clause` its own (`kuhn-4.3`).

    `told` is a sentence behind NON-STRICT, CHOICE and SKIP. `dialogue` is the shortest that shows the failure (or what
    was said last), the fault in its last line; `seconds` is how long it took. An `addition` is what no program has to
    have.
    """

    case: str
    title: str
    clause: str
    outcome: Outcome
    note: str = ""
    failure: Failure | None = None
    dialogue: tuple[DialogueLine, ...] = ()
    seconds: float = 0.0
    is_optional: bool = False

    @property
    def is_good(self) -> bool:
        """Whether the run is green with it: an addition may be missing."""
        return self.outcome.is_good or (self.is_optional and self.outcome is Outcome.UNIMPLEMENTED)


class Report(Struct, frozen=True):
    """A run. `role` is what was tested (server, client), `target` its address or command, `version` croupier's.

    `repeat` is the command without what it selects: `croupier check {case} 127.0.0.1:1212 --seed 7`. `dialect` says in
    a sentence how the program departs from the protocol all along, empty if it does not; `stderr` is what the program
    under test has said there last. `begun` is in seconds since 1970.
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
    stderr: str = ""

    def count(self, outcome: Outcome) -> int:
        """How many cases came to this."""
        return sum(result.outcome is outcome for result in self.results)

    @property
    def exit_status(self) -> int:
        """The exit status: 0 all is well, 1 something failed, 2 nothing could be tested."""
        if all(result.outcome is Outcome.SKIP for result in self.results):
            return 2
        return 0 if all(result.is_good for result in self.results) else 1
