"""Referee of seven-and-a-half conversations: names the clause that a message breaks (docs/protocols/sevenhalf.md)."""

from collections.abc import Sequence
from typing import Final

from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, Disconnected, ExpectedReply, Observation, Sent, Verdict
from croupier.core.session import TimedOut
from croupier.rooms.sevenhalf.interpretation import Interpretation, WireGame
from croupier.rooms.sevenhalf.wire import Message

MAX_INTERPRETATIONS: Final = 64
"""The most interpretations followed at once. Beyond it only the likely one is kept, and the house is never blamed."""


class Referee:
    """See `croupier.core.referee.Referee`. Only a strict referee reports a close after GAIN (sevenhalf-8.5).

    It follows all interpretations that fit the conversation (see `Interpretation`). The house is at fault when none is
    left.
    """

    def __init__(self, *, lenient: bool = False, strict: bool = False, reply_timeout: float = 5.0) -> None:
        self._interpretations = [Interpretation(lenient=lenient, strict=strict, reply_timeout=reply_timeout)]
        self._reported_count = 0
        self._over = False
        self._has_given_up = False

    @property
    def deadline(self) -> float | None:
        """When a missing answer becomes a fault or rules out an interpretation."""
        deadlines = [each.deadline for each in self._interpretations if each.deadline is not None]
        return None if self._over else min(deadlines, default=None)

    @property
    def legal(self) -> Sequence[Message]:
        """The messages that the client may send now; empty while an answer is due."""
        return () if self._over else self._most_likely.legal

    @property
    def game(self) -> WireGame | None:
        """The current game, assuming that every ANTE was accepted if it may have been."""
        return self._most_likely.game

    @property
    def last_game(self) -> WireGame | None:
        """The last finished game, None before the first."""
        return self._most_likely.last_game

    @property
    def finished_count(self) -> int:
        """The number of finished games."""
        return self._most_likely.finished_count

    @property
    def pending(self) -> ExpectedReply | None:
        """The reply that the house owes first, None if it owes none or may owe none."""
        due = [each.pending for each in self._interpretations]
        return due[0] if all(due) else None

    @property
    def clause(self) -> str | None:
        """The clause about what the house owes now: a reply, silence or the end of the connection; None for nothing."""
        return self._most_likely.clause

    @property
    def unhandled_count(self) -> int:
        """The number of messages of the client that wait for the replies to earlier ones."""
        return self._most_likely.unhandled_count

    @property
    def _most_likely(self) -> Interpretation:
        return next((each for each in self._interpretations if not each.is_leaving), self._interpretations[0])

    def on(self, event: Observation[Message], now: float) -> Sequence[Verdict]:
        """Process an event; return the verdicts on both ends."""
        if self._over:
            return []
        likely = self._most_likely
        faults: dict[Interpretation, Sequence[Verdict]] = {}
        remaining = []
        for interpretation in self._interpretations:
            if type(event) is TimedOut and (interpretation.deadline is None or interpretation.deadline > now):
                remaining.append(interpretation)
                continue
            faults[interpretation] = interpretation.on(event, now)
            remaining += [interpretation] * (not faults[interpretation]) + interpretation.forks
            interpretation.forks = []
        self._over = not remaining or type(event) is Disconnected
        self._interpretations = remaining or [likely]
        if len(remaining) > MAX_INTERPRETATIONS:
            self._has_given_up = True
            self._interpretations = [self._most_likely]
        verdicts = [*_fatal_verdicts(event), *self._client_verdicts()]
        return verdicts if remaining or self._has_given_up else [*verdicts, *faults[likely]]

    def _client_verdicts(self) -> Sequence[Verdict]:
        """New verdicts on the client that all interpretations share; at the end, those of the most likely one."""
        start, verdicts = self._reported_count, self._most_likely.client_verdicts
        considered = [self._most_likely] if self._over else self._interpretations
        while self._reported_count < len(verdicts) and all(
            each.client_verdicts[: self._reported_count + 1] == verdicts[: self._reported_count + 1]
            for each in considered
        ):
            self._reported_count += 1
        return verdicts[start : self._reported_count]


def _fatal_verdicts(event: Observation[Message]) -> Sequence[Verdict]:
    """The verdict on a client whose input cannot be parsed."""
    match event:
        case Sent(sender, _, Violation(fatal=True) as violation) if sender == CLIENT:
            return [Verdict(CLIENT, violation)]
    return []
