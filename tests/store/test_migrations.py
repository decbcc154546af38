"""Migrations: a store of any former revision becomes one like a new store, with all that it contained."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from croupier.store.migrations import MIGRATIONS, REVISIONS
from croupier.store.records import JournalEntry, Snapshot, StoredHand, StoreError
from croupier.store.schema import tables
from croupier.store.store import Store, open_store, upgrade_store
from tests.store.conftest import ENGINES, ask, new_database
from tests.store.store_fixture import NOON, TempStore, add_match, error, matches, run, statement

SCHEMAS = Path(__file__).parent / "revision_0002"

WITHOUT_SKELETONS = """
DROP INDEX accounts_skeleton;
ALTER TABLE accounts DROP COLUMN skeleton;
UPDATE alembic_version SET version_num = '0001';
"""
"""Makes a store of revision 0001 of one of 0002."""

ODD = '{ "á" :\t"\\u0000 🃏 \\\\ \\" \'$1", "x":1e400}'
NAMES = ["Ann", "ann", "bob", "kuhn:192.0.2.7", "\uff23id", "a\u200bb"]
ROWS = f"""
INSERT INTO accounts (name, house, created, balance) VALUES ('cashier', TRUE, 0, -7);
UPDATE accounts SET balance = 7 WHERE name = 'bob';
INSERT INTO transfers (id, key, time, reason) VALUES (1, 'k', 0, 'gift');
INSERT INTO entries SELECT 1, id, balance FROM accounts WHERE balance <> 0;
INSERT INTO journal VALUES ('holdem', 'b', 1, '{ODD.replace("'", "''")}', {NOON}), ('holdem', 'a', 1, '[]', {NOON});
INSERT INTO snapshots VALUES ('holdem', 'b', 1, '"á"', {NOON});
INSERT INTO hands VALUES ('holdem', 'b', 1, {NOON}, '["Ann","bob"]', 'record', 'summary');
INSERT INTO played VALUES ('Ann', 'holdem', 'b', 1), ('bob', 'holdem', 'b', 1);
INSERT INTO matches (room, time, players, result) VALUES ('kuhn', {NOON}, '["x"]', '"á"');
"""


def make_old_store(request: pytest.FixtureRequest, engine: str, revision: str) -> TempStore:
    """A store of a former revision, with rows in every table."""
    accounts = [
        f"INSERT INTO accounts (name, house, password, created, balance) VALUES ('{n}', FALSE, 'hash', 0, 0);"
        for n in NAMES
    ]
    sql = (SCHEMAS / f"{engine}.sql").read_text("utf-8") + "".join(accounts) + ROWS
    if revision == "0001":
        sql += WITHOUT_SKELETONS
    if engine == "postgresql":
        url = new_database(request.getfixturevalue("cluster"), "template0")
        asyncio.run(ask(url, sql))
        return TempStore(url, engine)
    path = request.getfixturevalue("tmp_path") / "old"
    with closing(sqlite3.connect(path)) as file:
        file.executescript(sql)
    return TempStore(str(path), engine)


@pytest.fixture(params=ENGINES)
def make_old(request: pytest.FixtureRequest) -> Callable[[str], TempStore]:
    return lambda revision: make_old_store(request, request.param, revision)


@pytest.mark.parametrize("revision", REVISIONS[:-1])
def test_upgraded_store_has_its_content(make_old: Callable[[str], TempStore], revision: str) -> None:
    temp_store = make_old(revision)
    with pytest.raises(StoreError, match=f"of revision {revision}; allowed: 0003, which `croupier db upgrade` makes"):
        run(open_store(temp_store.url))
    run(upgrade_store(temp_store.url))

    async def steps(store: Store) -> None:
        assert [entry async for entry in store.read_journal("holdem", "b")] == [
            JournalEntry("holdem", "b", 1, ODD.encode(), NOON)
        ]
        assert await store.load_snapshot("holdem", "b") == Snapshot("holdem", "b", 1, '"á"'.encode(), NOON)
        assert await matches(store) == [(1, "kuhn", NOON, '["x"]', '"á"'.encode())]
        found = StoredHand("holdem", "b", 1, NOON, ("Ann", "bob"), "record", "summary")
        assert await store.hands(player="bob") == [found]
        bob = await store.account("bob")
        assert bob is not None
        assert (bob.balance, [entry.coins for entry in await statement(store, bob.id)]) == (7, [7])
        assert await store.find_problems() == []
        await store.append([JournalEntry("holdem", "b", 2, b"[2]", NOON)])
        await add_match(store)
        assert [row[0] for row in await matches(store)] == [1, 2]

    temp_store.run(steps)


def test_users_with_similar_names_survive_the_migration(make_old: Callable[[str], TempStore]) -> None:
    temp_store = make_old("0001")
    run(upgrade_store(temp_store.url))

    async def steps(store: Store) -> None:
        for name in NAMES:
            account = await store.account(name)
            assert account is not None
            assert account.password == "hash"
        for name in ("ANN", "BOB", "Cid", "cid"):
            assert "looks like" in str(await error(store.add_account(name)))
        assert "that is not taken" in str(await error(store.add_account("ann")))
        await store.add_account("kuhn:192.0.2.l")
        await store.add_account("dan")
        unlike = await store._engine.fetch("SELECT name FROM accounts WHERE skeleton IS NULL AND NOT house ORDER BY id")
        assert [row[0] for row in unlike] == ["ann", "kuhn:192.0.2.7", "kuhn:192.0.2.l"]

    temp_store.run(steps)


SQLITE_STRUCTURE = (
    """SELECT t.name, t.wr, c.cid, c.name, replace(c.type, ' PRECISION', ''), c."notnull",
    c.dflt_value, c.pk FROM pragma_table_list t, pragma_table_info(t.name) c WHERE t.schema = 'main' ORDER BY 1, 3""",
    """SELECT t.name, i.name, i."unique", c.name FROM pragma_table_list t, pragma_index_list(t.name) i,
    pragma_index_info(i.name) c ORDER BY 1, 2, c.seqno""",
    'SELECT t.name, f.* FROM pragma_table_list t, pragma_foreign_key_list(t.name) f ORDER BY t.name, f."from"',
)
"""DOUBLE PRECISION was DOUBLE, which makes no difference here."""

POSTGRESQL_STRUCTURE = (
    """SELECT table_name, column_name, data_type, collation_name, is_nullable, column_default
    FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position""",
    """SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2""",
    "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
)


def structure(temp_store: TempStore) -> list[Sequence[object]]:
    """The columns, keys, constraints and indexes of a store."""

    async def ask_postgresql() -> list[Any]:
        connection = await asyncpg.connect(temp_store.url)
        rows = [await connection.fetch(sql) for sql in POSTGRESQL_STRUCTURE]
        await connection.close()
        return rows

    if temp_store.engine == "postgresql":
        return asyncio.run(ask_postgresql())
    with closing(sqlite3.connect(temp_store.url)) as file:
        return [file.execute(sql).fetchall() for sql in SQLITE_STRUCTURE]


@pytest.mark.parametrize("revision", REVISIONS[:-1])
def test_upgraded_store_is_like_a_new_one(temp_store: TempStore, request: pytest.FixtureRequest, revision: str) -> None:
    old = make_old_store(request, temp_store.engine, revision)
    run(upgrade_store(old.url))
    found = structure(old)
    assert all(found), "every query finds something"
    assert found == structure(temp_store)


def test_failed_upgrade_changes_nothing(make_old: Callable[[str], TempStore]) -> None:
    """The table that the last migration makes last, of `matches`, is there already."""
    temp_store = make_old("0001")
    if temp_store.engine == "postgresql":
        asyncio.run(ask(temp_store.url, "DROP TABLE matches"))
    else:
        with closing(sqlite3.connect(temp_store.url)) as file:
            file.execute("CREATE TABLE old_matches (id)")
    before = structure(temp_store)
    with pytest.raises(StoreError, match="matches"):
        run(upgrade_store(temp_store.url))
    assert structure(temp_store) == before


def test_every_revision_but_the_first_has_a_migration() -> None:
    assert len(MIGRATIONS) == len(REVISIONS) - 1


def test_tables_are_listed_with_columns_and_keys(temp_store: TempStore) -> None:
    """The list is that of the SQLite schema, but holds for both engines."""

    async def columns(store: Store) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for table in tables():
            assert {*table.key} | table.boolean_columns <= {*table.columns}
            names: Callable[[str], Awaitable[Any]] = store._engine.fetch
            sql = (
                f"SELECT name FROM pragma_table_info('{table.name}') ORDER BY cid"
                if temp_store.engine == "sqlite"
                else "SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' AND "
                f"table_name = '{table.name}' ORDER BY ordinal_position"
            )
            found[table.name] = tuple(row[0] for row in await names(sql))
        return found

    assert temp_store.run(columns) == {table.name: table.columns for table in tables()}
    assert [table.name for table in tables()].index("entries") > 1
