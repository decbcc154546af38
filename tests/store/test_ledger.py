"""Accounts and the ledger: coins are conserved, and every change has a reason."""

import asyncio

import pytest

from croupier.store.engine import StatementGenerator
from croupier.store.records import MAX_COINS, Account, Holding, LedgerEntry, Posting, Transfer, WriteRefused
from croupier.store.store import Store, open_store
from tests.store.store_fixture import NOON, StatementEntry, TempStore, balance, error, statement, transfer


def run_at_noon(temp_store: TempStore, steps: object) -> None:
    temp_store.run(steps, clock=lambda: NOON)


async def coins(store: Store) -> dict[str, int]:
    return {account.name: account.balance for account in await store.accounts()}


def test_account_is_opened_with_coins_from_the_cashier(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        alice = await store.add_account("alice", "a hash", coins=100)
        assert alice == Account(alice.id, "alice", False, "a hash", NOON, None, 100)
        assert await store.account("alice") == alice
        assert await balance(store, alice.id) == 100
        assert await coins(store) == {"cashier": -100, "alice": 100}
        assert await statement(store, alice.id) == [StatementEntry(1, NOON, "opened", 100, 100)]

    run_at_noon(temp_store, steps)


def test_only_one_of_two_concurrent_accounts_of_a_name_is_opened(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        one, other = store.add_account("alice", coins=1), store.add_account("alice", coins=2)
        await one
        assert "found an account 'alice'" in str(await error(other))
        assert await coins(store) == {"cashier": -1, "alice": 1}

    run_at_noon(temp_store, steps)


def test_the_newest_entries_are_listed_first_and_no_more_than_asked_for(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        alice, house = await store.add_account("alice", coins=5), await store.house_account("kuhn")
        await transfer(store, "won", [Posting(alice.id, 3), Posting(house.id, -3)])
        won = [LedgerEntry(NOON, "alice", 3, "won"), LedgerEntry(NOON, "kuhn", -3, "won")]
        opened = [LedgerEntry(NOON, "alice", 5, "opened"), LedgerEntry(NOON, "cashier", -5, "opened")]
        assert await store.newest_entries(10) == won + opened
        assert await store.newest_entries(3) == won + opened[:1]

    run_at_noon(temp_store, steps)


def test_house_account_may_have_a_negative_balance(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        alice = await store.add_account("alice")
        house = await store.house_account("kuhn")
        assert await store.house_account("kuhn") == house
        await transfer(store, "won", [Posting(alice.id, 3), Posting(house.id, -3)])
        assert await coins(store) == {"cashier": 0, "kuhn": -3, "alice": 3}

    run_at_noon(temp_store, steps)


def test_player_may_have_the_name_of_a_room(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        house, player = await store.house_account("kuhn"), await store.add_account("kuhn", coins=5)
        assert house.id != player.id
        assert await store.account("kuhn") == player

    run_at_noon(temp_store, steps)


def test_player_cannot_lose_more_than_the_balance(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        alice, house = await store.add_account("alice", coins=5), await store.house_account("kuhn")
        await transfer(store, "lost", [Posting(alice.id, -5), Posting(house.id, 5)])
        failed = await error(transfer(store, "lost", [Posting(alice.id, -1), Posting(house.id, 1)]))
        assert str(failed) == "found 1 coins to be taken from 'alice'; allowed: 0"
        assert await coins(store) == {"cashier": -5, "kuhn": 5, "alice": 0}
        assert [line.balance for line in await statement(store, alice.id)] == [5, 0]

    run_at_noon(temp_store, steps)


def test_win_needs_an_account_that_covers_the_stake(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        alice, house = await store.add_account("alice", coins=5), await store.house_account("kuhn")
        for won in (2, -2):
            failed = await error(transfer(store, "game", [Posting(alice.id, won, 6), Posting(house.id, -won)]))
            assert str(failed) == "found 6 coins to be taken from 'alice'; allowed: 5"
        await transfer(store, "game", [Posting(alice.id, 2, 5), Posting(house.id, -2)])
        assert await coins(store) == {"cashier": -5, "kuhn": -2, "alice": 7}

    run_at_noon(temp_store, steps)


def test_transfer_all_is_atomic(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        alice, house = await store.add_account("alice", coins=5), await store.house_account("kuhn")

        def game(key: str, won: int, held: int) -> Transfer:
            return Transfer(key, (Posting(alice.id, won, held), Posting(house.id, -won)), key)

        assert isinstance(await error(store.transfer_all([game("1", 2, 5), game("2", -1, 8)])), WriteRefused)
        assert await coins(store) == {"cashier": -5, "kuhn": 0, "alice": 5}
        both = [game("1", 2, 5), game("2", -1, 7)]
        for _ in range(2):
            await store.transfer_all(both)
        assert await coins(store) == {"cashier": -5, "kuhn": -1, "alice": 6}

    run_at_noon(temp_store, steps)


@pytest.mark.parametrize("postings", [[], [("a", 1)], [("a", 1), ("b", -2)], [("a", 1), ("a", 1)]])
def test_unbalanced_transfer_is_refused(temp_store: TempStore, postings: list[tuple[str, int]]) -> None:
    async def steps(store: Store) -> None:
        ids = {name: (await store.add_account(name, coins=9)).id for name in "ab"}
        failed = transfer(store, "odd", [Posting(ids[name], n) for name, n in postings])
        assert isinstance(await error(failed), WriteRefused)
        assert await coins(store) == {"cashier": -18, "a": 9, "b": 9}

    run_at_noon(temp_store, steps)


def test_postings_of_the_same_account_are_merged(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        alice, bob = [await store.add_account(name, coins=10) for name in ("alice", "bob")]
        pot = [Posting(alice.id, -4), Posting(bob.id, -4), Posting(alice.id, 8)]
        await transfer(store, "hand 1", pot)
        assert [line.coins for line in await statement(store, alice.id)] == [10, 4]
        assert await coins(store) == {"cashier": -20, "alice": 14, "bob": 6}
        assert await store.find_problems() == []

    run_at_noon(temp_store, steps)


def test_transfer_with_a_key_is_executed_once(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        alice, house = await store.add_account("alice"), await store.house_account("kuhn")
        postings = [Posting(alice.id, 3), Posting(house.id, -3)]
        first = await transfer(store, "won", postings, key="kuhn/1/1")
        repeated = [transfer(store, "won", postings, key="kuhn/1/1") for _ in range(3)]
        assert await asyncio.gather(*repeated) == [first] * 3
        assert await transfer(store, "won", postings, key="kuhn/1/2") != first
        assert await balance(store, alice.id) == 6

    run_at_noon(temp_store, steps)


def test_key_of_another_transfer_is_refused(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        alice, house = await store.add_account("alice"), await store.house_account("kuhn")
        await transfer(store, "won", [Posting(alice.id, 3), Posting(house.id, -3)], key="k")
        other = transfer(store, "won", [Posting(alice.id, 4), Posting(house.id, -4)], key="k")
        assert "found the key 'k' of another transfer" in str(await error(other))
        assert await balance(store, alice.id) == 3

    run_at_noon(temp_store, steps)


def test_transfer_with_a_closed_or_missing_account_is_refused(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        alice, house = await store.add_account("alice", coins=7), await store.house_account("kuhn")
        assert await store.close_account("alice", reason="bye") == 7
        closed = await error(transfer(store, "won", [Posting(alice.id, 1), Posting(house.id, -1)]))
        missing = await error(transfer(store, "won", [Posting(99, 1), Posting(house.id, -1)]))
        assert (str(closed), str(missing)) == (
            "found 'alice', which is closed; allowed: an open account",
            "found account 99, which is not there; allowed: one that is open",
        )
        assert await coins(store) == {"cashier": 0, "kuhn": 0, "alice": 0}
        assert [line.reason for line in await statement(store, alice.id)] == ["opened", "bye"]

    run_at_noon(temp_store, steps)


def test_transfer_of_a_server_that_has_lost_the_account_is_refused(temp_store: TempStore) -> None:
    async def main() -> None:
        async with await open_store(temp_store.url) as store, await open_store(temp_store.url) as other:
            house = await store.house_account("kuhn")
            ann = await store.add_account("kuhn:ann", coins=10)
            first, second = Holding("kuhn:ann", 1), Holding("kuhn:ann", 2)

            def win(holding: Holding) -> Transfer:
                return Transfer("game", (Posting(ann.id, 1, 1, holding), Posting(house.id, -1)))

            assert (await store.take_account(first, b"{}")).balance == 10
            await store.transfer_all([win(first)])
            assert (await other.take_account(second, b"{}")).balance == 11
            with pytest.raises(WriteRefused, match="found 'kuhn:ann', which another server has taken"):
                await store.transfer_all([win(first)])
            with pytest.raises(WriteRefused, match="found 'kuhn:ann', which another server has taken"):
                await store.take_account(second, b"{}")
            await other.transfer_all([win(second)])
            found, last = await store.account("kuhn:ann"), await store.last_entry("accounts", "kuhn:ann")
            assert found is not None
            assert last is not None
            assert (found.balance, last.seq) == (12, 2)
            assert await store.find_problems() == []

    asyncio.run(main())


def test_statement_has_all_changes_of_an_account(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        alice = await store.add_account("alice", "one", coins=7, reason="a guest")
        assert (await store.credit("alice", -2, reason="paid out")).balance == 5
        await store.set_password("alice", "two", reason="forgot it")
        await store.close_account("alice", reason="left town")
        assert [(line.reason, line.coins, line.balance) for line in await statement(store, alice.id)] == [
            ("a guest", 7, 7),
            ("paid out", -2, 5),
            ("forgot it", 0, 5),
            ("left town", -5, 0),
        ]
        left = await store.account("alice")
        assert left is not None
        assert (left.password, left.closed, left.balance) == ("two", NOON, 0)

    run_at_noon(temp_store, steps)


def test_changes_of_a_closed_or_missing_account_are_refused(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        await store.add_account("alice")
        await store.close_account("alice", reason="bye")
        for name, message in (("alice", "which is closed"), ("bob", "found no account 'bob'")):
            for failed in (
                store.credit(name, 1, reason="gift"),
                store.set_password(name, None, reason="why not"),
                store.close_account(name, reason="again"),
            ):
                assert message in str(await error(failed))
        assert await store.account("bob") is None

    run_at_noon(temp_store, steps)


def test_balance_is_limited_to_64_bits(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        alice = await store.add_account("alice", coins=MAX_COINS)
        assert alice.balance == MAX_COINS
        assert isinstance(await error(store.credit("alice", 1, reason="one too many")), WriteRefused)
        assert isinstance(await error(store.credit("alice", MAX_COINS + 1, reason="far too many")), WriteRefused)
        assert await balance(store, alice.id) == MAX_COINS
        assert await store.find_problems() == []

    run_at_noon(temp_store, steps)


def test_refused_transfer_does_not_affect_other_writes_of_the_commit(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        alice, bob = [await store.add_account(name, coins=10) for name in ("alice", "bob")]
        moves = [transfer(store, f"{n}", [Posting(alice.id, -n), Posting(bob.id, n)]) for n in (6, 5, 4)]
        outcomes = await asyncio.gather(*moves, return_exceptions=True)
        assert [isinstance(outcome, WriteRefused) for outcome in outcomes] == [False, True, False]
        assert await coins(store) == {"cashier": -20, "alice": 0, "bob": 20}
        assert await store.find_problems() == []

    run_at_noon(temp_store, steps)


def test_two_open_stores_share_the_same_content(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        async with await open_store(temp_store.url) as second:
            alice, house = await store.add_account("alice", coins=100), await store.house_account("kuhn")
            lose = [Posting(alice.id, -1), Posting(house.id, 1)]
            await asyncio.gather(*(transfer(each, "lost", lose) for each in (store, second) * 25))
            assert await balance(second, alice.id) == 50
            assert await store.find_problems() == []

    temp_store.run(steps)


def failing_script() -> StatementGenerator[None]:
    """A script that raises an exception after its first statement."""
    yield "INSERT INTO transfers (time, reason) VALUES (0, 'half of it')", ()
    raise ZeroDivisionError("oh")


def test_exception_of_a_script_reaches_only_its_own_future(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        failed, beside = store._write(failing_script), store.add_account("alice", coins=3)
        with pytest.raises(ZeroDivisionError, match="oh"):
            await failed
        assert (await beside).balance == 3
        assert store.outage is None
        assert await store.find_problems() == [], "its first statement is rolled back"

    run_at_noon(temp_store, steps)
