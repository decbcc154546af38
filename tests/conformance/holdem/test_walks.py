"""Walks on our server: the referee follows every hand, even one that ends unseen."""

import asyncio
from random import Random

import pytest

from croupier.conformance.holdem.context import HoldemContext
from croupier.conformance.holdem.endpoint import ServerUnderTest
from croupier.conformance.holdem.steps import WalkStep
from croupier.conformance.holdem.table_settings import TableSettings
from croupier.conformance.holdem.walk import Walk
from croupier.conformance.holdem.walks import WalkRunner
from croupier.conformance.suite import Config
from croupier.core.http_transcript import NOBODY
from croupier.rooms.holdem.wire import ACTION_FOLD, Game
from tests.conformance.holdem.faulty_programs import FaultyServer, open_faulty_server

FOLD_STEP = WalkStep("act", action=ACTION_FOLD)
SHORT_STACK_SCRIPT = (
    FOLD_STEP,
    WalkStep("act", chips="call"),
    WalkStep("act", chips=9960),
    WalkStep("act", chips="everything"),
    FOLD_STEP,
)
SEED = 3
"""With this seed ann, left with 10 chips, is all-in by her small blind, which bob has matched."""


def run_walk(script: tuple[WalkStep, ...], seed: int) -> tuple[Walk, Game]:
    async def main() -> tuple[Walk, Game]:
        async with open_faulty_server(FaultyServer(frozenset()), seed) as found:
            walk = Walk(HoldemContext(ServerUnderTest(found.address, Config())), Random(1), 2, script)
            await walk.play()
            shown = await walk.context.get_game(NOBODY, walk.context.joined_seats[0].game)
            await walk.context.close()
            return walk, shown

    return asyncio.run(main())


def test_a_hand_that_is_over_before_it_is_seen_moves_the_button_all_the_same() -> None:
    walk, shown = run_walk(SHORT_STACK_SCRIPT, SEED)
    assert [one.wealth + one.bet_so_far for one in shown.table] == [20, 19_980], "ann has won the hand that nobody saw"
    assert walk.context.deviations == []


def test_a_script_is_taken_step_by_step() -> None:
    walk, _ = run_walk(SHORT_STACK_SCRIPT, SEED)
    assert walk.steps == [*SHORT_STACK_SCRIPT]
    assert walk.step_starts == sorted(walk.step_starts)


@pytest.mark.parametrize(
    ("answer_seconds", "pause_seconds", "max_clients", "opens_games", "expected"),
    [
        (0.5, 0.0, 1000, True, 16),
        (0.001, 0.3, 1000, True, 16),
        (0.5, 0.0, 20, True, 4),
        (0.5, 0.0, 2, True, 1),
        (0.5, 0.3, 1000, False, 1),
        (0.001, 0.0, 1000, True, 1),
    ],
    ids=["slow", "pausing", "of few clients", "of one client", "of one game", "fast"],
)
def test_walks_run_at_once_at_a_server_of_many_clients_that_keeps_them_waiting(
    monkeypatch: pytest.MonkeyPatch,
    answer_seconds: float,
    pause_seconds: float,
    max_clients: int,
    opens_games: bool,
    expected: int,
) -> None:
    running: set[Walk] = set()
    seen: list[int] = []

    async def play(walk: Walk) -> None:
        running.add(walk)
        await asyncio.sleep(0)
        seen.append(len(running))
        await asyncio.sleep(0)
        running.discard(walk)

    async def serves(_: ServerUnderTest, clients: int) -> bool:
        return clients <= max_clients

    async def main() -> None:
        server = ServerUnderTest(("127.0.0.1", 0), Config())
        server.can_open_games = opens_games
        server.settings = TableSettings(pause_seconds=pause_seconds)
        server.answer_timeout.record_answer(answer_seconds)
        await WalkRunner(server, Random(1), 1.0).find_traces("holdem-6.14")

    monkeypatch.setattr(Walk, "play", play)
    monkeypatch.setattr(ServerUnderTest, "serves", serves)
    asyncio.run(main())
    assert max(seen) == expected


@pytest.mark.parametrize("max_clients", [None, 1], ids=["every client", "one client"])
def test_the_tester_finds_out_whether_a_server_serves_several_clients(max_clients: int | None) -> None:
    async def main() -> bool:
        places = asyncio.Semaphore(max_clients or 1000)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            async with places:
                while await reader.read(1 << 16):
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as listening:
            server = ServerUnderTest(listening.sockets[0].getsockname()[:2], Config(timeout=0.5))
            server.answer_timeout.record_answer(0.2)
            return await server.serves(4)

    assert asyncio.run(main()) is (max_clients is None)
