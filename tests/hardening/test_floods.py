"""Half requests, silence, garbage, endless frames and floods: bounded memory, and a neighbour that plays on."""

import asyncio
from collections.abc import Callable
from random import Random

import pytest

from croupier.net.client_addresses import address_key
from croupier.web.browser_connection import BrowserConnection
from tests.hardening.servers import HTTP_LIMITS, IDLE_SECONDS, SERVERS, Memory, Server, pump
from tests.net.raw_client import TIMEOUT_SECONDS, Run

IDLERS = 20
"""Attackers that send little."""

FLOODERS = 4
"""Attackers that send as much as the server takes, in pieces of PIECE_BYTES."""

PIECE_BYTES = 64 << 10

MAX_KEPT_BYTES_EACH = 200 << 10
"""What an attacker's connection may cost: its unparsed input, and output up to the mark at which the loop pauses it."""

NEIGHBOUR_BYTES = 2 << 20
"""What is left of the game of a neighbour that plays meanwhile."""

BEGUN = {
    "kuhn": b"ACTN B",
    "sevenhalf": b"STR",
    "blackjack": b"BE",
    "oldmaid": b'{"cmd": "joi',
    "holdem": b"GET /games/ HTTP/1.1\r\nHo",
    "web": b"GET / HTTP/1.1\r\nHo",
}
"""The beginning of a request."""

WHOLE = {
    "kuhn": b"ACTN BET",
    "sevenhalf": b"DRAW",
    "blackjack": b"HIT ",
    "oldmaid": b'{"cmd": "status"}\n',
    "holdem": b"GET /games/ HTTP/1.1\r\nHost: x\r\n\r\n",
    "web": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
}
"""A request that is answered."""

ENDLESS = {
    "kuhn": (b"", b" "),
    "sevenhalf": (b"STRT", b" "),
    "blackjack": (b"", b" "),
    "oldmaid": (b'{"cmd": "', b"x"),
    "holdem": (b"GET /", b"x"),
    "web": (b"GET /", b"x"),
}
"""A frame without an end: its beginning, and what is repeated."""

REPEATED = ("sevenhalf", "blackjack")
"""The servers of the three houses differ in their messages only."""


def servers(*extended: str) -> pytest.MarkDecorator:
    """Run a test for every server; those in REPEATED, and these, in `make test-extended`."""
    names = [
        pytest.param(name, marks=pytest.mark.extended) if name in (*REPEATED, *extended) else name for name in SERVERS
    ]
    return pytest.mark.parametrize("name", names)


quick_servers = servers("oldmaid", "web")
"""A game of Old Maid ends with some seconds of waiting, and the web app has the HTTP server of hold'em."""

STALLED_TURNS = 50
"""Turns of the event loop in which nothing happens."""


async def wait_until(is_true: Callable[[], bool]) -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not is_true():
            await asyncio.sleep(0.001)


async def warm_up(server: Server) -> None:
    """Let the neighbour play once: what is loaded or cached at the first use is no cost of an attack."""
    await server.play()
    await wait_until(lambda: not server.connections())


async def pass_turns(number: int) -> None:
    """Wait for turns of the event loop."""
    for _ in range(number):
        await asyncio.sleep(0)


async def wait_closed(server: Server) -> None:
    """Let time pass until the connections of attackers are closed."""
    await server.pass_time()
    await wait_until(lambda: not server.connections())


@pytest.mark.extended
@servers()
@pytest.mark.parametrize("has_begun", [False, True], ids=["silent", "half a request"])
def test_connections_that_send_nothing_more_are_closed(
    name: str, has_begun: bool, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slowloris, and connections whose client has vanished."""
    monkeypatch.setattr(BrowserConnection, "HEAD_SECONDS", 1.0)

    async def main() -> None:
        async with SERVERS[name]() as server:
            await warm_up(server)
            with Memory() as memory:
                attackers = server.attack(IDLERS)
                for letter in BEGUN[name] if has_begun else b"":
                    for attacker in attackers:
                        attacker.send(bytes([letter]))
                    await asyncio.sleep(0)
            assert memory.kept < IDLERS * MAX_KEPT_BYTES_EACH // 4
            await server.play()
            assert server.connections() >= IDLERS or name == "web"
            await wait_closed(server)

    run(main())


@quick_servers
def test_much_input_delays_nobody_and_is_bounded(name: str, run: Run) -> None:
    """Garbage at line rate."""
    garbage = Random(1).randbytes(PIECE_BYTES)

    async def main() -> None:
        async with SERVERS[name]() as server:
            await warm_up(server)
            with Memory() as memory:
                attackers = server.attack(FLOODERS)
                await pump(attackers, garbage, server.play())
            assert memory.kept < NEIGHBOUR_BYTES + FLOODERS * MAX_KEPT_BYTES_EACH
            await wait_closed(server)

    run(main())


@quick_servers
def test_requests_whose_answers_are_not_read_are_bounded(name: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BrowserConnection, "WRITE_SECONDS", 1.0)
    requests = WHOLE[name] * (PIECE_BYTES // len(WHOLE[name]))

    async def main() -> None:
        async with SERVERS[name]() as server:
            await warm_up(server)
            with Memory() as memory:
                attackers = server.attack(FLOODERS)
                taken = await pump(attackers, requests, server.play())
                while more := await pump(attackers, requests, pass_turns(STALLED_TURNS)):
                    taken += more
            assert memory.kept < NEIGHBOUR_BYTES + FLOODERS * MAX_KEPT_BYTES_EACH
            assert 0 < taken < FLOODERS * 64 * PIECE_BYTES
            await wait_closed(server)

    run(main())


@quick_servers
def test_frames_without_an_end_are_bounded(name: str, run: Run) -> None:
    start, repeated = ENDLESS[name]

    async def main() -> None:
        async with SERVERS[name]() as server:
            await warm_up(server)
            with Memory() as memory:
                attackers = server.attack(FLOODERS)
                for attacker in attackers:
                    attacker.transport.reads = True
                    attacker.send(start)
                await pump(attackers, repeated * PIECE_BYTES, server.play())
            assert memory.kept < NEIGHBOUR_BYTES + FLOODERS * MAX_KEPT_BYTES_EACH
            await wait_closed(server)

    run(main())


@quick_servers
def test_many_connections_of_one_network_leave_room_for_others(name: str, run: Run) -> None:
    def host(number: int) -> str:
        return f"2001:db8::{number:x}"

    async def main() -> None:
        async with SERVERS[name]() as server:
            await warm_up(server)
            with Memory() as memory:
                attackers = server.attack(300, host)
                await asyncio.sleep(0)
                assert server.connections() == HTTP_LIMITS.max_connections_per_address
            assert memory.kept < len(attackers) * (8 << 10)
            await server.play()
            for attacker in attackers:
                attacker.transport.abort()
            await wait_until(lambda: not server.connections())
            assert len({address_key(host(number)) for number in range(300)}) == 1

    run(main())


@quick_servers
def test_many_connections_of_many_addresses_are_limited_in_all(name: str, run: Run) -> None:
    async def main() -> None:
        async with SERVERS[name]() as server:
            await warm_up(server)
            with Memory() as memory:
                attackers = server.attack(400, lambda number: f"198.51.{number % 100}.1")
                await asyncio.sleep(0)
                assert server.connections() == HTTP_LIMITS.max_connections
            assert memory.kept < len(attackers) * (8 << 10)
            for attacker in attackers:
                attacker.transport.abort()
            await wait_until(lambda: not server.connections())
            await server.play()

    run(main())


def test_the_idle_time_is_longer_than_every_limit_of_http() -> None:
    assert max(HTTP_LIMITS.request_timeout, HTTP_LIMITS.keep_alive_timeout, HTTP_LIMITS.write_timeout) < IDLE_SECONDS
