"""HTTP connections: split and pipelined requests, malformed input, timeouts, limits, opening and closing."""

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
from croupier.http.request_reader import MAX_CHUNK_BYTES as CHUNK_BYTES
from croupier.http.server import HttpServer
from croupier.net.event_loop import loop_factory
from croupier.observers.counters import RoomCounters
from tests.http.service_fixture import (
    InProcessService,
    InProcessTransport,
    answer,
    ask,
    chunks,
    close,
    first_game,
    opened,
    request,
)
from tests.net.raw_client import RawClient, Run

# Split and pipelined requests.


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_request_may_be_split_at_any_byte(run: Run, size: int) -> None:
    async def main() -> None:
        async with opened() as server, RawClient(server.address) as caller:
            game = await first_game(caller)
            for data, status in (
                (request("POST", "/users/", "ann"), 201),
                (request("POST", f"/games/{game}/players/", "ann"), 201),
                (request("POST", f"/games/{game}/players/x/acts/", "ann", {"action": 0}), 404),
                (request("GET", f"/games/{game}", "ann"), 200),
            ):
                for start in range(0, len(data), size):
                    await caller.send(data[start : start + size])
                    await asyncio.sleep(0)
                assert (await answer(caller)).status == status

    run(main())


def test_pipelined_requests_are_answered_in_order(run: Run) -> None:
    async def main() -> None:
        async with opened() as server, RawClient(server.address) as caller:
            game = await first_game(caller)
            await caller.send(
                request("POST", "/users/", "ann")
                + request("GET", f"/games/{game}", "ann")
                + request("POST", f"/games/{game}/players/", "ann", {})
                + request("GET", f"/games/{game}", "ann")
                + request("HEAD", "/games/")
                + request("GET", "/nothing")
                + request("DELETE", f"/games/{game}/players/x", "ann")
            )
            responses = [await answer(caller, head=number == 4) for number in range(7)]
            assert [got.status for got in responses] == [201, 200, 201, 200, 200, 404, 404]
            assert [len(responses[number].json["table"]) for number in (1, 3)] == [0, 1]

    run(main())


def test_many_pipelined_requests_are_all_answered(run: Run) -> None:
    async def main() -> None:
        async with opened() as server, RawClient(server.address) as caller:
            game = await first_game(caller)
            await caller.send(request("GET", f"/games/{game}") * 100)
            responses = [await answer(caller) for _ in range(100)]
            assert {got.status for got in responses} == {200}

    run(main())


def test_body_may_be_chunked(run: Run) -> None:
    async def main() -> None:
        async with opened() as server, RawClient(server.address) as caller:
            await ask(caller, "POST", "/users/", "ann")
            path = "/games/x/players/y/acts/"
            body = b'3\r\n{"a\r\n8\r\nction":0\r\n1\r\n}\r\n0\r\n\r\n'
            got = await ask(caller, "POST", path, "ann", body, Transfer_Encoding="chunked")
            assert got.text.startswith("holdem-8.4: "), "the body is well-formed, but the game is unknown"
            large = b"10000\r\n" + b"x" * 65_536 + b"\r\n1\r\nx\r\n0\r\n\r\n"
            got = await ask(caller, "POST", path, "ann", large, Transfer_Encoding="chunked")
            assert (got.status, got.text[:12]) == (413, "holdem-8.7: ")
            assert (await ask(caller, "GET", "/games/", "ann")).status == 200, "the connection stays open"

    run(main())


def test_too_large_body_is_refused_before_it_arrives(run: Run) -> None:
    async def main() -> None:
        async with opened() as server, RawClient(server.address) as caller:
            await caller.send(b"POST /games/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
            assert (await answer(caller)).status == 413
            await caller.send(b"x" * 100_000)
            assert (await ask(caller, "GET", "/games/")).status == 200, (
                "the rest of the body is not parsed as a request"
            )

    run(main())


def test_expect_100_continue(run: Run) -> None:
    async def main() -> None:
        async with opened() as server, RawClient(server.address) as caller:
            await ask(caller, "POST", "/users/", "ann")
            head = request("POST", "/games/x/players/y/acts/", "ann", Content_Length="12", Expect="100-continue")
            await caller.exchange(head, b"HTTP/1.1 100 Continue\r\n\r\n")
            await caller.send(b'{"action":0}')
            assert (await answer(caller)).status == 404
            head = request("POST", "/games/", "ann", Content_Length="100000", Expect="100-continue")
            await caller.send(head)
            assert (await answer(caller)).status == 413, "instead of 100 Continue"

    run(main())


def test_path_is_decoded(run: Run) -> None:
    async def main() -> None:
        async with opened() as server, RawClient(server.address) as caller:
            game = await first_game(caller)
            assert (await ask(caller, "GET", f"/g%61mes/{game}")).status == 200
            for path in ("/games/%2F", "/games/%00", "/games/%ff%0d%0aX:%20y", "/games/%E2%82%AC"):
                got = await ask(caller, "GET", path)
                assert got.status == 404
                assert got.body.count(b"\n") == 1
                assert "x" not in got.headers

    run(main())


# Malformed requests.


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
def test_malformed_request_is_400_and_closes(run: Run, data: bytes) -> None:
    async def main() -> None:
        async with opened() as server, RawClient(server.address) as caller, RawClient(server.address) as other:
            await caller.send(data + b"x" * 100_000)
            got = await answer(caller)
            assert (got.status, got.headers["connection"], got.text[:12]) == (400, "close", "holdem-1.1: ")
            assert await caller.read_to_end() == b"", "no reset"
            assert (await ask(other, "GET", "/games/")).status == 200

    run(main())


def test_requests_before_a_malformed_one_are_answered(run: Run) -> None:
    async def main() -> None:
        async with opened() as server, RawClient(server.address) as caller:
            await caller.send(request("GET", "/games/") * 3 + b"nonsense\r\n\r\n" + b"x" * 100_000)
            assert [(await answer(caller)).status for _ in range(4)] == [200, 200, 200, 400]
            assert await caller.read_to_end() == b""

    run(main())


def test_half_closed_client_is_answered(run: Run) -> None:
    async def main() -> None:
        async with opened() as server:
            for count in (1, 3):
                async with RawClient(server.address) as caller:
                    await caller.send(request("POST", "/users/", f"user {count}") + request("GET", "/games/") * count)
                    caller.end_output()
                    assert [(await answer(caller)).status for _ in range(count + 1)] == [201] + [200] * count
                    assert await caller.read_to_end() == b""

    run(main())


def test_half_closed_client_is_disconnected_after_the_close_timeout(run: Run) -> None:
    async def main() -> None:
        async with (
            opened(connection_limits=ConnectionLimits(close_timeout=0.05)) as server,
            RawClient(server.address) as caller,
        ):
            game = await first_game(caller)
            await caller.send(request("GET", f"/games/{game}?wait=60"))
            caller.end_output()
            with suppress(ConnectionError):
                assert await caller.read_to_end() == b""
            while server.subscriber_count:
                await asyncio.sleep(0.001)

    run(main())


def test_upgrade_to_another_protocol_is_ignored(run: Run) -> None:
    async def main() -> None:
        async with opened() as server, RawClient(server.address) as caller:
            for protocol in ("websocket", "h2c"):
                got = await ask(caller, "GET", "/games/", Connection="Upgrade", Upgrade=protocol)
                assert got.status == 200

    run(main())


@pytest.mark.parametrize("size", [100, 1000, CHUNK_BYTES, 1_000_000])
def test_endless_head_is_431(run: Run, size: int) -> None:
    async def main() -> None:
        for start in (b"GET /" + b"x" * 100, b"GET / HTTP/1.1\r\nA: x", b"GET / HTTP/1.1\r\n"):
            async with opened() as server, RawClient(server.address) as caller:
                await caller.send(start)
                more = (b"B: c\r\n" if start.endswith(b"\n") else b"abcdef") * (100_000 // 6)
                with suppress(OSError):
                    for at in range(0, len(more), size):
                        await caller.send(more[at : at + size])
                got = await answer(caller)
                assert (got.status, got.text[:12]) == (431, "holdem-1.1: ")
                assert await caller.read_to_end() == b""

    run(main())


def test_head_of_16_kib_is_accepted(run: Run) -> None:
    async def main() -> None:
        async with opened() as server, RawClient(server.address) as caller:
            for _ in range(5):
                got = await ask(caller, "GET", "/games/", Cookie="x" * 16_000)
                assert got.status == 200
            await caller.send(request("GET", "/games/", Cookie="x" * 16_000) * 5)
            assert [(await answer(caller)).status for _ in range(5)] == [200] * 5

    run(main())


# Timeouts.


def test_client_that_does_not_read_is_disconnected(run: Run) -> None:
    async def main() -> None:
        counts = RoomCounters()
        http_server = HttpServer(None, ConnectionLimits(write_timeout=30.0), counts)
        connection, transport = HttpConnection(http_server), InProcessTransport()
        connection.connection_made(transport)
        connection.pause_writing()
        for now, aborted in ((100.0, False), (129.0, False), (130.0, False), (130.1, True)):
            connection.check_timeouts(now)
            assert transport.aborted == aborted
        assert counts.overflows == 1
        connection.connection_lost(None)

    run(main())


def test_client_that_does_not_read_the_last_response_is_disconnected(run: Run) -> None:
    async def main() -> None:
        with InProcessService() as web:
            connection, transport = (
                HttpConnection(HttpServer(web.service, ConnectionLimits(write_timeout=30.0), RoomCounters())),
                InProcessTransport(),
            )
            connection.connection_made(transport)
            connection.data_received(request("GET", "/games/", Connection="close"))
            while not transport.closed:
                await asyncio.sleep(0)
            connection.check_timeouts(100.0)
            connection.check_timeouts(130.0)
            assert not transport.aborted
            connection.check_timeouts(130.1)
            assert transport.aborted
            connection.connection_lost(None)

    run(main())


def test_client_that_reads_again_in_time_stays_connected(run: Run) -> None:
    async def main() -> None:
        connection, transport = (
            HttpConnection(HttpServer(None, ConnectionLimits(write_timeout=30.0, request_timeout=1e9), RoomCounters())),
            InProcessTransport(),
        )
        connection.connection_made(transport)
        for start in (0.0, 40.0, 80.0):
            connection.pause_writing()
            connection.check_timeouts(start)
            connection.check_timeouts(start + 29.0)
            connection.resume_writing()
            connection.check_timeouts(start + 31.0)
        assert not transport.aborted
        connection.connection_lost(None)

    run(main())


SLOW: dict[str, list[bytes]] = {
    "nothing": [],
    "a head that does not end": [b"GET / HTTP/1.1\r\nHost: x\r\n"],
    "line ends only": [b"\r\n", b"\r\n", b"\r\n"],
    "a head that comes slowly": [b"GET / HTTP/1.1\r\n", b"A: b\r\n", b"C: d\r\n"],
    "a body that comes slowly": [b"POST /games/ HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", b"a", b"b"],
}


@pytest.mark.parametrize("chunk_list", SLOW.values(), ids=SLOW.keys())
def test_slow_request_is_408(run: Run, chunk_list: list[bytes]) -> None:
    async def main() -> None:
        with InProcessService() as web:
            connection, transport = (
                HttpConnection(HttpServer(web.service, ConnectionLimits(request_timeout=20.0), RoomCounters())),
                InProcessTransport(),
            )
            connection.connection_made(transport)
            start = asyncio.get_running_loop().time()
            for chunk in chunk_list:
                connection.data_received(chunk)
                await asyncio.sleep(0)
                connection.check_timeouts(start + 1.0)
            connection.check_timeouts(start + 19.0)
            assert transport.writes == []
            connection.check_timeouts(start + 21.1)
            assert b"".join(transport.writes).startswith(b"HTTP/1.1 408 Request Timeout\r\n")
            assert transport.ended
            connection.data_received(b"too late")
            connection.check_timeouts(start + 100.0)
            assert len(transport.writes) == 1
            connection.connection_lost(None)
            await asyncio.sleep(0)

    run(main())


def test_idle_connection_is_closed(run: Run) -> None:
    async def main() -> None:
        with InProcessService() as web:
            connection, transport = (
                HttpConnection(HttpServer(web.service, ConnectionLimits(keep_alive_timeout=75.0), RoomCounters())),
                InProcessTransport(),
            )
            connection.connection_made(transport)
            for now in (0.0, 60.0, 120.0, 180.0):
                connection.data_received(request("GET", "/games/"))
                await asyncio.sleep(0)
                connection.check_timeouts(now)
            connection.data_received(b"\r\n")  # not a request
            connection.check_timeouts(255.0)
            assert not transport.closed
            connection.check_timeouts(255.1)
            assert transport.closed
            assert len(b"".join(transport.writes).split(b"HTTP/1.1 200 OK")) == 5
            connection.connection_lost(None)

    run(main())


def test_connection_that_waits_for_a_response_is_not_closed(run: Run) -> None:
    async def main() -> None:
        with InProcessService() as web:
            game = web.house.games()[0].guid
            connection, transport = (
                HttpConnection(HttpServer(web.service, ConnectionLimits(), RoomCounters())),
                InProcessTransport(),
            )
            connection.connection_made(transport)
            connection.data_received(request("GET", f"/games/{game}?wait=60") + request("GET", "/games/"))
            for now in range(0, 1000, 10):
                await asyncio.sleep(0)
                connection.check_timeouts(float(now))
            assert not transport.closed
            assert transport.writes == []
            connection.connection_lost(None)
            await asyncio.sleep(0)

    run(main())


# Limits.


LIMITED = {
    "connections": ConnectionLimits(max_connections=2),
    "per_address": ConnectionLimits(max_connections_per_address=2),
}


@pytest.mark.parametrize(("reason", "connection_limits"), LIMITED.items(), ids=LIMITED.keys())
def test_connection_over_the_limit_is_503(run: Run, reason: str, connection_limits: ConnectionLimits) -> None:
    async def main() -> None:
        async with opened(connection_limits=connection_limits) as server, RawClient(server.address) as one:
            assert (await ask(one, "GET", "/games/")).status == 200
            for _ in range(3):
                async with RawClient(server.address) as two, RawClient(server.address) as three:
                    assert (await ask(two, "GET", "/games/")).status == 200
                    await three.send(request("GET", "/games/"))
                    got = await answer(three)
                    assert (got.status, got.headers["retry-after"]) == (503, "1")
                    assert got.text == f"holdem-9.10: found no free place ({reason}); allowed: to come later\n"
                    assert await three.read_to_end() == b""
                    two.close()
                    while server.connection_count > 1:
                        await asyncio.sleep(0.001)
            assert server.counts.refused == {reason: 3}
            assert server.counts.connections == 4

    run(main())


def test_flood_of_refused_connections_is_aborted(run: Run) -> None:
    async def main() -> None:
        with InProcessService() as web:
            http_server = HttpServer(
                web.service, ConnectionLimits(max_connections=1, max_lingering_connections=2), RoomCounters()
            )
            connections, transports = (
                [HttpConnection(http_server) for _ in range(5)],
                [InProcessTransport() for _ in range(5)],
            )
            for connection, transport in zip(connections, transports, strict=True):
                connection.connection_made(transport)
            assert [len(transport.writes) for transport in transports] == [0, 1, 1, 0, 0]
            assert [transport.aborted for transport in transports] == [False, False, False, True, True]
            for connection in connections:
                connection.connection_lost(None)

    run(main())


def test_zero_means_no_limit(run: Run) -> None:
    async def main() -> None:
        counts = RoomCounters()
        http_server = HttpServer(None, ConnectionLimits(max_connections=0, max_connections_per_address=0), counts)
        connections = [HttpConnection(http_server) for _ in range(3000)]
        for connection in connections:
            connection.connection_made(InProcessTransport())
        assert (len(http_server.connections), counts.refused) == (3000, {})
        for connection in connections:
            connection.connection_lost(None)
        assert len(http_server.connections) == 0

    run(main())


# Opening and closing.


def test_unusable_port_raises_os_error(run: Run) -> None:
    async def main() -> None:
        async with opened() as server:
            for port in (server.address[1], -1, 65_536):
                with pytest.raises(OSError, match=r"."):
                    await HttpServer(None, ConnectionLimits(), RoomCounters()).listen("127.0.0.1", port)

    run(main())


def test_stop_answers_pending_requests_and_closes_idle_connections(run: Run) -> None:
    async def main() -> None:
        async with opened() as server, RawClient(server.address) as idle, RawClient(server.address) as busy:
            game = await first_game(idle)
            await busy.send(request("GET", f"/games/{game}?wait=60"))
            while not server.subscriber_count:
                await asyncio.sleep(0.001)
            await close(server)
            assert await idle.read_to_end() == b""
            got = await answer(busy)
            assert (got.status, got.headers["connection"]) == (200, "close")
            assert await busy.read_to_end() == b""
            with pytest.raises(OSError, match=r"."):
                await asyncio.open_connection(*server.address)

    run(main())


def test_stop_disconnects_clients_that_do_not_close(run: Run) -> None:
    async def main() -> None:
        connection_limits = ConnectionLimits(close_timeout=0.05)
        places = opened(connection_limits=connection_limits)
        async with places as server, RawClient(server.address) as one, RawClient(server.address) as two:
            await one.send(b"POST /users/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12")
            await two.send(b"GET /games/ HT")
            while server.connection_count < 2:
                await asyncio.sleep(0.001)
            await close(server, 0.0)

    run(main())


def test_client_that_disconnects_midway_leaves_no_connection(run: Run) -> None:
    async def main() -> None:
        async with (
            opened(connection_limits=ConnectionLimits(close_timeout=0.05)) as server,
            RawClient(server.address) as other,
        ):
            await first_game(other)
            for data in (
                b"GET",
                b"POST /users/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12",
                request("GET", "/games/"),
            ):
                for leave in (RawClient.reset, RawClient.close, RawClient.end_output):
                    caller = RawClient(server.address)
                    async with caller:
                        await caller.send(data)
                        leave(caller)
                    while server.connection_count > 1:
                        await asyncio.sleep(0.001)
            assert (await ask(other, "GET", "/games/")).status == 200

    run(main())


def test_tls(run: Run) -> None:
    async def main() -> None:
        authority = trustme.CA()
        tls_server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(tls_server)
        client = ssl.create_default_context()
        authority.configure_trust(client)
        async with opened(context=tls_server) as server:
            reader, writer = await asyncio.open_connection(*server.address, ssl=client)
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


# Dialect hspe-go.


def test_in_dialect_hspe_go_a_body_is_one_chunk(run: Run) -> None:
    async def main() -> None:
        async with opened("hspe-go") as server, RawClient(server.address) as caller:
            game = await first_game(caller)
            for method, path in (
                ("POST", "/users/"),
                ("POST", f"/games/{game}/players/"),
                ("GET", f"/games/{game}"),
                ("GET", "/games/"),
            ):
                await caller.send(request(method, path, "ann"))
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    head += await caller.receive(1)
                assert b"\r\ntransfer-encoding: chunked\r\n" in head
                (chunk,) = [chunk async for chunk in chunks(caller)]
                assert chunk.endswith(b"\n")

    run(main())


# Arbitrary bytes.


@given(st.lists(st.one_of(st.binary(max_size=40), st.sampled_from([*GARBAGE.values(), request("GET", "/games/")]))))
def test_arbitrary_bytes_cause_no_error(chunk_list: list[bytes]) -> None:
    faults: list[Any] = []

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
        with InProcessService() as web:
            counts = RoomCounters()
            connection, transport = (
                HttpConnection(HttpServer(web.service, ConnectionLimits(), counts)),
                InProcessTransport(),
            )
            connection.connection_made(transport)
            for chunk in chunk_list:
                connection.data_received(chunk)
                await asyncio.sleep(0)
            for now in (0.0, 30.0, 200.0):
                connection.check_timeouts(now)
            connection.connection_lost(None)
            await asyncio.sleep(0)
            for data in (b"".join(transport.writes),):
                assert data == b"" or data.startswith((b"HTTP/1.1 2", b"HTTP/1.1 4"))
            assert not web.service.counts.refused

    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(main())
    assert faults == []
