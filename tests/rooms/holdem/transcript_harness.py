"""The stages on which papers about hold'em are played: the service in this process, and the service behind sockets."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from threading import Timer
from typing import Any, Self
from urllib.parse import unquote

from argon2 import PasswordHasher
from msgspec import convert

from croupier.core.dealer import Dealer, FairDealer, ScriptedDealer, derive_server_seed
from croupier.core.http_transcript import ANONYMOUS_USER, TranscriptRequest, TranscriptResponse, basic_authorization
from croupier.core.transcript import Transcript, TranscriptLine, parse_transcript
from croupier.http.auth import Authenticator
from croupier.http.holdem_app import HoldemApp, open_holdem_server
from croupier.rooms.holdem.cards import PACK
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings

ROOT = Path(__file__).parents[3]
PAPERS = [
    parse_transcript(path.read_text(), path.stem) for path in sorted((ROOT / "transcripts" / "holdem").glob("*.txt"))
]

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

PATIENCE = 60.0
"""Real seconds after which an answer does not come any more."""


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time passes only when it is told to."""

    now = 0.0

    def time(self) -> float:
        return self.now


def dealers(paper: Transcript) -> Callable[[int], Dealer]:
    """The dealer of every hand of the house: the decks of the paper are used in turn."""
    seed = int(paper.head.get("seed", 1))
    text = "\n\n".join(deck.replace(" ", "\n") for deck in paper.head.get("deck", "").split(" / "))
    decks = PACK.parse_decks(text, paper.name) if "deck" in paper.head else ()

    def dealer(hand: int) -> Dealer:
        luck = derive_server_seed(seed, "holdem", hand)
        return ScriptedDealer((decks[(hand - 1) % len(decks)],), luck) if decks else FairDealer(luck)

    return dealer


def house(paper: Transcript) -> House:
    """The house as the head of a paper sets it. Its time on the wall begins in 1970."""
    known = {field.name: paper.head[field.name] for field in fields(Settings) if field.name in paper.head}
    settings = convert(known, Settings, strict=False)
    return House(settings, dealers(paper), derive_server_seed(int(paper.head.get("seed", 1)), "holdem", 0))


def asked(user: str, request: TranscriptRequest) -> dict[str, str]:
    """The headers of a request, with the credentials of its user."""
    headers = {"host": "127.0.0.1:8080"} | (
        {} if user == ANONYMOUS_USER else {"authorization": basic_authorization(user)}
    )
    return headers | {name.lower(): value for name, value in request.headers}


class Hall:
    """A stage for such papers: the service in this process, without a socket and with a clock of its own.

    Bodies arrive `chop` bytes at a time and then without their length; 0 is whole.
    """

    def __init__(self, paper: Transcript, chop: int = 0) -> None:
        self._chop = chop
        self._loop = Clock()
        clock = self._loop.time
        place = house(paper)
        guard = Authenticator(clock=clock, hasher=QUICK)
        self._service = HoldemApp(place, guard, place.settings.dialect, clock=clock)
        self._asked: defaultdict[str, deque[asyncio.Task[TranscriptResponse]]] = defaultdict(deque)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run_until_complete(self._close())
        self._loop.close()

    async def _close(self) -> None:
        self._service.halt(final=True)
        self._service.close()
        for task in [task for tasks in self._asked.values() for task in tasks]:
            task.cancel()
        await self._loop.shutdown_default_executor()

    def send(self, user: str, request: TranscriptRequest) -> None:
        """Send a request. Unless it waits for something, it has been handled before anything else happens."""
        task = self._loop.create_task(self._exchange(user, request))
        self._asked[user].append(task)
        if "wait=" in request.path:
            self._settle()
        else:
            self._finish(task)

    def receive(self, user: str) -> TranscriptResponse:
        """The answer to the first request of a user that was not asked for yet."""
        assert self._asked[user], f"{user} has asked nothing"
        return self._finish(self._asked[user].popleft())

    def perform(self, line: TranscriptLine) -> None:
        """Let time pass, or the room close."""
        if line.kind == "pass":
            self._loop.now += float(line.text)
            self._settle()
        else:
            assert line.kind == "halted", f"{line.kind} is no deed among requests"
            self._service.halt(final=bool(line.text))

    def finish(self) -> None:
        """Everything was heard."""
        assert not any(self._asked.values()), f"also asked: {[user for user, tasks in self._asked.items() if tasks]}"

    def _finish(self, task: asyncio.Task[TranscriptResponse]) -> TranscriptResponse:
        watchdog = Timer(PATIENCE, self._loop.call_soon_threadsafe, (task.cancel,))
        watchdog.start()
        try:
            return self._loop.run_until_complete(task)
        except asyncio.CancelledError:
            raise AssertionError("no answer comes") from None
        finally:
            watchdog.cancel()

    def _settle(self) -> None:
        """Let everything happen that is due."""

        async def turns() -> None:
            for _ in range(16):
                await asyncio.sleep(0)

        self._loop.run_until_complete(turns())

    async def _exchange(self, user: str, request: TranscriptRequest) -> TranscriptResponse:
        path, _, query = request.path.partition("?")
        headers = asked(user, request)
        pieces = deque([request.body])
        if self._chop and request.body:
            pieces = deque(request.body[at : at + self._chop] for at in range(0, len(request.body), self._chop))
        elif request.body:
            headers["content-length"] = str(len(request.body))
        gone = self._loop.create_future()
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            if not pieces:
                await gone
            piece = pieces.popleft()
            return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("192.0.2.1", 50_000),
            "server": ("127.0.0.1", 8080),
        }
        await self._service(scope, receive, send)
        start, *rest = sent
        assert start["type"] == "http.response.start"
        assert all(message["type"] == "http.response.body" for message in rest)
        assert not rest[-1].get("more_body"), "the answer has no end"
        told = {name.decode().lower(): value.decode() for name, value in start["headers"]}
        assert len(told) == len(start["headers"]), "a header comes twice"
        return TranscriptResponse(start["status"], told, b"".join(message.get("body", b"") for message in rest))


class Wired:
    """A stage with real sockets, one for every user, on which requests arrive `chop` bytes at a time (0: whole).

    The clock of the service stands still, so that only papers can be played in which no time passes.
    """

    def __init__(self, paper: Transcript, chop: int = 0) -> None:
        self._chop = chop
        self._loop = asyncio.new_event_loop()
        place = house(paper)
        guard = Authenticator(clock=lambda: 0.0, hasher=QUICK)
        self._service = HoldemApp(place, guard, place.settings.dialect, clock=lambda: 0.0)
        self._opened = self._loop.run_until_complete(open_holdem_server(self._service, "127.0.0.1", 0))
        self._lines: dict[str, tuple[asyncio.StreamReader, asyncio.StreamWriter]] = {}
        self._heard: defaultdict[str, deque[TranscriptResponse]] = defaultdict(deque)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run_until_complete(self._close())
        self._loop.close()

    async def _close(self) -> None:
        for _, writer in self._lines.values():
            writer.close()
        await self._opened.stop()

    def send(self, user: str, request: TranscriptRequest) -> None:
        """Send a request, and wait for its answer."""
        answer = asyncio.wait_for(self._exchange(user, request), PATIENCE)
        self._heard[user].append(self._loop.run_until_complete(answer))

    def receive(self, user: str) -> TranscriptResponse:
        """The answer that came."""
        return self._heard[user].popleft()

    def perform(self, line: TranscriptLine) -> None:
        """Nothing can happen besides."""
        raise AssertionError(f"{line.kind} is for another stage")

    def finish(self) -> None:
        """Everything was heard."""
        assert not any(self._heard.values())

    async def _exchange(self, user: str, request: TranscriptRequest) -> TranscriptResponse:
        if user not in self._lines:
            self._lines[user] = await asyncio.open_connection(*self._opened.address)
        reader, writer = self._lines[user]
        headers = asked(user, request)
        if request.body or request.method in {"POST", "DELETE"}:
            headers["content-length"] = str(len(request.body))
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        data = f"{request.method} {request.path} HTTP/1.1\r\n{head}\r\n".encode() + request.body
        size = self._chop or len(data)
        for at in range(0, len(data), size):
            writer.write(data[at : at + size])
            await asyncio.sleep(0)
        status = int((await reader.readline()).split()[1])
        told: dict[str, str] = {}
        while line := (await reader.readline()).strip():
            name, _, value = line.decode().partition(": ")
            told[name.lower()] = value
        body = b""
        if request.method == "HEAD" or status == 304:
            pass
        elif told.get("transfer-encoding") == "chunked":
            while length := int(await reader.readline(), 16):
                body += (await reader.readexactly(length + 2))[:-2]
            await reader.readline()
        else:
            body = await reader.readexactly(int(told["content-length"]))
        if told.get("connection") == "close":
            del self._lines[user]
            writer.close()
        return TranscriptResponse(status, told, body)
