"""What is written down of a connection while it is overheard: what was said on it, and who has broken what."""

from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from typing import Any

from croupier.conformance.conversation import Fault, Line
from croupier.core.errors import Violation
from croupier.core.referee import Verdict
from croupier.core.session import Peer


class Account:
    """The part that every `Dialogue` over a relay has alike (see `croupier.conformance.tap.connection`).

    A room says what it makes of bytes, of an end and of silence, and writes it down by `say`, `blame` and `depart`.
    """

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict
        self.lines: list[Line] = []
        self.faults: list[Fault] = []
        self.count = 0
        self.broken: Counter[tuple[Peer, str]] = Counter()
        self.games = 0
        self._departures: defaultdict[Peer, set[str]] = defaultdict(set)

    def departures(self, side: Peer) -> Set[str]:
        """The clauses whose tolerance one end has needed."""
        return self._departures[side]

    def forget(self) -> None:
        """Let go of the lines and faults that there are; they stay counted."""
        self.lines.clear()
        self.faults.clear()

    def say(self, side: Peer, message: Any, now: float) -> None:
        """One end has said something; its bytes are what is shown of it."""
        words = f"? {message.found}" if isinstance(message, Violation) else f"{message}"
        self.lines.append(Line(side, words.encode("latin-1", "replace"), message, now))
        self.count += 1

    def blame(self, side: Peer, violation: Violation) -> None:
        """What was said last shows that an end is wrong."""
        self.faults.append(Fault(Verdict(side, violation), self.count))
        self.broken[side, violation.clause] += 1

    def depart(self, side: Peer, violation: Violation) -> None:
        """What was said last needs a tolerance; where there are none, it is wrong."""
        if self._strict:
            self.blame(side, violation)
        else:
            self._departures[side].add(violation.clause)

    def since(self, before: int) -> Sequence[Fault]:
        """The faults behind the first so many."""
        return self.faults[before:]
