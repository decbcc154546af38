"""Tapped conversations of house games whose verdicts name another spelling, or byte order, that explains a fault."""

from collections.abc import Sequence
from math import inf
from typing import Any, Final

from croupier.conformance.conversation import Conversation, Fault
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.diagnosis.causes import WireLog, byte_order_cause, likely_cause
from croupier.conformance.diagnosis.dialect import DialectReader
from croupier.core.codec import printable_bytes
from croupier.core.errors import FoundKind, Violation
from croupier.core.referee import CLIENT, HOUSE, Verdict
from croupier.core.room import HouseRoom
from croupier.core.session import Peer

MAX_LOG_BYTES: Final = 1 << 11
"""A cause is sought by reading everything again in every dialect, so of a longer conversation none is."""


class ExplainedConversation(Conversation):
    """A conversation whose verdicts have the text and the clause of their cause if it is a clause of its own.

    `forget` keeps what was said, up to MAX_LOG_BYTES.
    """

    def __init__(
        self, room: HouseRoom, known_options: Any = None, *, strict: bool = False, answer_timeout: float = 5.0
    ) -> None:
        super().__init__(room, known_options, strict=strict, answer_timeout=answer_timeout)
        self._strict = strict
        self._wire_log: list[tuple[Peer, bytes]] = []
        self._log_bytes = 0
        self._causes: dict[Peer, Cause | None] = {}

    def on_data(self, side: Peer, data: bytes, now: float) -> Sequence[Fault]:
        """See `ConversationMonitor`."""
        self._log_bytes += len(data)
        if self._log_bytes <= MAX_LOG_BYTES:
            self._wire_log.append((side, data))
        else:
            self._wire_log.clear()
        return super().on_data(side, data, now)

    def _on_disconnect(self, side: Peer, now: float) -> None:
        """Judge a close. A client may leave within a message, unless the message is complete in another spelling."""
        super()._on_disconnect(side, now)
        rest = self.unread(CLIENT)
        if not rest or self.was_refused_at_once or CLIENT in self._causes:
            return
        cause = self._causes[CLIENT] = self._likely_cause(CLIENT, self._wire_log, self._said_again(self._wire_log))
        if cause is not None and cause.clause:
            found = f"{printable_bytes(rest)} ({cause})"
            super()._add_fault(Verdict(CLIENT, Violation(cause.clause, found, "a whole message")))

    def _add_fault(self, verdict: Verdict, sent_index: int = -1) -> None:
        cause = self._cause_of(verdict, sent_index)
        if cause is not None and cause.clause:
            found = f"{verdict.violation.found} ({cause})"
            verdict = Verdict(verdict.party, verdict.violation.replace(clause=cause.clause, found=found))
        super()._add_fault(verdict, sent_index)

    def _cause_of(self, verdict: Verdict, sent_index: int) -> Cause | None:
        """The cause of a fault; of a later one of the same end only if its message is in the dialect of the first."""
        side = HOUSE if verdict.party == HOUSE else CLIENT
        if side not in self._causes:
            self._causes[side] = self._first_cause(side, verdict.violation.kind)
            return self._causes[side]
        cause = self._causes[side]
        dialect = None if cause is None else cause.dialect or cause.partial_dialect
        data = self.lines[sent_index].data if self.lines else b""
        return cause if dialect is not None and DialectReader(dialect).feed(data) not in {b"", data} else None

    def _first_cause(self, side: Peer, kind: FoundKind | None) -> Cause | None:
        log = [*self._wire_log]
        while log and side == CLIENT and log[-1][0] == HOUSE:  # the house has answered what the client did not mean
            log.pop()
        again = self._said_again(log)
        if kind is FoundKind.SILENCE:
            again.on_timeout(inf)
        if not any(fault.verdict.party == side for fault in again.faults):
            return None
        cause = self._likely_cause(side, log, again)
        is_about_amount = side == HOUSE and kind is FoundKind.MESSAGE and hasattr(self.lines[-1].message, "coins")
        if cause is None and is_about_amount:  # an amount shows in which order the house has read those of the client
            return byte_order_cause(self._room, again, log, self.known_options, strict=self._strict)
        return cause

    def _likely_cause(self, side: Peer, log: WireLog, again: Conversation) -> Cause | None:
        options = self.known_options
        return likely_cause(
            self._room, None, b"", again, wire_log=log, known_options=options, strict=self._strict, side=side
        )

    def _said_again(self, log: WireLog) -> Conversation:
        """A conversation with all that was said, which `forget` has dropped."""
        again = Conversation(self._room, self.known_options, strict=self._strict)
        for by, data in log:
            again.on_data(by, data, 0.0)
        return again
