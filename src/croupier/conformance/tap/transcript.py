"""Writes a tapped conversation as a transcript that can be parsed and replayed."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Final

from msgspec import Struct
from msgspec.structs import astuple

from croupier.conformance.conversation import Conversation, DialogueLine, Fault
from croupier.conformance.tap.connection import TappedConnection
from croupier.core.referee import CLIENT, HOUSE, Party
from croupier.core.session import Peer
from croupier.core.transcript import NAMED_BYTES
from croupier.observers.conversation_log import CONTROL_ESCAPES

LINE_PREFIXES: Final[Mapping[Party, str]] = {CLIENT: "p>", HOUSE: "p<"}
END_NAMES: Final[Mapping[Party, str]] = {CLIENT: "client", HOUSE: "house"}

PLAIN_BYTES: Final = frozenset(range(0x21, 0x7F)) - frozenset(b"{}")
"""The bytes that stand for themselves; a space does so between others."""

BYTE_NAMES: Final = {data: f"{{{name}}}" for name, data in NAMED_BYTES.items()}


def safe_text(text: str) -> str:
    """Escape everything that would end a line or disturb a terminal."""
    return text.translate(CONTROL_ESCAPES).encode("ascii", "backslashreplace").decode()


def transcript_text(data: bytes, message: object = None) -> str:
    """Bytes in the notation of a transcript; the decoded message shows which of them are a number."""
    found, unread = "", b""
    for piece, text in _pieces(data, _numbers(message)):
        if text:
            found += (f"{{hex:{unread.hex()}}}" if unread else "") + text
            unread = b""
        else:
            unread += piece
    return found + (f"{{hex:{unread.hex()}}}" if unread else "")


def _pieces(data: bytes, numbers: Mapping[bytes, int]) -> Iterator[tuple[bytes, str]]:
    """Yield the bytes piece by piece with their notation, empty if they have to be written in hexadecimal."""
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
    """The numbers in a message, and the lengths of its tuples, by their four bytes."""
    if not isinstance(message, Struct):
        return {}
    found = (len(value) if isinstance(value, tuple) else value for value in astuple(message))
    return {value.to_bytes(4, signed=True): value for value in found if type(value) is int and abs(value) < 1 << 31}


class HouseTranscriptWriter:
    """Writes a conversation as `croupier.core.transcript` reads it.

    `follower` is a new conversation like the tapped one; it detects the end of games. Lines are written to `body` at
    once and not kept in memory; the header is known only at the end.
    """

    def __init__(self, follower: Conversation, body: IO[str]) -> None:
        self._follower = follower
        self._body = body
        self._count = 0
        self._broken: dict[tuple[Party, str], None] = {}

    def add_lines(self, connection: TappedConnection, lines: Sequence[DialogueLine], faults: Sequence[Fault]) -> None:  # noqa: ARG002 -- there is only one connection
        """Add lines, and the verdicts on them or on the line before. Raises OSError."""
        waiting = deque(faults)
        self._write(self._verdicts(waiting))
        for line in lines:
            self._count += 1
            self._write((_spoken(line.side, line.data, line.message), *_settled(self._follower, line)))
            self._write(self._verdicts(waiting))
        self._follower.forget()

    def add_end(self, connection: TappedConnection) -> None:
        """Add the end of the conversation. Raises OSError."""
        rests = ((side, connection.conversation.incomplete(side)) for side in (CLIENT, HOUSE))
        self._write(_spoken(side, rest) for side, rest in rests if rest)
        self._write(_end(self._follower, connection.closed_sides))

    def transcript(self, title: str, head: Mapping[str, str]) -> Iterator[str]:
        """Yield the whole transcript in pieces; `head` are further header fields. Raises OSError."""
        yield from transcript_heading(self._broken, title, head)
        self._body.seek(0)
        yield from self._body

    def _write(self, lines: Iterable[str]) -> None:
        self._body.writelines(f"{line}\n" for line in lines)

    def _verdicts(self, waiting: deque[Fault]) -> Iterator[str]:
        """Yield the verdicts passed so far."""
        while waiting and waiting[0].line_count <= self._count:
            fault = waiting.popleft()
            self._broken[fault.verdict.party, fault.verdict.violation.clause] = None
            yield verdict_comment(fault)


def transcript_heading(broken: Iterable[tuple[Party, str]], title: str, head: Mapping[str, str]) -> Iterator[str]:
    """Yield the header of a transcript; `broken` are the clauses that were broken, and by which end."""
    found = [*broken]
    entries = {"title": title, "clause": " ".join(dict.fromkeys(clause for _, clause in found))}
    if found:
        side = found[0][0]
        entries["fault"] = " ".join((END_NAMES[side], *(clause for other, clause in found if other == side)))
    for name, value in {**entries, **head}.items():
        yield f"{name}: {value}".rstrip() + "\n"


def verdict_comment(fault: Fault) -> str:
    """A verdict as a comment line."""
    return f"# the {END_NAMES[fault.verdict.party]} breaks {safe_text(str(fault.verdict.violation))}"


def _spoken(side: Peer, data: bytes, message: object = None) -> str:
    return f"{LINE_PREFIXES[side]} {transcript_text(data, message)}"


def _settled(follower: Conversation, line: DialogueLine) -> Iterator[str]:
    """The settlement of the game that ends with a line, if it can be followed."""
    before = follower.referee.finished_count
    follower.on_data(line.side, line.data, line.at)
    last = follower.referee.last_game
    if last is not None and follower.referee.finished_count > before:
        yield f"* settled p {last.net:+d}"


def _end(follower: Conversation, closed: Sequence[Peer]) -> Iterator[str]:
    """The end of the conversation: by the house if it closed first, or had to."""
    if not closed:
        return
    yield "* left p" if closed[0] == CLIENT and follower.referee.legal else "* dropped p"
    if follower.referee.game is not None:
        yield "* settled p ?"
