"""A parlour: houses without a socket for the tester to try, honest ones and rogues, every connection with its own."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

from croupier.conformance.results import Result
from croupier.conformance.servers import GROUNDS
from croupier.conformance.servers.attempts import Examination, ServerCase
from croupier.conformance.servers.scripted_client import Probe
from croupier.conformance.servers.server import examined
from croupier.core.errors import Violation
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Drop, Garbled, Joined, Left, Rang, Said, Say
from croupier.core.transcript import Transcript, hall, settings
from tests.rooms.conversation_fixture import GREETING, HANG_UP, Habit, honest


class Table:
    """One connection to a house with a habit: bytes in, bytes out, HANG_UP where it closes."""

    def __init__(self, room: HouseRoom, head: Mapping[str, str], habit: Habit, seed: int, *, strict: bool) -> None:
        more = {"seed": str(seed), "strict": "yes" if strict else "no"}
        paper = Transcript("parlour", "a conversation", (), {**more, **head}, ())
        own = settings(room, paper)
        self._habit = habit
        self._house = hall(room, paper)
        self._house.on(Joined(1), 0.0)
        self._inward, self._outward = (room.codec(strict, own) for _ in range(2))
        self._closed = False

    def greeting(self) -> Sequence[bytes]:
        return self._sent(self._habit(GREETING, []))

    def hears(self, data: bytes) -> Sequence[bytes]:
        said: list[bytes] = []
        for item in self._inward.feed(data):
            if self._closed:
                break
            spelt = str(item).encode() if isinstance(item, Violation) else self._inward.encode(item)
            said += self._sent(self._habit(spelt, self._answers(item)))
        return said

    def _answers(self, item: Any) -> list[bytes]:
        found = []
        for effect in self._house.on(Garbled(1, item) if isinstance(item, Violation) else Said(1, item), 0.0):
            match effect:
                case Say(_, message):
                    found.append(self._outward.encode(message))
                case Drop():
                    found.append(HANG_UP)
                case _:
                    pass
        return found

    def _sent(self, answers: Sequence[bytes]) -> Sequence[bytes]:
        self._closed = HANG_UP in answers
        return answers


class Parlour:
    """A target of the tester. Time passes in it only when everybody waits."""

    def __init__(
        self,
        room: HouseRoom,
        head: Mapping[str, str] = {},
        habit: Habit = honest,
        *,
        seed: int = 0,
        strict: bool = False,
    ) -> None:
        self.met = 0
        self.close = lambda: None
        self._numbers = count(1000 * seed)
        self.table = lambda: Table(room, head, habit, next(self._numbers), strict=strict)

    async def meet(self, probe: Probe) -> None:
        self.met += 1
        table, now = self.table(), 0.0
        effects = deque(probe.on(Joined(HOUSE), now))
        for data in table.greeting():
            self._send(probe, data, now, effects)
        while not probe.over:
            while effects and not probe.over:
                match effects.popleft():
                    case Say(_, data):
                        for answer in table.hears(data):
                            self._send(probe, answer, now, effects)
                    case _:
                        pass
            if not probe.over:
                assert probe.alarm is not None, "nobody has anything to say"
                now = max(now, probe.alarm)
                effects += probe.on(Rang(), now)

    @staticmethod
    def _send(probe: Probe, data: bytes, now: float, effects: deque[Any]) -> None:
        effects += probe.on(Left(HOUSE) if data == HANG_UP else Said(HOUSE, data), now)


@asynccontextmanager
async def opened(parlour: Parlour) -> AsyncIterator[int]:
    """The same houses at a port of this machine."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        table = parlour.table()
        answers = table.greeting()
        with suppress(ConnectionError):
            while HANG_UP not in answers:
                writer.write(b"".join(answers))
                await writer.drain()
                data = await reader.read(4096)
                if not data:
                    break
                answers = table.hears(data)
            else:
                writer.write(b"".join(answers[: answers.index(HANG_UP)]))
                writer.write_eof()
                while await reader.read(4096):
                    pass
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        parlour.close = server.close
        yield server.sockets[0].getsockname()[1]


async def tried(parlour: Parlour, room: HouseRoom, cases: Sequence[ServerCase], **more: Any) -> tuple[Result, ...]:
    """What the tester finds in a parlour."""
    return await examined(Examination(GROUNDS[room.name], parlour, **more), cases, None, lambda _: None)
