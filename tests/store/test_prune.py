"""Pruning: old records go, and neither coins nor what recovery needs."""

import asyncio
import random

import pytest

from croupier.store import prune
from croupier.store.records import PRUNED_FACT, Posting, PruneCounts, Snapshot, StoredHand
from croupier.store.store import Store, open_store
from tests.store.store_fixture import NOON, TempStore, add_hand, balance, fact, facts, journal, run, statement, transfer
from tests.store.test_checks import tamper

GAME_ROOMS = ["kuhn"]
NEVER = PruneCounts()


async def seqs(store: Store, table: str, room: str = "holdem") -> list[int]:
    return [entry.seq for entry in await journal(store, table, room=room)]


def test_facts_before_the_snapshot_go_except_the_first(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        await store.append(facts("a", range(1, 11)))
        assert await store.prune(NOON + 100, GAME_ROOMS) == NEVER, "without a snapshot all facts are needed"
        await store.save_snapshot(Snapshot("holdem", "a", 7, b"{}", NOON))
        assert await store.prune(NOON + 5, GAME_ROOMS, is_dry_run=True) == PruneCounts(facts=3)
        assert await seqs(store, "a") == [*range(1, 11)]
        assert await store.prune(NOON + 5, GAME_ROOMS) == PruneCounts(facts=3)
        assert await seqs(store, "a") == [1, *range(5, 11)]
        assert await store.prune(NOON + 100, GAME_ROOMS) == PruneCounts(facts=2)
        assert await seqs(store, "a") == [1, *range(7, 11)]
        assert await store.prune(NOON + 100, GAME_ROOMS) == NEVER
        assert await store.find_problems() == []
        await store.append([fact("a", 11)])
        assert await store.find_problems() == []

    temp_store.run(steps)


@pytest.mark.parametrize("missing", ["seq = 6", "seq IN (5, 6, 7)", "seq = 1"])
def test_missing_facts_of_a_pruned_journal_are_found(temp_store: TempStore, missing: str) -> None:
    async def steps(store: Store) -> None:
        await store.append(facts("a", range(1, 11)))
        await store.save_snapshot(Snapshot("holdem", "a", 6, b"{}", NOON))
        await store.prune(NOON + 5, GAME_ROOMS)
        assert await store.find_problems() == []

    temp_store.run(steps)
    tamper(temp_store, f"DELETE FROM journal WHERE {missing}")
    assert [finding.where for finding in temp_store.run(Store.find_problems)] == ["journal holdem a"]


def test_records_of_finished_games_go_without_a_snapshot(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        await store.append([fact("run1", seq, room="kuhn") for seq in range(1, 6)])
        await store.append([fact("run2", seq, room="kuhn") for seq in range(1, 11)])
        assert await store.prune(NOON + 6.5, GAME_ROOMS, is_dry_run=True) == PruneCounts(facts=11)
        assert await store.prune(NOON + 6.5, GAME_ROOMS) == PruneCounts(facts=11)
        assert [(entry.seq, entry.fact) for entry in await journal(store, "run1", room="kuhn")] == [
            (1, PRUNED_FACT),
            (5, PRUNED_FACT),
        ]
        assert await seqs(store, "run2", "kuhn") == [1, 7, 8, 9, 10]
        assert await store.prune(NOON + 6.5, GAME_ROOMS) == NEVER
        assert await store.find_problems() == []
        assert await store.last_seq("kuhn", "run1") == 5
        await store.append([fact("run1", 6, room="kuhn")])
        assert await store.find_problems() == []

    temp_store.run(steps)


def test_old_hands_go_with_the_index_of_their_players(temp_store: TempStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prune, "PORTION_HANDS", 3)

    async def steps(store: Store) -> None:
        await store.append(facts("a", range(1, 3)))
        for number in range(1, 11):
            await add_hand(store, StoredHand("holdem", "a", number, NOON + number, ("ann", "bob"), "{}"))
        assert await store.prune(NOON + 9, GAME_ROOMS) == PruneCounts(hands=8)
        assert [hand.number for hand in await store.hands(player="ann")] == [10, 9]
        assert len(await store._engine.fetch("SELECT * FROM played")) == 4
        assert await store.find_problems() == []

    temp_store.run(steps)


def test_old_transfers_are_replaced_by_their_sums(temp_store: TempStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random transfers, pruned in portions at several times: balances and their sums never change."""
    monkeypatch.setattr(prune, "PORTION_ROWS", 7)
    luck, clock = random.Random(22), iter(range(10**6))

    async def main() -> None:
        async with await open_store(temp_store.url, clock=lambda: NOON + next(clock)) as store:
            accounts = [(await store.add_account(f"p{number}", coins=1000)).id for number in range(5)]
            await store.house_account("kuhn")
            for round_number in range(1, 4):
                for number in range(20):
                    one, other = luck.sample(accounts, 2)
                    coins = luck.randint(-20, 20)
                    postings = [Posting(one, coins), Posting(other, -coins)]
                    await transfer(store, "game", postings, key=f"{round_number}/{number}")
                before = [await balance(store, account) for account in accounts]
                now = NOON + next(clock) - 5
                old = await store.prune(now, GAME_ROOMS, is_dry_run=True)
                assert await store.prune(now, GAME_ROOMS) == old
                assert old.transfers > 0
                assert await store.prune(now, GAME_ROOMS) == NEVER
                assert [await balance(store, account) for account in accounts] == before
                assert [(await statement(store, account))[-1].balance for account in accounts] == before
                assert await store.find_problems() == []
            reasons = [entry.reason for entry in await statement(store, accounts[0])]
            assert reasons[0] == "carried forward"
            assert "carried forward" not in reasons[1:]

    run(main())


def test_transfers_that_cancel_out_leave_nothing(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        one, other = await store.add_account("ann", coins=10), await store.add_account("bob")
        await transfer(store, "there", [Posting(one.id, -5), Posting(other.id, 5)])
        await transfer(store, "back", [Posting(one.id, 5), Posting(other.id, -5)])
        await store.credit("ann", -10, reason="out")
        assert await store.prune(2 * NOON, GAME_ROOMS) == PruneCounts(transfers=5)
        assert await store._engine.fetch("SELECT * FROM transfers") == []
        assert await store.find_problems() == []
        await store.credit("ann", 7, reason="in again")
        assert await store.find_problems() == []

    temp_store.run(steps)


def test_everything_that_is_recent_stays(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        await store.append([*facts("a", range(1, 6)), fact("run", 1, room="kuhn")])
        await store.save_snapshot(Snapshot("holdem", "a", 5, b"{}", NOON))
        await store.add_account("ann", coins=5)
        await add_hand(store, StoredHand("holdem", "a", 1, NOON, ("ann",), "{}"))
        assert await store.prune(NOON, GAME_ROOMS) == NEVER

    temp_store.run(steps)


@pytest.mark.extended
def test_other_servers_write_while_a_large_journal_is_pruned(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        for first in range(1, 8000, 1000):
            await store.append([fact("run", seq, room="kuhn") for seq in range(first, first + 1000)])
        async with await open_store(temp_store.url) as other:
            task = asyncio.ensure_future(other.prune(2 * NOON, GAME_ROOMS))
            written = 0
            while not task.done():
                written += 1
                await store.append([fact("b", written)])
            assert (await task).facts == 8000
        assert written > 3
        assert await store.find_problems() == []

    temp_store.run(steps)
