"""Printed lines: messages with their bytes where these are not text, and what is left over at the end."""

from croupier.conformance.conversation import Conversation, ConversationMonitor, Fault
from croupier.conformance.tap.connection import BytesRelayed, SideClosed, TappedConnection
from croupier.conformance.tap.follow_holdem import HoldemConnection
from croupier.conformance.tap.judge_exchange import ExchangeChecker
from croupier.conformance.tap.printer import MAX_KINDS, RepeatedFaults, render_event, summarize
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE, Verdict
from croupier.rooms.kuhn import ROOM


def printed(conversation: ConversationMonitor, side: int, data: bytes) -> list[str]:
    """The text of the lines for some bytes and the end of their sender, without numbers and times."""
    connection = TappedConnection(1, None, conversation, 0.0)
    faults = conversation.on_data(side, data, 0.0)
    relayed = BytesRelayed(connection, 0.0, side, data, conversation.lines, faults)
    closed = SideClosed(connection, 0.0, side, "", conversation.on_disconnect(side, 1.0))
    return [line.plain[15:] for event in (relayed, closed) for line in render_event(event)]


def test_bytes_follow_where_they_differ_from_the_text() -> None:
    assert printed(Conversation(ROOM), CLIENT, b'STRT "P_1"DISC\nA') == [
        "client → STRT P_1  = 53 54 52 54 20 22 50 5f 31 22",
        "client → DISC",
        "client → … no whole message  = 0a 41",
        "client  has closed",
    ]


def fault(clause: str, found: str) -> Fault:
    """A fault of the house."""
    return Fault(Verdict(HOUSE, Violation(clause, found, "20")), 1)


def test_faults_that_differ_in_values_alone_are_shown_once_and_counted() -> None:
    repeated = RepeatedFaults()
    found = ["10 as minimum_raise of j1", "-5 as minimum_raise of j1", "10 as minimum_raise of j2"]
    assert [repeated.is_new(fault("holdem-6.8", each)) for each in found] == [True, False, True]
    assert repeated.is_new(fault("holdem-5.11", "'2026-01-01T10:00:00' as expiry"))
    assert not repeated.is_new(fault("holdem-5.11", "'2026-01-01T10:00:15' as expiry"))
    assert not repeated.is_new(fault("holdem-6.8", found[0]))
    cards = ["9D TS for ann", "AH QS for ann"]
    assert [repeated.is_new(fault("holdem-5.6", each)) for each in cards] == [True, False]
    assert [line.plain for line in repeated.render()] == [
        "✗ and 2 more: the house breaks holdem-6.8: found 10 as minimum_raise of j1; allowed: 20",
        "✗ and 1 more: the house breaks holdem-5.11: found '2026-01-01T10:00:00' as expiry; allowed: 20",
        "✗ and 1 more: the house breaks holdem-5.6: found 9D TS for ann; allowed: 20",
    ]


def test_of_many_kinds_of_faults_the_first_are_counted() -> None:
    """A peer that writes new words all the time costs a bounded amount of memory."""
    repeated = RepeatedFaults()
    words = ["".join("ab"[number >> bit & 1] for bit in range(11)) for number in range(MAX_KINDS + 1)]
    assert all(repeated.is_new(fault("holdem-1.2", word)) for word in words)
    assert not repeated.is_new(fault("holdem-1.2", words[0]))
    assert repeated.is_new(fault("holdem-1.2", words[-1]))
    assert len([*repeated.render()]) == 1


def test_http_is_shown_as_text() -> None:
    request = b"GET /games/ HTTP/1.1\r\nHost: x\r\n\r\n"
    assert printed(HoldemConnection(ExchangeChecker()), CLIENT, request + b"GET /x HTTP") == [
        "client → nobody GET /games/",
        "client → … no whole message  = GET /x HTTP",
        "client  has closed",
    ]
    assert printed(HoldemConnection(ExchangeChecker()), CLIENT, b"GET /\x1b HTTP/1.1\r\nCookie: x\r\n")[0] == (
        "client → ? what is no HTTP/1.1 (Invalid char in url path)  = GET /\\x1b HTTP/1.1"
    )


def test_an_incomplete_response_is_shown() -> None:
    connection = HoldemConnection(ExchangeChecker())
    connection.on_data(CLIENT, b"GET /games/ HTTP/1.1\r\n\r\n", 0.0)
    connection.forget()
    assert printed(connection, HOUSE, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[")[:2] == [
        "house  ← … no whole message  = HTTP/1.1 200 OK",
        "house   has closed",
    ]


def test_a_connection_that_cannot_be_read_is_not_called_right() -> None:
    connection = HoldemConnection(ExchangeChecker())
    connection.on_data(CLIENT, b"\x16\x03\x01", 0.0)
    connection.on_data(HOUSE, b"\x16\x03\x03", 0.0)
    assert summarize(TappedConnection(1, None, connection, 0.0)) == (
        "0 messages; 0 games; it uses TLS and was not read"
    )
