"""Clients identify another game, TLS or a silent server, and find rooms whose documents share a port."""

import asyncio
import re
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import trustme

from croupier.cli.holdem import authenticate
from croupier.clients import game, identify, ring
from croupier.clients.game import GameClient
from croupier.clients.holdem import HoldemClient
from croupier.clients.identify import OtherProtocol, locate
from croupier.clients.play import BotTally, play_games
from croupier.clients.silence import SilenceWatch
from croupier.core.bots import RandomBot, bot_factory
from croupier.core.dealer import FairDealer
from croupier.core.presentation import Text
from croupier.core.recognition import is_tls, recognise_room
from croupier.rooms import HOUSE_ROOMS, ROOMS, oldmaid
from tests.clients.all_servers import serving
from tests.net.raw_client import Run
from tests.ports import closed_port


@pytest.fixture
def certificates() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """The TLS of a server, and of a client that trusts it."""
    authority = trustme.CA()
    server, trusting = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert("127.0.0.1").configure_cert(server)
    authority.configure_trust(trusting)
    return server, trusting


@pytest.fixture
def probe_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let clients probe silent servers at once."""
    monkeypatch.setattr(game, "IDENTIFY_AFTER_SECONDS", 0.01)
    monkeypatch.setattr(game, "NOTIFY_AFTER_SECONDS", 0.02)


async def play_with_bot(room: str, port: int | None, **options: object) -> BotTally:
    """Let a bot play one game; return its tally."""
    house = HOUSE_ROOMS[room]
    bot = bot_factory(house.bots, "random")()
    return await play_games(lambda: GameClient(house, "127.0.0.1", port, **options), bot, FairDealer(bytes(32)).luck, 1)  # type: ignore[arg-type]


@asynccontextmanager
async def answering_server(answer: Callable[[bytes], bytes]) -> AsyncIterator[tuple[int, list[bytes]]]:
    """A server that answers the first read of each connection, and closes it unless the answer is empty.

    Yields its port and what it receives.
    """
    requests: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await reader.read(100))
        said = answer(requests[-1])
        writer.write(said)
        if said and writer.can_write_eof():
            writer.write_eof()
        await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], requests
    finally:
        server.close()


WRONG = [(room, other) for room in HOUSE_ROOMS for other in ROOMS if other != room]


@pytest.mark.parametrize(("room", "other"), WRONG, ids=[f"{room}-at-{other}" for room, other in WRONG])
@pytest.mark.usefixtures("probe_at_once")
def test_client_names_the_other_game_and_its_own_default_port(run: Run, room: str, other: str) -> None:
    async def main() -> BotTally:
        async with serving(other) as [(_, port)]:
            tally = await play_with_bot(room, port)
        assert isinstance(tally.fault, OtherProtocol)
        assert f"127.0.0.1:{port} speaks {ROOMS[other].title_in_sentence} (it answered " in str(tally.fault)
        assert f"; {ROOMS[room].title_in_sentence} is at 127.0.0.1:{ROOMS[room].port} by default" in str(tally.fault)
        return tally

    assert run(main()).fault_text


def test_client_at_its_default_port_asks_for_another_address() -> None:
    kuhn = HOUSE_ROOMS["kuhn"]
    error_text = str(identify.other_protocol_error(kuhn, ("127.0.0.1", kuhn.port), b"STBT \0\0\0d"))
    assert error_text.endswith("; give the address of a server of Kuhn poker as HOST:PORT")


@pytest.mark.parametrize("room", HOUSE_ROOMS)
@pytest.mark.usefixtures("probe_at_once")
def test_client_without_tls_reports_a_tls_server(
    run: Run, room: str, certificates: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    async def main() -> None:
        async with serving(room, certificates[0]) as [(_, port)]:
            tally = await play_with_bot(room, port)
        assert str(tally.fault).startswith(f"127.0.0.1:{port} speaks TLS; use --tls")

    run(main())


def test_client_with_tls_reports_a_plain_server(run: Run, certificates: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    async def main() -> None:
        async with serving("kuhn") as [(_, port)]:
            tally = await play_with_bot("kuhn", port, ssl=certificates[1])
        assert f"127.0.0.1:{port}: it does not speak TLS; leave out --tls" in str(tally.fault)

    run(main())


@pytest.mark.usefixtures("probe_at_once")
def test_silent_house_is_reported_and_times_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identify, "PROBE_TIMEOUT_SECONDS", 0.05)
    notices: list[Text] = []

    async def main() -> None:
        async with answering_server(lambda _: b"") as (port, _):
            tally = await play_with_bot("sevenhalf", port, notify=notices.append, answer_timeout=1.0)
            assert "sevenhalf-4.1: found silence" in str(tally.fault)
            assert tally.fault_text == str(tally.fault), "nothing was received before the fault"
        notice = str(*notices)
        assert notice.startswith(f"127.0.0.1:{port} has not answered for ")
        assert notice.endswith(" seconds; still waiting (Ctrl-C ends)")

    run(main())


def test_house_that_answers_is_not_probed(run: Run) -> None:
    async def main() -> None:
        async with answering_server(lambda _: b"ERRO 12Syntax error") as (port, requests):
            tally = await play_with_bot("sevenhalf", port)
            assert requests == [b"STRT"]
            assert "last received: 'ERRO 12Syntax error'" in str(tally.fault_text)

    run(main())


def test_last_received_bytes_are_shown_without_control_characters(run: Run) -> None:
    async def main() -> None:
        async with answering_server(lambda _: b"oops \x1b[2J") as (port, _):
            tally = await play_with_bot("kuhn", port)
        assert r"last received: 'oops \x1b[2J'" in str(tally.fault_text)

    run(main())


PROBED = [(room, other) for room in ROOMS for other in ROOMS]


@pytest.mark.parametrize(("room", "other"), PROBED, ids=[f"{room}-at-{other}" for room, other in PROBED])
def test_every_room_answers_every_probe_at_once(run: Run, room: str, other: str) -> None:
    async def main() -> None:
        async with serving(other) as [address]:
            answer = await identify.probe(ROOMS[room], address)
        assert recognise_room(answer or b"", ROOMS.values()) is ROOMS[other]

    run(main())


def test_tls_alerts_are_recognised() -> None:
    assert is_tls(bytes.fromhex("15030300020246"))
    assert not is_tls(b"CARD C_K")


@pytest.fixture
def two_ports(monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Two closed ports that replace the default ports of seven and a half."""
    ports = closed_port(), closed_port()
    room = HOUSE_ROOMS["sevenhalf"]
    for name, port in zip(("port", "document_port"), ports, strict=True):
        monkeypatch.setitem(room.__dict__, name, port)
    return ports


def test_seven_and_a_half_is_found_at_its_port_or_its_document_port(run: Run, two_ports: tuple[int, int]) -> None:
    default_port, document_port = two_ports

    async def main() -> None:
        room = HOUSE_ROOMS["sevenhalf"]
        for port in (default_port, document_port):
            async with serving("sevenhalf", port=port):
                assert await locate(room, "127.0.0.1") == ("127.0.0.1", port)
                assert (await play_with_bot("sevenhalf", None)).fault is None
        async with serving("kuhn", port=default_port), serving("sevenhalf", port=document_port):
            assert await locate(room, "127.0.0.1") == ("127.0.0.1", document_port)
        assert "no house answers at " in str((await play_with_bot("sevenhalf", None)).fault)

    run(main())


def test_document_port_is_not_probed_if_the_default_port_is_closed(
    run: Run, two_ports: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with answering_server(lambda _: b"") as (port, requests):
            monkeypatch.setitem(HOUSE_ROOMS["sevenhalf"].__dict__, "document_port", port)
            assert await locate(HOUSE_ROOMS["sevenhalf"], "127.0.0.1") == ("127.0.0.1", port)
        assert requests == []

    run(main())


def test_seven_and_a_half_alone_listens_on_both_ports(run: Run) -> None:
    async def main() -> None:
        port = closed_port()
        async with serving("sevenhalf", document_port=port) as addresses:
            assert len(addresses) == 2
            assert addresses[1] == ("127.0.0.1", port)
            for _, address_used in addresses:
                assert (await play_with_bot("sevenhalf", address_used)).fault is None

    run(main())


def test_seven_and_a_half_opens_if_its_document_port_is_in_use(run: Run) -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            async with serving("sevenhalf", document_port=taken.getsockname()[1]) as [(_, port)]:
                assert (await play_with_bot("sevenhalf", port)).fault is None

    run(main())


def test_silence_counts_from_the_last_message_while_an_answer_is_owed(run: Run) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        owed, looks, called = False, asyncio.Semaphore(0), loop.create_future()

        def is_waiting() -> bool:
            looks.release()
            return owed

        watch = SilenceWatch(is_waiting, [(0.01, lambda: None), (0.02, lambda: called.set_result(loop.time()))])
        for _ in range(4):
            await looks.acquire()
        assert not called.done()
        owed, begun = True, loop.time()
        watch.reset(begun)
        assert await called >= begun + 0.02
        watch.stop()

    run(main())


@pytest.mark.parametrize("other", [name for name in ROOMS if name != "oldmaid"])
def test_oldmaid_player_names_the_other_game(run: Run, other: str) -> None:
    async def main() -> None:
        async with serving(other) as [address]:
            tally = ring.RingTally("ann")
            seat = lambda: ring.join_table(*address)  # noqa: E731 -- one call; a def would be longer
            await ring.play_ring_games(seat, RandomBot(), FairDealer(bytes(32)).luck, 1, tally)
        (fault,) = tally.faults
        assert fault.startswith(f"127.0.0.1:{address[1]} speaks {ROOMS[other].title_in_sentence} (it answered ")

    run(main())


def test_lonely_oldmaid_player_is_notified_that_it_waits(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ring, "NOTIFY_AFTER_SECONDS", 0.02)

    async def main() -> None:
        notices = asyncio.Queue[Text]()
        async with serving("oldmaid") as [address]:
            config, luck = ring.RingConfig(address), FairDealer(bytes(32)).luck
            async with ring.RingClient(config, oldmaid.Options(), luck, notify=notices.put_nowait):
                while "has not started a game yet; waiting for players" not in str(await notices.get()):
                    pass  # on a busy machine, the table's answer may be late as well

    run(main())


@pytest.mark.parametrize("other", [name for name in ROOMS if name != "holdem"])
def test_holdem_client_names_the_other_game(run: Run, other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identify, "IDENTIFY_AFTER_SECONDS", 0.01)

    async def main() -> None:
        async with serving(other) as [(host, port)]:
            url = f"http://{host}:{port}"
            async with HoldemClient(url, "ann", "secret") as user:
                with pytest.raises(
                    OtherProtocol, match=re.escape(f"{host}:{port} speaks {ROOMS[other].title_in_sentence} (")
                ):
                    await identify.await_first_answer(
                        authenticate(user, "ann", "secret"), ROOMS["holdem"], (host, port), None, print
                    )

    run(main())


def test_holdem_client_of_a_silent_server_is_notified(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("IDENTIFY_AFTER_SECONDS", "NOTIFY_AFTER_SECONDS", "PROBE_TIMEOUT_SECONDS"):
        monkeypatch.setattr(identify, name, 0.01)

    async def main() -> None:
        async with answering_server(lambda _: b"") as (port, _):
            notice = asyncio.get_running_loop().create_future()
            room, address = ROOMS["holdem"], ("127.0.0.1", port)
            arriving = asyncio.ensure_future(
                identify.await_first_answer(asyncio.Event().wait(), room, address, None, notice.set_result)
            )
            assert f"127.0.0.1:{port} has not answered for " in str(await notice)
            arriving.cancel()

    run(main())


def test_error_about_a_taken_nick_names_the_nick(run: Run) -> None:
    async def main() -> str:
        async with serving("oldmaid") as [address], ring.join_table(*address):
            tally = ring.RingTally("croupier")
            await ring.play_ring_games(
                lambda: ring.join_table(*address), RandomBot(), FairDealer(bytes(32)).luck, 1, tally
            )
            return tally.faults[0]

    assert run(main()).startswith("the table does not let croupier in: oldmaid-3.8:")


def test_an_answer_that_a_reset_follows_is_read(run: Run) -> None:
    async def main() -> None:
        async def answer_and_reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(100)
            writer.write(b"CARD C_Q")
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

        server = await asyncio.start_server(answer_and_reset, "127.0.0.1", 0)
        async with server:
            address = server.sockets[0].getsockname()
            assert await identify.probe(HOUSE_ROOMS["kuhn"], address) == b"CARD C_Q"

    run(main())
