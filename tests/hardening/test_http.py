"""Header floods, endless trailers, compressed bodies, tricks with paths, guessed passwords: hold'em and the web app."""

import asyncio
import gzip
from collections import Counter
from collections.abc import Sequence

import pytest

from croupier.http.limits import ConnectionLimits
from croupier.http.request_reader import MAX_HEADERS
from tests.hardening.servers import SERVERS, Attacker, Memory, Server
from tests.http.service_fixture import InProcessConnection, InProcessService, ask, basic, request
from tests.net.raw_client import TIMEOUT_SECONDS, RawClient, Run
from tests.sampling import extended

HTTP_SERVERS = ("holdem", "web")
BOMB_BYTES = 32 << 20
MAX_MEMORY_BYTES = 1 << 20

MAX_KEPT_BYTES_EACH = 1 << 10
"""What may be left of a request that was refused, such as the place in which guesses of its network are counted."""

ROUNDS = 10
GUESSES = 500

every_http_server = pytest.mark.parametrize("name", extended(HTTP_SERVERS, 2))
"""Both have the same service of HTTP."""

HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = b"POST /games/ HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


def attack(server: Server, *pieces: bytes, times: int = 1) -> Attacker:
    """Send pieces again and again, and read what is answered."""
    (attacker,) = server.attack(1)
    attacker.transport.reads = True
    for _ in range(times):
        for piece in pieces:
            attacker.send(piece)
    return attacker


@every_http_server
@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([HEAD, *[b"a:\r\n" * 1000] * 200], id="short headers"),
        pytest.param([HEAD, *[b"a: " + b"x" * 8000 + b"\r\n"] * 200], id="long headers", marks=pytest.mark.extended),
        pytest.param([CHUNKED, b"0\r\n", *[b"a:\r\n" * 1000] * 200], id="trailers"),
        pytest.param(
            [CHUNKED, b"0\r\na: ", *[b"x" * 8000] * 200], id="a trailer without an end", marks=pytest.mark.extended
        ),
        pytest.param(
            [CHUNKED, b"1;x=", *[b"x" * 8000] * 200], id="a chunk extension without an end", marks=pytest.mark.extended
        ),
        pytest.param([CHUNKED, *[b"1\r\nx\r\n" * 1000] * 200], id="short chunks"),
        pytest.param(
            [b"POST /users/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n", *[b"x" * 8000] * 200],
            id="a body without an end",
            marks=pytest.mark.extended,
        ),
        pytest.param([CHUNKED, b"fffffffffff\r\n", *[b"x" * 8000] * 200], id="a chunk without an end"),
    ],
)
def test_requests_without_an_end_cost_little_memory(name: str, pieces: Sequence[bytes], run: Run) -> None:
    async def main() -> None:
        async with SERVERS[name]() as server:
            attack(server, HEAD + b"\r\n")
            await server.play()
            with Memory() as memory:
                attacker = attack(server, *pieces)
                await asyncio.sleep(0)
            assert memory.peak < MAX_MEMORY_BYTES
            await server.play()
            attacker.transport.abort()

    run(main())


@every_http_server
def test_a_request_with_too_many_headers_is_refused_whole(name: str, run: Run) -> None:
    """A header that is dropped could be the one that forbids the request."""
    head = b"GET /games/ HTTP/1.1\r\nHost: localhost\r\n"

    async def main() -> None:
        async with SERVERS[name]() as server:
            async with RawClient(server.address) as client:
                await client.send(head + b"a: b\r\n" * MAX_HEADERS + b"\r\n")
                assert (await client.read_to_end()).split(b" ")[1] in {b"431", b"400"}
            async with RawClient(server.address) as client:
                await client.send(head + b"a: b\r\n" * (MAX_HEADERS - 10) + b"\r\n")
                assert (await client.receive(12))[9:] in {b"200", b"404"}

    run(main())


def test_trailers_are_ignored(run: Run) -> None:
    async def main() -> None:
        with InProcessService() as service:
            connection = InProcessConnection(service.service, limits=ConnectionLimits())
            chunked = b"2\r\n[]\r\n0\r\nAuthorization: Basic YW5uOnNlY3JldA==\r\n\r\n"
            connection.connection.data_received(CHUNKED + chunked)
            response = await connection.response()
            assert response.status == 401
            await connection.leave()

    run(main())


@every_http_server
def test_compressed_bodies_are_not_expanded(name: str, run: Run) -> None:
    bomb = gzip.compress(b"0" * BOMB_BYTES)[: 60 << 10]
    paths = {"holdem": b"/users/", "web": b"/play"}

    async def main() -> None:
        async with SERVERS[name]() as server:
            head = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n"
            head += b"Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n\r\n"
            await server.play()
            with Memory() as memory:
                async with RawClient(server.address) as client:
                    await client.send(head % (paths[name], len(bomb)) + bomb)
                    answer = await client.read_to_end()
            assert answer.split(b" ")[1][:1] == b"4", answer[:100]
            assert memory.peak < BOMB_BYTES // 8
            await server.play()

    run(main())


TRICKS = [
    b"/../../etc/passwd",
    b"/static/../../../etc/passwd",
    b"/static/x/..%2f..%2f..%2fetc%2fpasswd",
    b"/static/%2e%2e/%2e%2e/etc/passwd",
    b"/static/x/../app.py",
    b"/static/x//etc/passwd",
    b"/static/x/C:%5cwindows%5cwin.ini",
    b"/replay/kuhn/..%2f..%2fREADME",
    b"/replay/..%2fkuhn/a-called-bet",
    b"/protocols/..%2f..%2fREADME",
    b"/protocols/kuhn%00.md",
    b"/games/..%2f..%2f/players/",
    b"/games/%00/players/%0d%0aX-Injected:%20yes",
    b"/games/%ff%fe",
    b"//example.org/%2e%2e",
    b"/%",
    b"/%zz",
    b"/games/" + b"%2f" * 2000,
    b"http://example.org/etc/passwd",
    b"*",
]


@every_http_server
def test_tricks_with_paths_find_nothing(name: str, run: Run) -> None:
    async def main() -> None:
        async with SERVERS[name]() as server:
            for path in TRICKS:
                await try_path(server, path)
            with Memory() as memory:
                for path in TRICKS * ROUNDS:
                    await try_path(server, path)
            assert memory.peak < MAX_MEMORY_BYTES
            assert memory.kept < len(TRICKS) * ROUNDS * MAX_KEPT_BYTES_EACH
            await server.play()

    run(main())


async def try_path(server: Server, path: bytes) -> None:
    """Ask for a path, which must not exist."""
    async with RawClient(server.address) as client:
        await client.send(b"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % path)
        async with asyncio.timeout(TIMEOUT_SECONDS):
            answer = await client.read_to_end()
    status = answer.split(b" ")[1]
    assert status in {b"400", b"404", b"405"}, (path, answer[:100])
    assert b"root:" not in answer
    assert b"\r\nx-injected" not in answer.lower()


@pytest.mark.extended
def test_guesses_of_passwords_from_many_networks_cost_little_memory(run: Run) -> None:
    """The same name from a new /64 each time: a hundred guesses are checked, the others are refused."""

    async def guess(server: Server, number: int) -> bytes:
        (attacker,) = server.attack(1, lambda _: f"2001:db8:0:{number:x}::1")
        attacker.transport.reads = True
        authorization = basic("victim", f"wrong {number}")
        attacker.send(request("GET", "/games/", Authorization=authorization, Connection="close"))
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not attacker.transport.is_closed:
                await asyncio.sleep(0)
        return attacker.transport.written.split(b" ")[1]

    async def main() -> None:
        async with SERVERS["holdem"]() as server:
            async with RawClient(server.address) as victim:
                assert (await ask(victim, "POST", "/users/", "victim")).status == 201
            assert await guess(server, 0) == b"401"
            await server.play()
            with Memory() as memory:
                answers = Counter([await guess(server, number) for number in range(1, GUESSES)])
            assert answers == {b"401": 99, b"429": GUESSES - 100}
            assert memory.kept < GUESSES * MAX_KEPT_BYTES_EACH
            await server.play()

    run(main())
