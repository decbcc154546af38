"""What passes a relay is kept in a folder, as transcripts: it goes to disk as it is said, however long that is."""

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
"""So many characters of a transcript are held in memory."""


class TranscriptWriter(Protocol):
    """Writes one transcript."""

    def add_lines(self, passage: TappedConnection, lines: Sequence[DialogueLine], faults: Sequence[Fault]) -> None:
        """What was said on a connection, and what was wrong with it."""
        ...

    def add_end(self, passage: TappedConnection) -> None:
        """A connection is over."""
        ...

    def transcript(self, title: str, head: Mapping[str, str]) -> Iterator[str]:
        """All of it, in pieces."""
        ...


class TranscriptFolder:
    """Keeps transcripts in a folder: a file for every connection, `ROOM-NUMBER.txt`, when it has ended.

    In rooms whose connections belong `together` there is one for all of them, `ROOM.txt`, when the tap ends. `scribe`
    writes one into a file. Raises OSError where the folder cannot be used, in the end at the latest.
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
        self._scribe = new_writer
        self._head = head
        self._together = is_merged
        self._open: dict[int, tuple[TranscriptWriter, ExitStack]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number in [*self._open]:
            self._write(number, f"Connection {number}" if number else "All connections")

    def __call__(self, news: TapEvent) -> None:
        """Write down what is new."""
        passage = news.connection
        scribe = self._of(0 if self._together else passage.number)
        match news:
            case BytesRelayed(lines=lines, faults=faults):
                scribe.add_lines(passage, lines, faults)
            case SilenceFound(faults=faults) | SideClosed(faults=faults):
                scribe.add_lines(passage, (), faults)
            case ConnectionEnded():
                scribe.add_end(passage)
                if not self._together:
                    note = f" ({passage.note})" if passage.note else ""
                    self._write(passage.number, f"Connection {passage.number}{note}")
            case ConnectionOpened():
                pass

    def _of(self, number: int) -> TranscriptWriter:
        if number not in self._open:
            stack = ExitStack()
            body = SpooledTemporaryFile(  # noqa: SIM115 -- it is closed when the transcript is written
                MAX_MEMORY_CHARS, "w+", encoding="ascii", newline="\n", dir=f"{self._folder}"
            )
            self._open[number] = self._scribe(cast(IO[str], stack.enter_context(body))), stack
        return self._open[number][0]

    def _write(self, number: int, title: str) -> None:
        scribe, stack = self._open.pop(number)
        name = f"{self._room}-{number:04}.txt" if number else f"{self._room}.txt"
        with stack, (self._folder / name).open("w", encoding="ascii", newline="\n") as file:
            file.writelines(scribe.transcript(title, self._head))
