"""The seam between the runner and the rooms: a suite of cases for each room and role, and the bench that tries them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from ssl import SSLContext
from typing import Any, Final, Literal, NamedTuple, cast

from msgspec.structs import replace

from croupier.conformance.case import Case
from croupier.conformance.clauses import clauses
from croupier.conformance.conversation import DialogueLine
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.program import error_suffix
from croupier.conformance.results import Failure, Outcome
from croupier.conformance.server_process import ServerProcess
from croupier.core.errors import FoundKind
from croupier.core.referee import HOUSE
from croupier.core.room import Room
from croupier.core.session import Address, Peer

type Role = Literal["server", "client"]

ROLES: Final[Sequence[Role]] = ("server", "client")

START_TIMEOUT_FACTOR: Final = 2.0
"""How long a client may take to start and to connect, as a multiple of the answer timeout."""

MAX_ABSENCES: Final = 3
"""After this many tries in a row in which a client has not connected, or left in silence, the rest is skipped."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """What a bench is set up with.

    `command` starts the client under test. `known_options` are the options of a client, or the settings of the house
    that a client is tested with, None for nothing known. An answer may take `timeout` seconds. What the program sends
    is read in `dialect`, if one is given. `deals_deck`: the server deals the deck of the case. `learned` is what an
    earlier bench of this run has learned about the server. A server is reached with TLS if there is `ssl`. `server` is
    its process if the tester has started it; it `was_silent` if it has not answered at the first look, and a `greeting`
    is what it sent then before anything was sent to it.
    """

    command: str = ""
    known_options: Any = None
    strict: bool = False
    seed: int = 1
    timeout: float = 5.0
    dialect: Any = None
    deals_deck: bool = False
    learned: Any = None
    ssl: SSLContext | None = None
    server: ServerProcess | None = None
    was_silent: bool = False
    greeting: bytes = b""

    def known_dialect(self, default: str = "document") -> str:
        """Return the dialect of the room that the program is known to speak."""
        return str(getattr(self.known_options, "dialect", default))


class Attempt(NamedTuple):
    """One try of a case, or what several of them have shown.

    `dialogue` is what was on the wire, in order. `steps` lead to the failure and can be replayed, empty if they cannot.
    `refused` is the kind of the allowed message that a server has refused last, empty if it has not; with SKIP, the
    same one in every try is a finding. A SKIP that `is_final` would be the same in every try. A case that does not
    `apply` is about a dialect that the program does not speak, a deck that it is not given, or settings that it does
    not have. `stderr` is what a client under test has written. `was_reset`: something is missing, but the server has
    reset the connection, which may have discarded it; only a reset in every try shows anything. `try_count` is the
    number of tries with SKIP.
    """

    outcome: Outcome
    note: str = ""
    failure: Failure | None = None
    dialogue: Sequence[DialogueLine] = ()
    steps: Sequence[Any] = ()
    refused: str = ""
    is_optional: bool = False
    is_final: bool = False
    applies: bool = True
    stderr: bytes = b""
    was_reset: bool = False
    try_count: int = 1

    @property
    def is_silence(self) -> bool:
        """Whether it failed because nothing came in time: only a second look with more patience can confirm that."""
        return self.failure is not None and self.failure.kind is FoundKind.SILENCE

    @property
    def is_close(self) -> bool:
        """Whether it failed because the connection was closed."""
        return self.failure is not None and self.failure.kind is FoundKind.CLOSED

    def blamed(self, clause: str, cause: Cause | None) -> "Attempt":
        """Return the same failure on the clause, and with the cause, that experiments have found."""
        assert self.failure is not None, "only failures are blamed on something"
        return self._replace(failure=replace(self.failure, clause=clause, cause=cause))

    def explained_if_silent(self, cause: Cause, *, has_answered: bool) -> "Attempt":
        """Return the same failure with the cause of a program that has never sent anything, if that is what it shows.

        It `has_answered` if anything has come from it in any try.
        """
        if self.failure is None or self.failure.cause is not None or not self.is_silence or has_answered:
            return self
        return self.blamed(self.failure.clause, cause)

    def shows(self, other: "Attempt") -> bool:
        """Whether it shows the same failure as another attempt."""
        if self.failure is None or other.failure is None:
            return False
        return (self.outcome, self.failure.clause) == (other.outcome, other.failure.clause)


def inapplicable(reason: str) -> Attempt:
    """The attempt of a case that does not apply to the program."""
    return Attempt(Outcome.SKIP, reason, is_final=True, applies=False)


class Absences:
    """The tries in a row in which a client under test has not connected, or has left in silence.

    Tries at the same time count as one: what delays one of them delays all.
    """

    def __init__(self) -> None:
        self._notes: list[str] = []

    @property
    def count(self) -> int:
        """The number of tries in a row."""
        return len(self._notes)

    @property
    def skip(self) -> Attempt | None:
        """The attempt of all further cases, None if they are to be tried."""
        return Attempt(Outcome.SKIP, self._notes[-1]) if self.count >= MAX_ABSENCES else None

    def record(self, absence: str, count_before: int) -> None:
        """Record a try: why the client was absent, "" if it was not, and the `count` when the try began."""
        if not absence:
            self._notes.clear()
        elif self.count == count_before:
            self._notes.append(absence)


def absence_note(end: str, stderr: bytes) -> str:
    """Return why a case is skipped in which a client has not connected; `end` is "" if it still ran."""
    return f"the program {f'ended ({end})' if end else 'ran'} and never connected{error_suffix(stderr)}"


class TargetGone(ConnectionError):
    """The server under test accepts no connections any more.

    `dialogue` is what it has ended before, if known, and `clause` is what it has broken by that, empty if that of the
    case.
    """

    def __init__(self, reason: str, dialogue: Sequence[DialogueLine] = (), clause: str = "") -> None:
        super().__init__(reason)
        self.dialogue = dialogue
        self.clause = clause


class Bench:
    """One program under test. The base class of the benches of all rooms and roles.

    A bench neither retries nor confirms nor shrinks: the runner does.
    """

    program_side: Peer = HOUSE
    """The end of a conversation that is under test."""

    replay_tries = 1
    """How often the same steps are replayed until they show the failure: more than once if it depends on luck."""

    dialect = "document"
    """The dialect of the room that the program speaks, as far as known."""

    crowd_clause = ""
    """What a server breaks that ends only while it has several clients.

    It is empty for clients, each of which is a process, and for tables, which have to play many games at a time.
    """

    @property
    def lanes(self) -> int:
        """How many cases may be tried at the same time now."""
        return 1

    @property
    def learned(self) -> Any:
        """What has been learned about a server that other benches of the run need not find out, None if nothing."""
        return None

    @property
    def can_run_beside(self) -> bool:
        """Whether cases that spend their time waiting may be tried beside the others now."""
        return True

    async def open(self, address: Address) -> None:
        """Connect to a server for the first time, or to the one that was started in its place.

        Raises ConnectionError if nothing listens at the address. Without effect for clients, which are started by each
        attempt.
        """

    @property
    def may_have_ended_server(self) -> bool:
        """Whether a server that has ended may have done so at what the tester has sent between cases.

        The case is tried again then, once, after the next `open`.
        """
        return False

    async def attempt(self, case: Any, number: int, *, is_patient: bool = False) -> Attempt:
        """Try a case. `number` counts its tries and selects their luck.

        `is_patient`: wait for the whole timeout, even if the program was silent before. Raises TargetGone if the server
        accepts no connections any more, and ProgramError or ValueError if a client cannot be started.
        """
        raise NotImplementedError

    async def confirm(self, case: Any, attempt: Attempt, number: int) -> Attempt:  # noqa: ARG002 -- for those that need no more than one attempt
        """Look at a failure once more before it is reported; return what is to be reported."""
        return attempt

    async def explain(self, case: Any, attempt: Attempt) -> Attempt:  # noqa: ARG002 -- for those that make no experiments
        """Find out by experiments why the shortest dialogue fails; return what is to be reported."""
        return attempt

    async def find_leaving_cause(self) -> Cause | None:
        """Find out by experiment whether the server ends whenever a client leaves; return that cause.

        The server has ended before. Only of a server that the tester has started.
        """
        return None

    async def replay(self, case: Any, steps: Sequence[Any]) -> Attempt:
        """Perform only these steps of an attempt."""
        raise NotImplementedError

    def short_starts(self, attempt: Attempt) -> Iterable[Sequence[Any]]:  # noqa: ARG002 -- for those without any
        """Return short steps that may show the same failure, the likeliest first."""
        return ()

    async def first_cards(self) -> Sequence[str]:
        """Have games dealt by a server that has just started, always with the same moves.

        Return the first cards in the order in which they were seen; none if the room's cards are not counted. Raises
        TargetGone if the server accepts no connections any more.
        """
        return ()

    async def close(self) -> None:
        """Release everything."""


FAIR_DEAL_SLUG: Final = "fair-deal"
"""The slug of the case of each room that judges all cards of a run."""


@dataclass(frozen=True)
class Suite:
    """The cases of a room for a role: all that the runner knows of them. A room names it in its extras.

    `timeout` is the default answer timeout in seconds. `make_cases` returns every case, in the order of the clauses;
    `reasons` say of clauses why they need none. `bench` returns a bench for a program. `test_data` is what the cases of
    a house game are generated from. `placeholders` are the names that are filled in where they stand in braces in the
    command of a client.
    """

    timeout: float
    make_cases: Callable[[], Sequence[Case]]
    reasons: Mapping[str, str]
    bench: Callable[[Config], Bench]
    test_data: Any = None
    placeholders: Sequence[str] = ("host", "port")
    spoken_dialects: Sequence[Any] = ()

    @cached_property
    def cases(self) -> Sequence[Case]:
        """Every case, in the order of the clauses. The ids are unique."""
        return tuple(self.make_cases())

    @cached_property
    def untestable(self) -> Mapping[str, str]:
        """The clauses that no case tests, each with the reason, in the order of the page."""
        untested = self.reasons.keys() - {case.clause for case in self.cases}
        return {clause: self.reasons[clause] for clause in clauses(self.cases[0].room) if clause in untested}


def find_suite(room: Room, role: Role) -> Suite:
    """Return the suite of a room for a role."""
    return cast(Suite, room.load_extra("server_tests" if role == "server" else "client_tests"))
