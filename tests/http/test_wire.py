"""HTTP/1.1: messages and their bytes are the same in any chunks, limits hold, and what is malformed is a violation."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.errors import Violation
from croupier.http.wire import (
    HTTP_CLAUSE,
    MAX_BODY_BYTES,
    MAX_HEAD_BYTES,
    HttpReader,
    ReceivedResponse,
    RequestReader,
    ResponseReader,
    SentRequest,
    encode_chunks,
)

REQUESTS = [
    b"GET /games/?wait=3 HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\r\nPOST /users/ HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc",
    b"POST /g HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=1\r\nabc\r\n1\r\n\n\r\n0\r\nTrailer: x\r\n\r\n",
    b"GET http://h/x HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n",
    b"PUT /a HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 3\r\n\r\nabc",
    b"OPTIONS * HTTP/1.1\r\nA: 1\r\nA: 2\r\n\r\n",
]
RESPONSES = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 304 Same\r\nContent-Length: 7\r\n\r\n",
    b"HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nnot\r\n1\r\n!\r\n0\r\n\r\n",
    b"HTTP/1.1 204 None\r\n\r\n",
]


def read(reader: HttpReader[Any], stream: bytes, size: int = 0) -> list[tuple[bytes, Any]]:
    step = size or max(1, len(stream))
    pieces = [stream[at : at + step] for at in range(0, len(stream), step)]
    return [span[:2] for piece in pieces for span in reader.feed(piece)]


@given(st.lists(st.sampled_from(REQUESTS), max_size=5), st.integers(1, 30))
def test_requests_have_their_own_bytes_in_any_chunks(messages: Sequence[bytes], size: int) -> None:
    whole, chopped = (read(RequestReader(), b"".join(messages), each) for each in (0, size))
    assert whole == chopped
    assert [data for data, _ in whole] == messages


@given(st.lists(st.sampled_from(RESPONSES), max_size=5), st.integers(1, 30))
def test_responses_have_their_own_bytes_in_any_chunks(messages: Sequence[bytes], size: int) -> None:
    whole, chopped = (read(ResponseReader(), b"".join(messages), each) for each in (0, size))
    assert whole == chopped
    assert [data for data, _ in whole] == messages


def test_messages_are_read() -> None:
    (get, post, chunked, upgrade, put, options) = (message for _, message in read(RequestReader(), b"".join(REQUESTS)))
    assert get == SentRequest("GET", "/games/?wait=3", (("Host", "x"),))
    assert post == SentRequest("POST", "/users/", (("content-length", "3"),), b"abc")
    assert chunked == SentRequest("POST", "/g", (("Transfer-Encoding", "chunked"),), b"abc\n")
    assert upgrade.path == "/x"
    assert (put.method, put.path, put.body, len(put.headers)) == ("PUT", "/a", b"abc", 3)
    assert options == SentRequest("OPTIONS", "*", (("A", "1"), ("A", "2")))
    statuses = [(message.status, message.body) for _, message in read(ResponseReader(), b"".join(RESPONSES))]
    assert statuses == [(200, b"[]"), (201, b""), (304, b""), (400, b"not!"), (204, b"")]


def test_what_is_encoded_is_read_again() -> None:
    request = SentRequest("POST", "/games/?x=1", (("A", "b"),), b"{}")
    ((data, found),) = read(RequestReader(), request.encode("h:1"))
    assert data == request.encode("h:1")
    assert found.headers == (("Host", "h:1"), ("A", "b"), ("Content-Length", "2"))
    assert (found.method, found.path, found.body) == ("POST", "/games/?x=1", b"{}")


@given(st.binary(max_size=40), st.integers(1, 50))
def test_chunks_are_read_again(body: bytes, size: int) -> None:
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    ((_, found),) = read(ResponseReader(), head + encode_chunks(body, size), size)
    assert (found.status, found.headers, found.body) == (200, {"transfer-encoding": "chunked"}, body)


def test_a_response_to_head_has_no_body() -> None:
    for size in (0, 1, 7):
        reader = ResponseReader()
        reader.methods += ["HEAD", "GET", "HEAD"]
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        found = read(reader, head + head + b"[]" + chunked, size)
        assert [data for data, _ in found] == [head, head + b"[]", chunked]
        assert [message.body for _, message in found] == [b"", b"[]", b""]
        assert reader.keeps_open


@pytest.mark.parametrize(
    ("head", "keeps_open"),
    [
        (b"HTTP/1.1 204 None\r\n\r\n", True),
        (b"HTTP/1.1 204 None\r\nConnection: x, Close\r\n\r\n", False),
        (b"HTTP/1.0 204 None\r\n\r\n", False),
        (b"HTTP/1.0 204 None\r\nConnection: keep-alive\r\n\r\n", True),
    ],
)
def test_whether_the_connection_stays_open_is_known(head: bytes, keeps_open: bool) -> None:
    reader = ResponseReader()
    assert len(read(reader, head)) == 1
    assert reader.keeps_open is keeps_open


def test_a_response_without_length_ends_with_the_connection() -> None:
    reader = ResponseReader()
    stream = b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 "
    assert read(reader, stream, 3) == []
    assert reader.has_headers
    assert [span[:2] for span in reader.finish()] == [(stream, ReceivedResponse(200, {}, b"HTTP/1.1 ", stream))]
    assert not reader.keeps_open
    assert [*ResponseReader().finish()] == []


def test_another_protocol_is_not_read() -> None:
    reader = ResponseReader()
    assert read(reader, b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n\0\0\0") == []
    assert reader.is_stopped


@pytest.mark.parametrize("new_reader", [RequestReader, ResponseReader])
@pytest.mark.parametrize(
    "stream",
    [
        b"STRT P_1\r\n",
        b"\x16\x03\x01" + bytes(100),
        b"\r\n" * MAX_HEAD_BYTES,
    ],
)
def test_what_is_no_http_is_a_violation(new_reader: Callable[[], HttpReader[Any]], stream: bytes) -> None:
    reader = new_reader()
    ((_, violation),) = read(reader, stream)
    assert isinstance(violation, Violation)
    assert (violation.clause, violation.fatal) == (HTTP_CLAUSE, True)
    assert reader.is_stopped
    assert read(reader, REQUESTS[0] + RESPONSES[0]) == []


BEGINNINGS = {
    "url": (RequestReader, b"GET /"),
    "header": (RequestReader, b"GET / HTTP/1.1\r\nA: "),
    "headers": (RequestReader, b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 20_000),
    "status": (ResponseReader, b"HTTP/1.1 200 "),
    "chunk": (ResponseReader, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;"),
    "trailer": (RequestReader, b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"a: b\r\n" * 20_000),
}


@pytest.mark.parametrize("size", [0, 1000])
@pytest.mark.parametrize("name", BEGINNINGS)
def test_a_head_over_the_limit_is_malformed(name: str, size: int) -> None:
    new_reader, begin = BEGINNINGS[name]
    reader = new_reader()
    ((data, violation),) = read(reader, begin + b"x" * 2 * MAX_HEAD_BYTES, size)
    assert violation.found == "a head of more than 65,536 bytes"
    assert len(data) < 2 * MAX_HEAD_BYTES
    assert reader.is_stopped


def test_a_long_body_is_cut() -> None:
    reader = ResponseReader()
    length = MAX_BODY_BYTES + 5
    ((data, message),) = read(
        reader, b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % length + b"x" * length, 1 << 16
    )
    assert len(message.body) == MAX_BODY_BYTES
    assert reader.is_cut
    assert len(data) <= MAX_BODY_BYTES + MAX_HEAD_BYTES
    assert [message.body for _, message in read(reader, RESPONSES[0])] == [b"[]"]
    assert not reader.is_cut


def test_parts_of_a_stream_are_taken() -> None:
    reader = ResponseReader()
    assert read(reader, b"HTTP/1.1 200 OK\r\n\r\na\n\nb\n\nc") == []
    assert reader.take_parts(b"\n\n") == [b"a", b"b"]
    assert reader.take_parts(b"\n\n") == []
    assert reader.beginning.body == b"c"
    assert reader.incomplete == b""


FRAGMENTS = [
    *REQUESTS,
    *RESPONSES,
    b"\r\n",
    b"0\r\n",
    b"ffffffffffffffffff\r\n",
    b"-1\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Length: 99999999999999999999\r\n",
    b"Content-Length: 1\r\n",
    b"HTTP/1.1 200\r\n",
    b"GET / HTTP/1.1\n",
]


@given(
    st.sampled_from([RequestReader, ResponseReader]),
    st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.binary(max_size=6)), max_size=8).map(b"".join),
    st.integers(1, 20),
)
def test_any_bytes_are_read_alike_in_any_chunks(
    new_reader: Callable[[], HttpReader[Any]], stream: bytes, size: int
) -> None:
    readers = new_reader(), new_reader()
    whole, chopped = (read(reader, stream, each) for reader, each in zip(readers, (0, size), strict=True))
    assert [message for _, message in whole] == [message for _, message in chopped]
    assert [data for data, message in whole if not isinstance(message, Violation)] == [
        data for data, message in chopped if not isinstance(message, Violation)
    ]
    assert stream.startswith(b"".join(data for data, _ in whole))
    if not readers[0].is_stopped:
        assert b"".join(data for data, _ in whole) + readers[0].incomplete == stream
        assert readers[0].incomplete == readers[1].incomplete
