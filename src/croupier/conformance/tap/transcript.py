"""A conversation that was heard, written down as a transcript that can be read and played again."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Final

from msgspec import Struct
from msgspec.structs import astuple

from croupier.conformance.conversation import Conversation, DialogueLine, Fault
from croupier.conformance.tap.connection import TappedConnection
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Peer
from croupier.core.transcript import NAMED_BYTES
from croupier.observers.conversation_log import CONTROL_ESCAPES

LINE_PREFIXES: Final[Mapping[Peer, str]] = {CLIENT: "p>", HOUSE: "p<"}
END_NAMES: Final[Mapping[Peer, str]] = {CLIENT: "client", HOUSE: "house"}

PLAIN_BYTES: Final = frozenset(range(0x21, 0x7F)) - frozenset(b"{}")
"""The bytes that stand for themselves; a space does so between others."""

BYTE_NAMES: Final = {data: f"{{{name}}}" for name, data in NAMED_BYTES.items()}


def safe_text(text: str) -> str:
    """A text without anything that would end a line or spoil a terminal."""
    return text.translate(CONTROL_ESCAPES).encode("ascii", "backslashreplace").decode()


def transcript_text(data: bytes, message: object = None) -> str:
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
        elif len(pair) == 2 and pair[0] == 0 and pair[1] in PLAIN_BYTES:
            yield pair, f"{{char16:{chr(pair[1])}}}"
            at += 2
        else:
            plain = byte[0] in PLAIN_BYTES or (byte == b" " and 0 < at < len(data) - 1)
            yield byte, byte.decode() if plain else BYTE_NAMES.get(byte, "")
            at += 1


def _numbers(message: object) -> dict[bytes, int]:
    """The numbers in a message, and how many of something it has, by their four bytes."""
    if not isinstance(message, Struct):
        return {}
    found = (len(value) if isinstance(value, tuple) else value for value in astuple(message))
    return {value.to_bytes(4, signed=True): value for value in found if type(value) is int and abs(value) < 1 << 31}


class HouseTranscriptWriter:
    """Writes a conversation down as it is held, as `croupier.core.transcript` reads it.

    `paper` is a conversation like the one that is heard, in which nothing was said yet: it tells where games end. What
    was said goes to `body`, and is not kept; what stands above it is known only at the end.
    """

    def __init__(self, follower: Conversation, body: IO[str]) -> None:
        self._follower = follower
        self._body = body
        self._count = 0
        self._broken: dict[tuple[Peer, str], None] = {}

    def add_lines(self, passage: TappedConnection, lines: Sequence[DialogueLine], faults: Sequence[Fault]) -> None:  # noqa: ARG002 -- it is the only one
        """The next lines, and the verdicts that fell at them, or at the last one before. Raises OSError."""
        waiting = deque(faults)
        self._write(self._verdicts(waiting))
        for line in lines:
            self._count += 1
            self._write((_spoken(line.side, line.data, line.message), *_settled(self._follower, line)))
            self._write(self._verdicts(waiting))
        self._follower.forget()

    def add_end(self, passage: TappedConnection) -> None:
        """The conversation is over. Raises OSError."""
        rests = ((side, passage.conversation.incomplete(side)) for side in (CLIENT, HOUSE))
        self._write(_spoken(side, rest) for side, rest in rests if rest)
        self._write(_end(self._follower, passage.closed_sides))

    def transcript(self, title: str, head: Mapping[str, str]) -> Iterator[str]:
        """The whole transcript, in pieces; `head` is what else is set about it. Raises OSError."""
        yield from transcript_heading(self._broken, title, head)
        self._body.seek(0)
        yield from self._body

    def _write(self, lines: Iterable[str]) -> None:
        self._body.writelines(f"{line}\n" for line in lines)

    def _verdicts(self, waiting: deque[Fault]) -> Iterator[str]:
        """The verdicts that fell up to now."""
        while waiting and waiting[0].line_count <= self._count:
            fault = waiting.popleft()
            self._broken[fault.verdict.end, fault.verdict.violation.clause] = None
            yield verdict_comment(fault)


def transcript_heading(broken: Iterable[tuple[Peer, str]], title: str, head: Mapping[str, str]) -> Iterator[str]:
    """What stands above a transcript; `broken` are the clauses that were broken, and by whom."""
    found = [*broken]
    entries = {"title": title, "clause": " ".join(dict.fromkeys(clause for _, clause in found))}
    if found:
        side = found[0][0]
        entries["fault"] = " ".join((END_NAMES[side], *(clause for other, clause in found if other == side)))
    for name, value in {**entries, **head}.items():
        yield f"{name}: {value}".rstrip() + "\n"


def verdict_comment(fault: Fault) -> str:
    """A verdict as a comment."""
    return f"# the {END_NAMES[fault.verdict.end]} breaks {safe_text(str(fault.verdict.violation))}"


def _spoken(side: Peer, data: bytes, message: object = None) -> str:
    return f"{LINE_PREFIXES[side]} {transcript_text(data, message)}"


def _settled(paper: Conversation, line: DialogueLine) -> Iterator[str]:
    """The game that ends with a line, as long as it can be followed."""
    before = paper.referee.finished_count
    paper.on_data(line.side, line.data, line.at)
    last = paper.referee.last_game
    if last is not None and paper.referee.finished_count > before:
        yield f"* settled p {last.net:+d}"


def _end(paper: Conversation, closed: Sequence[Peer]) -> Iterator[str]:
    """Who has ended it: the house where it did so first, or had to."""
    if not closed:
        return
    yield "* left p" if closed[0] == CLIENT and paper.referee.legal else "* dropped p"
    if paper.referee.game is not None:
        yield "* settled p ?"
