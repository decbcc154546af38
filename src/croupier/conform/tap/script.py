"""A conversation that was heard, written down as a transcript that can be read and played again."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import astuple

from croupier.conform.conversation import Conversation, Line
from croupier.core.judge import CLIENT, HOUSE
from croupier.core.talk import Peer
from croupier.core.transcript import NAMED
from croupier.taps.minutes import CONTROL

SIGN: Final[Mapping[Peer, str]] = {CLIENT: "p>", HOUSE: "p<"}
NAME: Final[Mapping[Peer, str]] = {CLIENT: "client", HOUSE: "house"}

PLAIN: Final = frozenset(range(0x21, 0x7F)) - frozenset(b"{}")
"""The bytes that stand for themselves; a space does so between others."""

SPELT: Final = {data: f"{{{name}}}" for name, data in NAMED.items()}


def safe(text: str) -> str:
    """A text without anything that would end a line or spoil a terminal."""
    return text.translate(CONTROL).encode("ascii", "backslashreplace").decode()


def spelt(data: bytes, message: object = None) -> str:
    """Bytes as a line of a transcript has them; a message tells which of them are a number."""
    found, unread = "", b""
    for piece, text in _pieces(data, _numbers(message)):
        if text:
            found += (f"{{hex:{unread.hex()}}}" if unread else "") + text
            unread = b""
        else:
            unread += piece
    return found + (f"{{hex:{unread.hex()}}}" if unread else "")


def _pieces(data: bytes, numbers: Mapping[bytes, int]) -> Iterator[tuple[bytes, str]]:
    """The bytes piece by piece, each with how it is written, empty where that has to be in hex."""
    at = 0
    while at < len(data):
        byte, pair, four = data[at : at + 1], data[at : at + 2], data[at : at + 4]
        if four in numbers:
            yield four, f"{{int32:{numbers[four]}}}"
            at += 4
        elif len(pair) == 2 and pair[0] == 0 and pair[1] in PLAIN:
            yield pair, f"{{char16:{chr(pair[1])}}}"
            at += 2
        else:
            plain = byte[0] in PLAIN or (byte == b" " and 0 < at < len(data) - 1)
            yield byte, byte.decode() if plain else SPELT.get(byte, "")
            at += 1


def _numbers(message: object) -> dict[bytes, int]:
    """The numbers in a message, and how many of something it has, by their four bytes."""
    if not isinstance(message, Struct):
        return {}
    found = (len(value) if isinstance(value, tuple) else value for value in astuple(message))
    return {value.to_bytes(4, signed=True): value for value in found if type(value) is int and abs(value) < 1 << 31}


def script(
    paper: Conversation, heard: Conversation, closed: Sequence[Peer], title: str, head: Mapping[str, str]
) -> str:
    """What was heard, as `croupier.core.transcript` reads it.

    `paper` is a conversation like the one that was heard, in which nothing was said yet: it tells where games end.
    `closed` are the ends that have closed, in their order; `head` is what is set about them. Verdicts are comments
    behind the line that shows them; the clauses that were broken are the transcript's.
    """
    clauses = dict.fromkeys(fault.verdict.violation.clause for fault in heard.faults)
    entries = {"title": title, "clause": " ".join(clauses)}
    if heard.faults:
        side = heard.faults[0].verdict.side
        own = dict.fromkeys(fault.verdict.violation.clause for fault in heard.faults if fault.verdict.side == side)
        entries["fault"] = " ".join((NAME[side], *own))
    body = [f"{name}: {value}".rstrip() for name, value in {**entries, **head}.items()]
    body += _verdicts(heard, 0)
    for number, line in enumerate(heard.lines, start=1):
        body += [_spoken(line.side, line.data, line.message), *_settled(paper, line), *_verdicts(heard, number)]
    body += [_spoken(side, rest) for side in (CLIENT, HOUSE) if (rest := heard.rest(side))]
    return "\n".join((*body, *_end(paper, closed), ""))


def _spoken(side: Peer, data: bytes, message: object = None) -> str:
    return f"{SIGN[side]} {spelt(data, message)}"


def _settled(paper: Conversation, line: Line) -> Iterator[str]:
    """The game that ends with a line, as long as it can be followed."""
    before = paper.referee.finished
    paper.heard(line.side, line.data, line.at)
    last = paper.referee.last
    if last is not None and paper.referee.finished > before:
        yield f"* settled p {last.net:+d}"


def _verdicts(heard: Conversation, number: int) -> Iterator[str]:
    """The verdicts that fell at a line."""
    for fault in heard.faults:
        if fault.lines == number:
            yield f"# the {NAME[fault.verdict.side]} breaks {safe(str(fault.verdict.violation))}"


def _end(paper: Conversation, closed: Sequence[Peer]) -> Iterator[str]:
    """Who has ended it: the house where it did so first, or had to."""
    if not closed:
        return
    yield "* left p" if closed[0] == CLIENT and paper.referee.legal else "* dropped p"
    if paper.referee.game is not None:
        yield "* settled p ?"
