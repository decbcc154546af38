"""Outcomes of Old Maid cases as exceptions, their results, and dialogue lines."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from croupier.conformance.case import Case
from croupier.conformance.clauses import find_clause
from croupier.conformance.conversation import DialogueLine
from croupier.conformance.deviations import Deviation, Ended, NotReached, make_attempt
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.diagnosis.message_dialect import likely_dialect
from croupier.conformance.oldmaid.near_json import TEXT_DIALECTS, is_json
from croupier.conformance.results import Failure, Outcome
from croupier.conformance.suite import Attempt
from croupier.core.errors import FoundKind
from croupier.core.session import Peer


class DialogueMessage(Struct, frozen=True):
    """A message of a dialogue. The table is called "table", players by their nicks."""

    sender: str
    receiver: str
    text: str

    def __str__(self) -> str:
        return f"{self.sender} → {self.receiver}: {self.text}"


class Failed(Ended):
    """The program under test has violated a clause: `failure` says how. `more` are further fields of it.

    The clause and the case decide how serious it is, unless it `is_certain`: nothing leaves that open.
    """

    outcome = Outcome.FAIL
    is_certain = False

    def __init__(self, clause: str, actual: str, expected: str, **more: Any) -> None:
        super().__init__(f"{clause}: found {actual}; allowed: {expected}")
        self.failure = Deviation(clause, expected, actual, outcome=self.outcome, **more)

    def amend(self, **changes: Any) -> None:
        """Change fields of the failure."""
        self.failure = replace(self.failure, **changes)


class HungUp(Failed):
    """The program has closed a connection on which it could read every request, or that is new."""

    is_certain = True


class NeverConnected(NotReached):
    """The program has not connected in time, or before it has ended."""


class GrantedRequestChanges(Failed):
    """The program has granted a request that it may refuse, and changed what the protocol fixes."""

    is_certain = True


class ImplementationChoice(Ended):
    """The document leaves this open; the text says what the program does."""

    outcome = Outcome.CHOICE


class NonStrict(Ended):
    """The program needs a tolerance of the protocol; the text says which, and `clause`, if it is not the case's own."""

    outcome = Outcome.NON_STRICT

    def __init__(self, text: str, clause: str = "") -> None:
        super().__init__(text)
        self.clause = clause


class Unimplemented(Ended):
    """The program refuses something that the protocol defines; the text says what."""

    outcome = Outcome.UNIMPLEMENTED


KEEPS_PAIRS: Final = "it keeps its pairs until all cards are drawn (oldmaid-5.13)"
"""What a player does that follows another sentence of the document than ours."""

READS_LATE: Final = "it reads what its left neighbour sends only while it waits for an answer (oldmaid-7.7)"
"""What a player does that refuses a pick later than ours."""


def may_come_from_reads(failure: Failure) -> bool:
    """Whether a program may have failed because it takes one read for one message: it has sent nothing, or an error."""
    return failure.kind is not FoundKind.MESSAGE or b"error" in failure.got


def attempt_that_ended(case: Case, error: Ended | None, dialogue: Sequence[DialogueLine], *, strict: bool) -> Attempt:
    """Return the attempt of a case that ended with `error`, or passed without one."""
    match error:
        case None:
            return Attempt(Outcome.PASS, dialogue=dialogue)
        case Failed(failure=failure):
            note = f"croupier's own program: {failure.expected}; this program: {failure.actual} ({failure.clause})"
            if not error.is_certain and (case.failure_is_choice or find_clause(failure.clause).is_open):
                return make_attempt(replace(failure, outcome=Outcome.CHOICE), dialogue, note, strict=strict)
            cause = failure.cause or likely_framing_cause(failure.got)
            return make_attempt(replace(failure, got=failure.got.strip(), cause=cause), dialogue, strict=strict)
        case NonStrict():
            allowed = "what the protocol has, for this is strict"
            found = Deviation(error.clause or case.clause, allowed, str(error), outcome=error.outcome)
            return make_attempt(found, dialogue, str(error), strict=strict)
        case Ended():
            return Attempt(error.outcome, str(error), dialogue=dialogue)


def dialogue_line(side: Peer, sender: str, receiver: str, data: bytes, at: float) -> DialogueLine:
    """Return a dialogue line without surrounding white space; empty `data` means a disconnect."""
    stripped = data.strip()
    return DialogueLine(
        side, stripped, DialogueMessage(sender, receiver, display_text(stripped) if data else "(disconnects)"), at
    )


def display_text(data: bytes) -> str:
    """Render received bytes for people."""
    text = data.strip().decode(errors="backslashreplace")
    return text if len(text) <= 400 else f"{text[:400]}… ({len(data):,} bytes)"


def unfinished_message(data: bytes, expected: str) -> Failed | None:
    """Return the failure if `data` is the beginning of a message that has not ended, None if it is none."""
    if not data.strip():
        return None
    return Failed("oldmaid-1.3", f"{display_text(data)}, which does not end", expected, got=data)


def likely_framing_cause(got: bytes) -> Cause | None:
    """Return the likely cause of bytes that are not a message, None if none is known."""
    text = got.decode(errors="replace").strip()
    dialect_cause = likely_dialect(
        got, None, TEXT_DIALECTS, lambda meant: meant.lstrip().startswith(b"{") and is_json(meant.decode())
    )
    is_cut_off = not is_json(text) and any(
        text.startswith("{") and is_json(text + more) for more in ("}", "]}", '"}', "}}")
    )
    return dialect_cause or (
        Cause("it does not end the message: a bracket or a quote is missing") if is_cut_off else None
    )
