"""Stateful test: after any operations, on either engine, a store has the content of a model made of dicts."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from croupier.net.event_loop import loop_factory
from croupier.store.records import Posting, Snapshot, WriteRefused
from croupier.store.store import open_store
from tests.store.conftest import new_database
from tests.store.store_fixture import NOON, fact, journal, transfer

TABLES = st.sampled_from("abc")
NAMES = st.sampled_from(["alice", "bob", "cleo"])
COINS = st.integers(-20, 20)


class StoreMachine(RuleBasedStateMachine):
    """A store and its model. `make_store` creates an empty store and returns its URL."""

    make_store: Any

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner(loop_factory=loop_factory())
        self.url = self.make_store()
        self.store = self.do(lambda: open_store(self.url))
        self.journal: dict[str, list[bytes]] = defaultdict(list)
        self.states: dict[str, bytes] = {}
        self.coins: dict[str, int] = {}
        self.closed: set[str] = set()
        self.ids: dict[str, int] = {}
        self.keys: dict[str, dict[str, int]] = {}
        self.house = self.do(lambda: self.store.house_account("holdem")).id

    def do(self, make: Callable[[], Awaitable[Any]]) -> Any:
        """Run an operation on the event loop."""

        async def main() -> Any:
            return await make()

        return self.runner.run(main())

    def refused(self, make: Callable[[], Awaitable[Any]]) -> bool:
        """Run an operation, and return whether it was refused."""

        async def main() -> bool:
            try:
                await make()
            except WriteRefused:
                return True
            return False

        return self.runner.run(main())

    @rule(table=TABLES, count=st.integers(1, 5))
    def append(self, table: str, count: int) -> None:
        first = len(self.journal[table]) + 1
        batch = [fact(table, seq) for seq in range(first, first + count)]
        self.do(lambda: self.store.append(batch))
        self.journal[table] += [entry.fact for entry in batch]

    @precondition(lambda self: any(self.journal.values()))
    @rule(data=st.data())
    def append_again(self, data: st.DataObject) -> None:
        table = data.draw(st.sampled_from([name for name, facts in self.journal.items() if facts]))
        seq = data.draw(st.integers(1, len(self.journal[table])))
        fresh = len(self.journal[table]) + 1
        assert self.refused(lambda: self.store.append([fact(table, fresh), fact(table, seq)]))

    @rule(tables=st.lists(TABLES, min_size=1, max_size=6))
    def append_concurrently(self, tables: list[str]) -> None:
        async def main() -> list[object]:
            futures = []
            for table in tables:
                futures.append(self.store.append([fact(table, len(self.journal[table]) + 1)]))
                self.journal[table].append(fact(table, len(self.journal[table]) + 1).fact)
                futures.append(self.store.append([fact(table, 1, '"again"')]))
            return await asyncio.gather(*futures, return_exceptions=True)

        outcomes = self.runner.run(main())
        assert [type(outcome) for outcome in outcomes] == [type(None), WriteRefused] * len(tables)

    @rule(table=TABLES)
    def save(self, table: str) -> None:
        seq = len(self.journal[table])
        self.states[table] = f'{{"after":{seq}}}'.encode()
        self.do(lambda: self.store.save_snapshot(Snapshot("holdem", table, seq, self.states[table], NOON)))

    @rule(name=NAMES, coins=st.integers(0, 30))
    def open_account(self, name: str, coins: int) -> None:
        refused = self.refused(lambda: self.store.add_account(name, coins=coins))
        assert refused == (name in self.ids)
        if not refused:
            self.ids[name] = self.do(lambda: self.store.account(name)).id
            self.coins[name] = coins

    @rule(name=NAMES)
    def close_account(self, name: str) -> None:
        refused = self.refused(lambda: self.store.close_account(name, reason="bye"))
        assert refused == (name not in self.ids or name in self.closed)
        if not refused:
            self.closed.add(name)
            self.coins[name] = 0

    @precondition(lambda self: self.ids)
    @rule(data=st.data(), coins=COINS, key=st.sampled_from([None, None, "k1", "k2", "k3"]))
    def transfer(self, data: st.DataObject, coins: int, key: str | None) -> None:
        one = data.draw(st.sampled_from(sorted(self.ids)))
        other = data.draw(st.sampled_from(["holdem", *sorted(self.ids)]))
        ids = {**self.ids, "holdem": self.house}
        postings = [Posting(ids[one], coins), Posting(ids[other], -coins)]
        refused = self.refused(lambda: transfer(self.store, "a game", postings, key))
        change: dict[str, int] = defaultdict(int)
        change[one] += coins
        change[other] -= coins
        if key in self.keys:
            assert refused == (self.keys[key] != dict(change))
            return
        is_covered = all(
            name == "holdem" or (name not in self.closed and self.coins[name] + n >= 0) for name, n in change.items()
        )
        assert refused == (not is_covered)
        if is_covered:
            if key is not None:
                self.keys[key] = dict(change)
            for name, n in change.items():
                if name != "holdem":
                    self.coins[name] += n

    @rule()
    def reopen(self) -> None:
        self.do(self.store.close)
        self.store = self.do(lambda: open_store(self.url))

    @invariant()
    def store_agrees_with_the_model(self) -> None:
        async def main() -> None:
            for table, facts in self.journal.items():
                assert [entry.fact for entry in await journal(self.store, table)] == facts
            heads = {head.table: head.seq for head in await self.store.journal_heads("holdem")}
            assert heads == {table: len(facts) for table, facts in self.journal.items() if facts}
            for table, state in self.states.items():
                found = await self.store.load_snapshot("holdem", table)
                assert found is not None
                assert found.state == state
            accounts = await self.store.accounts()
            assert {each.name: each.balance for each in accounts if not each.house} == self.coins
            assert sum(each.balance for each in accounts) == 0
            assert self.store.outage is None

        self.runner.run(main())

    def teardown(self) -> None:
        assert self.do(self.store.find_problems) == []
        self.do(self.store.close)
        self.runner.close()


def run_machine(make_store: Any, examples: int, steps: int) -> None:
    machine = type("BoundStoreMachine", (StoreMachine,), {"make_store": staticmethod(make_store)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=[*HealthCheck]
        ),
    )


@pytest.fixture(params=["sqlite", "postgresql"])
def new_store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A function that creates an empty store and returns its URL."""
    if request.param == "postgresql":
        cluster = request.getfixturevalue("cluster")
        return lambda: new_database(cluster)
    empty_store_file = request.getfixturevalue("empty_store_file")

    def file() -> str:
        path = tmp_path / f"{len([*tmp_path.iterdir()])}.sqlite"
        path.write_bytes(empty_store_file)
        return str(path)

    return file


def test_store_agrees_with_its_model(new_store_url: Any) -> None:
    run_machine(new_store_url, examples=8, steps=20)


@pytest.mark.slow
def test_store_agrees_with_its_model_in_many_runs(new_store_url: Any) -> None:
    run_machine(new_store_url, examples=150, steps=50)
