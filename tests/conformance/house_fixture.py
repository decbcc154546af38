"""In-process houses for the tester to test, correct and faulty, a new one for every connection."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from itertools import count
from typing import Any

from croupier.conformance.case import Retries
from croupier.conformance.results import Result
from croupier.conformance.servers.bench import HouseBench
from croupier.conformance.servers.scripted_client import ScriptedClient
from croupier.conformance.servers.test_data import HouseServerCase
from croupier.conformance.suite import Config, find_suite
from croupier.core.errors import Violation
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Address, Drop, Joined, Left, Malformed, Received, Send, TimedOut
from croupier.core.transcript import Transcript, house_settings, make_hall
from tests.conformance.suites import run_bench
from tests.rooms.conversation_fixture import GREETING, HANG_UP, Habit, honest


class Table:
    """One connection to a house with a mutation: bytes in, bytes out, HANG_UP where it closes."""

    def __init__(self, room: HouseRoom, head: Mapping[str, str], habit: Habit, seed: int, *, strict: bool) -> None:
        more = {"seed": str(seed), "strict": "yes" if strict else "no"}
        paper = Transcript("parlour", "a conversation", (), {**more, **head}, ())
        own = house_settings(room, paper)
        self._habit = habit
        self._house = make_hall(room, paper)
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
        for effect in self._house.on(Malformed(1, item) if isinstance(item, Violation) else Received(1, item), 0.0):
            match effect:
                case Send(_, message):
                    found.append(self._outward.encode(message))
                case Drop():
                    found.append(HANG_UP)
                case _:
                    pass
        return found

    def _sent(self, answers: Sequence[bytes]) -> Sequence[bytes]:
        self._closed = HANG_UP in answers
        return answers


class HouseFixture:
    """A house under test. Simulated time passes only while both ends wait."""

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
        self.stop_listening = lambda: None
        self.max_closing = 0
        self._numbers = count(1000 * seed)
        self.table = lambda: Table(room, head, habit, next(self._numbers), strict=strict)

    async def open(self, address: Address) -> None:
        pass

    async def close(self) -> None:
        pass

    async def converse(self, probe: ScriptedClient) -> None:
        self.met += 1
        table, now = self.table(), 0.0
        effects = deque(probe.on(Joined(HOUSE), now))
        for data in table.greeting():
            self._send(probe, data, now, effects)
        while not probe.is_over:
            while effects and not probe.is_over:
                match effects.popleft():
                    case Send(_, data):
                        for answer in table.hears(data):
                            self._send(probe, answer, now, effects)
                    case _:
                        pass
            if not probe.is_over:
                assert probe.deadline is not None, "nobody has anything to say"
                now = max(now, probe.deadline)
                effects += probe.on(TimedOut(), now)

    @staticmethod
    def _send(probe: ScriptedClient, data: bytes, now: float, effects: deque[Any]) -> None:
        effects += probe.on(Left(HOUSE) if data == HANG_UP else Received(HOUSE, data), now)


@asynccontextmanager
async def opened(parlour: HouseFixture, *, max_clients: int = 1 << 10) -> AsyncIterator[int]:
    """Serve the same houses on a local port, at most `max_clients` at a time: the others wait."""
    seats = asyncio.Semaphore(max_clients)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with seats:
            await converse(reader, writer)

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
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
        parlour.stop_listening = server.close
        yield server.sockets[0].getsockname()[1]


def with_effort(case: HouseServerCase, effort: float) -> HouseServerCase:
    """A case that is tried only for this part of its time until it comes up."""
    at_most = 20 if effort else case.retries.at_least
    return replace(case, retries=Retries(case.retries.at_least, at_most, case.retries.seconds * effort))


def new_bench(room: HouseRoom, house: Any, **config: Any) -> HouseBench:
    """A bench for a house."""
    return HouseBench(find_suite(room, "server").test_data, house, Config(**{"seed": 0, "timeout": 2.0, **config}))


async def run_cases(
    house: HouseFixture, room: HouseRoom, cases: Sequence[HouseServerCase], *, effort: float = 1.0, **config: Any
) -> tuple[Result, ...]:
    """Run cases against a house."""
    return await run_bench(new_bench(room, house, **config), [with_effort(case, effort) for case in cases])
