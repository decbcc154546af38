"""Backups and exports: consistent snapshots of a store."""

import asyncio
import io
import json
import stat
from collections import Counter
from pathlib import Path

import pytest

from croupier.store.store import Store, open_store
from tests.store.store_fixture import TempStore, fact, journal, matches, statement
from tests.store.test_checks import fill


async def store_content(store: Store) -> list[object]:
    """The whole content of a store."""
    accounts = await store.accounts()
    return [
        accounts,
        [await statement(store, account.id) for account in accounts],
        [
            (head, await journal(store, head.table, room=room))
            for room in ("holdem", "kuhn")
            for head in await store.journal_heads(room)
        ],
        await store.load_snapshot("holdem", "a"),
        await store.hands(player="alice"),
        await matches(store),
    ]


def test_backup_is_a_store_with_the_same_content(temp_store: TempStore, tmp_path: Path) -> None:
    copy = tmp_path / "copy"

    async def steps(store: Store) -> list[object]:
        await fill(store)
        await store.backup(copy)
        return await store_content(store)

    found = temp_store.run(steps)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    restored = TempStore(str(copy), "sqlite")
    assert restored.run(store_content) == found
    assert restored.run(Store.find_problems) == []
    assert restored.run(lambda store: store.credit("alice", 1, reason="life goes on")).balance == 81


def test_backup_never_replaces_a_file(temp_store: TempStore, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine")

    async def steps(store: Store) -> None:
        with pytest.raises(FileExistsError):
            await store.backup(taken)
        with pytest.raises(FileNotFoundError):
            await store.backup(tmp_path / "no-such-folder" / "copy")
        assert store.outage is None

    temp_store.run(steps)
    assert taken.read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} <= {"taken", "store.sqlite"}


def test_copies_are_consistent_snapshots_during_writes(temp_store: TempStore, tmp_path: Path) -> None:
    async def steps(store: Store) -> None:
        written = 0
        copying = True

        async def write() -> None:
            nonlocal written
            while copying or not written:
                written += 1
                await store.append([fact("a", written), fact("b", written)])

        writing = asyncio.ensure_future(write())
        await store.backup(tmp_path / "copy")
        stream = io.BytesIO()
        await store.export(stream)
        copying = False
        await writing
        assert await store.last_seq("holdem", "a") == written
        async with await open_store(str(tmp_path / "copy")) as copy:
            assert await copy.find_problems() == []
            assert await copy.last_seq("holdem", "a") == await copy.last_seq("holdem", "b") <= written
        rows = [json.loads(line) for line in stream.getvalue().splitlines()]
        counts = Counter(row["journal"]["table"] for row in rows if "journal" in row)
        assert counts["a"] == counts["b"] <= written

    temp_store.run(steps)


def test_export_has_a_row_per_line_without_passwords(temp_store: TempStore) -> None:
    async def steps(store: Store) -> list[dict[str, dict[str, object]]]:
        await fill(store)
        stream = io.BytesIO()
        rows = await store.export(stream)
        lines = [json.loads(line) for line in stream.getvalue().splitlines()]
        assert rows == len(lines) - 1
        return lines

    head, *rows = temp_store.run(steps, clock=lambda: 5.0)
    assert head == {"store": {"revision": "0003", "time": 5.0}}
    assert b"hash" not in json.dumps(rows).encode()
    assert Counter(name for row in rows for name in row) == {
        "accounts": 4,
        "transfers": 4,
        "entries": 8,
        "journal": 8,
        "snapshots": 1,
        "hands": 1,
        "played": 2,
        "matches": 1,
    }
    alice = {"id": 1, "name": "alice", "house": False, "created": 5.0, "closed": None, "balance": 80}
    assert {"accounts": alice} in rows
    assert {"transfers": {"id": 2, "key": "holdem/a/1", "time": 5.0, "reason": "hand 1"}} in rows
    assert {"journal": {"room": "holdem", "table": "a", "seq": 2, "fact": '{"n":2}', "time": 1000000002.25}} in rows


def test_copies_have_all_portions_of_rows(temp_store: TempStore, tmp_path: Path) -> None:
    async def steps(store: Store) -> None:
        await store.append([fact("a", seq) for seq in range(1, 2502)])
        await store.backup(tmp_path / "copy")
        stream = io.BytesIO()
        assert await store.export(stream) == 2501

    temp_store.run(steps)
    assert TempStore(str(tmp_path / "copy"), "sqlite").run(lambda store: store.last_seq("holdem", "a")) == 2501
