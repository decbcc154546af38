"""Judges the requests of a bot: each one that a client should not send, with the violated clause."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.holdem.deviations import HttpDeviation, deviation
from croupier.conformance.holdem.refusals import EXPECTED_REQUESTS, judge_act_keys, judge_refusal, refusal_clause
from croupier.conformance.holdem.test_server import HoldemTestServer, RecordedRequest
from croupier.conformance.results import Outcome
from croupier.core.referee import CLIENT, HOUSE
from croupier.http.wire import ReceivedResponse
from croupier.rooms.holdem.observed.bet_clauses import invalid_bet_clause
from croupier.rooms.holdem.wire import Act, parse_act

SUGGESTED_POLL_SECONDS: Final = 0.05
"""The interval between two reads that the document suggests."""

MAX_POLL_BURST: Final = 10
"""The number of consecutive reads over which the poll rate is measured; shorter bursts are allowed."""

MAX_REPEATS: Final = 20
"""A bot that is refused this often in a row, and sends nothing else, does not go on."""

LOGIN_CLAUSES: Final = frozenset({"holdem-2.7", "holdem-2.8", "holdem-7.5"})
"""Refusals of credentials."""

TOTAL_FOR_AMOUNT: Final = Cause(
    "it seems to bet the total of the round: betAmount is what it adds", is_guess=True, clause="holdem-4.5"
)
"""The cause of an invalid bet of as much as has to be matched in all."""

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


def lines_until(lines: Sequence[DialogueLine], data: bytes) -> Sequence[DialogueLine]:
    """Return the dialogue until this very request and its response: the bot may have sent the same bytes before."""
    end = next((number for number, line in enumerate(lines, 1) if line.data is data), len(lines))
    return lines[: end + 1]


def judge_requests(test_server: HoldemTestServer, *, excused_clauses: Sequence[str] = ()) -> Iterator[HttpDeviation]:
    """Yield what the bot did wrong. `excused_clauses` are clauses that the case provokes it to break."""
    for data in test_server.malformed:
        yield deviation("holdem-1.1", "a request of HTTP/1.1", repr(data[:80]), Outcome.FAIL, got=data[:400])
    doubtful = False
    for recorded in test_server.requests:
        if (hosts := _host_count(recorded)) != 1:
            yield deviation("holdem-1.1", "one Host header", f"{hosts}", Outcome.FAIL, got=recorded.data)
        if recorded.response is None or recorded.is_executed_unanswered:
            doubtful = doubtful or recorded.is_executed_unanswered
            continue
        for found in _judge_request(test_server, recorded, doubtful=doubtful):
            if found.clause not in excused_clauses:
                yield found
    yield from _judge_poll_rate(test_server.requests)


def _host_count(request: RecordedRequest) -> int:
    """The number of Host headers, 1 for a request of HTTP/1.0, which needs none."""
    if not request.data.partition(b"\r\n")[0].endswith(b"HTTP/1.1"):
        return 1
    return sum(name.lower() == "host" for name, _ in request.request.headers)


def _judge_request(
    test_server: HoldemTestServer, request: RecordedRequest, *, doubtful: bool
) -> Iterator[HttpDeviation]:
    response, sent = request.response, request.request
    assert response is not None, "a request without a response is not judged"
    shown = request.data
    if response.status >= 400:
        clause = refusal_clause(response.body) or "holdem-8.1"
        if doubtful and clause in {"holdem-4.13", "holdem-7.4", "holdem-3.7"}:
            return
        if clause == "holdem-4.13" and _is_repeated_act(test_server, request):
            clause = "holdem-4.14"
        elif clause in {"holdem-8.4", "holdem-8.5", "holdem-4.13", "holdem-7.4"} and not _could_know_better(
            test_server, request
        ):
            return
        if clause in LOGIN_CLAUSES and _is_registered_later(test_server, request):
            return
        if refused := judge_refusal(clause, f"{sent.method} {sent.path}: {response.summary}"):
            outcome = Outcome.CHOICE if _leaves_again(test_server, request, clause) else refused.outcome
            yield replace(refused, outcome=outcome, got=shown)
    elif (reason := response.headers.get("x-fold-reason")) and not doubtful:  # it may repeat what was executed
        clause, expected = _invalid_bet_clause(request), "a valid bet"
        if _is_repeated_act(test_server, request):
            clause, expected = "holdem-4.14", EXPECTED_REQUESTS["holdem-4.14"]
        elif not _has_read_own_turn(test_server, request):
            clause, expected = "holdem-4.13", EXPECTED_REQUESTS["holdem-4.13"]
        cause = TOTAL_FOR_AMOUNT if _seems_to_bet_totals(test_server, request) else None
        found = f"{reason}, in {sent.body.decode(errors='backslashreplace')}"
        yield deviation(clause, expected, found, Outcome.FAIL, got=shown, cause=cause)
    is_act = sent.method == "POST" and request.path[-1:] == ["acts"] and response.status < 300
    if is_act and (unusual := judge_act_keys(sent.body)):
        yield unusual


def judge_repetition(test_server: HoldemTestServer) -> HttpDeviation | None:
    """Return the deviation of a bot whose last requests were all the same, and all refused by one clause."""
    last = test_server.requests[-MAX_REPEATS:]
    found = {
        (one.request.method, one.request.path, one.response is not None and refusal_clause(one.response.body))
        for one in last
    }
    method, path, clause = found.pop() if len(found) == 1 and len(last) == MAX_REPEATS else ("", "", None)
    if not clause:
        return None
    actual = f"{method} {path} again and again"
    return deviation(clause, "another request after a refusal", actual, Outcome.FAIL, got=last[-1].data)


def _invalid_bet_clause(request: RecordedRequest) -> str:
    """Return the clause that an invalid bet violates, from the hand at its arrival."""
    act, hand = parse_act(request.user, "", "", request.request.body), request.hand
    assert isinstance(act, Act), "a malformed act is refused"
    assert hand is not None, "an act between two hands is refused"
    assert isinstance(hand.turn, int), "an act out of turn is refused"
    clause = invalid_bet_clause(hand.legal, act.amount, hand.stacks[hand.turn])
    assert clause is not None, "a valid bet is not folded"
    return clause


def _seems_to_bet_totals(test_server: HoldemTestServer, request: RecordedRequest) -> bool:
    """Whether an act bets the total to match, and no act before has bet less than that on top of an own bet."""
    acts = [one for one in test_server.requests if one.user == request.user and one.at <= request.at]
    above = [amount - total for amount, total in map(_amount_and_total, acts) if amount and total]
    return _amount_and_total(request)[0] == _amount_and_total(request)[1] != 0 and min(above) >= 0


def _amount_and_total(request: RecordedRequest) -> tuple[int, int]:
    """Return the amount of an act, and the total to match if the player has an own bet in the round; else 0."""
    act, hand = parse_act(request.user, "", "", request.request.body), request.hand
    if not isinstance(act, Act) or hand is None or not isinstance(hand.turn, int) or not hand.bets[hand.turn]:
        return 0, 0
    return act.amount, hand.to_match


def _is_registered_later(test_server: HoldemTestServer, request: RecordedRequest) -> bool:
    """Whether the bot makes a user of these credentials afterwards: they are its own, and could have been known."""
    own = _authorization(request)
    return any(
        one.path == ["users"] and one.at >= request.at and _authorization(one) == own for one in test_server.requests
    )


def _authorization(request: RecordedRequest) -> str:
    return next((value for name, value in request.request.headers if name.lower() == "authorization"), "")


def _could_know_better(test_server: HoldemTestServer, request: RecordedRequest) -> bool:
    """Whether the bot could know that the request is invalid: its last read may be outdated.

    Its own GUID never is: it knows no other player for whom it could act. An act that the bot sent before it was asked
    to end may arrive after the DELETE with which it leaves then, which is on another connection.
    """
    if request.path[3:4] not in ([], [test_server.house.guid_of(request.user)]):
        return True
    if not _was_shown(test_server, request):
        return True
    if _has_left(test_server, request):
        return request.request.method == "DELETE" or not request.is_after_stop
    if request.request.method == "DELETE":
        return _was_shown_out(test_server, request)
    return request.request.method == "GET" or not _has_read_own_turn(test_server, request)


def _leaves_again(test_server: HoldemTestServer, request: RecordedRequest, clause: str) -> bool:
    """Whether a bot sends DELETE for its own player, who is out already: the document does not forbid it (P39)."""
    is_own = request.path[3:4] == [test_server.house.guid_of(request.user)] and _was_shown(test_server, request)
    return clause == "holdem-8.5" and request.request.method == "DELETE" and is_own


def _was_shown(test_server: HoldemTestServer, request: RecordedRequest) -> bool:
    """Whether the server has shown the game and the player of a path before."""
    before = [one for one in test_server.requests if one.at < request.at]
    return all(
        any(_shows(one, f'"{guid}"'.encode()) or _shows(one, f"/{guid}".encode()) for one in before)
        for guid in request.path[1:4:2]
    )


def _has_left(test_server: HoldemTestServer, request: RecordedRequest) -> bool:
    """Whether the player of a path has left the game by its own request, and has not joined it again."""
    changes = [
        one.request.method
        for one in test_server.requests
        if one.at < request.at
        and one.is_success
        and (one.request.method, one.path) in [("DELETE", request.path[:4]), ("POST", request.path[:3])]
    ]
    return changes[-1:] == ["DELETE"]


def _was_shown_out(test_server: HoldemTestServer, request: RecordedRequest) -> bool:
    """Whether the last read before a request showed no such player at a table, and an earlier one did.

    A player who has just joined is at no table, either.
    """
    player = f'"playerID":"{test_server.house.guid_of(request.user)}"'.encode()
    shown = [_shows(read, player) for read in _reads_before(test_server, request)]
    return any(shown) and not shown[-1]


def _has_read_own_turn(test_server: HoldemTestServer, request: RecordedRequest) -> bool:
    """Whether the last read before a request showed that it was the turn of its user."""
    turn = f'"turn":{{"playerID":"{test_server.house.guid_of(request.user)}"'.encode()
    return any(_shows(read, turn) for read in _reads_before(test_server, request)[-1:])


def _reads_before(test_server: HoldemTestServer, request: RecordedRequest) -> Sequence[RecordedRequest]:
    return [one for one in test_server.requests if one.at < request.at and one.request.method == "GET"]


def _shows(request: RecordedRequest, part: bytes) -> bool:
    """Whether the response to a request has a part, as the service has written it or as it was sent."""
    return part in request.response_data or (request.response is not None and part in request.response.body)


def _is_repeated_act(test_server: HoldemTestServer, request: RecordedRequest) -> bool:
    """Whether an act follows an accepted act without a read in between."""
    own = [
        one for one in test_server.requests if one.user == request.user and one.at <= request.at and one is not request
    ]
    return bool(own) and own[-1].path[-1:] == ["acts"] and own[-1].is_success


def _judge_poll_rate(recorded_requests: Sequence[RecordedRequest]) -> Iterator[HttpDeviation]:
    """Report a bot that reads more often than the document suggests."""
    reads = [
        recorded for recorded in recorded_requests if recorded.request.method == "GET" and not recorded.is_long_poll
    ]
    for first, last in zip(reads, reads[MAX_POLL_BURST:], strict=False):
        if last.at - first.at < MAX_POLL_BURST * SUGGESTED_POLL_SECONDS * 0.8 and not any(
            first.at < one.at < last.at for one in _changing_requests(recorded_requests)
        ):
            rate = (last.at - first.at) / MAX_POLL_BURST
            yield deviation("holdem-9.10", "50 ms between two reads", f"{1000 * rate:.0f} ms", Outcome.CHOICE)
            return


def _changing_requests(recorded_requests: Sequence[RecordedRequest]) -> Sequence[RecordedRequest]:
    return [recorded for recorded in recorded_requests if recorded.request.method != "GET"]
