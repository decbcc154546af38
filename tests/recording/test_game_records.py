"""Games against a house are found again, the latest first or the oldest, among any number of others."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from croupier.core.session import Settle
from croupier.recording import game_records
from croupier.recording.game_records import (
    all_games,
    encode_with_accounts,
    find_game,
    latest_games,
    make_encoder,
    read_games,
)
from croupier.rooms import HOUSE_ROOMS
from croupier.store.records import JournalEntry
from croupier.store.store import Store, open_store

RUNS = ("20260101T000000.000000Z.aaaa", "20260102T000000.000000Z.bbbb")
FACTS = 137
EACH = 3


def fact(run: str, seq: int) -> JournalEntry:
    """Some games of two connections, in the second run with accounts."""
    rows = [
        [1 + n % 2, seq * EACH + n, 0, n - 1, ["Q", "K"], ["CHK"], *([f"kuhn:{1 + n % 2}"] if run == RUNS[1] else [])]
        for n in range(EACH)
    ]
    return JournalEntry("kuhn", run, seq, msgspec.json.encode({"games": rows}), float(seq))


def with_games(path: Path, story: Callable[[Store], Awaitable[None]]) -> None:
    async def main() -> None:
        async with await open_store(str(path)) as store:
            for run in RUNS:
                await store.append([fact(run, seq) for seq in range(1, FACTS + 1)])
            await story(store)

    asyncio.run(main())


@pytest.mark.parametrize("portion", [7, 1000])
def test_the_latest_games_come_first_and_none_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, portion: int
) -> None:
    monkeypatch.setattr(game_records, "PORTION", portion)

    async def story(store: Store) -> None:
        forwards = [game async for game in all_games(store, "kuhn")]
        backwards = [game async for game in latest_games(store, "kuhn")]
        assert backwards == forwards[::-1]
        assert len(forwards) == len({(game.table, game.number) for game in forwards}) == 2 * FACTS * EACH

    with_games(tmp_path / "kept.db", story)


def test_games_of_a_table_and_of_a_client_are_found(tmp_path: Path) -> None:
    async def story(store: Store) -> None:
        table = f"{RUNS[0]}-2"
        numbers = [game.number async for game in latest_games(store, "kuhn", table)]
        assert numbers == [seq * EACH + 1 for seq in range(FACTS, 0, -1)]
        found = await find_game(store, "kuhn", table, EACH + 1)
        assert found is not None
        assert (found.table, found.number, found.time) == (table, EACH + 1, 1.0)
        assert await find_game(store, "kuhn", table, EACH) is None
        assert await find_game(store, "kuhn", "nowhere", 1) is None
        mine = [game async for game in all_games(store, "kuhn", client="kuhn:1")]
        assert {game.table for game in mine} == {f"{RUNS[1]}-1"}
        assert len(mine) == 2 * FACTS

    with_games(tmp_path / "kept.db", story)


@pytest.mark.parametrize("name", HOUSE_ROOMS)
def test_what_is_written_is_read_again(name: str) -> None:
    room = HOUSE_ROOMS[name]
    state = room.rules.start()
    while odds := room.rules.odds(state):
        state = room.rules.play(state, next(iter(odds)))
    settled = [Settle(3, 7, 0, -1, state), Settle(4, 1, 0, 12, state)]
    named = encode_with_accounts(room, [(each, "x:y") for each in settled])
    for client, written in (("", make_encoder(room)(settled)), ("x:y", named)):
        told = [*read_games(JournalEntry(name, "run", 1, written, 5.5))]
        assert [(game.table, game.number, game.net, game.client) for game in told] == [
            ("run-3", 7, -1, client),
            ("run-4", 1, 12, client),
        ]
        assert all(
            game.cards == tuple(room.dealt_cards(state)) and game.done == tuple(room.commands(state)) for game in told
        )
