"""What comes of a case of Old Maid: it is broken, a choice, or was never seen; and who has said what to whom."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from croupier.conformance.case import Case
from croupier.conformance.clauses import find_clause as read
from croupier.conformance.conversation import DialogueLine
from croupier.conformance.oldmaid.dialect import likely_cause
from croupier.conformance.oldmaid.excerpt import excerpt
from croupier.conformance.oldmaid.near_json import TEXT_DIALECTS, is_json
from croupier.conformance.results import Failure, Outcome, Result
from croupier.core.session import Peer

DOCUMENT_SOURCE_PATTERN: Final = re.compile(r"§\d|\b[A-OQ-Z]\d")
"""A source of a clause other than a ruling of the project (P)."""


class DialogueMessage(Struct, frozen=True):
    """A message of a dialogue: who says what to whom. The table is called so, and players by their nicks."""

    sender: str
    receiver: str
    text: str

    def __str__(self) -> str:
        return f"{self.sender} → {self.receiver}: {self.text}"


class Failed(Exception):
    """The program under test has broken a clause. `got` are the bytes that show it, `wanted` those that had to come.

    `cause` is what has likely led to it, in a sentence that begins with "it"; empty where nobody knows.
    """

    def __init__(
        self,
        clause: str,
        actual: str,
        expected: str,
        *,
        got: bytes = b"",
        wanted: bytes | None = None,
        cause: str = "",
    ) -> None:
        super().__init__(f"{clause}: found {actual}; allowed: {expected}")
        self.clause = clause
        self.actual = actual
        self.expected = expected
        self.got = got
        self.wanted = wanted
        self.cause = cause

    @property
    def failure(self) -> Failure:
        """It as a report has it."""
        return Failure(
            self.clause,
            self.expected,
            self.actual,
            self.wanted,
            self.got.strip(),
            self.cause or likely_framing_cause(self.got),
        )


class NoAnswer(Failed):
    """It was asked, and has said nothing."""


class ImplementationChoice(Exception):
    """The document is silent here: what the program does instead, or which of two ways it goes, in a sentence."""


class NonStrict(Exception):
    """The program departs from the protocol in a way that is tolerated, in a sentence."""


class NotReached(Exception):
    """What the case is about has not come up, and why, in a sentence."""


class Unimplemented(Exception):
    """What the protocol has is refused here, in a sentence."""


def is_ruling_only(clause: str) -> bool:
    """Whether nothing but rulings of the project stand behind a clause."""
    return not DOCUMENT_SOURCE_PATTERN.search(read(clause).source)


def case_result(
    case: Case,
    error: BaseException | None,
    dialogue: Sequence[DialogueLine],
    seconds: float,
    *,
    strict: bool,
    failure_is_choice: bool = False,
) -> Result:
    """The result of a case that has ended so. With `free` what it fails in is a choice: see `silent`."""
    outcome, told, failure = Outcome.PASS, "", None
    match error:
        case Failed() if failure_is_choice or is_ruling_only(error.clause):
            outcome, told = Outcome.CHOICE, f"ours has {error.expected}; this one: {error.actual} ({error.clause})"
        case Failed():
            outcome, failure = Outcome.FAIL, error.failure
        case ImplementationChoice():
            outcome, told = Outcome.CHOICE, str(error)
        case NonStrict() if strict:
            outcome, failure = (
                Outcome.FAIL,
                Failure(case.clause, "what the protocol has, for this is strict", str(error)),
            )
        case NonStrict():
            outcome, told = Outcome.NON_STRICT, str(error)
        case Unimplemented():
            outcome, told = Outcome.UNIMPLEMENTED, str(error)
        case NotReached():
            outcome, told = Outcome.SKIP, str(error)
        case _:
            dialogue = ()
    return Result(case.id, case.title, case.clause, outcome, told, failure, excerpt(dialogue), seconds)


def dialogue_line(side: Peer, sender: str, receiver: str, data: bytes, at: float) -> DialogueLine:
    """A line of a dialogue, without the white space around the message: without bytes somebody hangs up."""
    said = data.strip()
    return DialogueLine(side, said, DialogueMessage(sender, receiver, display_text(said) if data else "(hangs up)"), at)


def display_text(data: bytes) -> str:
    """What was said, for people."""
    shown = data.strip().decode(errors="backslashreplace")
    return shown if len(shown) <= 400 else f"{shown[:400]}… ({len(data):,} bytes)"


def likely_framing_cause(got: bytes) -> str:
    """What has likely led to bytes that are no message, in a sentence with "it"; empty where nobody knows."""
    said = got.decode(errors="replace").strip()
    spelt = likely_cause(got, TEXT_DIALECTS, lambda meant: meant.lstrip().startswith(b"{") and is_json(meant.decode()))
    ended = not is_json(said) and any(said.startswith("{") and is_json(said + more) for more in ("}", "]}", '"}', "}}"))
    return spelt or ("it does not end the message: a bracket or a quote is missing" if ended else "")
