"""Follows a tapped HTTP connection between a hold'em client and a house, and judges both."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace

from croupier.conformance.tap.exchange import Departure, Exchange
from croupier.conformance.tap.judge_exchange import ExchangeChecker, HoldemPending, summarise_games
from croupier.conformance.tap.observed_http import (
    STREAM_SEPARATORS,
    ObservedRequest,
    ObservedResponse,
    StreamPart,
    event_data,
    observe_request,
    without_secrets,
)
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Peer
from croupier.core.spans import Span
from croupier.http.wire import ReceivedResponse, RequestReader, ResponseReader, SentRequest

DELIVERY_CLAUSE: Final = "holdem-1.8"
"""The clause that requests are answered in order."""

TLS_HANDSHAKE: Final = b"\x16"
"""The first byte of a TLS client (RFC 8446, 5.1)."""

TLS_ANSWERS: Final = (b"\x15\x03", TLS_HANDSHAKE + b"\x03")
"""The first bytes of a TLS server: an alert, as to a client without TLS, or its part of the handshake."""

MAX_SHOWN_BYTES: Final = 80
"""At most this many bytes of what is no message are shown."""


class HoldemConnection(Exchange[HoldemPending]):
    """One tapped connection. `checker` is shared by all connections; an answer may take `answer_timeout` seconds.

    Nothing is read after what is no HTTP/1.1, and after TLS has begun.
    """

    SILENCE_CLAUSE = DELIVERY_CLAUSE
    END_CLAUSE = DELIVERY_CLAUSE

    def __init__(self, checker: ExchangeChecker, answer_timeout: float = 5.0, *, strict: bool = False) -> None:
        super().__init__(answer_timeout, strict=strict)
        self._checker = checker
        self._requests = RequestReader()
        self._responses = ResponseReader()
        self._answer_count = 0
        self._heard: set[Peer] = set()  # the ends that have sent anything

    def incomplete(self, side: Peer) -> bytes:
        """The first line of an incomplete message; the rest may contain a password. Streams are never complete."""
        reader = self._requests if side == CLIENT else self._responses
        is_stream = side == HOUSE and self._stream_separator() is not None
        return b"" if reader.is_stopped or is_stream else _first_line(reader.incomplete)

    def _read(self, side: Peer, data: bytes, now: float) -> Iterator[Span[Any]]:
        is_first = side not in self._heard
        self._heard.add(side)
        self._checker.has_house_spoken |= side == HOUSE
        if is_first and not self._is_over and self._speaks_tls(side, data):
            self._requests.is_stopped = self._responses.is_stopped = True
            self._end()
        if not self._is_over:
            yield from self._read_http(side, data, now)

    def _speaks_tls(self, side: Peer, first: bytes) -> bool:
        """Whether the first bytes of an end are those of TLS; reports a client that has not begun with it."""
        if side == CLIENT and first[:1] == TLS_HANDSHAKE:
            self.unread_reason = "it uses TLS and was not read"
            return True
        if side == HOUSE and first.startswith(TLS_ANSWERS):
            violation = Violation("holdem-1.1", "HTTP without TLS", "TLS, as the house speaks it")
            self._add_departure(Departure(CLIENT, violation))
            return True
        return False

    def _read_http(self, side: Peer, data: bytes, now: float) -> Iterator[Span[Any]]:
        for span in self._requests.feed(data) if side == CLIENT else self._read_responses(data, now):
            yield span
            if self._is_over:
                return
        if side == HOUSE and self._deadline is not None:
            self._start_clock(now)

    def _read_responses(self, data: bytes, now: float) -> Iterator[Span[Any]]:
        for span in self._responses.feed(data):
            yield from self._split_response(span, now)
        if self._responses.is_stopped:  # another protocol follows
            self._end()
        elif (separator := self._stream_separator()) is not None:
            yield from self._stream_parts(self._responses.take_parts(separator), len(data), now)

    def _stream_separator(self) -> bytes | None:
        """The separator of the parts of the response that arrives, None if it is no stream."""
        return _separator(self._responses.headers) if self._responses.has_headers else None

    def _split_response(self, span: Span[ReceivedResponse], now: float) -> Iterator[Span[Any]]:
        """Yield the last parts of a streamed response, and the response."""
        response = span.message
        if not isinstance(response, Violation) and (separator := _separator(response.headers)):
            *parts, rest = response.body.split(separator)
            yield from self._stream_parts(parts, span.end, now)
            span = span._replace(message=replace(response, body=rest))
        yield span

    def _stream_parts(self, parts: Iterable[bytes], end: int, now: float) -> Iterator[Span[StreamPart]]:
        request = self._pending[0].request if self._pending else None
        yield from (Span(data, StreamPart(request, data, now), end) for data in event_data([*parts]))

    def _on_message(self, side: Peer, span: Span[Any], now: float) -> None:
        match span.message:
            case Violation() as violation:
                self._add_line(side, _first_line(span.data), violation, now)
                self._add_departure(Departure(side, violation))
                self._end()
            case SentRequest() as request:
                self._on_request(observe_request(request, now), span.data, now)
            case ReceivedResponse(status, headers, body):
                asked = self._pending[0].request if self._pending else None
                self._on_response(ObservedResponse(asked, status, headers, body, now), span.data, now)
            case StreamPart() as part:
                self._add_line(HOUSE, span.data, self._summarised(part), now)
                if self._pending:
                    pending = self._pending[0]
                    self._add_departures(pending.game, self._checker.on_stream_part(pending, part))

    def _on_request(self, request: ObservedRequest, data: bytes, now: float) -> None:
        self._add_line(CLIENT, without_secrets(data), request, now)
        self._responses.methods.append(request.method)
        self._ask(self._checker.on_request(request), now)

    def _on_response(self, response: ObservedResponse, data: bytes, now: float) -> None:
        self._add_line(HOUSE, without_secrets(data), self._summarised(response), now)
        pending = self._take_answered(now)
        if pending is not None:
            self._answer_count += 1
            self._add_departures(pending.game, self._checker.on_response(pending, response))
        elif response.status != 408:  # 408 may be sent without a request
            violation = Violation(DELIVERY_CLAUSE, f"{response.status} to nothing", "answers to what is asked")
            self._add_departure(Departure(HOUSE, violation))

    def _summarised[M: (ObservedResponse, StreamPart)](self, message: M) -> M:
        return replace(message, body_summary=summarise_games(message, self._checker.dialect))

    def _on_disconnect(self, side: Peer, now: float) -> None:
        if side == HOUSE and not (self._is_over or self.is_house_cut):
            for span in self._responses.finish():
                self._on_message(HOUSE, span, now)
        if side == HOUSE and self._pending and not self._checker.has_house_spoken:
            self.unread_reason = "the house has never answered; it may expect TLS"
            self._end()
        super()._on_disconnect(side, now)

    # Requests.

    def _extra_seconds(self, pending: HoldemPending) -> float | None:
        seconds = pending.request.wait_seconds
        return 0.0 if seconds is None and not self._responses.has_headers else seconds

    def _may_end(self) -> bool:
        """Whether this is the end of a stream, or of an idle connection while a request was on its way."""
        is_stream = self._pending[0].request.wait_seconds is None
        return is_stream or (self._answer_count > 0 and not self._responses.incomplete)

    def _end(self) -> None:
        super()._end()
        self._responses.methods.clear()


def _first_line(data: bytes) -> bytes:
    return without_secrets(data[:MAX_SHOWN_BYTES].partition(b"\n")[0].rstrip(b"\r"))


def _separator(headers: Mapping[str, str]) -> bytes | None:
    """The separator of the parts of a response, None if it is no stream."""
    return STREAM_SEPARATORS.get(headers.get("content-type", "").partition(";")[0].strip().lower())
