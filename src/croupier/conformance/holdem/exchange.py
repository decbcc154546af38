"""The exchange of one case with a server: requests of its roles, the dialogue, and recorded deviations."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Final

from msgspec.structs import replace

from croupier.conformance.channel.delivery import WHOLE, Delivery
from croupier.conformance.conversation import DialogueLine
from croupier.conformance.holdem.deviations import CaseAborted, HttpDeviation, deviation
from croupier.conformance.holdem.endpoint import JoinedSeat, ServerUnderTest, ServerUser
from croupier.conformance.holdem.hidden_cards import leaked_hand
from croupier.conformance.holdem.http_client import (
    ConnectionEnded,
    ConnectionWasReset,
    HttpClient,
    ResponseCut,
    ResponseError,
    ResponseTimeout,
)
from croupier.conformance.results import Outcome
from croupier.core.errors import FoundKind
from croupier.core.http_transcript import NOBODY
from croupier.core.referee import CLIENT, HOUSE
from croupier.http.wire import HttpMessage, ReceivedResponse, SentRequest
from croupier.net.event_loop import run_together

REDIRECT_STATUSES: Final = frozenset({301, 302, 307, 308})

JSON_TYPE: Final[Mapping[str, str]] = {"Content-Type": "application/json"}

MAX_TURN_FRACTION: Final = 0.8
"""After this part of a turn without a request the turn may have expired."""


class Exchange:
    """What the roles of a case (`ann`), who are users with fresh names (`ann-034210988`), send and receive.

    `lines` is the dialogue. `deviations` has every deviation, whether or not the case is about its clause. `responses`
    are in their order, each with the role to which it was sent, and `redirects` describes those that were followed.
    `last_exchange` is the last request with its response.
    """

    def __init__(self, server: ServerUnderTest) -> None:
        self.server = server
        self.dialect = server.dialect
        self.lines: list[DialogueLine] = []
        self.deviations: list[HttpDeviation] = []
        self.users: dict[str, ServerUser] = {}
        self.joined_seats: list[JoinedSeat] = []
        self.has_timed_out = False  # whether a response timed out
        self.was_reset = False  # whether a response is missing that a reset may have discarded
        self.responses: list[tuple[str, ReceivedResponse]] = []
        self.redirects: list[str] = []
        self._last_request = SentRequest("", "")
        self.last_exchange: tuple[SentRequest, ReceivedResponse] | None = None
        self._last_request_at = 0.0  # the time of the last request
        self._last_change_at = 0.0  # the time of the last request that may have begun a turn
        self._longest_gap_seconds = 0.0  # the longest time after such a request
        self._clients: dict[str, HttpClient] = {}
        self._busy_roles: set[str] = set()

    # Deviations.

    def add_deviation(
        self, clause: str, expected: str, actual: str, outcome: Outcome | None = None, **more: Any
    ) -> HttpDeviation:
        """Record a deviation with `more` fields; without an outcome the clause decides it."""
        return self.add_deviations([deviation(clause, expected, actual, outcome, **more)])[0]

    def add_deviations(self, found: Iterable[HttpDeviation]) -> Sequence[HttpDeviation]:
        """Record deviations that the dialogue so far shows; return them."""
        shown = [replace(each, line_count=len(self.lines), exchange=self.last_exchange) for each in found]
        self.deviations += shown
        return shown

    def add_status_deviation(
        self, clause: str, status: int, response: ReceivedResponse, outcome: Outcome | None = None, what: str = ""
    ) -> None:
        """Record a response with another status than required; `what` describes the request."""
        self.add_deviation(clause, f"status {status}{what}", response.summary, outcome, wanted_status=status)

    @property
    def turn_may_have_expired(self) -> bool:
        """Whether so much time passed, on either side, that a turn may have expired."""
        return self._longest_gap_seconds > MAX_TURN_FRACTION * self.server.settings.turn_seconds

    def add_response_error(self, error: ResponseError, expected: str = "an HTTP/1.1 response") -> None:
        """Record that no valid response was received. One that a reset has cut is no deviation."""
        self.was_reset |= isinstance(error, ConnectionWasReset | ResponseCut)
        if isinstance(error, ResponseCut):
            return
        kind = FoundKind.CLOSED if isinstance(error, ConnectionEnded) else FoundKind.MESSAGE
        if isinstance(error, ResponseTimeout):
            kind = FoundKind.SILENCE
            self.has_timed_out = True
            self.server.answer_timeout.record_silence()
        if kind is FoundKind.MESSAGE and self.last_exchange is not None and self.last_exchange[0].method == "HEAD":
            self.add_deviation("holdem-1.4", "nothing after the head of the response to HEAD", f"{error}", Outcome.FAIL)
        else:
            self.add_deviation("holdem-1.8", expected, f"{error}", Outcome.FAIL, kind=kind)

    def check_hidden_cards(
        self, hands: Mapping[str, Sequence[str]], first_response: int = 0, board: Sequence[str] = ()
    ) -> None:
        """Search the responses from number `first_response` on for the hole cards of another role.

        `hands` are the hole cards of the roles in the running hand.
        """
        for role, response in self.responses[first_response:]:
            others = {other: hand for other, hand in hands.items() if other != role}
            player, hand = leaked_hand(response.body, {*hands.get(role, ()), *board}, others)
            if player:
                found = f"{', '.join(hand)} of {player}"
                self.add_deviation("holdem-5.6", f"no hole cards of others for {role}", found)
                return

    # Requests.

    async def send(
        self,
        role: str,
        request: SentRequest,
        *,
        delivery: Delivery = WHOLE,
        timeout: float | None = None,
    ) -> tuple[SentRequest, ReceivedResponse]:
        """Send a request as a role, and follow redirects; return the last request with its response.

        Raises CaseAborted if no valid response arrives, after recording a deviation unless a reset has cut it.
        """
        client = self.idle_client(role)
        self.record_request(request, client)
        self._busy_roles.add(role)
        try:
            response = await client.request(request, delivery=delivery, timeout=timeout)
        except ResponseError as error:
            self.add_response_error(error)
            raise CaseAborted from None
        finally:
            self._busy_roles.discard(role)
        response = self.record_response(response)
        self.responses.append((role, response))
        where = response.headers.get("location", "")
        if response.status in REDIRECT_STATUSES and where.startswith("/") and where != request.path:
            self.redirects.append(f"{response.status}, and {request.path} is at {where}")
            redirected = SentRequest(request.method, where, request.headers, request.body)
            return await self.send(role, redirected, delivery=delivery, timeout=timeout)
        return request, response

    async def send_at_once(self, requests: Sequence[SentRequest]) -> Sequence[ReceivedResponse]:
        """Send each request on a connection of its own, all at the same time; return the responses.

        Raises CaseAborted, after recording a deviation, unless a valid response arrives on each.
        """
        clients = [self.server.new_client() for _ in requests]
        async with AsyncExitStack() as connections:
            for client, request in zip(clients, requests, strict=True):
                connections.push_async_callback(client.close)
                self.record_request(request, client)
            seconds = self.server.answer_timeout.for_answers(len(requests))  # it may answer one after the other
            asked = [each.request(sent, timeout=seconds) for each, sent in zip(clients, requests, strict=True)]
            try:
                responses = await run_together(*asked)
            except ResponseError as error:
                self.add_response_error(error, f"{len(clients)} answers on {len(clients)} connections")
                raise CaseAborted from None
        return [self.record_response(response) for response in responses]

    def record_request(self, request: SentRequest, client: HttpClient, omitted_bytes: int = 0) -> bytes:
        """Add a request that a client sends to the dialogue, without its last `omitted_bytes`; return its bytes."""
        data = request.encode(client.host)
        data = data[: len(data) - omitted_bytes]
        self._last_request = request
        self._add_line(CLIENT, data, request)
        return data

    def record_response(self, response: ReceivedResponse) -> ReceivedResponse:
        """Add a response to the dialogue as received; return it as the detected dialect reads it."""
        self.server.answer_timeout.record_answer(asyncio.get_running_loop().time() - self._last_request_at)
        request = self._last_request
        self.server.features.record_response(request, response)
        self.last_exchange = request, response
        self._add_line(HOUSE, response.data, response)
        dialect = self.server.detected_dialect
        return response if dialect is None else dialect.read(response, request.target)

    def _add_line(self, side: int, data: bytes, message: HttpMessage) -> None:
        now = asyncio.get_running_loop().time()
        if side == CLIENT:
            self._last_request_at = now
        if self.joined_seats:
            self._longest_gap_seconds = max(self._longest_gap_seconds, now - self._last_change_at)
        self.lines.append(DialogueLine(side, data, message, now))

    def idle_client(self, role: str) -> HttpClient:
        """Return a client of a role that is not waiting for a response."""
        name = role if role not in self._busy_roles else f"{role}/{len(self._clients)}"
        if name not in self._clients:
            self._clients[name] = self.server.new_client()
        return self._clients[name]

    def with_credentials(self, role: str, headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """Return headers with the credentials of the role, and the Content-Type of JSON, unless others are given."""
        if self.server.settings.needs_content_type:
            headers = {**JSON_TYPE, **headers}
        if role == NOBODY or "Authorization" in headers:
            return tuple(headers.items())
        return (self.user(role).auth_header, *headers.items())

    def user(self, role: str) -> ServerUser:
        """Return the user who plays a role; a new one has a name, but is not registered."""
        if role not in self.users:
            self.users[role] = ServerUser(self.server.new_name(role))
        return self.users[role]
