"""Queries for recorded games of a house: latest first, oldest first, by table and by client."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from croupier.core.session import Settle
from croupier.recording import game_records
from croupier.recording.game_records import (
    all_games,
    encode_games,
    find_game,
    latest_games,
    read_games,
)
from croupier.rooms import HOUSE_ROOMS
from croupier.store.records import JournalEntry
from croupier.store.store import Store, open_store

RUNS = ("20260101T000000.000000Z.aaaa", "20260102T000000.000000Z.bbbb")
ENTRY_COUNT = 137
GAMES_PER_ENTRY = 3


def journal_entry(run: str, seq: int) -> JournalEntry:
    """A journal entry with games of two connections; those of the second run have accounts."""
    rows = [
        [
            1 + n % 2,
            seq * GAMES_PER_ENTRY + n,
            0,
            n - 1,
            ["Q", "K"],
            ["CHK"],
            *([f"kuhn:{1 + n % 2}"] if run == RUNS[1] else []),
        ]
        for n in range(GAMES_PER_ENTRY)
    ]
    return JournalEntry("kuhn", run, seq, msgspec.json.encode({"games": rows}), float(seq))


def with_games(path: Path, check: Callable[[Store], Awaitable[None]]) -> None:
    async def main() -> None:
        async with await open_store(str(path)) as store:
            for run in RUNS:
                await store.append([journal_entry(run, seq) for seq in range(1, ENTRY_COUNT + 1)])
            await check(store)

    asyncio.run(main())


@pytest.mark.parametrize("max_lookback", [7, 1000])
def test_latest_games_are_all_games_reversed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, max_lookback: int
) -> None:
    monkeypatch.setattr(game_records, "FETCH_FACTS", max_lookback)

    async def check(store: Store) -> None:
        forwards = [game async for game in all_games(store, "kuhn")]
        backwards = [game async for game in latest_games(store, "kuhn")]
        assert backwards == forwards[::-1]
        assert (
            len(forwards) == len({(game.table, game.number) for game in forwards}) == 2 * ENTRY_COUNT * GAMES_PER_ENTRY
        )

    with_games(tmp_path / "kept.db", check)


@pytest.mark.parametrize("before", [0.0, 1.5, 100.0, ENTRY_COUNT + 1.0])
def test_games_after_the_pruned_ones_are_listed_from_either_end(tmp_path: Path, before: float) -> None:
    async def check(store: Store) -> None:
        kept = [game async for game in all_games(store, "kuhn") if game.time >= before]
        await store.prune(before, ["kuhn"])
        assert [game async for game in all_games(store, "kuhn")] == kept
        assert [game async for game in latest_games(store, "kuhn")] == kept[::-1]

    with_games(tmp_path / "kept.db", check)


def test_games_are_filtered_by_table_and_by_client(tmp_path: Path) -> None:
    async def check(store: Store) -> None:
        table = f"{RUNS[0]}-2"
        numbers = [game.number async for game in latest_games(store, "kuhn", table)]
        assert numbers == [seq * GAMES_PER_ENTRY + 1 for seq in range(ENTRY_COUNT, 0, -1)]
        game = await find_game(store, "kuhn", table, GAMES_PER_ENTRY + 1)
        assert game is not None
        assert (game.table, game.number, game.time) == (table, GAMES_PER_ENTRY + 1, 1.0)
        assert await find_game(store, "kuhn", table, GAMES_PER_ENTRY) is None
        assert await find_game(store, "kuhn", "nowhere", 1) is None
        client_games = [game async for game in all_games(store, "kuhn", client="kuhn:1")]
        assert {game.table for game in client_games} == {f"{RUNS[1]}-1"}
        assert len(client_games) == 2 * ENTRY_COUNT

    with_games(tmp_path / "kept.db", check)


@pytest.mark.parametrize("name", HOUSE_ROOMS)
def test_encoded_games_decode_to_the_same_games(name: str) -> None:
    room = HOUSE_ROOMS[name]
    state = room.rules.start()
    while odds := room.rules.odds(state):
        state = room.rules.play(state, next(iter(odds)))
    settled = [Settle(3, 7, 0, -1, state), Settle(4, 1, 0, 12, state)]
    for client, clients in (("", ()), ("x:y", ("x:y", "x:y"))):
        encoded = encode_games(room, settled, clients)
        decoded = [*read_games(JournalEntry(name, "run", 1, encoded, 5.5))]
        assert [(game.table, game.number, game.net, game.client) for game in decoded] == [
            ("run-3", 7, -1, client),
            ("run-4", 1, 12, client),
        ]
        assert all(
            game.cards == tuple(room.dealt_cards(state)) and game.done == tuple(room.commands(state))
            for game in decoded
        )
