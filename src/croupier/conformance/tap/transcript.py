"""Writes tapped conversations as transcripts that can be parsed and replayed, into a folder or any text file."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import ExitStack
from pathlib import Path
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import IO, Final, NamedTuple, Self, cast

from croupier.conformance.conversation import ConversationMonitor, DialogueLine, Fault
from croupier.conformance.tap.connection import (
    BytesRelayed,
    ConnectionEnded,
    ConnectionOpened,
    SideClosed,
    SilenceFound,
    TapEvent,
    TappedConnection,
)
from croupier.core.referee import CLIENT, HOUSE, Party
from croupier.core.session import Peer
from croupier.observers.conversation_log import CONTROL_ESCAPES

END_NAMES: Final[Mapping[Party, str]] = {CLIENT: "client", HOUSE: "house"}

MAX_MEMORY_CHARS: Final = 1 << 16
"""At most this many characters of a transcript are held in memory."""


def safe_text(text: str) -> str:
    """Escape everything that would end a line or disturb a terminal."""
    return text.translate(CONTROL_ESCAPES).encode("ascii", "backslashreplace").decode()


class TranscriptWriter(ABC):
    """Writes one transcript of one or all connections: all lines in order, with the verdicts as comments.

    Lines are written to `body` at once and not kept in memory; the header is known only at the end. Subclasses render
    the lines of their room.
    """

    def __init__(self, body: IO[str]) -> None:
        self._body = body
        self._broken: dict[tuple[Party, str], None] = {}

    @abstractmethod
    def render_line(self, connection: TappedConnection, line: DialogueLine) -> Iterator[str]:
        """Yield the lines of the transcript for a message."""

    @abstractmethod
    def render_end(self, connection: TappedConnection) -> Iterator[str]:
        """Yield the lines of the transcript for the end of a connection."""

    def add_entries(self, connection: TappedConnection, entries: Iterable[DialogueLine | Fault]) -> None:
        """Add messages of a connection and verdicts on them, in this order. Raises OSError."""
        for entry in entries:
            if isinstance(entry, Fault):
                self._write([f"# {verdict_sentence(entry)}"])
                self._broken[entry.verdict.party, entry.verdict.violation.clause] = None
            else:
                self._write(self.render_line(connection, entry))

    def add_end(self, connection: TappedConnection) -> None:
        """Add the end of a connection. Raises OSError."""
        self._write(self.render_end(connection))

    def transcript(self, title: str, head: Mapping[str, str]) -> Iterator[str]:
        """Yield the whole transcript in pieces; `head` are further header fields. Raises OSError."""
        entries = {"title": title, "clause": " ".join(dict.fromkeys(clause for _, clause in self._broken))}
        if self._broken:
            side = next(iter(self._broken))[0]
            entries["fault"] = " ".join((END_NAMES[side], *(clause for other, clause in self._broken if other == side)))
        for name, value in {**entries, **head}.items():
            yield f"{name}: {value}".rstrip() + "\n"
        self._body.seek(0)
        yield from self._body

    def _write(self, lines: Iterable[str]) -> None:
        self._body.writelines(f"{line}\n" for line in lines)


def verdict_sentence(fault: Fault) -> str:
    """A verdict as a sentence."""
    return f"the {END_NAMES[fault.verdict.party]} breaks {safe_text(str(fault.verdict.violation))}"


def tolerance_sentences(tolerated: Callable[[Peer], Set[str]], names: Mapping[Party, str] = END_NAMES) -> list[str]:
    """A sentence for each end that has needed the tolerance of some clauses; `names` are those of the ends."""
    return [
        f"the {names[side]} departs from {', '.join(sorted(clauses))}, which is tolerated"
        for side in (CLIENT, HOUSE)
        if (clauses := tolerated(side))
    ]


class Follower(NamedTuple):
    """What follows the connections of a room: makers of the monitor of a connection and of a transcript writer.

    If it `is_merged`, all connections share one transcript.
    """

    new_monitor: Callable[[], ConversationMonitor]
    new_writer: Callable[[IO[str]], TranscriptWriter]
    is_merged: bool = False


class TranscriptFolder:
    """Writes transcripts into a folder: a file per connection, `ROOM-NUMBER.txt`, when it has ended.

    A shared transcript is `ROOM.txt`, written when the tap ends. Long transcripts are spooled to disk. Raises OSError
    if the folder cannot be used, at the end at the latest.
    """

    def __init__(self, folder: Path, room: str, follower: Follower, head: Mapping[str, str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._room = room
        self._follower = follower
        self._head = head
        self._open: dict[int, tuple[TranscriptWriter, ExitStack]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number in [*self._open]:
            self._write(number, f"Connection {number}" if number else "All connections")

    def __call__(self, event: TapEvent) -> None:
        """Process an event."""
        connection = event.connection
        writer = self._writer(0 if self._follower.is_merged else connection.number)
        match event:
            case BytesRelayed(entries=entries) | SilenceFound(faults=entries) | SideClosed(faults=entries):
                writer.add_entries(connection, entries)
            case ConnectionEnded():
                writer.add_end(connection)
                if not self._follower.is_merged:
                    note = f" ({connection.note})" if connection.note else ""
                    self._write(connection.number, f"Connection {connection.number}{note}")
            case ConnectionOpened():
                pass

    def _writer(self, number: int) -> TranscriptWriter:
        if number not in self._open:
            stack = ExitStack()
            body = SpooledTemporaryFile(  # noqa: SIM115 -- it is closed when the transcript is written
                MAX_MEMORY_CHARS, "w+", encoding="ascii", newline="\n", dir=f"{self._folder}"
            )
            self._open[number] = self._follower.new_writer(cast(IO[str], stack.enter_context(body))), stack
        return self._open[number][0]

    def _write(self, number: int, title: str) -> None:
        writer, stack = self._open.pop(number)
        name = f"{self._room}-{number:04}.txt" if number else f"{self._room}.txt"
        with stack, (self._folder / name).open("w", encoding="ascii", newline="\n") as file:
            file.writelines(writer.transcript(title, self._head))
