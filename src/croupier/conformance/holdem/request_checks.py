"""Judges the requests of a bot: each one that a client should not send, with the violated clause."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from croupier.conformance.channel.http import ReceivedResponse
from croupier.conformance.conversation import DialogueLine
from croupier.conformance.holdem.deviations import Deviation, default_outcome
from croupier.conformance.holdem.test_server import HoldemTestServer, RecordedRequest
from croupier.conformance.results import Outcome
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Received
from croupier.rooms.holdem.player import Options, Player
from croupier.rooms.holdem.referee import invalid_bet_clause
from croupier.rooms.holdem.wire import DECODE_ACT_BODY, Act, parse_act

CLAUSE_PATTERN: Final = re.compile(r"holdem-\d+\.\d+")

SUGGESTED_POLL_SECONDS: Final = 0.05
"""The interval between two reads that the document suggests."""

MAX_POLL_BURST: Final = 10
"""The number of consecutive reads over which the poll rate is measured; shorter bursts are allowed."""

EXPECTED_REQUESTS: Final[Mapping[str, str]] = {
    "holdem-2.5": "the name and the password of the new user",
    "holdem-2.7": "its own name and password",
    "holdem-2.8": "its own name and password, or none",
    "holdem-3.7": "one request to join a game",
    "holdem-4.4": "an act as in the document",
    "holdem-4.13": "an act in its turn",
    "holdem-4.14": "one act per turn",
    "holdem-7.4": "an act in its turn",
    "holdem-7.5": "its own name and password",
    "holdem-8.3": "a path of the document",
    "holdem-8.4": "a game that exists",
    "holdem-8.5": "its own player, while it is in the game",
    "holdem-8.6": "the method of the path",
    "holdem-8.8": "its own player",
    "holdem-9.5": "a time to wait in seconds",
    "holdem-9.12": "whole numbers for a page of games",
}
"""What a client should send, by the clause with which the request is refused."""

LOGIN_CLAUSES: Final = frozenset({"holdem-2.7", "holdem-2.8", "holdem-7.5"})
"""Refusals of credentials."""

REFUSAL_OUTCOMES: Final[Mapping[str, Outcome]] = {"holdem-8.6": Outcome.FAIL, "holdem-3.7": Outcome.CHOICE}
"""The outcome of a refused request where its clause, which is about servers, does not decide it.

The document names a method for every path, and does not forbid a bot to join again.
"""

EXCUSABLE_CLAUSES: Final = frozenset(
    {"holdem-2.6", "holdem-7.3", "holdem-2.9", "holdem-3.15", "holdem-3.3", "holdem-9.10", "holdem-9.11"}
)
"""Refusals that are not the client's fault: the name is taken, the server is busy, or a limit applies."""


INJECTED_FAULT: Final = ReceivedResponse(0, {}, b"")
"""Stands for a response that the service has not given."""


def dialogue_lines(test_server: HoldemTestServer) -> list[DialogueLine]:
    """Return the dialogue of a bot: two lines per request, without reads that showed nothing new."""
    lines: list[DialogueLine] = []
    before = b""
    for recorded in test_server.requests:
        shown = recorded.response_data
        if recorded.request.method == "GET" and shown == before:
            continue
        before = shown
        lines.append(DialogueLine(CLIENT, recorded.data, recorded.request, recorded.at))
        if shown:
            lines.append(DialogueLine(HOUSE, shown, recorded.response or INJECTED_FAULT, recorded.at))
    return lines


def judge_requests(test_server: HoldemTestServer, *, excused_clauses: Sequence[str] = ()) -> Iterator[Deviation]:
    """Yield what the bot did wrong. `excused_clauses` are clauses that the case provokes it to break."""
    for data in test_server.malformed:
        yield _deviation("holdem-1.1", "a request of HTTP/1.1", repr(data[:80]), Outcome.FAIL, got=data[:400])
    doubtful = False
    for recorded in test_server.requests:
        if (hosts := _host_count(recorded)) != 1:
            yield _deviation("holdem-1.1", "one Host header", f"{hosts}", Outcome.FAIL, got=recorded.data)
        if recorded.response is None or recorded.is_executed_unanswered:
            doubtful = doubtful or recorded.is_executed_unanswered
            continue
        for deviation in _judge_request(test_server, recorded, doubtful=doubtful):
            if deviation.clause not in excused_clauses:
                yield deviation
    yield from _judge_poll_rate(test_server.requests)


def _host_count(request: RecordedRequest) -> int:
    """The number of Host headers, 1 for a request of HTTP/1.0, which needs none."""
    if not request.data.partition(b"\r\n")[0].endswith(b"HTTP/1.1"):
        return 1
    return sum(name.lower() == "host" for name, _ in request.request.headers)


def _deviation(
    clause: str, expected: str, actual: str, outcome: Outcome | None = None, *, got: bytes = b""
) -> Deviation:
    return Deviation(clause, outcome or default_outcome(clause), expected, actual, None, got)


def _judge_request(test_server: HoldemTestServer, request: RecordedRequest, *, doubtful: bool) -> Iterator[Deviation]:
    response, sent = request.response, request.request
    assert response is not None, "a request without a response is not judged"
    shown = request.data
    if response.status >= 400:
        clause = match[0] if (match := CLAUSE_PATTERN.match(response.body.decode(errors="replace"))) else "holdem-8.1"
        if clause in EXCUSABLE_CLAUSES or (doubtful and clause in {"holdem-4.13", "holdem-7.4", "holdem-3.7"}):
            return
        if clause == "holdem-4.13" and _is_repeated_act(test_server, request):
            clause = "holdem-4.14"
        elif clause in {"holdem-8.4", "holdem-8.5", "holdem-4.13", "holdem-7.4"} and not _could_know_better(
            test_server, request
        ):
            return
        expected = EXPECTED_REQUESTS.get(clause, "a request that is not refused")
        if clause in LOGIN_CLAUSES and _is_registered_later(test_server, request):
            return
        outcome = REFUSAL_OUTCOMES.get(clause)
        yield _deviation(clause, expected, f"{sent.method} {sent.path}: {response.summary}", outcome, got=shown)
    elif (reason := response.headers.get("x-fold-reason")) and not doubtful:  # it may repeat what was executed
        clause, expected = _invalid_bet_clause(request), "a valid bet"
        if _is_repeated_act(test_server, request):
            clause, expected = "holdem-4.14", EXPECTED_REQUESTS["holdem-4.14"]
        elif not _has_read_own_turn(test_server, request):
            clause, expected = "holdem-4.13", EXPECTED_REQUESTS["holdem-4.13"]
        yield _deviation(clause, expected, f"{reason} in {sent.body!r}", Outcome.FAIL, got=shown)
    is_act = sent.method == "POST" and request.path[-1:] == ["acts"] and response.status < 300
    if is_act and (unusual := find_unusual_keys(sent.body)):
        yield _deviation(unusual.clause, unusual.allowed, unusual.found, Outcome.NON_STRICT)


def find_unusual_keys(body: bytes) -> Violation | None:
    """Return the violation of an act with keys that the house accepts, but the document does not have."""
    try:
        DECODE_ACT_BODY(body)
    except ValueError:
        return Violation("holdem-4.2", repr(body[:80]), "the keys action and betAmount, and no others")
    return None


def _invalid_bet_clause(request: RecordedRequest) -> str:
    """Return the clause that an invalid bet violates, from the Game at its arrival."""
    act = parse_act(request.user, "", "", request.request.body)
    assert isinstance(act, Act), "a malformed act is refused"
    assert request.game is not None, "an act in no game is refused"
    player = Player(Options(request.user))
    player.on(Received(HOUSE, request.game), 0.0)
    assert player.view is not None, "an act of a player without cards is refused"
    return invalid_bet_clause(player.view.legal, act.amount, player.view.stack) or "holdem-4.12"


def _is_registered_later(test_server: HoldemTestServer, request: RecordedRequest) -> bool:
    """Whether the bot makes a user of these credentials afterwards: they are its own, and could have been known."""
    own = _authorization(request)
    return any(
        one.path == ["users"] and one.at >= request.at and _authorization(one) == own for one in test_server.requests
    )


def _authorization(request: RecordedRequest) -> str:
    return next((value for name, value in request.request.headers if name.lower() == "authorization"), "")


def _could_know_better(test_server: HoldemTestServer, request: RecordedRequest) -> bool:
    """Whether the bot could know that the request is invalid: its last read may be outdated."""
    if not _was_shown(test_server, request) or _has_left(test_server, request):
        return True
    return request.request.method == "GET" or not _has_read_own_turn(test_server, request)


def _was_shown(test_server: HoldemTestServer, request: RecordedRequest) -> bool:
    """Whether the server has shown the game and the player of a path before."""
    shown = b"".join(one.response_data for one in test_server.requests if one.at < request.at)
    return all(f'"{guid}"'.encode() in shown or f"/{guid}".encode() in shown for guid in request.path[1:4:2])


def _has_left(test_server: HoldemTestServer, request: RecordedRequest) -> bool:
    """Whether the player of a path has left the game by its own request, and has not joined it again."""
    changes = [
        one.request.method
        for one in test_server.requests
        if one.at < request.at
        and one.response is not None
        and one.response.status < 300
        and (one.request.method, one.path) in [("DELETE", request.path[:4]), ("POST", request.path[:3])]
    ]
    return changes[-1:] == ["DELETE"]


def _has_read_own_turn(test_server: HoldemTestServer, request: RecordedRequest) -> bool:
    """Whether the last read before a request showed that it was the turn of its user."""
    reads = [one for one in test_server.requests if one.at < request.at and one.request.method == "GET"]
    if not reads or reads[-1].response is None:
        return False
    turn = f'"turn":{{"playerID":"{test_server.house.guid_of(request.user)}"'.encode()
    return turn in reads[-1].response.body or turn in reads[-1].response_data


def _is_repeated_act(test_server: HoldemTestServer, request: RecordedRequest) -> bool:
    """Whether an act follows an accepted act without a read in between."""
    own = [
        one for one in test_server.requests if one.user == request.user and one.at <= request.at and one is not request
    ]
    if not own or own[-1].path[-1:] != ["acts"]:
        return False
    before = own[-1].response
    return before is not None and before.status < 300


def _judge_poll_rate(recorded_requests: Sequence[RecordedRequest]) -> Iterator[Deviation]:
    """Report a bot that reads more often than the document suggests."""
    reads = [
        recorded for recorded in recorded_requests if recorded.request.method == "GET" and not recorded.is_long_poll
    ]
    for first, last in zip(reads, reads[MAX_POLL_BURST:], strict=False):
        if last.at - first.at < MAX_POLL_BURST * SUGGESTED_POLL_SECONDS * 0.8 and not any(
            first.at < one.at < last.at for one in _changing_requests(recorded_requests)
        ):
            rate = (last.at - first.at) / MAX_POLL_BURST
            yield _deviation("holdem-9.10", "50 ms between two reads", f"{1000 * rate:.0f} ms", Outcome.CHOICE)
            return


def _changing_requests(recorded_requests: Sequence[RecordedRequest]) -> Sequence[RecordedRequest]:
    return [recorded for recorded in recorded_requests if recorded.request.method != "GET"]
