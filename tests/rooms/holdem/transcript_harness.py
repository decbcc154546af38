"""Drivers that replay hold'em transcripts: against the service in this process, and over sockets."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from threading import Timer
from typing import Self

from msgspec import convert

from croupier.core.dealer import Dealer, FairDealer, ScriptedDealer, derive_server_seed
from croupier.core.http_transcript import TranscriptRequest, TranscriptResponse
from croupier.core.transcript import Transcript, TranscriptLine, deck_file, parse_transcript
from croupier.http.auth import Authenticator
from croupier.http.holdem_app import HoldemApp
from croupier.rooms.holdem.cards import PACK
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from tests.http.service_fixture import InProcessConnection
from tests.quick_hashes import QUICK
from tests.transcript_drivers import ANONYMOUS_USER, basic_authorization

ROOT = Path(__file__).parents[3]
TRANSCRIPTS = [
    parse_transcript(path.read_text(), path.stem) for path in sorted((ROOT / "transcripts" / "holdem").glob("*.txt"))
]

RESPONSE_TIMEOUT_SECONDS = 60.0
"""Real time to wait for a response."""


class Clock(asyncio.SelectorEventLoop):
    """An event loop with a simulated clock."""

    now = 0.0

    def time(self) -> float:
        return self.now


def dealers(transcript: Transcript) -> Callable[[int], Dealer]:
    """Return the dealers by hand number; the decks of the transcript are used in turn."""
    seed = int(transcript.head.get("seed", 1))
    decks = PACK.parse_decks(deck_file(transcript.head["deck"]), transcript.name) if "deck" in transcript.head else ()

    def dealer(hand: int) -> Dealer:
        server_seed = derive_server_seed(seed, "holdem", hand)
        return ScriptedDealer((decks[(hand - 1) % len(decks)],), server_seed) if decks else FairDealer(server_seed)

    return dealer


def house(transcript: Transcript) -> House:
    """Return a house with the settings in the head of a transcript. Its Unix time starts at 0."""
    known = {field.name: transcript.head[field.name] for field in fields(Settings) if field.name in transcript.head}
    settings = convert(known, Settings, strict=False)
    return House(settings, dealers(transcript), derive_server_seed(int(transcript.head.get("seed", 1)), "holdem", 0))


def request_headers(user: str, request: TranscriptRequest) -> dict[str, str]:
    """Return the headers of a request, with the credentials of its user."""
    headers = {"host": "127.0.0.1:8080"} | (
        {} if user == ANONYMOUS_USER else {"authorization": basic_authorization(user)}
    )
    return headers | {name.lower(): value for name, value in request.headers}


class InProcessDriver:
    """Replays transcripts against the service in this process, without sockets, with a simulated clock.

    Request bodies arrive `chop` bytes at a time, without Content-Length; 0 sends them whole.
    """

    def __init__(self, transcript: Transcript, chop: int = 0) -> None:
        self._chop = chop
        self._loop = Clock()
        clock = self._loop.time
        hosted_house = house(transcript)
        authenticator = Authenticator(clock=clock, hasher=QUICK)
        self._service = HoldemApp(hosted_house, authenticator, hosted_house.settings.dialect, clock=clock)
        self._pending: defaultdict[str, deque[asyncio.Task[TranscriptResponse]]] = defaultdict(deque)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run_until_complete(self._close())
        self._loop.close()

    async def _close(self) -> None:
        self._service.halt(final=True)
        self._service.close()
        for task in [task for tasks in self._pending.values() for task in tasks]:
            task.cancel()
        await self._loop.shutdown_default_executor()

    def send(self, user: str, request: TranscriptRequest) -> None:
        """Send a request. Unless it waits for something, it has been handled before anything else happens."""
        task = self._loop.create_task(self._exchange(user, request))
        self._pending[user].append(task)
        if "wait=" in request.path:
            self._settle()
        else:
            self._finish(task)

    def receive(self, user: str) -> TranscriptResponse:
        """Return the response to the user's first request that has not been received yet."""
        assert self._pending[user], f"{user} has no pending request"
        return self._finish(self._pending[user].popleft())

    def perform(self, line: TranscriptLine) -> None:
        """Let time pass, or close the room."""
        if line.kind == "pass":
            self._loop.now += float(line.text)
            self._settle()
        else:
            assert line.kind == "halted", f"{line.kind} is not an action of an HTTP transcript"
            self._service.halt(final=bool(line.text))

    def finish(self) -> None:
        """Check that every response has been received."""
        assert not any(self._pending.values()), (
            f"not received: {[user for user, tasks in self._pending.items() if tasks]}"
        )

    def _finish(self, task: asyncio.Task[TranscriptResponse]) -> TranscriptResponse:
        watchdog = Timer(RESPONSE_TIMEOUT_SECONDS, self._loop.call_soon_threadsafe, (task.cancel,))
        watchdog.start()
        try:
            return self._loop.run_until_complete(task)
        except asyncio.CancelledError:
            raise AssertionError("no response arrives") from None
        finally:
            watchdog.cancel()

    def _settle(self) -> None:
        """Run everything that is due."""

        async def turns() -> None:
            for _ in range(16):
                await asyncio.sleep(0)

        self._loop.run_until_complete(turns())

    async def _exchange(self, user: str, request: TranscriptRequest) -> TranscriptResponse:
        headers = request_headers(user, request)
        pieces = [request.body] if request.body else []
        if self._chop and request.body:
            headers["transfer-encoding"] = "chunked"
            chopped = (request.body[at : at + self._chop] for at in range(0, len(request.body), self._chop))
            pieces = [*(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in chopped), b"0\r\n\r\n"]
        elif request.body:
            headers["content-length"] = str(len(request.body))
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        client = InProcessConnection(self._service)
        client.connection.data_received(f"{request.method} {request.path} HTTP/1.1\r\n{lines}\r\n".encode())
        for piece in pieces:
            client.connection.data_received(piece)
        received = await client.response(is_head=request.method == "HEAD")
        await client.leave()
        return TranscriptResponse(received.status, received.headers, received.body)


class SocketDriver:
    """Replays transcripts over sockets, one per user. Requests are sent `chop` bytes at a time (0: whole).

    The clock of the service stands still, so this driver can only replay transcripts in which no time passes.
    """

    def __init__(self, transcript: Transcript, chop: int = 0) -> None:
        self._chop = chop
        self._loop = asyncio.new_event_loop()
        hosted_house = house(transcript)
        authenticator = Authenticator(clock=lambda: 0.0, hasher=QUICK)
        self._service = HoldemApp(hosted_house, authenticator, hosted_house.settings.dialect, clock=lambda: 0.0)
        self._loop.run_until_complete(self._service.listen("127.0.0.1", 0))
        self._connections: dict[str, tuple[asyncio.StreamReader, asyncio.StreamWriter]] = {}
        self._responses: defaultdict[str, deque[TranscriptResponse]] = defaultdict(deque)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run_until_complete(self._close())
        self._loop.close()

    async def _close(self) -> None:
        for _, writer in self._connections.values():
            writer.close()
        await self._service.stop()

    def send(self, user: str, request: TranscriptRequest) -> None:
        """Send a request, and wait for its response."""
        response = asyncio.wait_for(self._exchange(user, request), RESPONSE_TIMEOUT_SECONDS)
        self._responses[user].append(self._loop.run_until_complete(response))

    def receive(self, user: str) -> TranscriptResponse:
        """Return the user's first response that has not been received yet."""
        return self._responses[user].popleft()

    def perform(self, line: TranscriptLine) -> None:
        """Raise AssertionError: this driver only sends requests."""
        raise AssertionError(f"{line.kind} needs the in-process driver")

    def finish(self) -> None:
        """Check that every response has been received."""
        assert not any(self._responses.values())

    async def _exchange(self, user: str, request: TranscriptRequest) -> TranscriptResponse:
        if user not in self._connections:
            self._connections[user] = await asyncio.open_connection(*self._service.address)
        reader, writer = self._connections[user]
        headers = request_headers(user, request)
        if request.body or request.method in {"POST", "DELETE"}:
            headers["content-length"] = str(len(request.body))
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        data = f"{request.method} {request.path} HTTP/1.1\r\n{head}\r\n".encode() + request.body
        size = self._chop or len(data)
        for at in range(0, len(data), size):
            writer.write(data[at : at + size])
            await asyncio.sleep(0)
        status = int((await reader.readline()).split()[1])
        received: dict[str, str] = {}
        while line := (await reader.readline()).strip():
            name, _, value = line.decode().partition(": ")
            received[name.lower()] = value
        body = b""
        if request.method == "HEAD" or status == 304:
            pass
        elif received.get("transfer-encoding") == "chunked":
            while length := int(await reader.readline(), 16):
                body += (await reader.readexactly(length + 2))[:-2]
            await reader.readline()
        else:
            body = await reader.readexactly(int(received["content-length"]))
        if received.get("connection") == "close":
            del self._connections[user]
            writer.close()
        return TranscriptResponse(status, received, body)
