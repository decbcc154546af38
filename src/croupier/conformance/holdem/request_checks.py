"""Judges what a bot has asked of a table: every request that no client should send, by the clause that says so."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.holdem.deviations import Deviation, default_outcome
from croupier.conformance.holdem.test_server import HoldemTestServer, RecordedRequest
from croupier.conformance.results import Outcome
from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.holdem.wire import DECODE_ACT_BODY

CLAUSE_PATTERN: Final = re.compile(r"holdem-\d+\.\d+")

SUGGESTED_POLL_SECONDS: Final = 0.05
"""The document suggests so many seconds between two looks."""

MAX_POLL_BURST: Final = 10
"""So many looks in a row are too fast if they take less than that together; a few may come close together."""

INVALID_BET_CLAUSES: Final = (
    (re.compile(r"found -"), "holdem-4.8"),
    (re.compile(r"a number of"), "holdem-4.9"),
)
"""What the reason for a fold tells about the bet."""

EXPECTED_REQUESTS: Final[Mapping[str, str]] = {
    "holdem-2.5": "the name and the password of the new user",
    "holdem-2.7": "its own name and password",
    "holdem-2.8": "its own name and password, or none",
    "holdem-3.7": "to join a game once",
    "holdem-4.4": "an act as the document has it",
    "holdem-4.13": "an act in its turn",
    "holdem-4.14": "one act a turn",
    "holdem-7.4": "an act in its turn",
    "holdem-7.5": "its own name and password",
    "holdem-8.3": "a path of the document",
    "holdem-8.4": "a game that there is",
    "holdem-8.5": "its own player, while it is in the game",
    "holdem-8.6": "the method of the path",
    "holdem-8.8": "its own player",
    "holdem-9.5": "a time to wait in seconds",
    "holdem-9.12": "a page of games in whole numbers",
}
"""What a client should do, by the clause with which it is refused."""

EXCUSABLE_CLAUSES: Final = frozenset(
    {"holdem-2.6", "holdem-7.3", "holdem-2.9", "holdem-3.15", "holdem-3.3", "holdem-9.10", "holdem-9.11"}
)
"""Refusals that are nobody's fault: a name may be taken, and a server may be busy or set a limit."""


def dialogue_lines(test_server: HoldemTestServer) -> list[DialogueLine]:
    """The dialogue of a bot with a stand: two lines for every request, without looks at which nothing was new."""
    told: list[DialogueLine] = []
    before = b""
    for note in test_server.requests:
        answer = note.response
        shown = answer.render() if answer is not None else b""
        if note.request.method == "GET" and shown == before:
            continue
        before = shown
        told.append(DialogueLine(CLIENT, note.request.render(), f"{note.request.method} {note.request.path}", note.at))
        if answer is not None:
            told.append(DialogueLine(HOUSE, shown, answer.summary, note.at))
    return told


def judge_requests(test_server: HoldemTestServer, *, excused_clauses: Sequence[str] = ()) -> Iterator[Deviation]:
    """What the bot of a stand has done wrong. `excused` are clauses that a case provokes."""
    for data in test_server.malformed:
        yield _deviation("holdem-1.1", "a request of HTTP/1.1", repr(data[:80]), Outcome.FAIL, got=data[:400])
    doubtful = False
    for note in test_server.requests:
        if note.response is None or note.is_executed_unanswered:
            doubtful = doubtful or note.is_executed_unanswered
            continue
        for departure in _judge_request(test_server, note, doubtful=doubtful):
            if departure.clause not in excused_clauses:
                yield departure
    yield from _judge_poll_rate(test_server.requests)


def _deviation(
    clause: str, expected: str, actual: str, outcome: Outcome | None = None, *, got: bytes = b""
) -> Deviation:
    return Deviation(clause, outcome or default_outcome(clause), expected, actual, None, got)


def _judge_request(test_server: HoldemTestServer, request: RecordedRequest, *, doubtful: bool) -> Iterator[Deviation]:
    answer, question = request.response, request.request
    assert answer is not None, "a note without an answer is not judged"
    shown = question.render()
    if answer.status >= 400:
        clause = match[0] if (match := CLAUSE_PATTERN.match(answer.body.decode(errors="replace"))) else "holdem-8.1"
        if clause in EXCUSABLE_CLAUSES or (doubtful and clause in {"holdem-4.13", "holdem-7.4", "holdem-3.7"}):
            return
        if clause == "holdem-4.13" and _is_repeated_act(test_server, request):
            clause = "holdem-4.14"
        elif clause in {"holdem-8.4", "holdem-8.5", "holdem-4.13", "holdem-7.4"} and not _could_know_better(
            test_server, request
        ):
            return
        told = EXPECTED_REQUESTS.get(clause, "a request that is not refused")
        grave = Outcome.FAIL if clause == "holdem-8.6" else None  # the document has a method for everything
        yield _deviation(clause, told, f"{question.method} {question.path}: {answer.summary}", grave, got=shown)
    elif reason := answer.headers.get("x-fold-reason"):
        yield _deviation(
            _invalid_bet_clause(reason), "a valid bet", f"{reason} in {question.body!r}", Outcome.FAIL, got=shown
        )
    if question.method == "POST" and request.path[-1:] == ["acts"] and answer.status < 300:
        yield from _judge_key_spelling(request)


def _judge_key_spelling(request: RecordedRequest) -> Iterator[Deviation]:
    """Keys that are written in another way are understood, and not what the document has."""
    try:
        DECODE_ACT_BODY(request.request.body)
    except ValueError:
        body = request.request.body
        yield _deviation(
            "holdem-4.2", "the keys action and betAmount, and no others", repr(body[:80]), Outcome.NON_STRICT
        )


def _invalid_bet_clause(reason: str) -> str:
    """The clause by which a bet was invalid."""
    for pattern, clause in INVALID_BET_CLAUSES:
        if pattern.search(reason):
            return clause
    numbers = [int(number) for number in re.findall(r"\d+", reason)]
    chips, call = numbers[0], numbers[1]
    if chips < call:
        return "holdem-4.10"
    if len(numbers) == 2:
        return "holdem-4.12" if chips > call else "holdem-4.10"
    return "holdem-4.9" if chips > numbers[-1] else "holdem-4.11"


def _could_know_better(test_server: HoldemTestServer, request: RecordedRequest) -> bool:
    """Whether a bot could know better: what it has looked at last may be older than what it asks."""
    looks = [
        one
        for one in test_server.requests
        if one.user == request.user and one.at < request.at and one.request.method == "GET"
    ]
    return request.request.method == "GET" or not looks or not _shows_turn_of(looks[-1], test_server, request.user)


def _shows_turn_of(request: RecordedRequest, test_server: HoldemTestServer, user: str) -> bool:
    """Whether a look showed the turn of a user."""
    if request.response is None:
        return False
    return f'"turn":{{"playerID":"{test_server.house.guid_of(user)}"'.encode() in request.response.body


def _is_repeated_act(test_server: HoldemTestServer, request: RecordedRequest) -> bool:
    """Whether an act comes behind another one without a look between them."""
    own = [
        one for one in test_server.requests if one.user == request.user and one.at <= request.at and one is not request
    ]
    return bool(own) and own[-1].path[-1:] == ["acts"]


def _judge_poll_rate(notes: Sequence[RecordedRequest]) -> Iterator[Deviation]:
    """Whether a bot looks more often than the document suggests."""
    looks = [note for note in notes if note.request.method == "GET" and not note.is_long_poll]
    for first, last in zip(looks, looks[MAX_POLL_BURST:], strict=False):
        if last.at - first.at < MAX_POLL_BURST * SUGGESTED_POLL_SECONDS * 0.8 and not any(
            first.at < one.at < last.at for one in _changing_requests(notes)
        ):
            rate = (last.at - first.at) / MAX_POLL_BURST
            yield _deviation("holdem-9.10", "50 ms between two looks", f"{1000 * rate:.0f} ms", Outcome.CHOICE)
            return


def _changing_requests(notes: Sequence[RecordedRequest]) -> Sequence[RecordedRequest]:
    return [note for note in notes if note.request.method != "GET"]
