"""Following HTTP: messages are read in any pieces, timeouts are judged, and no password is kept."""

import json
from base64 import b64encode

import pytest

from croupier.conformance.tap.exchange import MAX_PENDING_REQUESTS
from croupier.conformance.tap.follow_holdem import HoldemConnection
from croupier.conformance.tap.judge_exchange import ExchangeChecker
from croupier.core.referee import CLIENT, HOUSE
from tests.conformance.tap.random_session import pieces

SECRET = b64encode(b"ann:hush").decode()

REQUESTS = (
    f"GET /games/ HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {SECRET}\r\n\r\n"
    "HEAD /games/ HTTP/1.1\r\nHost: x\r\n\r\n"
    'POST /users/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{"\r\n3\r\nx":\r\n2\r\n1}\r\n0\r\n\r\n'
    "GET /games/g HTTP/1.1\r\n\r\n"
).encode()

RESPONSES = (
    b"HTTP/1.1 100 Continue\r\n\r\n"
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
    b"HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nnot\r\n1\r\n!\r\n0\r\n\r\n"
    b"HTTP/1.1 304 Same\r\nContent-Length: 7\r\n\r\n"
)

MESSAGES = [
    "ann GET /games/",
    "nobody HEAD /games/",
    'nobody POST /users/ {"x":1}',
    "nobody GET /games/g",
    "200 0 games",
    "200",
    "400 not!",
    "304",
]


def connection() -> HoldemConnection:
    return HoldemConnection(ExchangeChecker())


def messages(exchange: HoldemConnection) -> list[str]:
    return [str(line.message) for line in exchange.lines]


@pytest.mark.parametrize("chop", [0, 1, 2, 7])
def test_pipelined_messages_are_separated(chop: int) -> None:
    exchange = connection()
    for side, data in ((CLIENT, REQUESTS), (HOUSE, RESPONSES)):
        for piece in pieces(data, chop):
            exchange.on_data(side, piece, 1.0)
    assert messages(exchange) == MESSAGES
    assert exchange.violation_counts == {}
    assert exchange.line_count == 8


def test_lines_have_the_bytes_on_the_wire() -> None:
    exchange = connection()
    exchange.on_data(CLIENT, REQUESTS, 1.0)
    exchange.on_data(HOUSE, RESPONSES, 1.0)
    sent = [b"".join(line.data for line in exchange.lines if line.side == side) for side in (CLIENT, HOUSE)]
    assert sent == [REQUESTS.replace(f"Basic {SECRET}".encode(), b"***"), RESPONSES]


def test_no_password_is_kept() -> None:
    exchange = connection()
    exchange.on_data(CLIENT, REQUESTS[:-4], 1.0)
    exchange.on_data(HOUSE, RESPONSES, 1.0)
    kept = repr([(line.data, line.message) for line in exchange.lines]) + repr(exchange.incomplete(CLIENT))
    assert "hush" not in kept
    assert SECRET not in kept
    assert exchange.incomplete(CLIENT) == b"GET /games/g HTTP/1.1"


def test_invalid_http_is_a_fault_and_ends_following() -> None:
    exchange = connection()
    exchange.on_data(CLIENT, f"STRT P_1\r\nAuthorization: Basic {SECRET}\r\n\r\n".encode(), 1.0)
    assert exchange.violation_counts == {(CLIENT, "holdem-1.1"): 1}
    assert SECRET not in f"{exchange.lines}{exchange.faults}"
    exchange = connection()
    exchange.on_data(CLIENT, b"GET /games/ HTTP/1.1\r\n\r\n", 1.0)
    exchange.on_data(HOUSE, b"<html>", 1.0)
    assert exchange.violation_counts == {(HOUSE, "holdem-1.1"): 1}
    exchange.on_data(HOUSE, RESPONSES, 1.0)
    exchange.on_data(CLIENT, REQUESTS, 1.0)
    assert exchange.line_count == 2, "nothing is followed behind that"


def test_tls_is_ignored() -> None:
    exchange = connection()
    exchange.on_data(CLIENT, bytes.fromhex("160301") + bytes(100), 1.0)
    exchange.on_data(HOUSE, bytes.fromhex("160303") + bytes(100), 1.0)
    assert (exchange.line_count, exchange.violation_counts) == (0, {})


def answered(exchange: HoldemConnection, at: float, answer: str, body: str) -> None:
    exchange.on_data(HOUSE, f"HTTP/1.1 {answer}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode(), at)


def asked(exchange: HoldemConnection, at: float, user: str, request: str, body: str = "") -> None:
    secret = b64encode(f"{user}:hush".encode()).decode()
    headers = f"Authorization: Basic {secret}\r\nContent-Length: {len(body)}"
    exchange.on_data(CLIENT, f"{request} HTTP/1.1\r\n{headers}\r\n\r\n{body}".encode(), at)


ANN, BOB = "5a15e825-01e9-40e5-99a3-3a8fc840e760", "297a7592-8734-4d11-a695-074915901a41"
GAME = "fad352ad-6023-4661-98f6-3f7e8ca78133"


def shown(*players: tuple[str, int], turn: str = "", to_match: int = 20) -> str:
    """A game with these players and bets."""
    table = [
        {
            "playerID": guid,
            "handle": guid,
            "state": "active",
            "wealth": 10_000 - bet,
            "bet_so_far": bet,
            "small_blind": bet == 10,
        }
        for guid, bet in players
    ]
    amounts = {"bet_so_far": 10, "bet_to_player": to_match, "minimum_raise": 20, "expiry": "2026-01-01T00:00:15Z"}
    idle = {"bet_so_far": 0, "bet_to_player": 0, "minimum_raise": 0, "expiry": "0001-01-01T00:00:00Z"}
    game = {
        "gameID": GAME,
        "table": table,
        "turn": {"playerID": turn, **(amounts if turn else idle)},
        "cards": {"hole": ["AS", "KD"] if turn else [], "flop": None, "turn": None, "river": None},
        "pots": [{"size": sum(bet for _, bet in players), "players": [guid for guid, bet in players if bet]}],
    }
    return json.dumps(game)


def seated() -> tuple[HoldemConnection, HoldemConnection]:
    """The connections of ann, who is seated, and of bob; both have asked: bob for a seat, and ann for the game."""
    checker = ExchangeChecker()
    anns, bobs = HoldemConnection(checker), HoldemConnection(checker)
    for exchange, user, guid in ((anns, "ann", ANN), (bobs, "bob", BOB)):
        asked(exchange, 0.0, user, "POST /users/")
        answered(exchange, 0.1, "201 Created", f'"{guid}"')
    asked(anns, 0.2, "ann", f"GET /games/{GAME}")
    answered(anns, 0.3, "200 OK", shown())
    asked(anns, 0.4, "ann", f"POST /games/{GAME}/players/")
    answered(anns, 0.5, "201 Created", f'"{ANN}"')
    asked(bobs, 0.6, "bob", f"POST /games/{GAME}/players/")
    asked(anns, 0.6, "ann", f"GET /games/{GAME}")
    answered(bobs, 0.7, "201 Created", f'"{BOB}"')
    return anns, bobs


def test_view_that_overlaps_a_join_is_judged_if_it_shows_the_hand_of_all_players() -> None:
    anns, _ = seated()
    answered(anns, 0.8, "200 OK", shown((ANN, 10), (BOB, 20), turn=ANN, to_match=10))
    assert anns.violation_counts == {(HOUSE, "holdem-5.10"): 1}


@pytest.mark.parametrize(
    ("answer", "players", "turn", "faults"),
    [
        ("400 No", ((ANN, 20), (BOB, 10)), BOB, {(CLIENT, "holdem-4.4"): 1, (HOUSE, "holdem-4.4"): 1}),
        ("201 Created", ((ANN, 20), (BOB, 20)), BOB, {(CLIENT, "holdem-4.4"): 1}),
        ("400 No", ((ANN, 10), (BOB, 20)), ANN, {(CLIENT, "holdem-4.4"): 1}),
    ],
    ids=["folded", "taken", "refused"],
)
def test_malformed_act_is_a_fault_of_the_bot_and_changes_nothing(
    answer: str, players: tuple[tuple[str, int], ...], turn: str, faults: object
) -> None:
    anns, _ = seated()
    answered(anns, 0.8, "200 OK", shown((ANN, 10), (BOB, 20), turn=ANN))
    asked(anns, 0.9, "ann", f"POST /games/{GAME}/players/{ANN}/acts/", '{"action": 1, "betAmount": 10.0}')
    answered(anns, 0.95, answer, "")
    asked(anns, 0.97, "ann", f"GET /games/{GAME}")
    body = shown(*players, turn=turn)
    if (BOB, 10) in players:  # the next hand, in which bob has won the small blind of ann
        body = body.replace('"wealth": 9980', '"wealth": 9970').replace('"wealth": 9990', '"wealth": 10000')
    answered(anns, 0.98, "200 OK", body)
    assert anns.violation_counts == faults


TLS_ALERT = bytes.fromhex("15030100020246")


def test_client_without_tls_is_blamed_if_the_house_answers_with_tls() -> None:
    exchange = connection()
    exchange.on_data(CLIENT, b"GET /games/ HTTP/1.1\r\n\r\n", 1.0)
    exchange.on_data(HOUSE, TLS_ALERT, 1.0)
    exchange.on_disconnect(HOUSE, 1.0)
    assert exchange.violation_counts == {(CLIENT, "holdem-1.1"): 1}


def test_house_that_has_never_sent_anything_may_expect_tls() -> None:
    checker = ExchangeChecker()
    for is_known in (False, True):
        exchange = HoldemConnection(checker)
        exchange.on_data(CLIENT, b"GET /games/ HTTP/1.1\r\n\r\n", 1.0)
        exchange.on_disconnect(HOUSE, 1.0)
        assert exchange.violation_counts == ({(HOUSE, "holdem-1.8"): 1} if is_known else {})
        assert exchange.unread_reason == ("" if is_known else "the house has never answered; it may expect TLS")
        HoldemConnection(checker).on_data(HOUSE, b"HTTP/1.1 200 OK\r\n", 1.0)


@pytest.mark.parametrize(
    ("path", "deadline"), [("/games/", 6.0), ("/games/g?wait=20&since=3", 26.0), ("/games/g?wait=900", 66.0)]
)
def test_late_response_is_a_fault(path: str, deadline: float) -> None:
    exchange = connection()
    exchange.on_data(CLIENT, f"GET {path} HTTP/1.1\r\n\r\n".encode(), 1.0)
    assert exchange.deadline == deadline
    assert [fault.verdict.violation.clause for fault in exchange.on_timeout(deadline)] == ["holdem-1.8"]
    assert exchange.deadline is None


def test_stream_is_endless_and_judged() -> None:
    exchange = connection()
    exchange.on_data(CLIENT, b"GET /games/g/events HTTP/1.1\r\n\r\n", 1.0)
    assert exchange.deadline == 6.0
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    exchange.on_data(HOUSE, head, 1.0)
    assert exchange.deadline is None
    event = b'id: 3\ndata: {"x":\ndata: 1}\n\n: nothing new\n\nid: 4\ndata: {}'
    exchange.on_data(HOUSE, b"%x\r\n%s\r\n" % (len(event), event), 2.0)
    assert messages(exchange)[1:] == ['... {"x": 1}']
    exchange.on_data(HOUSE, b"2\r\n\n\n\r\n", 3.0)
    assert messages(exchange)[2:] == ["... {}"]
    assert (HOUSE, "holdem-5.3") in exchange.violation_counts, "a stream is judged by the form of its games"


def test_response_without_length_ends_with_the_connection() -> None:
    exchange = connection()
    exchange.on_data(CLIENT, b"GET /games/ HTTP/1.1\r\n\r\n", 1.0)
    exchange.on_data(HOUSE, b"HTTP/1.1 200 OK\r\n\r\n[", 1.0)
    exchange.on_data(HOUSE, b"]", 1.0)
    assert exchange.on_end_of_input(HOUSE, 2.0) == []
    assert messages(exchange)[1:] == ["200 0 games"]


@pytest.mark.parametrize(("response", "faults"), [(b"", 1), (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[", 1)])
def test_disconnect_before_the_response_is_a_fault(response: bytes, faults: int) -> None:
    exchange = connection()
    exchange.on_data(CLIENT, b"GET /games/ HTTP/1.1\r\n\r\n", 1.0)
    exchange.on_data(HOUSE, response, 1.0)
    assert len(exchange.on_disconnect(HOUSE, 2.0)) == faults


@pytest.mark.parametrize("response", [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[", b"HTTP/1.1 200 OK\r\n\r\n["])
def test_a_response_that_a_reset_has_cut_is_no_fault(response: bytes) -> None:
    exchange = connection()
    exchange.on_data(CLIENT, b"GET /games/ HTTP/1.1\r\n\r\n", 1.0)
    exchange.on_data(HOUSE, response, 1.0)
    assert exchange.on_disconnect(HOUSE, 2.0, was_reset=True) == []
    assert len(messages(exchange)) == 1


def test_disconnect_of_an_idle_connection_is_allowed() -> None:
    exchange = connection()
    exchange.on_data(CLIENT, b"GET /games/ HTTP/1.1\r\n\r\n", 1.0)
    exchange.on_data(HOUSE, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", 1.0)
    exchange.on_data(CLIENT, b"GET /games/ HTTP/1.1\r\n\r\n", 1.0)
    assert exchange.on_disconnect(HOUSE, 2.0) == []


def test_half_closed_client_still_gets_its_response() -> None:
    exchange = connection()
    exchange.on_data(CLIENT, b"GET /games/ HTTP/1.1\r\n\r\n", 1.0)
    assert exchange.on_end_of_input(CLIENT, 1.0) == ()
    assert exchange.deadline is None
    exchange.on_data(HOUSE, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", 1.0)
    assert messages(exchange)[1:] == ["200 0 games"]


def test_unrequested_response_is_a_fault() -> None:
    exchange = connection()
    exchange.on_data(HOUSE, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 1.0)
    assert exchange.violation_counts == {(HOUSE, "holdem-1.8"): 1}


def test_memory_is_bounded() -> None:
    exchange = connection()
    for _ in range(MAX_PENDING_REQUESTS + 10):
        exchange.on_data(CLIENT, b"GET /x HTTP/1.1\r\n\r\n", 1.0)
        exchange.forget()
    assert exchange.line_count == MAX_PENDING_REQUESTS + 1, (
        "with so many requests that are not answered nothing is followed any more"
    )
    exchange = connection()
    exchange.on_data(CLIENT, b"GET /x HTTP/1.1\r\n" + b"a: b\r\n" * 20_000, 1.0)
    exchange.on_data(CLIENT, b"\r\n", 1.0)
    (line,) = exchange.lines
    assert line.data == b"GET /x HTTP/1.1"
    assert [fault.verdict.violation.found for fault in exchange.faults] == ["a head of more than 65,536 bytes"]
    assert exchange.incomplete(CLIENT) == b""
