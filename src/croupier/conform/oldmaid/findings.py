"""What comes of a case of Old Maid: it is broken, a choice, or was never seen; and who has said what to whom."""

import re
from ast import literal_eval
from collections.abc import Sequence
from typing import Any, Final

from msgspec import DecodeError, Struct
from msgspec.json import decode

from croupier.conform.case import Case
from croupier.conform.clauses import clause as read
from croupier.conform.conversation import Line
from croupier.conform.results import Failure, Outcome, Result
from croupier.core.talk import Peer

SHOWN: Final = 6
"""So many messages of a dialogue are shown."""

RULING: Final = re.compile(r"§\d|\b[A-OQ-Z]\d")
"""A source of a clause other than a ruling of the project (P)."""

BRACES: Final = {"“": '"', "”": '"', "„": '"'}
"""Quotes as they are printed."""


class Words(Struct, frozen=True):
    """A message of a dialogue: who says what to whom. The table is called so, and players by their nicks."""

    sender: str
    receiver: str
    text: str

    def __str__(self) -> str:
        return f"{self.sender} → {self.receiver}: {self.text}"


class Broken(Exception):
    """The program under test has broken a clause. `got` are the bytes that show it, `wanted` those that had to come.

    `silent`: only a ruling of the project decides it, so it is a choice.
    """

    def __init__(
        self, clause: str, actual: str, expected: str, *, got: bytes = b"", wanted: bytes | None = None
    ) -> None:
        super().__init__(f"{clause}: found {actual}; allowed: {expected}")
        self.clause = clause
        self.actual = actual
        self.expected = expected
        self.got = got
        self.wanted = wanted

    @property
    def failure(self) -> Failure:
        """It as a report has it."""
        return Failure(self.clause, self.expected, self.actual, self.wanted, self.got, likely(self.got))


class Chosen(Exception):
    """The document is silent here: what the program does instead, or which of two ways it goes, in a sentence."""


class Tolerated(Exception):
    """The program departs from the protocol in a way that is tolerated, in a sentence."""


class Unseen(Exception):
    """What the case is about has not come up, and why, in a sentence."""


class Refused(Exception):
    """What the protocol has is refused here, in a sentence."""


def silent(clause: str) -> bool:
    """Whether nothing but rulings of the project stand behind a clause."""
    return not RULING.search(read(clause).source)


def result(
    case: Case,
    error: BaseException | None,
    dialogue: Sequence[Line],
    seconds: float,
    *,
    strict: bool,
    free: bool = False,
) -> Result:
    """The result of a case that has ended so. With `free` what it fails in is a choice: see `silent`."""
    outcome, told, failure = Outcome.PASS, "", None
    match error:
        case Broken() if free or silent(error.clause):
            outcome, told = Outcome.CHOICE, f"ours has {error.expected}; this one: {error.actual} ({error.clause})"
        case Broken():
            outcome, failure = Outcome.FAIL, error.failure
        case Chosen():
            outcome, told = Outcome.CHOICE, str(error)
        case Tolerated() if strict:
            outcome, failure = (
                Outcome.FAIL,
                Failure(case.clause, "what the protocol has, for this is strict", str(error)),
            )
        case Tolerated():
            outcome, told = Outcome.NON_STRICT, str(error)
        case Refused():
            outcome, told = Outcome.UNIMPLEMENTED, str(error)
        case Unseen():
            outcome, told = Outcome.SKIP, str(error)
        case _:
            dialogue = ()
    return Result(case.id, case.title, case.clause, outcome, told, failure, tuple(dialogue[-SHOWN:]), seconds)


def line(side: Peer, sender: str, receiver: str, data: bytes, at: float) -> Line:
    """A line of a dialogue."""
    return Line(side, data, Words(sender, receiver, text(data)), at)


def text(data: bytes) -> str:
    """What was said, for people."""
    shown = data.strip().decode(errors="backslashreplace")
    return shown if len(shown) <= 400 else f"{shown[:400]}… ({len(data):,} bytes)"


def likely(got: bytes) -> str:
    """What has likely led to bytes that are no message, in a sentence; empty where nobody knows."""
    said = got.decode(errors="replace").strip()
    if not said or _json(said) is not None:
        return ""
    if any(quote in said for quote in BRACES) and _json("".join(BRACES.get(sign, sign) for sign in said)) is not None:
        return "the quotes are those of the printed document: JSON has the plain ones"
    if isinstance(_python(said), dict):
        return "a dictionary as Python prints it is no JSON: json.dumps makes it one"
    if "[" in said and re.search(r'\[\s*"[^"]*"\s*:', said):
        return "an array with keys, as the document prints it, is no JSON: what has keys stands in braces"
    if (at := said.find("{")) > 0 and isinstance(_json(said[at:]), dict):
        return f"{said[:at]!r} stands before the message: nothing frames the messages, not even their length"
    if any(isinstance(_json(said + more), dict) for more in ("}", "]}", '"}', "}}")):
        return "the message does not end: a bracket or a quote is missing"
    return ""


def _json(said: str) -> Any:
    try:
        return decode(said)
    except (DecodeError, RecursionError):
        return None


def _python(said: str) -> object:
    try:
        return literal_eval(said)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
