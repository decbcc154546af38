"""Users of Old Maid, and clients of houses with accounts, at any node of a cluster: they keep all results."""

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from croupier.clients.ring import RingClient, RingConfig, RingTally, play_ring_games
from croupier.core.bots import RandomBot
from croupier.core.errors import Violation
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Effect, Joined, Notify, Received, Send, Settle, Submitted
from croupier.rooms import HOUSE_ROOMS
from croupier.rooms.kuhn.wire import DISC
from croupier.rooms.oldmaid.ring.player_events import PlayerResult
from tests.clients.oldmaid_fixtures import fast_options, luck

ANSWER_SECONDS = 20.0
"""A client that hears nothing for this long hangs up."""

HASTE_SECONDS = 0.05
"""A user whose connection has failed connects again after this time."""

MAX_GAMES = 12
"""The most games of a client on one connection."""

THINKING_SECONDS = 0.5
"""The longest time that a client of a house thinks."""

PICK_SECONDS = 0.02
"""The time for which a player of Old Maid thinks. When a third one has gone with its cards, the others may have none
that match, and pick until the table ends the game."""

PAUSE_SECONDS = 2.0
"""The longest time that a player of Old Maid pauses between two games."""

type ChoosePort = Callable[[str, Random], int | None]
"""Returns the port of a room at one of the nodes, None if there is none now."""


class User(ABC):
    """A user of a room."""

    def __init__(self, name: str, room: str, choose_port: ChoosePort, seed: int) -> None:
        self.name = name
        self.problems: list[str] = []
        self.random = Random(f"{seed}/{name}")
        self._room_name = room
        self._choose_port = choose_port

    async def play(self) -> int:
        """Connect to a node, and play; return the number of games whose results it received."""
        port = self._choose_port(self._room_name, self.random)
        try:
            if port is not None:
                return await self.play_at(port)
        except (OSError, EOFError, TimeoutError):
            pass
        await asyncio.sleep(HASTE_SECONDS)
        return 0

    @abstractmethod
    async def play_at(self, port: int) -> int:
        """Play at a port of this machine, as `play`. Raises OSError, EOFError or TimeoutError."""


class Conversation:
    """What a client knows of its games on one connection: `received` are the nets of the results that are certain.

    `doubts` are those of games after them, None for one whose result is not known. They may not have been settled; if
    one was not, neither were those after it.
    """

    def __init__(self) -> None:
        self.received: list[int] = []
        self.doubts: list[int | None] = []


class AccountUser(User):
    """A client of a house, who has the account of its address."""

    def __init__(self, room: HouseRoom, host: str, choose_port: ChoosePort, seed: int) -> None:
        super().__init__(f"{room.name}:{host}", room.name, choose_port, seed)
        self.conversations: list[Conversation] = []
        self.house = room.name
        self._room = room
        self._host = host
        self._bot = room.bots["random"].make()

    async def play_at(self, port: int) -> int:
        """See `User`. At its end the client hangs up, sometimes in the middle of a game."""
        conversation = Conversation()
        self.conversations.append(conversation)
        before = len(conversation.received)
        async with asyncio.timeout(ANSWER_SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(self._host, 0))
        try:
            await self._converse(reader, writer, conversation)
        finally:
            writer.transport.abort()
        return len(conversation.received) - before

    async def _converse(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, conversation: Conversation
    ) -> None:
        room, loop = self._room, asyncio.get_running_loop()
        player, codec = room.player(room.options(), reply_timeout=ANSWER_SECONDS), room.codec(False, room.options())
        player.on(Joined(HOUSE, (self._host, 0)), loop.time())
        games, chance = self.random.randrange(MAX_GAMES), luck(self.random.randrange(1 << 30))
        while not player.is_exhausted:
            message = player.decide(self._bot, chance, len(conversation.received))
            if message is None:
                async with asyncio.timeout(ANSWER_SECONDS):
                    data = await reader.read(4096)
                if not data:
                    raise EOFError
                for item in codec.feed(data):
                    self._receive(item, player.on(Received(HOUSE, item), loop.time()), conversation)
                continue
            if len(conversation.received) >= games and self.random.random() < 0.5:
                return
            await asyncio.sleep(self.random.uniform(0.0, THINKING_SECONDS))
            if not conversation.doubts or conversation.doubts[-1] is not None:
                conversation.doubts.append(None)
            for effect in player.on(Submitted(message), loop.time()):
                self._note(effect, conversation)
                if isinstance(effect, Send):
                    writer.write(codec.encode(effect.message))

    def _receive(self, message: object, effects: Sequence[Effect[Any]], conversation: Conversation) -> None:
        """Note what a message of the house says: it answers nothing before the result of a game is durable."""
        if message != DISC:
            while conversation.doubts and (known := conversation.doubts[0]) is not None:
                conversation.received.append(known)
                del conversation.doubts[0]
        for effect in effects:
            if self._note(effect, conversation):
                conversation.received.append(conversation.doubts.pop() or 0)

    def _note(self, effect: Effect[Any], conversation: Conversation) -> bool:
        """Note the result of a game, and a fault of the house; whether this was a result."""
        if isinstance(effect, Notify) and isinstance(effect.notice, Violation):
            self.problems.append(f"{self.name}: {effect.notice}")
        if not isinstance(effect, Settle):
            return False
        conversation.doubts[-1] = effect.net
        return True


class RingUser(User):
    """A player of Old Maid, who has another nick in each game. `results` are those that it has received, by nick."""

    def __init__(self, name: str, choose_port: ChoosePort, seed: int) -> None:
        super().__init__(name, "oldmaid", choose_port, seed)
        self.results: dict[str, PlayerResult] = {}
        self.ended: Counter[str] = Counter()
        self._attempts = 0

    async def play_at(self, port: int) -> int:
        """See `User`."""
        await asyncio.sleep(self.random.uniform(0.0, PAUSE_SECONDS))
        self._attempts += 1
        nick = f"{self.name}-{self._attempts}"
        chance, rings = luck(self.random.randrange(1 << 30)), list[RingClient]()

        def connect() -> RingClient:
            rings.append(
                RingClient(RingConfig(("127.0.0.1", port), "127.0.0.1"), fast_options(nick, pause=PICK_SECONDS), chance)
            )
            return rings[-1]

        tally = RingTally(nick)
        await play_ring_games(connect, RandomBot(), chance, 1, tally)
        self.ended.update(tally.faults)
        result = rings[0].result
        if result is None or result.outcome == "ended":
            await asyncio.sleep(HASTE_SECONDS)
            return 0
        self.results[nick] = result
        return 1


class RoomSwarm:
    """Three players of Old Maid, and two clients of each of some houses, who play all the time.

    `games` has the number of results that each of them has received.
    """

    def __init__(self, houses: Sequence[str], choose_port: ChoosePort, seed: int) -> None:
        self.games: Counter[str] = Counter()
        self.ring_users = [RingUser(f"player-{number}", choose_port, seed) for number in range(3)]
        self.account_users = [
            AccountUser(HOUSE_ROOMS[room], f"127.0.0.{number}", choose_port, seed)
            for room in houses
            for number in (2, 3)
        ]
        self._users: Sequence[User] = [*self.ring_users, *self.account_users]
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Let the users play."""
        self._tasks = [asyncio.get_running_loop().create_task(self._play(user)) for user in self._users]

    async def stop(self) -> None:
        """Let the users hang up."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def until_all_play(self, seconds: float) -> None:
        """Wait until every user has received a result from now on. Raises AssertionError after some time."""
        before, loop = self.games.copy(), asyncio.get_running_loop()
        end = loop.time() + seconds
        while waiting := [user.name for user in self._users if self.games[user.name] == before[user.name]]:
            await asyncio.sleep(0.05)
            for task in self._tasks:
                if task.done():
                    task.result()
            assert loop.time() < end, f"{waiting} cannot play"

    @property
    def problems(self) -> list[str]:
        """What the houses have done that they must not."""
        return [problem for user in self._users for problem in user.problems]

    async def _play(self, user: User) -> None:
        while True:
            self.games[user.name] += await user.play()
