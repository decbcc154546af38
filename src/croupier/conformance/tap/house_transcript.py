"""Writes a tapped conversation of a house game as a transcript."""

from collections.abc import Iterator, Mapping
from typing import IO, Final

from msgspec import Struct
from msgspec.structs import astuple

from croupier.conformance.conversation import AnyClientReferee, DialogueLine
from croupier.conformance.tap.connection import TappedConnection
from croupier.conformance.tap.transcript import TranscriptWriter
from croupier.core.referee import CLIENT, HOUSE, OTHER_END, Party, Sent
from croupier.core.session import Peer
from croupier.core.transcript import NAMED_BYTES

LINE_PREFIXES: Final[Mapping[Party, str]] = {CLIENT: "p>", HOUSE: "p<"}

PLAIN_BYTES: Final = frozenset(range(0x21, 0x7F)) - frozenset(b"{}")
"""The bytes that stand for themselves; a space does so between others."""

BYTE_NAMES: Final = {data: f"{{{name}}}" for name, data in NAMED_BYTES.items()}


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


class HouseTranscriptWriter(TranscriptWriter):
    """Writes a conversation as `croupier.core.transcript` reads it.

    `referee` is a new one like that of the conversation. It finds the end of games; it is not informed of deadlines,
    because games may go on after a late answer.
    """

    def __init__(self, referee: AnyClientReferee, body: IO[str]) -> None:
        super().__init__(body)
        self._referee = referee

    def render_line(self, connection: TappedConnection, line: DialogueLine) -> Iterator[str]:  # noqa: ARG002 -- there is only one
        """See `TranscriptWriter`."""
        yield _spoken(line.side, line.data, line.message)
        before = self._referee.finished_count
        self._referee.on(Sent(line.side, OTHER_END[line.side], line.message), line.at)
        last = self._referee.last_game
        if last is not None and self._referee.finished_count > before:
            yield f"* settled p {last.net:+d}"

    def render_end(self, connection: TappedConnection) -> Iterator[str]:
        """See `TranscriptWriter`. The house has ended the conversation if it closed first, or had to."""
        for side in (CLIENT, HOUSE):
            if rest := connection.conversation.incomplete(side):
                yield _spoken(side, rest)
        if not connection.closed_sides:
            return
        yield "* left p" if connection.closed_sides[0] == CLIENT and self._referee.legal else "* dropped p"
        if self._referee.game is not None:
            yield "* settled p ?"


def _spoken(side: Peer, data: bytes, message: object = None) -> str:
    return f"{LINE_PREFIXES[side]} {transcript_text(data, message)}"
