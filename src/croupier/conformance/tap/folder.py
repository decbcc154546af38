"""Writes tapped conversations as transcripts into a folder, spooling long ones to disk."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import IO, Final, Protocol, Self, cast

from croupier.conformance.conversation import DialogueLine, Fault
from croupier.conformance.tap.connection import (
    BytesRelayed,
    ConnectionEnded,
    ConnectionOpened,
    SideClosed,
    SilenceFound,
    TapEvent,
    TappedConnection,
)

MAX_MEMORY_CHARS: Final = 1 << 16
"""At most this many characters of a transcript are held in memory."""


class TranscriptWriter(Protocol):
    """Writes one transcript."""

    def add_lines(self, connection: TappedConnection, lines: Sequence[DialogueLine], faults: Sequence[Fault]) -> None:
        """Add messages and faults of a connection."""
        ...

    def add_end(self, connection: TappedConnection) -> None:
        """Add the end of a connection."""
        ...

    def transcript(self, title: str, head: Mapping[str, str]) -> Iterator[str]:
        """Yield the whole transcript in pieces."""
        ...


class TranscriptFolder:
    """Writes transcripts into a folder: a file per connection, `ROOM-NUMBER.txt`, when it has ended.

    If `is_merged`, all connections share one file, `ROOM.txt`, which is written when the tap ends. `new_writer` creates
    a writer on a file. Raises OSError if the folder cannot be used, at the end at the latest.
    """

    def __init__(
        self,
        folder: Path,
        room: str,
        new_writer: Callable[[IO[str]], TranscriptWriter],
        head: Mapping[str, str],
        *,
        is_merged: bool = False,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._room = room
        self._new_writer = new_writer
        self._head = head
        self._is_merged = is_merged
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
        writer = self._writer(0 if self._is_merged else connection.number)
        match event:
            case BytesRelayed(lines=lines, faults=faults):
                writer.add_lines(connection, lines, faults)
            case SilenceFound(faults=faults) | SideClosed(faults=faults):
                writer.add_lines(connection, (), faults)
            case ConnectionEnded():
                writer.add_end(connection)
                if not self._is_merged:
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
            self._open[number] = self._new_writer(cast(IO[str], stack.enter_context(body))), stack
        return self._open[number][0]

    def _write(self, number: int, title: str) -> None:
        writer, stack = self._open.pop(number)
        name = f"{self._room}-{number:04}.txt" if number else f"{self._room}.txt"
        with stack, (self._folder / name).open("w", encoding="ascii", newline="\n") as file:
            file.writelines(writer.transcript(title, self._head))
