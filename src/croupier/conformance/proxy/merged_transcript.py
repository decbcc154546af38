"""Writes one transcript of many connections: what was said on any of them, in its order, and what was wrong with it."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import IO

from croupier.conformance.conversation import Fault, Line
from croupier.conformance.tap.connection import Passage
from croupier.conformance.tap.transcript import heading, verdict
from croupier.core.session import Peer


class Writing(ABC):
    """A `Scribe` (see `croupier.conformance.tap.folder`) of a room, which says how its lines read."""

    def __init__(self, body: IO[str]) -> None:
        self._body = body
        self._broken: dict[tuple[Peer, str], None] = {}

    @abstractmethod
    def told(self, passage: Passage, line: Line) -> Iterator[str]:
        """How a line reads."""

    def gone(self, passage: Passage) -> Iterator[str]:
        """What is to be told at the end of a connection."""
        yield f"# connection {passage.number} is over"

    def heard(self, passage: Passage, lines: Sequence[Line], faults: Sequence[Fault]) -> None:
        """What was said on a connection, and the verdicts where they fell. Raises OSError."""
        first = passage.conversation.count - len(lines)
        self._write([verdict(fault) for fault in faults if fault.lines <= first])
        for number, line in enumerate(lines, start=first + 1):
            self._write(self.told(passage, line))
            self._write([verdict(fault) for fault in faults if fault.lines == number])
        for fault in faults:
            self._broken[fault.verdict.side, fault.verdict.violation.clause] = None

    def ended(self, passage: Passage) -> None:
        """A connection is over. Raises OSError."""
        self._write(self.gone(passage))

    def paper(self, title: str, head: Mapping[str, str]) -> Iterator[str]:
        """The whole transcript, in pieces. Raises OSError."""
        yield from heading(self._broken, title, head)
        self._body.seek(0)
        yield from self._body

    def _write(self, lines: Iterator[str] | Sequence[str]) -> None:
        self._body.writelines(f"{line}\n" for line in lines)
