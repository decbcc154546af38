"""Requests and answers are read however they are cut, and no password is kept."""

from base64 import b64encode

import pytest

from croupier.conformance.proxy.follow_exchange import Exchanges
from croupier.conformance.proxy.follow_holdem import MOST, Exchange
from croupier.core.referee import CLIENT, HOUSE
from tests.conformance.tap.random_session import pieces

SECRET = b64encode(b"ann:hush").decode()

ASKED = (
    f"GET /games/ HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {SECRET}\r\n\r\n"
    "HEAD /games/ HTTP/1.1\r\nHost: x\r\n\r\n"
    'POST /users/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{"\r\n3\r\nx":\r\n2\r\n1}\r\n0\r\n\r\n'
    "GET /games/g HTTP/1.1\r\n\r\n"
).encode()

ANSWERED = (
    b"HTTP/1.1 100 Continue\r\n\r\n"
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
    b"HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nnot\r\n1\r\n!\r\n0\r\n\r\n"
    b"HTTP/1.1 304 Same\r\nContent-Length: 7\r\n\r\n"
)

SPOKEN = [
    "ann GET /games/",
    "nobody HEAD /games/",
    'nobody POST /users/ {"x":1}',
    "nobody GET /games/g",
    "200 0 games",
    "200",
    "400 not!",
    "304",
]


def connection() -> Exchange:
    return Exchange(Exchanges())


def spoken(exchange: Exchange) -> list[str]:
    return [str(line.message) for line in exchange.lines]


@pytest.mark.parametrize("chop", [0, 1, 2, 7])
def test_what_is_pipelined_is_told_apart(chop: int) -> None:
    exchange = connection()
    for side, data in ((CLIENT, ASKED), (HOUSE, ANSWERED)):
        for piece in pieces(data, chop):
            exchange.heard(side, piece, 1.0)
    assert spoken(exchange) == SPOKEN
    assert exchange.broken == {}
    assert exchange.count == 8


def test_nothing_that_is_kept_has_the_password_in_it() -> None:
    exchange = connection()
    exchange.heard(CLIENT, ASKED[:-4], 1.0)
    exchange.heard(HOUSE, ANSWERED, 1.0)
    kept = repr([(line.data, line.message) for line in exchange.lines]) + repr(exchange.rest(CLIENT))
    assert "hush" not in kept
    assert SECRET not in kept
    assert exchange.rest(CLIENT) == b"GET /games/g HTTP/1.1"


def test_what_is_no_http_is_a_fault_of_who_says_it_and_is_not_repeated() -> None:
    exchange = connection()
    exchange.heard(CLIENT, f"STRT P_1\r\nAuthorization: Basic {SECRET}\r\n\r\n".encode(), 1.0)
    assert exchange.broken == {(CLIENT, "holdem-1.1"): 1}
    assert SECRET not in f"{exchange.lines}{exchange.faults}"
    exchange = connection()
    exchange.heard(CLIENT, b"GET /games/ HTTP/1.1\r\n\r\n", 1.0)
    exchange.heard(HOUSE, b"<html>", 1.0)
    assert exchange.broken == {(HOUSE, "holdem-1.1"): 1}
    exchange.heard(HOUSE, ANSWERED, 1.0)
    exchange.heard(CLIENT, ASKED, 1.0)
    assert exchange.count == 2, "nothing is followed behind that"


def test_who_speaks_tls_is_not_understood_and_not_at_fault() -> None:
    exchange = connection()
    exchange.heard(CLIENT, bytes.fromhex("160301") + bytes(100), 1.0)
    exchange.heard(HOUSE, bytes.fromhex("160303") + bytes(100), 1.0)
    assert (exchange.count, exchange.broken) == (0, {})


@pytest.mark.parametrize(
    ("path", "alarm"), [("/games/", 6.0), ("/games/g?wait=20&since=3", 26.0), ("/games/g?wait=900", 66.0)]
)
def test_a_house_that_does_not_answer_in_time_is_at_fault(path: str, alarm: float) -> None:
    exchange = connection()
    exchange.heard(CLIENT, f"GET {path} HTTP/1.1\r\n\r\n".encode(), 1.0)
    assert exchange.alarm == alarm
    assert [fault.verdict.violation.clause for fault in exchange.rang(alarm)] == ["holdem-1.8"]
    assert exchange.alarm is None


def test_a_stream_may_go_on_for_ever_and_shows_its_games() -> None:
    exchange = connection()
    exchange.heard(CLIENT, b"GET /games/g/events HTTP/1.1\r\n\r\n", 1.0)
    assert exchange.alarm == 6.0
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    exchange.heard(HOUSE, head, 1.0)
    assert exchange.alarm is None
    event = b'id: 3\ndata: {"x":\ndata: 1}\n\n: nothing new\n\nid: 4\ndata: {}'
    exchange.heard(HOUSE, b"%x\r\n%s\r\n" % (len(event), event), 2.0)
    assert spoken(exchange)[1:] == ['... {"x": 1}']
    exchange.heard(HOUSE, b"2\r\n\n\n\r\n", 3.0)
    assert spoken(exchange)[2:] == ["... {}"]
    assert (HOUSE, "holdem-5.3") in exchange.broken, "a stream is judged by the form of its games"


def test_an_answer_that_has_no_length_ends_with_the_connection() -> None:
    exchange = connection()
    exchange.heard(CLIENT, b"GET /games/ HTTP/1.1\r\n\r\n", 1.0)
    exchange.heard(HOUSE, b"HTTP/1.1 200 OK\r\n\r\n[", 1.0)
    exchange.heard(HOUSE, b"]", 1.0)
    assert exchange.ceased(HOUSE, 2.0) == []
    assert spoken(exchange)[1:] == ["200 0 games"]


@pytest.mark.parametrize(("heard", "faults"), [(b"", 1), (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[", 1)])
def test_a_house_that_ends_in_the_middle_is_at_fault(heard: bytes, faults: int) -> None:
    exchange = connection()
    exchange.heard(CLIENT, b"GET /games/ HTTP/1.1\r\n\r\n", 1.0)
    exchange.heard(HOUSE, heard, 1.0)
    assert len(exchange.left(HOUSE, 2.0)) == faults


def test_a_house_may_end_a_connection_between_two_requests() -> None:
    exchange = connection()
    exchange.heard(CLIENT, b"GET /games/ HTTP/1.1\r\n\r\n", 1.0)
    exchange.heard(HOUSE, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", 1.0)
    exchange.heard(CLIENT, b"GET /games/ HTTP/1.1\r\n\r\n", 1.0)
    assert exchange.left(HOUSE, 2.0) == []


def test_a_client_that_ceases_is_waited_for_no_more_and_answered_all_the_same() -> None:
    exchange = connection()
    exchange.heard(CLIENT, b"GET /games/ HTTP/1.1\r\n\r\n", 1.0)
    assert exchange.ceased(CLIENT, 1.0) == ()
    assert exchange.alarm is None
    exchange.heard(HOUSE, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", 1.0)
    assert spoken(exchange)[1:] == ["200 0 games"]


def test_an_answer_to_nothing_is_a_fault() -> None:
    exchange = connection()
    exchange.heard(HOUSE, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 1.0)
    assert exchange.broken == {(HOUSE, "holdem-1.8"): 1}


def test_what_is_kept_is_bounded() -> None:
    exchange = connection()
    for _ in range(MOST + 10):
        exchange.heard(CLIENT, b"GET /x HTTP/1.1\r\n\r\n", 1.0)
        exchange.forget()
    assert exchange.count == MOST + 1, "with so many requests that are not answered nothing is followed any more"
    exchange = connection()
    exchange.heard(CLIENT, b"GET /x HTTP/1.1\r\n" + b"a: b\r\n" * 20_000, 1.0)
    exchange.heard(CLIENT, b"\r\n", 1.0)
    (line,) = exchange.lines
    assert len(f"{line.message.headers}") < 1 << 17
