"""The lobby of a table: one case at a time has waiting players, and the others play their games meanwhile."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from croupier.conformance.case import select
from croupier.conformance.deviations import NotReached
from croupier.conformance.oldmaid import table_bench
from croupier.conformance.oldmaid.answers import ReceivedMessage
from croupier.conformance.oldmaid.scripted_player import PlayerInput, ScriptedPlayer
from croupier.conformance.oldmaid.table_context import TableContext
from croupier.conformance.oldmaid.table_under_test import TableUnderTest
from croupier.conformance.results import Outcome, Result
from croupier.conformance.suite import Config
from croupier.rooms.oldmaid import ROOM
from croupier.rooms.oldmaid.settings import Settings
from tests.conformance.mutants.simulated_time import run_in_simulated_time
from tests.conformance.oldmaid.faulty_tables import open_faulty_table
from tests.conformance.oldmaid.test_tables import HONEST
from tests.conformance.suites import check_server, server_cases


def new_table() -> TableUnderTest:
    return TableUnderTest(("", 0), Config())


def new_context(table: TableUnderTest) -> TableContext:
    return TableContext(table, Random(1))


def run_case(name: str) -> Result:
    async def main() -> Sequence[Result]:
        async with open_faulty_table(HONEST) as (host, port):
            return await check_server(ROOM, host, port, cases=select(server_cases(ROOM), name))

    (result,) = asyncio.run(main())
    return result


def test_the_lobby_is_held_once_and_released_once() -> None:
    async def main() -> None:
        table = new_table()
        context = new_context(table)
        async with context.holding_lobby():
            async with context.holding_lobby():
                assert table.lobby.locked()
            assert table.lobby.locked()
            context.release_lobby()
            assert not table.lobby.locked()
            async with new_context(table).holding_lobby():
                context.release_lobby()
                assert table.lobby.locked(), "it is another case that holds it"

    asyncio.run(main())


def test_players_of_an_earlier_game_are_not_missing_in_the_next_one() -> None:
    async def main() -> None:
        async with open_faulty_table(HONEST) as address:
            context = new_context(TableUnderTest(address, Config()))
            first, *_ = [await context.join_player() for _ in range(Settings().players)]
            with pytest.raises(NotReached, match="begun before"):
                await context.start_game_with([first])
            await context.close()

    asyncio.run(main())


@pytest.mark.parametrize("size", [3, 4])
def test_a_game_that_a_slow_table_has_started_for_the_first_players_is_noticed(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    receive = ScriptedPlayer.receive

    async def main() -> None:
        clock = asyncio.get_running_loop().time
        arrivals: dict[ScriptedPlayer, float] = {}

        async def receive_late(player: ScriptedPlayer, seconds: float) -> ReceivedMessage | None:
            arrival = arrivals.setdefault(player, clock() + 0.3)
            await asyncio.sleep(min(seconds, max(0.0, arrival - clock())))
            return await receive(player, seconds) if clock() >= arrival else None

        monkeypatch.setattr(ScriptedPlayer, "receive", receive_late)
        async with open_faulty_table(replace(HONEST, players=size)) as address:
            context = new_context(TableUnderTest(address, Config()))
            driven_game = await context.start_game()
            assert len(driven_game.players) == context.table_size == size
            await context.close()

    run_in_simulated_time(main())


@pytest.mark.parametrize("case", ["oldmaid/6.1/out-of-cards", "oldmaid/9.4/leave-when-over"])
def test_a_transcript_holds_the_lobby_until_nobody_can_wait_any_more(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables: list[TableUnderTest] = []
    sent: list[tuple[bool, bool]] = []
    send = ScriptedPlayer.send

    class RecordedTable(TableUnderTest):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            tables.append(self)

    async def record(player: ScriptedPlayer, player_input: PlayerInput, **options: Any) -> None:
        sent.append((b"join" in player_input if isinstance(player_input, bytes) else False, tables[0].lobby.locked()))
        await send(player, player_input, **options)

    monkeypatch.setattr(table_bench, "TableUnderTest", RecordedTable)
    monkeypatch.setattr(ScriptedPlayer, "send", record)
    assert run_case(case).outcome is Outcome.PASS
    assert all(is_locked for is_join, is_locked in sent if is_join)
    assert sent[-1] == (False, False)


def test_a_case_that_waits_for_the_lobby_occupies_no_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        table = new_table()
        monkeypatch.setattr(table_bench, "TableUnderTest", lambda *_, **__: table)
        bench = table_bench.TableBench(Config())
        await bench.open(("", 0))
        assert bench.lanes == 1, "the first case finds out the table size"
        bench._was_reached = True

        async def hold() -> None:
            async with new_context(table).holding_lobby():
                await asyncio.sleep(0)

        async with new_context(table).holding_lobby():
            for waiting, lanes in ((0, 3), (2, 5), (9, 8)):
                tasks = [asyncio.create_task(hold()) for _ in range(waiting)]
                await asyncio.sleep(0)
                assert bench.lanes == lanes
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        assert bench.lanes == 3

    asyncio.run(main())


def test_a_transcript_of_more_players_than_the_table_takes_is_not_begun() -> None:
    result = run_case("oldmaid/3.3/join-eight")
    assert result.outcome is Outcome.SKIP
    assert result.note.startswith("it takes 8 players, and the table plays with ")
    assert result.dialogue == ()
