"""Printed lines: messages with their bytes where these are not text, and what is left over at the end."""

from croupier.conformance.conversation import Conversation, ConversationMonitor, Fault
from croupier.conformance.tap.connection import BytesRelayed, SideClosed, TappedConnection
from croupier.conformance.tap.follow_holdem import HoldemConnection
from croupier.conformance.tap.judge_exchange import ExchangeChecker
from croupier.conformance.tap.printer import MAX_KINDS, RepeatedFaults, render_event, summarize
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE, Verdict
from croupier.core.session import Peer
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


def fault(clause: str, found: str, about: str = "", *, side: Peer = HOUSE) -> Fault:
    """A fault of one end."""
    return Fault(Verdict(side, Violation(clause, found, "20", about=about)), 1)


def test_faults_that_differ_in_values_alone_are_shown_once_and_counted() -> None:
    repeated = RepeatedFaults()
    assert repeated.is_new(fault("holdem-5.10", "bet_so_far 10", "bet_so_far"))
    assert repeated.is_new(fault("holdem-5.10", "bet_to_player 10", "bet_to_player"))
    assert not repeated.is_new(fault("holdem-5.10", "bet_so_far -5", "bet_so_far"))
    assert not repeated.is_new(fault("holdem-5.10", "bet_so_far 10", "bet_so_far"))
    cards = ["9D TS for ann", "AH QS for bob"]
    assert [repeated.is_new(fault("holdem-5.6", each)) for each in cards] == [True, False]
    assert [line.plain for line in repeated.render()] == [
        "✗ and 2 more: the house breaks holdem-5.10: found bet_so_far 10; allowed: 20",
        "✗ and 1 more: the house breaks holdem-5.6: found 9D TS for ann; allowed: 20",
    ]


def test_the_faults_of_each_user_are_counted_alone() -> None:
    repeated = RepeatedFaults()
    users = ["ann", "bob", "ann"]
    found = [fault("holdem-4.11", f"a bet of 3 by {user}", user, side=CLIENT) for user in users]
    assert [repeated.is_new(each) for each in found] == [True, True, False]


def test_of_many_kinds_of_faults_the_first_are_counted() -> None:
    """New users all the time cost a bounded amount of memory."""
    repeated = RepeatedFaults()
    found = [fault("holdem-4.13", "an act", f"user-{number}", side=CLIENT) for number in range(MAX_KINDS + 1)]
    assert all(repeated.is_new(each) for each in found)
    assert not repeated.is_new(found[0])
    assert repeated.is_new(found[-1])
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
