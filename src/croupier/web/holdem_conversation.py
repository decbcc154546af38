"""Transcripts of hold'em, played in memory: every request and every response of the service with its bytes."""

import asyncio
from asyncio import Future, Task
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any, Final, Self

from msgspec import ValidationError, convert
from msgspec.structs import replace

from croupier.core.basic_auth import basic_authorization
from croupier.core.dealer import derive_server_seed
from croupier.core.errors import Violation
from croupier.core.http_transcript import (
    NOBODY,
    TranscriptRequest,
    TranscriptResponse,
    match_response,
    parse_expected_response,
    parse_request,
)
from croupier.core.json_transcript import parse_values
from croupier.core.presentation import TableView
from croupier.core.transcript import Transcript, TranscriptLine, convert_head
from croupier.http.auth import QUICK_HASHER, Authenticator
from croupier.http.connection import HttpConnection
from croupier.http.holdem_app import HoldemApp
from croupier.http.limits import ConnectionLimits
from croupier.http.server import HttpServer
from croupier.http.wire import ReceivedResponse, ResponseReader, SentRequest
from croupier.net.local_connection import LocalTransport
from croupier.observers.counters import RoomCounters
from croupier.replay.games import ACTION_TEXTS
from croupier.replay.transcript_house import transcript_dealers
from croupier.rooms.holdem import ROOM
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.presenter import HoldemPresenter
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.wire import Game
from croupier.web.replay_page import Followed, follow_event, note_between

HOST: Final = "127.0.0.1:8080"
CLIENT_ADDRESS: Final = ("192.0.2.1", 40_001)
"""The address of the service, and that of its clients."""

SETTLE_TURNS: Final = 32
"""Turns of the event loop in which everything that is due has happened."""


class FrozenTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only where a transcript says so."""

    now = 0.0

    def time(self) -> float:
        """Return the time in seconds."""
        return self.now


def make_house(transcript: Transcript) -> House:
    """Return a house with the settings in the head of a transcript. Its Unix time starts at 0."""
    settings = convert_head(Settings, transcript.head)
    seed = int(transcript.head.get("seed", 1))
    return House(settings, transcript_dealers(ROOM, transcript), derive_server_seed(seed, "holdem", 0))


def sent_request(user: str, request: TranscriptRequest) -> SentRequest:
    """Return a request as its user sends it: with the password of transcripts, unless it has other credentials."""
    headers = [*request.headers]
    if user != NOBODY and not any(name.lower() == "authorization" for name, _ in headers):
        headers.insert(0, ("Authorization", basic_authorization(user, "secret").decode()))
    return SentRequest(request.method, request.path, headers, request.body)


class HoldemConversation:
    """Requests to the service in this process, without sockets, with a simulated clock."""

    def __init__(self, transcript: Transcript) -> None:
        self._loop = FrozenTimeLoop()
        clock = self._loop.time
        house = make_house(transcript)
        self._authenticator = Authenticator(clock=clock, hasher=QUICK_HASHER)
        self._service = HoldemApp(house, self._authenticator, clock=clock)
        self._pending: defaultdict[str, deque[Task[TranscriptResponse]]] = defaultdict(deque)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run_until_complete(self._close())
        self._loop.close()

    async def _close(self) -> None:
        self._service.halt(final=True)
        for task in [task for tasks in self._pending.values() for task in tasks]:
            task.cancel()
        self._authenticator.close()
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

    def _finish(self, task: Task[TranscriptResponse]) -> TranscriptResponse:
        return self._loop.run_until_complete(task)

    def _settle(self) -> None:
        """Run everything that is due."""

        async def turns() -> None:
            for _ in range(SETTLE_TURNS):
                await asyncio.sleep(0)

        self._loop.run_until_complete(turns())

    def _pieces(self, user: str, request: TranscriptRequest) -> Sequence[bytes]:
        """Return the bytes of a request as they arrive one after another."""
        return [sent_request(user, request).encode(HOST)]

    async def _exchange(self, user: str, request: TranscriptRequest) -> TranscriptResponse:
        client = _Client(request.method)
        server = HttpConnection(HttpServer(self._service, ConnectionLimits(), RoomCounters()))
        server_end = LocalTransport(server, {"peername": CLIENT_ADDRESS})
        client_end = LocalTransport(client, {})
        server_end.other, client_end.other = client_end, server_end
        server.connection_made(server_end)
        for piece in self._pieces(user, request):
            server.data_received(piece)
        response = await client.response
        client_end.close()
        return TranscriptResponse(response.status, response.headers, response.body, response.data)


class _Client(asyncio.Protocol):
    """The end of a connection that receives the response to a request."""

    def __init__(self, method: str) -> None:
        self.response: Future[ReceivedResponse] = asyncio.get_running_loop().create_future()
        self._reader = ResponseReader()
        self._reader.methods.append(method)

    def data_received(self, data: bytes) -> None:
        """Read the response."""
        for span in self._reader.feed(data):
            assert not isinstance(span.message, Violation), f"the service sends {span.data!r}"
            self.response.set_result(span.message)


def conversation_bytes(transcript: Transcript) -> Sequence[bytes]:
    """Play a transcript, and return the bytes of each of its lines, which are empty if it is no message.

    It must not be called where an event loop runs. Raises Mismatch if the service answers something else.
    """
    found: list[bytes] = []
    bound: dict[str, Any] = {}
    with HoldemConversation(transcript) as conversation:
        for line in transcript.lines:
            match line.kind:
                case ">":
                    request = parse_request(line.text, bound)
                    conversation.send(line.peer, request)
                    found.append(sent_request(line.peer, request).encode(HOST))
                case "<":
                    response = conversation.receive(line.peer)
                    bound = match_response(parse_expected_response(line.text), response, bound)
                    found.append(response.data)
                case _:
                    conversation.perform(line)
                    found.append(b"")
    return found


class HoldemFollower:
    """Follows a transcript of hold'em; the table is that of watchers, where a response shows it whole."""

    def __init__(self, transcript: Transcript) -> None:
        self._data = iter(conversation_bytes(transcript))
        self._presenters: dict[str, HoldemPresenter] = {}
        self.start = self._table = TableView(title=HoldemPresenter.title, seats=())

    def follow(self, line: TranscriptLine) -> Followed:
        """Follow the next line."""
        data = next(self._data)
        if line.kind in ACTION_TEXTS:
            return follow_event(line, self._table)
        before = self._table
        game = _shown_game(line) if line.kind == "<" else None
        if game is not None:
            presenter = self._presenters.setdefault(game.game_id, HoldemPresenter())
            presenter.received(replace(game, cards=replace(game.cards, hole=())))  # as watchers see it
            self._table = presenter.table(0.0)
        return Followed(line.text, data, "", note_between(before, self._table), self._table)


def _shown_game(line: TranscriptLine) -> Game | None:
    """Return the game that a response shows, None if it shows none, several, or leaves something open."""
    try:
        body = parse_expected_response(line.text).body
        values = parse_values(body)
        shown = values[0] if len(values) == 1 else None
        if isinstance(shown, list) and len(shown) == 1:
            shown = shown[0]
        return convert(shown, Game)
    except (ValueError, ValidationError):
        return None
