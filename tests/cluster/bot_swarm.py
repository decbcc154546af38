"""Many users who call and check through any node of a cluster, and count what was sent and what was confirmed."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from random import Random
from typing import Any, NamedTuple

from tests.http.service_fixture import basic

PATIENCE = 20.0

STALL_SECONDS = 100.0
"""Every user has to act again within this time after an action, before turns time out."""

LATER = {429, 503}
"""Answers after which the same request may be sent again later."""

HASTE_SECONDS = 0.05
"""An impatient user sends a request again after this time, and not after that of Retry-After."""


class HttpAnswer(NamedTuple):
    """A response: its status, headers by lower-case names, and body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client(ABC):
    """A user of one of several nodes at a time; another one is chosen after an answer to come later.

    `later_count` is the number of these answers. A patient user then waits as long as Retry-After says.
    """

    def __init__(self, user: str, random: Random, *, is_patient: bool) -> None:
        self.later_count = 0
        self.is_patient = is_patient
        self.user = user
        self.random = random

    @abstractmethod
    async def send(self, method: str, path: str, body: bytes) -> HttpAnswer:
        """Send a request. Raises OSError, TimeoutError or EOFError: it may have been carried out."""

    @abstractmethod
    def leave(self) -> None:
        """Let another node take the next request, perhaps."""

    async def ask(self, method: str, path: str, body: bytes = b"") -> HttpAnswer:
        """Send a request, and wait after an answer to come later. Raises as `send` does."""
        answer = await self.send(method, path, body)
        if answer.status in LATER:
            seconds = float(answer.headers["retry-after"])
            self.later_count += 1
            self.leave()
            await asyncio.sleep(seconds if self.is_patient else HASTE_SECONDS)
        return answer

    async def insist(self, method: str, path: str) -> HttpAnswer:
        """Repeat a request that changes nothing, or whose repetition does no harm, until it is answered."""
        while True:
            try:
                answer = await self.ask(method, path)
            except (OSError, TimeoutError, EOFError):
                await asyncio.sleep(HASTE_SECONDS)
                continue
            if answer.status not in LATER:
                return answer


class HttpClient(Client):
    """A client with a connection to a server on one of some ports."""

    def __init__(self, ports: Sequence[int], user: str, random: Random, *, is_patient: bool = False) -> None:
        super().__init__(user, random, is_patient=is_patient)
        self._ports = ports
        self._writer: asyncio.StreamWriter | None = None
        self._reader: asyncio.StreamReader

    def leave(self) -> None:
        """Close the connection."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    async def send(self, method: str, path: str, body: bytes) -> HttpAnswer:
        """See `Client`."""
        try:
            async with asyncio.timeout(PATIENCE):
                if self._writer is None:
                    port = self.random.choice(self._ports)
                    self._reader, self._writer = await asyncio.open_connection("127.0.0.1", port)
                lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Authorization: {basic(self.user)}"]
                head = "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""])
                self._writer.write(head.encode() + body)
                return await self._receive()
        except BaseException:
            self.leave()
            raise

    async def _receive(self) -> HttpAnswer:
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().splitlines()
        pairs = (line.partition(": ") for line in head[1:] if line)
        headers = {name.lower(): value for name, _, value in pairs}
        answer = await self._reader.readexactly(int(headers.get("content-length", 0)))
        if headers.get("connection") == "close":
            self.leave()
        return HttpAnswer(int(head[0].split()[1]), headers, answer)


type Connect = Callable[[str, Random, bool], Client]


class Swarm:
    """Users at tables: `tables` of them with `seats` users each, of whom every other one is patient.

    `connect` makes the client of a user, whether patient or not. Polls wait for `poll_seconds`.
    """

    def __init__(self, connect: Connect, tables: int, seats: int, seed: int, *, poll_seconds: float = 2.0) -> None:
        self.sent: Counter[str] = Counter()
        self.confirmed: Counter[str] = Counter()
        self.refused: Counter[int] = Counter()
        self.problems: list[str] = []
        self.games: list[str] = []
        self.guids: dict[str, str] = {}
        self.clients: list[Client] = []
        self._connect = connect
        self._poll_seconds = poll_seconds
        self._tables = [[f"user-{table}-{seat}" for seat in range(seats)] for table in range(tables)]
        self._seed = seed
        self._is_over = False

    async def seat(self) -> None:
        """Register all users, and seat them; the first user of each table opens it."""
        for users in self._tables:
            game = ""
            for user in users:
                client = self._connect(user, Random(user), False)
                self.guids[user] = (await client.insist("POST", "/users/")).json
                if not game:
                    opened = await client.insist("POST", "/games/")
                    assert opened.status == 201, opened
                    game = opened.headers["location"].rpartition("/")[2]
                    self.games.append(game)
                else:
                    joined = await client.insist("POST", f"/games/{game}/players/")
                    assert joined.status == 201, joined
                client.leave()

    async def play(self) -> None:
        """Let all users play until `stop`."""
        users = [(user, game) for game, users in zip(self.games, self._tables, strict=True) for user in users]
        playing = []
        for number, (user, game) in enumerate(users):
            client = self._connect(user, Random(f"{self._seed}/{user}"), number % 2 == 0)
            self.clients.append(client)
            playing.append(self._play(client, user, game))
        await asyncio.gather(*playing)

    def stop(self) -> None:
        """End the play after the acts that are being sent."""
        self._is_over = True

    async def play_through(
        self, do: Callable[[str], Awaitable[None]], actions: Iterable[str], pause: float
    ) -> list[int]:
        """Play while the actions happen, each `pause` seconds after every user has acted again since the one before.

        Returns for each action the most answers to come later that a patient user got after it.
        """
        most, playing = list[int](), asyncio.ensure_future(self.play())
        for action in actions:
            await asyncio.sleep(pause)
            before, refused = self.confirmed.copy(), self.patient_counts()
            await do(action)
            end = asyncio.get_running_loop().time() + STALL_SECONDS
            while waiting := [user for user in self.guids if self.confirmed[user] == before[user]]:
                await asyncio.sleep(0.05)
                assert not playing.done(), self.problems
                assert asyncio.get_running_loop().time() < end, f"after {action}, {waiting} cannot act"
            new = [count - former for count, former in zip(self.patient_counts(), refused, strict=True)]
            most.append(max(new, default=0))
        self.stop()
        await playing
        return most

    def patient_counts(self) -> list[int]:
        """How often each patient user was answered to come later."""
        return [client.later_count for client in self.clients if client.is_patient]

    @property
    def acts(self) -> int:
        """The number of acts that were confirmed."""
        return self.confirmed.total()

    async def _play(self, client: Client, user: str, game: str) -> None:
        path, version = f"/games/{game}", ""
        while not self._is_over:
            query = f"?wait={self._poll_seconds:g}&since={version}" if version else ""
            found = await client.insist("GET", f"{path}{query}")
            if found.status != 200:
                self.problems.append(f"{user}: {found}")
                return
            version, turn = found.headers["x-game-version"], found.json["turn"]
            if turn["playerID"] == self.guids[user]:
                await self._act(client, user, f"{path}/players/{self.guids[user]}/acts/", turn)
                version = ""
            if client.random.random() < 0.05:
                client.leave()
        client.leave()

    async def _act(self, client: Client, user: str, path: str, turn: Any) -> None:
        body = json.dumps({"action": 1, "betAmount": turn["bet_to_player"] - turn["bet_so_far"]}).encode()
        self.sent[user] += 1
        try:
            answer = await client.ask("POST", path, body)
        except (OSError, TimeoutError, EOFError):
            await asyncio.sleep(0.05)
            return
        if answer.status == 201:
            self.confirmed[user] += 1
            return
        self.refused[answer.status] += 1
        is_late = answer.status == 403 and answer.body.startswith(b"holdem-4.13")  # another view showed it before
        if answer.status == 503 and answer.headers.get("retry-after") != "1":
            self.problems.append(f"{user}: 503 without Retry-After: {answer}")
        if answer.status not in LATER and not is_late:
            self.problems.append(f"{user}: {answer}")
        if not is_late:
            client.leave()
        await asyncio.sleep(0.02)
