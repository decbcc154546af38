"""Connections of the service: cut at any byte, one behind the other, slow, endless, too many, or gone."""

import asyncio
import ssl
from contextlib import suppress
from typing import Any

import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from croupier.http.connection import HttpConnection
from croupier.http.limits import ConnectionLimits
from croupier.http.pipelining import MAX_CHUNK_BYTES as PIECE
from croupier.http.server import HttpServer
from croupier.net.event_loop import loop_factory
from croupier.observers.counters import RoomCounters
from tests.http.service_fixture import Web, answer, ask, chunks, close, opened, request
from tests.net.raw_client import Caller, Run, Wire


async def first_game(caller: Caller) -> str:
    found: str = (await ask(caller, "GET", "/games/")).json[0]["gameID"]
    return found


# Requests cut and joined.


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_a_request_may_come_cut_at_any_byte(run: Run, size: int) -> None:
    async def main() -> None:
        async with opened() as found, Caller(found.address) as caller:
            game = await first_game(caller)
            for what, status in (
                (request("POST", "/users/", "ann"), 201),
                (request("POST", f"/games/{game}/players/", "ann"), 201),
                (request("POST", f"/games/{game}/players/x/acts/", "ann", {"action": 0}), 404),
                (request("GET", f"/games/{game}", "ann"), 200),
            ):
                for start in range(0, len(what), size):
                    await caller.say(what[start : start + size])
                    await asyncio.sleep(0)
                assert (await answer(caller)).status == status

    run(main())


def test_requests_that_come_together_are_answered_one_after_another(run: Run) -> None:
    async def main() -> None:
        async with opened() as found, Caller(found.address) as caller:
            game = await first_game(caller)
            await caller.say(
                request("POST", "/users/", "ann")
                + request("GET", f"/games/{game}", "ann")
                + request("POST", f"/games/{game}/players/", "ann", {})
                + request("GET", f"/games/{game}", "ann")
                + request("HEAD", "/games/")
                + request("GET", "/nothing")
                + request("DELETE", f"/games/{game}/players/x", "ann")
            )
            heard = [await answer(caller, head=number == 4) for number in range(7)]
            assert [got.status for got in heard] == [201, 200, 201, 200, 200, 404, 404]
            assert [len(heard[number].json["table"]) for number in (1, 3)] == [0, 1]

    run(main())


def test_many_requests_that_come_together_are_all_answered(run: Run) -> None:
    async def main() -> None:
        async with opened() as found, Caller(found.address) as caller:
            game = await first_game(caller)
            await caller.say(request("GET", f"/games/{game}") * 100)
            heard = [await answer(caller) for _ in range(100)]
            assert {got.status for got in heard} == {200}

    run(main())


def test_a_body_may_come_in_chunks(run: Run) -> None:
    async def main() -> None:
        async with opened() as found, Caller(found.address) as caller:
            await ask(caller, "POST", "/users/", "ann")
            path = "/games/x/players/y/acts/"
            body = b'3\r\n{"a\r\n8\r\nction":0\r\n1\r\n}\r\n0\r\n\r\n'
            got = await ask(caller, "POST", path, "ann", body, Transfer_Encoding="chunked")
            assert got.text.startswith("holdem-8.4: "), "well-formed, in no game"
            large = b"10000\r\n" + b"x" * 65_536 + b"\r\n1\r\nx\r\n0\r\n\r\n"
            got = await ask(caller, "POST", path, "ann", large, Transfer_Encoding="chunked")
            assert (got.status, got.text[:12]) == (413, "holdem-8.7: ")
            assert (await ask(caller, "GET", "/games/", "ann")).status == 200, "the connection goes on"

    run(main())


def test_a_body_that_is_too_large_is_refused_before_it_is_there(run: Run) -> None:
    async def main() -> None:
        async with opened() as found, Caller(found.address) as caller:
            await caller.say(b"POST /games/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
            assert (await answer(caller)).status == 413
            await caller.say(b"x" * 100_000)
            assert (await ask(caller, "GET", "/games/")).status == 200, "what was sent nevertheless is not a request"

    run(main())


def test_who_asks_before_he_sends_a_body_is_told_to_go_on(run: Run) -> None:
    async def main() -> None:
        async with opened() as found, Caller(found.address) as caller:
            await ask(caller, "POST", "/users/", "ann")
            head = request("POST", "/games/x/players/y/acts/", "ann", Content_Length="12", Expect="100-continue")
            await caller.ask(head, b"HTTP/1.1 100 Continue\r\n\r\n")
            await caller.say(b'{"action":0}')
            assert (await answer(caller)).status == 404
            head = request("POST", "/games/", "ann", Content_Length="100000", Expect="100-continue")
            await caller.say(head)
            assert (await answer(caller)).status == 413, "and not to go on"

    run(main())


def test_a_path_is_decoded(run: Run) -> None:
    async def main() -> None:
        async with opened() as found, Caller(found.address) as caller:
            game = await first_game(caller)
            assert (await ask(caller, "GET", f"/g%61mes/{game}")).status == 200
            for path in ("/games/%2F", "/games/%00", "/games/%ff%0d%0aX:%20y", "/games/%E2%82%AC"):
                got = await ask(caller, "GET", path)
                assert got.status == 404
                assert got.body.count(b"\n") == 1
                assert "x" not in got.headers

    run(main())


# What is no request.


GARBAGE = {
    "no HTTP": b"STRT 1\r\n\r\n",
    "another version": b"GET / HTTP/3.0\r\n\r\n",
    "a path that is none": b"GET http:// HTTP/1.1\r\nHost: x\r\n\r\n",
    "a tunnel": b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n",
    "bytes in the path": b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
    "a length that is none": b"POST /games/ HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
    "a negative length": b"POST /games/ HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "two lengths": b"POST /games/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
    "a length and chunks": (
        b"POST /games/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "a chunk that is none": b"POST /games/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
    "a header without a name": b"GET / HTTP/1.1\r\n: x\r\n\r\n",
    "a zero byte": b"GET / HTTP/1.1\r\nHost: \x00\r\n\r\n",
}


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE.keys())
def test_what_is_no_http_is_400_and_the_end(run: Run, data: bytes) -> None:
    async def main() -> None:
        async with opened() as found, Caller(found.address) as caller, Caller(found.address) as other:
            await caller.say(data + b"x" * 100_000)
            got = await answer(caller)
            assert (got.status, got.headers["connection"], got.text[:12]) == (400, "close", "holdem-1.1: ")
            assert await caller.rest() == b"", "no reset"
            assert (await ask(other, "GET", "/games/")).status == 200

    run(main())


def test_what_was_asked_before_is_answered_before_the_end(run: Run) -> None:
    async def main() -> None:
        async with opened() as found, Caller(found.address) as caller:
            await caller.say(request("GET", "/games/") * 3 + b"nonsense\r\n\r\n" + b"x" * 100_000)
            assert [(await answer(caller)).status for _ in range(4)] == [200, 200, 200, 400]
            assert await caller.rest() == b""

    run(main())


def test_who_stops_talking_is_still_answered(run: Run) -> None:
    async def main() -> None:
        async with opened() as found:
            for count in (1, 3):
                async with Caller(found.address) as caller:
                    await caller.say(request("POST", "/users/", f"user {count}") + request("GET", "/games/") * count)
                    caller.stop_talking()
                    assert [(await answer(caller)).status for _ in range(count + 1)] == [201] + [200] * count
                    assert await caller.rest() == b""

    run(main())


def test_who_stops_talking_does_not_wait_for_long(run: Run) -> None:
    async def main() -> None:
        async with opened(reception=ConnectionLimits(close_timeout=0.05)) as found, Caller(found.address) as caller:
            game = await first_game(caller)
            await caller.say(request("GET", f"/games/{game}?wait=60"))
            caller.stop_talking()
            with suppress(ConnectionError):
                assert await caller.rest() == b""
            while found.app.subscriber_count:
                await asyncio.sleep(0.001)

    run(main())


def test_an_upgrade_to_another_protocol_is_not_made(run: Run) -> None:
    async def main() -> None:
        async with opened() as found, Caller(found.address) as caller:
            for protocol in ("websocket", "h2c"):
                got = await ask(caller, "GET", "/games/", Connection="Upgrade", Upgrade=protocol)
                assert got.status == 200

    run(main())


@pytest.mark.parametrize("size", [100, 1000, PIECE, 1_000_000])
def test_a_head_without_end_is_431(run: Run, size: int) -> None:
    async def main() -> None:
        for start in (b"GET /" + b"x" * 100, b"GET / HTTP/1.1\r\nA: x", b"GET / HTTP/1.1\r\n"):
            async with opened() as found, Caller(found.address) as caller:
                await caller.say(start)
                more = (b"B: c\r\n" if start.endswith(b"\n") else b"abcdef") * (100_000 // 6)
                with suppress(OSError):
                    for at in range(0, len(more), size):
                        await caller.say(more[at : at + size])
                got = await answer(caller)
                assert (got.status, got.text[:12]) == (431, "holdem-1.1: ")
                assert await caller.rest() == b""

    run(main())


def test_a_head_of_16_kib_is_read(run: Run) -> None:
    async def main() -> None:
        async with opened() as found, Caller(found.address) as caller:
            for _ in range(5):
                got = await ask(caller, "GET", "/games/", Cookie="x" * 16_000)
                assert got.status == 200
            await caller.say(request("GET", "/games/", Cookie="x" * 16_000) * 5)
            assert [(await answer(caller)).status for _ in range(5)] == [200] * 5

    run(main())


# Patience.


class Cord(Wire):
    """A connection without a socket."""

    closed = False

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


def test_who_does_not_read_for_long_is_cut_off(run: Run) -> None:
    async def main() -> None:
        counts = RoomCounters()
        listener = HttpServer(None, ConnectionLimits(write_timeout=30.0), counts)
        line, wire = HttpConnection(listener), Cord()
        line.connection_made(wire)
        line.pause_writing()
        for now, aborted in ((100.0, False), (129.0, False), (130.0, False), (130.1, True)):
            line.check_timeouts(now)
            assert wire.aborted == aborted
        assert counts.overflows == 1
        line.connection_lost(None)

    run(main())


def test_who_does_not_take_the_last_of_an_answer_is_cut_off(run: Run) -> None:
    async def main() -> None:
        with Web() as web:
            line, wire = (
                HttpConnection(HttpServer(web.service, ConnectionLimits(write_timeout=30.0), RoomCounters())),
                Cord(),
            )
            line.connection_made(wire)
            line.data_received(request("GET", "/games/", Connection="close"))
            while not wire.closed:
                await asyncio.sleep(0)
            line.check_timeouts(100.0)
            line.check_timeouts(130.0)
            assert not wire.aborted
            line.check_timeouts(130.1)
            assert wire.aborted
            line.connection_lost(None)

    run(main())


def test_who_reads_again_in_time_is_not_cut_off(run: Run) -> None:
    async def main() -> None:
        line, wire = (
            HttpConnection(HttpServer(None, ConnectionLimits(write_timeout=30.0, request_timeout=1e9), RoomCounters())),
            Cord(),
        )
        line.connection_made(wire)
        for start in (0.0, 40.0, 80.0):
            line.pause_writing()
            line.check_timeouts(start)
            line.check_timeouts(start + 29.0)
            line.resume_writing()
            line.check_timeouts(start + 31.0)
        assert not wire.aborted
        line.connection_lost(None)

    run(main())


SLOW: dict[str, list[bytes]] = {
    "who says nothing": [],
    "a head that does not end": [b"GET / HTTP/1.1\r\nHost: x\r\n"],
    "line ends only": [b"\r\n", b"\r\n", b"\r\n"],
    "a head that comes slowly": [b"GET / HTTP/1.1\r\n", b"A: b\r\n", b"C: d\r\n"],
    "a body that comes slowly": [b"POST /games/ HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", b"a", b"b"],
}


@pytest.mark.parametrize("pieces", SLOW.values(), ids=SLOW.keys())
def test_a_request_that_takes_too_long_is_408(run: Run, pieces: list[bytes]) -> None:
    async def main() -> None:
        with Web() as web:
            line, wire = (
                HttpConnection(HttpServer(web.service, ConnectionLimits(request_timeout=20.0), RoomCounters())),
                Cord(),
            )
            line.connection_made(wire)
            start = asyncio.get_running_loop().time()
            for piece in pieces:
                line.data_received(piece)
                await asyncio.sleep(0)
                line.check_timeouts(start + 1.0)
            line.check_timeouts(start + 19.0)
            assert wire.writes == []
            line.check_timeouts(start + 21.1)
            assert b"".join(wire.writes).startswith(b"HTTP/1.1 408 Request Timeout\r\n")
            assert wire.ended
            line.data_received(b"too late")
            line.check_timeouts(start + 100.0)
            assert len(wire.writes) == 1
            line.connection_lost(None)
            await asyncio.sleep(0)

    run(main())


def test_who_has_nothing_to_ask_for_long_is_parted_with(run: Run) -> None:
    async def main() -> None:
        with Web() as web:
            line, wire = (
                HttpConnection(HttpServer(web.service, ConnectionLimits(keep_alive_timeout=75.0), RoomCounters())),
                Cord(),
            )
            line.connection_made(wire)
            for now in (0.0, 60.0, 120.0, 180.0):
                line.data_received(request("GET", "/games/"))
                await asyncio.sleep(0)
                line.check_timeouts(now)
            line.data_received(b"\r\n")  # which is no request
            line.check_timeouts(255.0)
            assert not wire.closed
            line.check_timeouts(255.1)
            assert wire.closed
            assert len(b"".join(wire.writes).split(b"HTTP/1.1 200 OK")) == 5
            line.connection_lost(None)

    run(main())


def test_nobody_is_parted_with_while_he_waits_for_us(run: Run) -> None:
    async def main() -> None:
        with Web() as web:
            game = web.house.games()[0].guid
            line, wire = HttpConnection(HttpServer(web.service, ConnectionLimits(), RoomCounters())), Cord()
            line.connection_made(wire)
            line.data_received(request("GET", f"/games/{game}?wait=60") + request("GET", "/games/"))
            for now in range(0, 1000, 10):
                await asyncio.sleep(0)
                line.check_timeouts(float(now))
            assert not wire.closed
            assert wire.writes == []
            line.connection_lost(None)
            await asyncio.sleep(0)

    run(main())


# Places.


LIMITED = {
    "connections": ConnectionLimits(max_connections=2),
    "per_address": ConnectionLimits(max_connections_per_address=2),
}


@pytest.mark.parametrize(("reason", "reception"), LIMITED.items(), ids=LIMITED.keys())
def test_who_finds_no_place_is_told_to_come_later(run: Run, reason: str, reception: ConnectionLimits) -> None:
    async def main() -> None:
        async with opened(reception=reception) as found, Caller(found.address) as one:
            assert (await ask(one, "GET", "/games/")).status == 200
            for _ in range(3):
                async with Caller(found.address) as two, Caller(found.address) as three:
                    assert (await ask(two, "GET", "/games/")).status == 200
                    await three.say(request("GET", "/games/"))
                    got = await answer(three)
                    assert (got.status, got.headers["retry-after"]) == (503, "1")
                    assert got.text == f"holdem-9.10: found no free place ({reason}); allowed: to come later\n"
                    assert await three.rest() == b""
                    two.hang_up()
                    while found.connection_count > 1:
                        await asyncio.sleep(0.001)
            assert found.app.counts.refused == {reason: 3}
            assert found.app.counts.connections == 4

    run(main())


def test_a_flood_of_those_who_find_no_place_is_not_waited_for(run: Run) -> None:
    async def main() -> None:
        with Web() as web:
            listener = HttpServer(
                web.service, ConnectionLimits(max_connections=1, max_lingering_connections=2), RoomCounters()
            )
            lines, cords = [HttpConnection(listener) for _ in range(5)], [Cord() for _ in range(5)]
            for line, cord in zip(lines, cords, strict=True):
                line.connection_made(cord)
            assert [len(cord.writes) for cord in cords] == [0, 1, 1, 0, 0]
            assert [cord.aborted for cord in cords] == [False, False, False, True, True]
            for line in lines:
                line.connection_lost(None)

    run(main())


def test_zero_means_no_limit(run: Run) -> None:
    async def main() -> None:
        counts = RoomCounters()
        listener = HttpServer(None, ConnectionLimits(max_connections=0, max_connections_per_address=0), counts)
        lines = [HttpConnection(listener) for _ in range(3000)]
        for line in lines:
            line.connection_made(Cord())
        assert (len(listener.connections), counts.refused) == (3000, {})
        for line in lines:
            line.connection_lost(None)
        assert len(listener.connections) == 0

    run(main())


# Beginnings and ends.


def test_a_port_that_is_taken_or_none_is_an_error(run: Run) -> None:
    async def main() -> None:
        async with opened() as found:
            for port in (found.address[1], -1, 65_536):
                with pytest.raises(OSError, match=r"."):
                    await HttpServer(None, ConnectionLimits(), RoomCounters()).listen("127.0.0.1", port)

    run(main())


def test_at_the_end_what_was_asked_is_answered_and_idle_connections_close(run: Run) -> None:
    async def main() -> None:
        async with opened() as found, Caller(found.address) as idle, Caller(found.address) as busy:
            game = await first_game(idle)
            await busy.say(request("GET", f"/games/{game}?wait=60"))
            while not found.app.subscriber_count:
                await asyncio.sleep(0.001)
            await close(found)
            assert await idle.rest() == b""
            got = await answer(busy)
            assert (got.status, got.headers["connection"]) == (200, "close")
            assert await busy.rest() == b""
            with pytest.raises(OSError, match=r"."):
                await asyncio.open_connection(*found.address)

    run(main())


def test_who_does_not_let_go_at_the_end_is_cut_off(run: Run) -> None:
    async def main() -> None:
        reception = ConnectionLimits(close_timeout=0.05)
        places = opened(reception=reception)
        async with places as found, Caller(found.address) as one, Caller(found.address) as two:
            await one.say(b"POST /users/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12")
            await two.say(b"GET /games/ HT")
            while found.connection_count < 2:
                await asyncio.sleep(0.001)
            await close(found, 0.0)

    run(main())


def test_who_is_gone_in_the_middle_leaves_nothing_behind(run: Run) -> None:
    async def main() -> None:
        async with opened(reception=ConnectionLimits(close_timeout=0.05)) as found, Caller(found.address) as other:
            await first_game(other)
            for what in (
                b"GET",
                b"POST /users/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12",
                request("GET", "/games/"),
            ):
                for leave in (Caller.reset, Caller.hang_up, Caller.stop_talking):
                    caller = Caller(found.address)
                    async with caller:
                        await caller.say(what)
                        leave(caller)
                    while found.connection_count > 1:
                        await asyncio.sleep(0.001)
            assert (await ask(other, "GET", "/games/")).status == 200

    run(main())


def test_it_speaks_tls_with_a_certificate(run: Run) -> None:
    async def main() -> None:
        authority = trustme.CA()
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(server)
        client = ssl.create_default_context()
        authority.configure_trust(client)
        async with opened(context=server) as found:
            reader, writer = await asyncio.open_connection(*found.address, ssl=client)
            for _ in range(3):
                writer.write(request("GET", "/games/"))
                head = await reader.readuntil(b"\r\n\r\n")
                assert head.startswith(b"HTTP/1.1 200 OK\r\n")
                length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length"))
                await reader.readexactly(int(length.split()[1]))
            writer.write(b"nonsense\r\n\r\n")
            assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    run(main())


# The published client of the other dialect.


def test_in_dialect_hspe_go_a_body_comes_as_one_chunk(run: Run) -> None:
    async def main() -> None:
        async with opened("hspe-go") as found, Caller(found.address) as caller:
            game = await first_game(caller)
            for method, path in (
                ("POST", "/users/"),
                ("POST", f"/games/{game}/players/"),
                ("GET", f"/games/{game}"),
                ("GET", "/games/"),
            ):
                await caller.say(request(method, path, "ann"))
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    head += await caller.hear(1)
                assert b"\r\ntransfer-encoding: chunked\r\n" in head
                (chunk,) = [chunk async for chunk in chunks(caller)]
                assert chunk.endswith(b"\n")

    run(main())


# Anything at all.


@given(st.lists(st.one_of(st.binary(max_size=40), st.sampled_from([*GARBAGE.values(), request("GET", "/games/")]))))
def test_no_bytes_do_harm(pieces: list[bytes]) -> None:
    faults: list[Any] = []

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, told: faults.append(told))
        with Web() as web:
            counts = RoomCounters()
            line, wire = HttpConnection(HttpServer(web.service, ConnectionLimits(), counts)), Cord()
            line.connection_made(wire)
            for piece in pieces:
                line.data_received(piece)
                await asyncio.sleep(0)
            for now in (0.0, 30.0, 200.0):
                line.check_timeouts(now)
            line.connection_lost(None)
            await asyncio.sleep(0)
            for data in (b"".join(wire.writes),):
                assert data == b"" or data.startswith((b"HTTP/1.1 2", b"HTTP/1.1 4"))
            assert not web.service.counts.refused

    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(main())
    assert faults == []
