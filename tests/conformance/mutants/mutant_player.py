"""A player with a mutation: a program under test that runs in the tester's own process."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple

from croupier.core.dealer import FairDealer, Luck
from croupier.core.errors import Violation
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Closing, Drop, Joined, Left, Malformed, Received, Send, Settle, Submitted
from tests.conformance.mutants.mutation import Mutation, Situation
from tests.conformance.oldmaid.players import TaskProgram
from tests.rooms.conversation_fixture import HANG_UP

GAMES = 14
"""The player leaves after this many games."""

RAISE = 10


class PlayerSetup(NamedTuple):
    """How a room's players play: `state_of` is the name of the state in which a player is about to send."""

    state_of: Callable[[Any], str]
    options: Any


class SmallRaises:
    """Chooses at random, and raises by a few coins only, so that it can raise again."""

    def choose(self, view: Any, legal: Sequence[Any], luck: Luck) -> Any:
        move = legal[luck.below(len(legal))]
        return min(move, RAISE) if isinstance(move, int) else move


class MutantPlayer:
    """One conversation of a player with a mutation."""

    def __init__(self, room: HouseRoom, mutation: Mutation, setup: PlayerSetup, seed: int) -> None:
        options = setup.options
        self._player: Any = room.player(options, reply_timeout=1e9)
        self._codec = room.codec(False, options)
        self._encode = room.codec(False, options).encode
        self._read = mutation.new_reader(room) if mutation.new_reader is not None else lambda data: [data]
        self._mutation = mutation
        self._state_of = setup.state_of
        self._luck = FairDealer(seed.to_bytes(32)).luck
        self._games = 0
        self._messages = 0
        self._memory: dict[str, Any] = {}
        self._is_over = False

    async def play(self, host: str, port: int) -> None:
        """Play until either end closes."""
        reader, writer = await asyncio.open_connection(host, port)
        try:
            with suppress(ConnectionError):
                await self._converse(reader, writer)
        finally:
            writer.close()  # also if the tester stops the program
        with suppress(ConnectionError):
            await writer.wait_closed()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._perform(self._player.on(Joined(HOUSE), 0.0), writer, "")
        while not self._is_over:
            if not self._act(writer):
                data = await reader.read(4096)
                if not data:
                    break
                self._receive(data, writer)
            await writer.drain()

    def _act(self, writer: asyncio.StreamWriter) -> bool:
        """Send the next message, if there is one."""
        state = self._state_of(self._player)
        if self._games >= GAMES and self._player.game is None:
            self._perform(self._player.on(Closing(), 0.0), writer, state)
            self._is_over = True
            return True
        message = self._player.decide(SmallRaises(), self._luck, self._games)
        if message is None:
            return False
        self._perform(self._player.on(Submitted(message), 0.0), writer, state)
        return True

    def _receive(self, data: bytes, writer: asyncio.StreamWriter) -> None:
        for piece in self._read(data):
            for item in self._codec.feed(piece):
                event = Malformed(HOUSE, item) if isinstance(item, Violation) else Received(HOUSE, item)
                self._perform(self._player.on(event, 0.0), writer, self._state_of(self._player))

    def _perform(self, effects: Sequence[Any], writer: asyncio.StreamWriter, state: str) -> None:
        for effect in effects:
            match effect:
                case Send(_, message):
                    situation = Situation(state, message, self._games, self._messages, memory=self._memory)
                    self._messages += 1
                    for data in self._mutation.change(situation, [self._encode(message)]):
                        self._is_over |= data == HANG_UP
                        if not self._is_over:
                            writer.write(data)
                case Settle():
                    self._games += 1
                case Drop():
                    self._is_over = True
                    self._player.on(Left(HOUSE), 0.0)
                case _:
                    pass


class PlayerProgram:
    """Stands for `ProgramUnderTest`: each start is a conversation of a mutant in this process."""

    def __init__(self, room: HouseRoom, mutation: Mutation, setup: PlayerSetup) -> None:
        self._new_player = lambda seed: MutantPlayer(room, mutation, setup, seed)
        self._seeds = count(1)

    async def start(self, command: str, values: Mapping[str, Any], **more: Any) -> TaskProgram:
        return TaskProgram(self._new_player(next(self._seeds)).play(values["host"], values["port"]))
