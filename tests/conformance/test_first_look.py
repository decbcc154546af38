"""The first look at a program: what makes a test impossible is described soon, and nothing else is."""

import asyncio
import shlex
import socket
import ssl
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress

import pytest
import trustme

from croupier.conformance.first_look import FirstLook, first_look, first_look_at_client
from croupier.conformance.program import ProgramError
from croupier.rooms import HOUSE_ROOMS, ROOMS
from tests.clients.all_servers import serving
from tests.ports import closed_port
from tests.processes import PATIENCE
from tests.sampling import extended

KUHN = ROOMS["kuhn"]

type Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def stranger(serve: Serve) -> AsyncIterator[int]:
    """A server of somebody else; yields its port."""

    conversations: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError):
                await serve(reader, writer)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        conversations.add(asyncio.create_task(handle(reader, writer)))

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for conversation in conversations:
            conversation.cancel()
        await asyncio.gather(*conversations, return_exceptions=True)


def look_at(serve: Serve, room: str = "kuhn", on_notice: Callable[[str], None] = lambda _: None) -> str | None:
    async def main() -> str | None:
        async with stranger(serve) as port:
            return (await first_look(ROOMS[room], "127.0.0.1", port, on_notice=on_notice)).trouble

    return asyncio.run(main())


def answering(answer: bytes, *, after: float = 0.0) -> Serve:
    """Answers everything with the same bytes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(100):
            await asyncio.sleep(after)
            writer.write(answer)

    return serve


@pytest.fixture
def patient_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a look wait for an answer as long as a test does."""
    monkeypatch.setattr("croupier.conformance.first_look.LOOK_SECONDS", PATIENCE)


# Nothing to report.


@pytest.mark.usefixtures("patient_look")
@pytest.mark.parametrize("room", ROOMS)
def test_a_server_of_the_room_is_fine(room: str) -> None:
    async def main() -> str | None:
        async with serving(room) as [(host, port)]:
            return (await first_look(ROOMS[room], host, port)).trouble

    assert asyncio.run(main()) is None


@pytest.fixture
def short_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a look at a silent server end early."""
    monkeypatch.setattr("croupier.conformance.first_look.LOOK_SECONDS", 0.5)


@pytest.mark.usefixtures("short_look")
@pytest.mark.parametrize("serve", [answering(b""), answering(b"FAIL W_A", after=PATIENCE)], ids=["silent", "slow"])
@pytest.mark.parametrize("room", extended(ROOMS, 3))
def test_a_server_that_is_silent_or_slow_is_mentioned_but_fine(room: str, serve: Serve) -> None:
    notices: list[str] = []
    assert look_at(serve, room, notices.append) is None
    (notice,) = notices
    assert "has accepted a connection, and has not answered" in notice


@pytest.mark.usefixtures("patient_look")
def test_a_look_at_a_silent_server_is_over_when_it_is_mentioned() -> None:
    begun = time.monotonic()
    assert look_at(answering(b"")) is None
    assert time.monotonic() - begun < PATIENCE


@pytest.mark.usefixtures("patient_look")
def test_an_answer_ends_the_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.conformance.first_look.SILENT_SECONDS", PATIENCE)
    notices: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        for piece in (b"FA", b"IL", b" W", b"_A"):
            writer.write(piece)
            await asyncio.sleep(0.01)

    assert look_at(serve, "kuhn", notices.append) is None
    assert look_at(answering(b"what?"), "kuhn", notices.append) is None
    assert notices == []


@pytest.mark.parametrize(
    "answer",
    [
        b'"FAIL W_A"',
        b"fail w_a\r\n",
        "FAIL W_A".encode("utf-16"),
        b"\0\0\0\x08FAIL W_A",
        b'{"message": "FAIL W_A"}',
        b"[]",
        b"{" * 3000,
        b"\xff" * 100_000,
    ],
)
def test_a_server_that_misspells_its_answer_is_for_the_cases(answer: bytes) -> None:
    assert look_at(answering(answer)) is None


def test_a_server_that_greets_is_for_the_cases() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"Welcome to my server!\n")
        await answering(b"FAIL W_A")(reader, writer)

    async def main() -> FirstLook:
        async with stranger(serve) as port:
            return await first_look(KUHN, "127.0.0.1", port)

    assert asyncio.run(main()) == FirstLook(None, b"Welcome to my server!\n")


def test_a_server_that_closes_after_the_probe_is_for_the_cases() -> None:
    async def serve(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read(100)

    assert look_at(serve) is None


@pytest.mark.parametrize("is_ours", [False, True])
def test_a_server_that_ends_after_the_probe_is_reported_unless_the_tester_starts_it_again(is_ours: bool) -> None:
    async def main() -> str | None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(100)
            server.close()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server:
            return (await first_look(KUHN, "127.0.0.1", server.sockets[0].getsockname()[1], is_ours=is_ours)).trouble

    found = asyncio.run(main())
    assert (found is None) is is_ours
    assert is_ours or "The client had sent 'ACTN CHK\\n'." in str(found)


def test_a_server_that_refuses_one_connection_is_fine() -> None:
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        if connections > 1:
            await answering(b"FAIL W_A")(reader, writer)

    assert look_at(serve) is None
    assert connections == 2


def test_a_server_that_says_goodbye_to_a_second_client_is_fine() -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"DISC")

    assert look_at(serve) is None


@pytest.mark.usefixtures("patient_look")
def test_a_server_of_one_client_after_the_other_is_fine() -> None:
    async def main() -> tuple[str | None, int]:
        looked = 0

        def serve() -> None:
            nonlocal looked
            listening.settimeout(PATIENCE)
            while looked < 2:
                connection, _ = listening.accept()
                looked += 1
                with connection:
                    while data := connection.recv(100):
                        connection.sendall(b"FAIL W_A" if data else b"")

        with socket.create_server(("127.0.0.1", 0), backlog=1) as listening:
            port = listening.getsockname()[1]
            serving_clients = asyncio.create_task(asyncio.to_thread(serve))
            found = (await first_look(KUHN, "127.0.0.1", port)).trouble
            assert (await first_look(KUHN, "127.0.0.1", port)).trouble is None
            await serving_clients
            return found, looked

    assert asyncio.run(main()) == (None, 2), "one connection for each look"


# What is reported.


def timed_look(port: int) -> str:
    begun = time.monotonic()
    notices: list[str] = []
    found = asyncio.run(first_look(KUHN, "127.0.0.1", port, on_notice=notices.append)).trouble
    assert time.monotonic() - begun < PATIENCE, "the look itself is limited to two seconds"
    assert notices == []
    assert found is not None
    return found


def test_a_port_without_a_server_is_reported() -> None:
    port = closed_port()
    found = timed_look(port)
    assert found.startswith(f"No server takes connections at 127.0.0.1:{port} (connection refused).")


def test_a_host_that_does_not_exist_is_reported() -> None:
    found = asyncio.run(first_look(KUHN, "no.such.host.invalid", 1212)).trouble
    assert found is not None
    assert found.startswith("No server takes connections at no.such.host.invalid:1212 (")


def test_a_server_that_never_accepts_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        found = timed_look(port)
    assert found.startswith(
        f"A program listens at 127.0.0.1:{port}, but has not accepted a connection for 1.9 seconds."
    )


def test_a_server_that_accepts_others_and_never_the_look_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)), listening.accept()[0]:
            assert "has not accepted a connection" in timed_look(port)


def test_a_server_that_closes_at_once_is_reported() -> None:
    async def serve(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
        return

    found = look_at(serve)
    assert found is not None
    assert "closes every connection at once, before the client has sent anything." in found


def test_a_server_that_resets_at_once_is_reported() -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    found = look_at(serve)
    assert found is not None
    assert "closes every connection at once" in found


@pytest.mark.parametrize("after_probe", [False, True])
def test_a_megabyte_of_garbage_is_reported(after_probe: bool) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if after_probe:
            await reader.read(100)
        writer.write(b"garbage " * (1 << 17))
        await writer.drain()

    found = look_at(serve)
    assert found is not None
    assert "sends more than 262,144 bytes that are no message of Kuhn poker, beginning with 'garbage garbage" in found


WRONG = [(room, other) for room in ROOMS for other in ROOMS if other != room]


@pytest.mark.usefixtures("patient_look")
@pytest.mark.parametrize(("room", "other"), WRONG, ids=[f"{room}-at-{other}" for room, other in WRONG])
def test_another_room_is_named(room: str, other: str) -> None:
    async def main() -> str | None:
        async with serving(other) as [(host, port)]:
            return (await first_look(ROOMS[room], host, port)).trouble

    found = asyncio.run(main())
    assert found is not None
    assert f", and not that of {ROOMS[room].title_in_sentence}: it has answered " in found
    assert f"run `croupier check {other}`" in found


@pytest.mark.usefixtures("patient_look")
@pytest.mark.parametrize("room", HOUSE_ROOMS)
def test_tls_is_named(room: str) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)

    async def main() -> str | None:
        async with serving(room, context) as [(host, port)]:
            return (await first_look(ROOMS[room], host, port)).trouble

    found = asyncio.run(main())
    assert found is not None
    assert "speaks TLS" in found


# Clients.

CONNECTS = "import socket, sys, time; socket.create_connection((sys.argv[1], int(sys.argv[2]))); time.sleep(60)"


def look_at_client(script: str, *arguments: str, seconds: float = PATIENCE) -> None:
    command = shlex.join([sys.executable, "-S", "-c", script, *arguments])
    asyncio.run(first_look_at_client(command, ("url", "host", "port", "nick"), seconds))


@pytest.mark.parametrize("arguments", [("{host}", "{port}"), ("{host}", "{port}", "{nick}")], ids=len)
def test_a_client_that_connects_can_be_tested(arguments: Sequence[str]) -> None:
    look_at_client(CONNECTS, *arguments)


@pytest.mark.parametrize(
    ("script", "arguments", "seconds", "found"),
    [
        (
            "raise SystemExit('no seat')",
            ["{url}"],
            PATIENCE,
            r"has ended \(exit status 1\) and .*1:\d+; its stderr: no seat",
        ),
        (
            "import os; os.abort()",
            ["{port}"],
            PATIENCE,
            r"has ended \(SIGABRT\) and has not connected to 127.0.0.1:\d+$",
        ),
        ("import time; time.sleep(60)", ["{port}"], 0.5, r"runs and has not connected to .* within 0.5 seconds$"),
    ],
    ids=["ends", "crashes", "sleeps"],
)
def test_a_client_that_does_not_connect_is_told(
    script: str, arguments: Sequence[str], seconds: float, found: str
) -> None:
    with pytest.raises(ProgramError, match=found):
        look_at_client(script, *arguments, seconds=seconds)


def test_a_name_in_braces_that_is_not_known_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"found \{table\} .*; allowed: \{url\}, \{host\}, \{port\}, \{nick\}"):
        look_at_client("pass", "{table}")
