"""Signing keys persist, are replaced after a time, and are in backups but in no export."""

import io
from base64 import b64encode
from pathlib import Path

from croupier.recording.signing_keys import KEY_SECONDS, signing_keys
from croupier.store.records import Snapshot
from croupier.store.store import open_store
from tests.net.raw_client import Run


def test_a_restart_keeps_the_key_and_an_old_key_is_replaced(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with await open_store(str(tmp_path / "store.db")) as store:
            first = await signing_keys(store, 1000.0)
        async with await open_store(str(tmp_path / "store.db")) as store:
            assert await signing_keys(store, 1000.0 + KEY_SECONDS) == first
            later = await signing_keys(store, 1001.0 + KEY_SECONDS)
            assert (len(first), len(later), later[1]) == (1, 2, first[0])
            last = await signing_keys(store, 1002.0 + 2 * KEY_SECONDS)
            assert (len(last), last[1]) == (2, later[0])
            assert await store.find_problems() == []
        assert len({*first, *later, *last}) == 3
        assert all(len(key) == 32 for key in last)

    run(main())


def test_an_export_has_no_signing_keys_and_a_backup_has(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with await open_store(str(tmp_path / "store.db")) as store:
            before = io.BytesIO()
            count = await store.export(before)
            keys = [*await signing_keys(store, 1000.0), *await signing_keys(store, 1001.0 + KEY_SECONDS)]
            await store.save_snapshot(Snapshot("holdem", "signing-keys", 0, b"[]", 1000.0))
            after = io.BytesIO()
            assert await store.export(after) == count + 1
            exported = after.getvalue()
            assert b'{"snapshots":{"room":"holdem"' in exported
            assert b'"web"' not in exported
            assert not [key for key in keys if b64encode(key) in exported]
            await store.backup(tmp_path / "copy.db")
        async with await open_store(str(tmp_path / "copy.db")) as copy:
            assert await signing_keys(copy, 1001.0 + KEY_SECONDS) == keys[1:]

    run(main())
