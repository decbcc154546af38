"""Writes one transcript of many connections: all lines in order, with the verdicts as comments."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import IO

from croupier.conformance.conversation import DialogueLine, Fault
from croupier.conformance.tap.connection import TappedConnection
from croupier.conformance.tap.transcript import transcript_heading, verdict_comment
from croupier.core.referee import Party


class MergedTranscript(ABC):
    """A transcript writer (see `croupier.conformance.tap.folder`); subclasses render the lines of their room."""

    def __init__(self, body: IO[str]) -> None:
        self._body = body
        self._violations: dict[tuple[Party, str], None] = {}

    @abstractmethod
    def render_line(self, connection: TappedConnection, line: DialogueLine) -> Iterator[str]:
        """Render a line."""

    def render_end(self, connection: TappedConnection) -> Iterator[str]:
        """Render the end of a connection."""
        yield f"# connection {connection.number} is over"

    def add_lines(self, connection: TappedConnection, lines: Sequence[DialogueLine], faults: Sequence[Fault]) -> None:
        """Write the lines of a connection, with each verdict after its line. Raises OSError."""
        first = connection.conversation.line_count - len(lines)
        self._write([verdict_comment(fault) for fault in faults if fault.line_count <= first])
        for number, line in enumerate(lines, start=first + 1):
            self._write(self.render_line(connection, line))
            self._write([verdict_comment(fault) for fault in faults if fault.line_count == number])
        for fault in faults:
            self._violations[fault.verdict.party, fault.verdict.violation.clause] = None

    def add_end(self, connection: TappedConnection) -> None:
        """Write the end of a connection. Raises OSError."""
        self._write(self.render_end(connection))

    def transcript(self, title: str, head: Mapping[str, str]) -> Iterator[str]:
        """Yield the whole transcript in pieces. Raises OSError."""
        yield from transcript_heading(self._violations, title, head)
        self._body.seek(0)
        yield from self._body

    def _write(self, lines: Iterator[str] | Sequence[str]) -> None:
        self._body.writelines(f"{line}\n" for line in lines)
