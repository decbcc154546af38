"""The reader of requests finds all pipelined requests, wherever the bytes are cut."""

from itertools import combinations, pairwise

from croupier.http.messages import Request
from croupier.http.request_reader import RequestReader

HEAD = b"GET /games/%d HTTP/1.1\r\nHost: h\r\n\r\n"


def paths(pieces: list[bytes]) -> list[str]:
    """The paths of the requests in these reads."""
    reader = RequestReader("", 4096)
    found = []
    for piece in pieces:
        reader.unparsed += piece
        while reader.unparsed:
            if (head := reader.read()) is not None:
                found.append(head.path)
    assert reader.error is None
    return found


def test_two_requests_are_found_wherever_the_reads_are_cut() -> None:
    data, end = HEAD % 1 + HEAD % 2, len(HEAD % 1)
    cuts = [range(1, len(data)), range(end - 6, end + 6), range(end - 5, end + 2)]
    for count, places in enumerate(cuts, start=1):
        for chosen in combinations(places, count):
            bounds = [0, *chosen, len(data)]
            pieces = [data[start:stop] for start, stop in pairwise(bounds)]
            assert paths(pieces) == ["/games/1", "/games/2"], chosen


def test_the_blank_line_of_a_body_ends_no_head() -> None:
    head = b"POST /users/ HTTP/1.1\r\nHost: h\r\nContent-Length: 12\r\n\r\n"
    data = head + b"\r\n\r\n" * 3 + HEAD % 3
    for cut in range(1, len(data)):
        assert paths([data[:cut], data[cut:]]) == ["/users/", "/games/3"], cut


OFFER = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEA\r\n"
BODIES = {
    b"Content-Length: 3\r\n\r\nabc": b"abc",
    b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n": b"abc",
    b"Content-Length: 0\r\n\r\n": b"",
    b"\r\n": b"",
}


def test_a_request_that_offers_another_protocol_keeps_its_body() -> None:
    requests = [b"POST /%d HTTP/1.1\r\nHost: h\r\n" % number + OFFER + body for number, body in enumerate(BODIES)]
    data = b"".join(requests * 2)
    for size in (1, 7, 50, len(data)):
        reader = RequestReader("", 4096)
        found: list[Request] = []
        for at in range(0, len(data), size):
            reader.unparsed += data[at : at + size]
            while reader.unparsed:
                if (head := reader.read()) is not None:
                    found.append(head)
        assert reader.error is None
        assert all(request.is_complete and request.method == "POST" for request in found)
        assert [(request.path, request.body) for request in found] == [
            (f"/{number}", body) for number, body in enumerate(BODIES.values())
        ] * 2, size
