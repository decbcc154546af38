"""The log of one proxied connection: its lines, faults and tolerated deviations."""

from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from typing import Any

from croupier.conformance.conversation import DialogueLine, Fault
from croupier.core.errors import Violation
from croupier.core.referee import Party, Verdict
from croupier.core.session import Peer


class ConnectionLog:
    """The part that all conversations over a proxy share (see `croupier.conformance.tap.connection`).

    A room handles bytes, disconnects and timeouts, and records them by `add_line`, `add_fault` and `add_tolerated`.
    """

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict
        self.lines: list[DialogueLine] = []
        self.faults: list[Fault] = []
        self.line_count = 0
        self.violation_counts: Counter[tuple[Party, str]] = Counter()
        self.games = 0
        self._tolerated: defaultdict[Peer, set[str]] = defaultdict(set)

    def tolerated(self, side: Peer) -> Set[str]:
        """The clauses whose tolerance one end has needed."""
        return self._tolerated[side]

    def forget(self) -> None:
        """Discard the lines and faults; they stay counted."""
        self.lines.clear()
        self.faults.clear()

    def add_line(self, side: Peer, message: Any, now: float) -> None:
        """Add a message of one end; the dialogue shows its bytes."""
        text = f"? {message.found}" if isinstance(message, Violation) else f"{message}"
        self.lines.append(DialogueLine(side, text.encode("latin-1", "replace"), message, now))
        self.line_count += 1

    def add_fault(self, side: Peer, violation: Violation) -> None:
        """Add a fault of one end, shown by the last line."""
        self.faults.append(Fault(Verdict(side, violation), self.line_count))
        self.violation_counts[side, violation.clause] += 1

    def add_tolerated(self, side: Peer, violation: Violation) -> None:
        """Add a tolerated deviation shown by the last line; a fault if strict."""
        if self._strict:
            self.add_fault(side, violation)
        else:
            self._tolerated[side].add(violation.clause)

    def faults_since(self, before: int) -> Sequence[Fault]:
        """Return the faults after the first `before` ones."""
        return self.faults[before:]
