"""The generator against servers on real sockets: ours, those of others, and those that break or are not there."""

import asyncio
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme

from croupier.clients.tls import TlsOptions
from croupier.http.auth import QUICK_HASHER, Authenticator
from croupier.load import generator
from croupier.load.measurement import Figures
from croupier.load.plan import Plan
from croupier.net.addresses import format_address
from croupier.net.event_loop import run
from croupier.rooms import ROOMS
from tests.clients.all_servers import serving
from tests.conformance.strangers import FOLDER
from tests.load.plans import make_plan
from tests.ports import closed_port
from tests.processes import PATIENCE
from tests.sampling import extended

type Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any]

TABLE_PLAYERS = {"holdem": 3, "oldmaid": 4}
MANY_PLAYERS = {"oldmaid": 4}


ENOUGH = 20
"""A run to see that players play ends after this number of answers."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let servers hash passwords quickly, and the generator report often."""
    monkeypatch.setitem(Authenticator.__init__.__kwdefaults__, "hasher", QUICK_HASHER)
    monkeypatch.setattr(generator, "REPORT_SECONDS", 0.05)


def has_answers(figures: Figures) -> bool:
    return figures.answered >= ENOUGH


async def play(plan: Plan, is_enough: Callable[[Figures], bool] = lambda _: False) -> Figures:
    """Run the generator until it ends by itself, or has got enough."""
    stop = asyncio.Event()

    def report(figures: Figures) -> None:
        if is_enough(figures):
            stop.set()

    async with asyncio.timeout(PATIENCE):
        return await generator.generate(plan, 0, report, stop)


def load(room: str, server: str, **options: Any) -> Plan:
    players = MANY_PLAYERS.get(room, 3)
    options = {"players": players, "table_players": TABLE_PLAYERS.get(room, 1), "answer_seconds": 30.0, **options}
    return make_plan(room, server, **options)


@pytest.mark.parametrize("room", ROOMS)
def test_players_of_every_room_play_without_errors(room: str) -> None:
    async def main() -> Figures:
        async with serving(room) as addresses:
            return await play(load(room, format_address(addresses[0]), seconds=20.0), has_answers)

    figures = run(main())
    assert figures.errors == {}
    assert figures.answered >= ENOUGH
    assert figures.seconds < 20.0
    assert figures.connections >= MANY_PLAYERS.get(room, 3)


@pytest.mark.extended
@pytest.mark.parametrize("room", ROOMS)
def test_the_open_loop_keeps_its_rate_in_every_room(room: str) -> None:
    async def main() -> Figures:
        async with serving(room) as addresses:
            return await play(load(room, format_address(addresses[0]), seconds=5.0, rate=4.0))

    figures = run(main())
    assert figures.errors == {}
    assert 0.7 < figures.offered / (4.0 * 5.0 * MANY_PLAYERS.get(room, 3)) < 1.3
    assert figures.achieved >= 0.8 * figures.offered


@asynccontextmanager
async def server_of(serve: Serve) -> AsyncIterator[str]:
    """A server that treats every connection in this way; yields its address."""
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield format_address(server.sockets[0].getsockname()[:2])


async def close_at_once(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def send_garbage(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(8)
    writer.write(b"\xff" * 64 + b"\n\n")
    await reader.read()
    writer.close()


async def never_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await reader.read(1 << 16):
        pass
    writer.close()


@pytest.mark.parametrize("serve", [close_at_once, send_garbage, never_answer])
def test_a_server_that_breaks_is_counted_and_the_run_ends(serve: Serve) -> None:
    async def main() -> list[tuple[str, Figures]]:
        async with server_of(serve) as address:
            plans = [load(room, address, seconds=0.8, answer_seconds=0.3) for room in ROOMS]
            return [*zip(ROOMS, await asyncio.gather(*map(play, plans)), strict=True)]

    for room, figures in run(main()):
        assert figures.answered == 0, room
        if (room, serve) != ("oldmaid", never_answer):  # a table is silent while it waits for players
            assert figures.error_count >= 3, (room, figures.errors)
        assert figures.seconds < 20.0


@pytest.mark.parametrize("room", ["kuhn", "holdem", "oldmaid"])
def test_a_server_that_is_not_there_is_counted_and_the_run_ends(room: str) -> None:
    figures = run(play(load(room, f"127.0.0.1:{closed_port()}", seconds=20.0), lambda found: found.error_count >= 3))
    assert figures.error_count >= 3
    assert all("connect" in kind for kind in figures.errors), figures.errors


PROGRAMS = {"holdem": "holdem_server", "oldmaid": "oldmaid_table"}


@contextmanager
def stranger(room: str) -> Iterator[str]:
    """An independent server in a process of its own; yields its address."""
    port = closed_port()
    program = FOLDER / f"{PROGRAMS.get(room, f'{room}_server')}.py"
    process = subprocess.Popen([sys.executable, "-S", program, str(port)], stdout=subprocess.DEVNULL)
    try:
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("room", extended(["kuhn", "sevenhalf", "blackjack", "holdem", "oldmaid"], 5))
def test_independent_servers_can_be_loaded(room: str) -> None:
    with stranger(room) as address:
        figures = run(play(load(room, address, seconds=25.0), has_answers))
    assert figures.answered >= ENOUGH
    assert {*figures.errors} <= {"cannot connect: connection refused", "connection refused"}


@pytest.mark.parametrize("room", extended(["kuhn", "holdem", "oldmaid"], 3))
def test_players_connect_with_tls(room: str, tmp_path: Path) -> None:
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost", "127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    scheme = "https://" if room == "holdem" else ""

    async def main() -> Figures:
        async with serving(room, context) as addresses:
            server = f"{scheme}{format_address(addresses[0])}"
            return await play(load(room, server, seconds=20.0, tls=TlsOptions(tls_ca=tmp_path / "ca.pem")), has_answers)

    figures = run(main())
    assert figures.errors == {}
    assert figures.answered >= ENOUGH
