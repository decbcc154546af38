"""A hold'em bot with a mutation: a program under test that runs in the tester's own process."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from random import Random
from types import TracebackType
from typing import Any, Self

from tests.conformance.mutants.mutation import AnyMutation, Role
from tests.conformance.oldmaid.players import TaskProgram
from tests.http.service_fixture import basic

type Json = Any

POLL_SECONDS = 0.06
RETRY_SECONDS = 0.1
MAX_TRIES = 8
FULL_TABLE = 10


@dataclass(frozen=True)
class BotRequest:
    """A request as the bot means to send it; `credentials` is the value of its Authorization header."""

    method: str
    path: str
    credentials: str | None
    body: bytes = b""
    headers: tuple[str, ...] = ("Host: {host}", "Content-Length: {length}")

    def encode(self, host: str) -> bytes:
        lines = [f"{self.method} {self.path} HTTP/1.1"]
        lines += [line.format(host=host, length=len(self.body)) for line in self.headers]
        lines += [f"Authorization: {self.credentials}"] if self.credentials is not None else []
        return "\r\n".join([*lines, "", ""]).encode() + self.body


@dataclass
class BotSituation:
    """What the bot knows when it sends a request.

    `state` is a name from STATES. `game` is the Game that the bot has read last, None before the first; `player` is its
    GUID. A change can keep facts in the `memory` of the bot.
    """

    state: str
    game: Json
    player: str
    memory: dict[str, Any] = field(default_factory=dict)


type BotChange = Callable[[BotSituation, BotRequest], Sequence[BotRequest | bytes]]
"""Maps a situation and the correct request to what is sent; no request at all ends the bot."""

type Choice = Callable[[Json, Json, Random], int | None]
"""Chooses what to add, from the Game and the own Player; None folds."""

STATES = ("registering", "listing", "joining", "waiting", "before the flop", "after the flop")
"""What the bot is doing when it sends a request; the last two are acts."""


@dataclass(frozen=True, kw_only=True)
class HoldemBotMutation(AnyMutation):
    """A fault of a bot.

    `choose` replaces the bot's way to choose, and `reads_turn` its way to see that it has the turn.
    """

    change: BotChange = lambda situation, request: [request]
    choose: Choice | None = None
    reads_turn: Callable[[Json, str], bool] | None = None
    reader: type["ResponseStream"] | None = None
    room: str = "holdem"
    role: Role = "client"


def call_amount(game: Json, me: Json) -> int:
    """Return what a call adds."""
    turn = game["turn"]
    return min(int(turn["bet_to_player"]) - int(turn["bet_so_far"]), int(me["wealth"]))


def choose_usually(game: Json, me: Json, random: Random) -> int | None:
    """Call, and fold now and then."""
    return None if call_amount(game, me) and random.random() < 0.1 else call_amount(game, me)


class ResponseStream:
    """Reads responses: status and body."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self.reader = reader
        self.is_last = False

    async def read(self) -> tuple[int, bytes]:
        """Return the next response. Raises EOFError if the connection ends before."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        self.is_last = headers.get("connection", "").lower() == "close"
        return int(first.split()[1]), await self.read_body(headers)

    async def read_body(self, headers: Mapping[str, str]) -> bytes:
        if headers.get("transfer-encoding") != "chunked":
            return await self.reader.readexactly(int(headers.get("content-length", 0)))
        body = b""
        while size := int((await self.reader.readuntil(b"\r\n")).decode(), 16):
            body += await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        await self.reader.readexactly(2)
        return body


class MutantBot:
    """A bot that registers, joins the first game with a free seat, and plays until it is no longer in the game."""

    def __init__(self, mutation: HoldemBotMutation, seed: int, values: Mapping[str, Any]) -> None:
        self._mutation = mutation
        self._random = Random(seed)
        self._host, self._port = values["host"], values["port"]
        self._user, self._credentials = values["user"], basic(values["user"], values["password"])
        self._situation = BotSituation("registering", None, "")
        self._streams: tuple[ResponseStream, asyncio.StreamWriter] | None = None
        self._acted_turn = ""

    async def play(self) -> None:
        try:
            await self._send("registering", "POST", "/users/")
            game = await self._join()
            if game:
                await self._play_hands(game)
        finally:
            self._hang_up()

    async def _join(self) -> str:
        """Join a game and return its GUID, "" if the mutation joins none."""
        _, games = await self._send("listing", "GET", "/games/")
        game: str = next(game["gameID"] for game in games if len(game["table"]) < FULL_TABLE)
        status, player = await self._send("joining", "POST", f"/games/{game}/players/")
        if status == 409:
            player = await self._find_player(game)
        elif status not in {201, 202}:
            raise RuntimeError(f"joining was refused with {status}")
        self._situation.player = player if isinstance(player, str) else ""
        return game

    async def _find_player(self, game: str) -> str:
        while True:
            _, shown = await self._send("waiting", "GET", f"/games/{game}")
            for one in shown["table"]:
                if one["handle"] == self._user:
                    return str(one["playerID"])
            await asyncio.sleep(POLL_SECONDS)

    async def _play_hands(self, game: str) -> None:
        was_dealt_in = False
        while True:
            status, shown = await self._send("waiting", "GET", f"/games/{game}")
            if status == 404 or shown is None:
                return
            self._situation.game = shown
            me = next((one for one in shown["table"] if one["playerID"] == self._situation.player), None)
            if me is None and was_dealt_in:
                return  # broke
            was_dealt_in = was_dealt_in or me is not None
            if self._has_turn(shown):
                await self._act(game, shown, me)
            else:
                await asyncio.sleep(POLL_SECONDS)

    def _has_turn(self, shown: Json) -> bool:
        if self._mutation.reads_turn is not None:
            return self._mutation.reads_turn(shown, self._situation.player)
        turn = shown["turn"]
        return bool(turn["playerID"] == self._situation.player and turn["expiry"] != self._acted_turn)

    async def _act(self, game: str, shown: Json, me: Json) -> None:
        choose = self._mutation.choose or choose_usually
        amount = choose(shown, me or {"wealth": 0}, self._random)
        body = {"action": 0} if amount is None else {"action": 1, "betAmount": amount}
        state = "after the flop" if shown["cards"]["flop"] else "before the flop"
        path = f"/games/{game}/players/{self._situation.player}/acts/"
        self._acted_turn = shown["turn"]["expiry"]
        await self._send(state, "POST", path, json.dumps(body).encode())

    async def _send(self, state: str, method: str, path: str, body: bytes = b"") -> tuple[int, Json]:
        """Send what the mutation makes of a request; return the status of the last response, and its JSON."""
        self._situation.state = state
        request = BotRequest(method, path, self._credentials, body)
        changed = self._mutation.change(self._situation, request)
        if not changed:
            await asyncio.Event().wait()  # a bot that hangs
        for each in changed:
            status, found = await self._exchange(each)
        return status, json.loads(found) if status < 300 and found else None

    async def _exchange(self, request: BotRequest | bytes) -> tuple[int, bytes]:
        """Send a request, again while the server is busy or the connection ends; an act only once."""
        status, body = 503, b""
        for _ in range(MAX_TRIES):
            try:
                status, body = await self._exchange_once(request)
            except (EOFError, OSError):
                self._hang_up()
                status = 503
                if isinstance(request, BotRequest) and request.path.rstrip("/").endswith("acts"):
                    break
            if status not in {429, 500, 503}:
                break
            await asyncio.sleep(RETRY_SECONDS)
        return status, body

    async def _exchange_once(self, request: BotRequest | bytes) -> tuple[int, bytes]:
        if self._streams is None:
            reader, writer = await asyncio.open_connection(self._host, self._port)
            self._streams = (self._mutation.reader or ResponseStream)(reader), writer
        stream, writer = self._streams
        writer.write(request if isinstance(request, bytes) else request.encode(f"{self._host}:{self._port}"))
        await writer.drain()
        response = await stream.read()
        if stream.is_last:
            self._hang_up()
        return response

    def _hang_up(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class BotProgram:
    """Stands for `ProgramUnderTest`: each start is a bot in this process."""

    def __init__(self, mutation: HoldemBotMutation) -> None:
        self._mutation = mutation
        self._seeds = count(1)

    async def start(self, command: str, values: Mapping[str, Any], **more: Any) -> "RunningBot":
        return RunningBot(MutantBot(self._mutation, next(self._seeds), values).play())


class RunningBot(TaskProgram):
    """A bot that runs as a task, with the interface of a running program."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def wait_ended(self, seconds: float) -> int | None:
        await asyncio.wait({self._task}, timeout=seconds)
        return self.status
