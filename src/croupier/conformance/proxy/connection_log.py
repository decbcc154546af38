"""What is written down of a connection while it is overheard: what was said on it, and who has broken what."""

from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from typing import Any

from croupier.conformance.conversation import DialogueLine, Fault
from croupier.core.errors import Violation
from croupier.core.referee import Verdict
from croupier.core.session import Peer


class ConnectionLog:
    """The part that every `Dialogue` over a relay has alike (see `croupier.conformance.tap.connection`).

    A room says what it makes of bytes, of an end and of silence, and writes it down by `say`, `blame` and `depart`.
    """

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict
        self.lines: list[DialogueLine] = []
        self.faults: list[Fault] = []
        self.line_count = 0
        self.violation_counts: Counter[tuple[Peer, str]] = Counter()
        self.games = 0
        self._tolerated: defaultdict[Peer, set[str]] = defaultdict(set)

    def tolerated(self, side: Peer) -> Set[str]:
        """The clauses whose tolerance one end has needed."""
        return self._tolerated[side]

    def forget(self) -> None:
        """Let go of the lines and faults that there are; they stay counted."""
        self.lines.clear()
        self.faults.clear()

    def add_line(self, side: Peer, message: Any, now: float) -> None:
        """One end has said something; its bytes are what is shown of it."""
        words = f"? {message.found}" if isinstance(message, Violation) else f"{message}"
        self.lines.append(DialogueLine(side, words.encode("latin-1", "replace"), message, now))
        self.line_count += 1

    def add_fault(self, side: Peer, violation: Violation) -> None:
        """What was said last shows that an end is wrong."""
        self.faults.append(Fault(Verdict(side, violation), self.line_count))
        self.violation_counts[side, violation.clause] += 1

    def add_tolerated(self, side: Peer, violation: Violation) -> None:
        """What was said last needs a tolerance; where there are none, it is wrong."""
        if self._strict:
            self.add_fault(side, violation)
        else:
            self._tolerated[side].add(violation.clause)

    def faults_since(self, before: int) -> Sequence[Fault]:
        """The faults behind the first so many."""
        return self.faults[before:]
