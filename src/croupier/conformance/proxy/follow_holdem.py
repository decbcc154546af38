"""Follows a proxied HTTP connection between a hold'em client and a house, and judges both."""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from croupier.conformance.conversation import Fault
from croupier.conformance.proxy.connection_log import ConnectionLog
from croupier.conformance.proxy.follow_exchange import ExchangeChecker, PendingRequest, SideViolation, summarise_games
from croupier.conformance.proxy.follow_tables import FollowedTable
from croupier.conformance.proxy.http_reader import (
    HttpParseError,
    ObservedResponse,
    RequestReader,
    ResponseReader,
    StreamPart,
)
from croupier.core.errors import FoundKind, Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Peer

DELIVERY_CLAUSE: Final = "holdem-1.8"
"""The clause that requests are answered in order."""

MAX_PENDING_REQUESTS: Final = 1000
"""A connection with more unanswered requests is no longer followed."""


class HoldemConnection(ConnectionLog):
    """One proxied connection. `checker` is shared by all connections; an answer may take `answer_timeout` seconds."""

    def __init__(self, checker: ExchangeChecker, answer_timeout: float = 5.0, *, strict: bool = False) -> None:
        super().__init__(strict=strict)
        self._checker = checker
        self._answer_timeout = answer_timeout
        self._requests = RequestReader()
        self._answers = ResponseReader()
        self._pending: deque[PendingRequest] = deque()
        self._deadline: float | None = None
        self._answer_count = 0
        self._is_over = False
        self._client_has_ended = False

    @property
    def deadline(self) -> float | None:
        """When a missing answer becomes a fault."""
        return None if self._is_over or self._client_has_ended else self._deadline

    def on_data(self, side: Peer, data: bytes, now: float) -> Sequence[Fault]:
        """Process bytes of one end; return the new faults."""
        before = len(self.faults)
        try:
            if side == CLIENT:
                self._on_request_data(data, now)
            else:
                self._on_response_data(data, now)
        except HttpParseError as error:
            violation = Violation("holdem-1.1", f"what is no HTTP/1.1 ({error})", "HTTP/1.1")
            self.add_line(side, violation, now)
            self.add_fault(side, violation)
            self._end()
        if self._requests.is_stopped or len(self._pending) > MAX_PENDING_REQUESTS:
            self._answers.is_stopped = True
            self._end()
        return self.faults_since(before)

    def _on_request_data(self, data: bytes, now: float) -> None:
        if self._is_over:
            return
        for request in self._requests.feed(data, now):
            self.add_line(CLIENT, request, now)
            self._answers.pending_requests.append(request)
            self._pending.append(self._checker.on_request(request))
            if len(self._pending) == 1:
                self._set_deadline(now)

    def _on_response_data(self, data: bytes, now: float) -> None:
        if self._is_over:
            return
        for response in self._answers.feed(data, now):
            self._on_response(response, now)
        if self._deadline is not None:
            self._set_deadline(now)

    def _on_response(self, response: ObservedResponse | StreamPart, now: float) -> None:
        shown = replace(response, body_summary=summarise_games(response, self._checker.dialect))
        self.add_line(HOUSE, shown, now)
        if isinstance(response, StreamPart):
            if self._pending:
                first = self._pending[0]
                self._add_violations(first.table, self._checker.on_stream_part(first, response, self.add_tolerated))
            return
        if not self._pending:
            if response.status != 408:  # 408 may be sent without a request
                self.add_fault(
                    HOUSE, Violation(DELIVERY_CLAUSE, f"{response.status} to nothing", "answers to what is asked")
                )
            return
        self._answer_count += 1
        pending = self._pending.popleft()
        self._add_violations(pending.table, self._checker.on_response(pending, response, self.add_tolerated))
        self._deadline = None
        if self._pending:
            self._set_deadline(now)

    def _set_deadline(self, now: float) -> None:
        """Set the deadline of the next answer."""
        request = self._pending[0].observed if self._pending else None
        if request is None:
            self._deadline = None
        elif request.wait_seconds is None:
            self._deadline = None if self._answers.has_headers else now + self._answer_timeout
        else:
            self._deadline = now + self._answer_timeout + request.wait_seconds

    def _add_violations(self, table: FollowedTable | None, found: Iterable[SideViolation]) -> None:
        """Add violations as faults, and count the hands that have begun."""
        hands = 0 if table is None else table.hands
        for side, violation in found:
            self.add_fault(side, violation)
        self.games += 0 if table is None else table.hands - hands

    def on_end_of_input(self, side: Peer, now: float) -> Sequence[Fault]:
        """Process the end of input of one end."""
        if side == HOUSE:
            return self.on_disconnect(HOUSE, now)
        self._client_has_ended = True
        return ()

    def on_disconnect(self, side: Peer, now: float) -> Sequence[Fault]:
        """Process the disconnect of one end."""
        before = len(self.faults)
        if side == HOUSE and not self._is_over:
            for response in self._answers.finish(now):
                self._on_response(response, now)
            # A server may close an idle connection at any time, even while a request is on its way.
            is_stream = bool(self._pending) and self._pending[0].observed.wait_seconds is None
            if (
                self._pending
                and not self._client_has_ended
                and not is_stream
                and (self._answers.has_started or not self._answer_count)
            ):
                self.add_fault(
                    HOUSE,
                    Violation(DELIVERY_CLAUSE, "the end of the connection", f"the answer to {self._first_request}"),
                )
        self._end()
        return self.faults_since(before)

    def on_timeout(self, now: float) -> Sequence[Fault]:
        """Process a timeout."""
        before = len(self.faults)
        if self._deadline is not None and self._deadline <= now:
            self._deadline = None
            self.add_fault(
                HOUSE,
                Violation(DELIVERY_CLAUSE, "silence", f"the answer to {self._first_request}", kind=FoundKind.SILENCE),
            )
        return self.faults_since(before)

    @property
    def _first_request(self) -> str:
        request = self._pending[0].observed
        return f"{request.method} {request.path}"

    def _end(self) -> None:
        """Stop following this connection."""
        self._is_over = True
        for pending in self._pending:
            pending.abandon()
        self._pending.clear()
        self._answers.pending_requests.clear()

    def incomplete(self, side: Peer) -> bytes:
        """Return the beginning of an incomplete request."""
        return self._requests.incomplete if side == CLIENT else b""
