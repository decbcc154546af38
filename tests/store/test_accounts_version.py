"""Changes of accounts reach every watching process before they return."""

import asyncio
from pathlib import Path

import pytest
from bench.cluster import Cluster

from croupier.store import announcements
from croupier.store.records import StoreError, WriteRefused
from croupier.store.store import Store, open_store
from croupier.store.version_file import VersionFile
from tests.store.conftest import ask, new_database
from tests.store.store_fixture import TempStore, error, run


def test_change_reaches_every_process_before_it_returns(temp_store: TempStore) -> None:
    async def main() -> None:
        async with (
            await open_store(temp_store.url) as one,
            await open_store(temp_store.url) as two,
            await open_store(temp_store.url) as other,
        ):

            def versions() -> list[int | None]:
                """The versions of both stores; None means that nothing may be cached."""
                return [one.accounts_version(), two.accounts_version()]

            assert versions() == [None, None], "no store watches yet"
            await asyncio.gather(one.watch_accounts(), two.watch_accounts())
            await other.add_account("ann", "hash")
            now = versions()
            assert None not in now
            for number in range(10):
                await other.set_password("ann", f"hash {number}", reason="changed")
                before, now = now, versions()
                assert all(new is None or new != old for old, new in zip(before, now, strict=True))
                account = await one.account("ann")
                assert account is not None
                assert account.password == f"hash {number}"
            await one.close_account("ann", reason="left")
            assert all(new is None or new != old for old, new in zip(now, versions(), strict=True))

    run(main())


def test_new_account_and_credit_do_not_change_the_version(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        await store.watch_accounts()
        version = store.accounts_version()
        await store.add_account("ann", "hash", coins=5)
        await store.credit("ann", 5, reason="gift")
        assert store.accounts_version() == version is not None

    temp_store.run(steps)


def test_repeated_change_is_announced_again(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        await store.watch_accounts()
        await store.add_account("ann", "hash")
        await store.close_account("ann", reason="left")
        before = store.accounts_version()
        assert isinstance(await error(store.close_account("ann", reason="again")), WriteRefused)
        after = store.accounts_version()
        assert after is None or after != before

    temp_store.run(steps)


def test_version_is_none_after_a_lost_connection(cluster: Cluster) -> None:
    url = new_database(cluster)

    async def main() -> None:
        async with await open_store(url) as store:
            await store.watch_accounts()
            before = store.accounts_version()
            assert before is not None
            sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%advisory_lock_shared%'"
            await ask(cluster.url(), sql + " AND pid <> pg_backend_pid()")
            while store.accounts_version() is not None:
                await asyncio.sleep(0.001)
            await store.watch_accounts()
            while (after := store.accounts_version()) is None:
                await asyncio.sleep(0.001)
            assert after != before

    run(main())


def test_unconfirmed_announcement_raises_store_error(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    url = new_database(cluster)
    monkeypatch.setattr(announcements, "CONFIRM_TIMEOUT_SECONDS", 0.1)

    async def main() -> None:
        async with await open_store(url) as store:
            await store.add_account("ann", "hash")
            async with await open_store(url) as silent:
                monkeypatch.setattr(announcements.AnnouncementListener, "_on_announcement", lambda *_: None)
                await silent.watch_accounts()
                failed = await error(store.set_password("ann", "changed", reason="changed"))
            assert "a server has not confirmed" in str(failed)
            account = await store.account("ann")
            assert account is not None
            assert account.password == "changed"

    run(main())


def test_version_file_has_the_mode_of_the_store(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with pytest.raises(StoreError, match="cannot open"):
        VersionFile(store)
    store.touch(0o640)
    one, other = VersionFile(store), VersionFile(store)
    assert (tmp_path / "store.accounts").stat().st_mode & 0o777 == store.stat().st_mode & 0o777
    assert one.read() == other.read() == 0
    one.randomize()
    assert one.read() == other.read() != 0
    one.close()
    other.close()
