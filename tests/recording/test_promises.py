"""The dealer's promise is on disk before any client sees a card that depends on it; a slow disk stops no room."""

import asyncio
import os
import re
from asyncio import Future
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from croupier.core.logger import SilentLogger
from croupier.core.session import Commit, Effect
from croupier.recording import promises as module
from croupier.recording.promises import FileSync, Promises
from croupier.store.records import StoreUnavailable
from tests.net.raw_client import TIMEOUT_SECONDS, RawClient, Run
from tests.net.test_faults import RecordingLogger
from tests.recording.fake_store import FakeStore, house_with_fake_store, run_pending_callbacks
from tests.recording.test_durable_session import complete, table_with_manual_journal
from tests.recording.test_holdem_journal import ServiceWithManualJournal
from tests.recording.test_house_recorder import wait_until
from tests.rooms.oldmaid.tables import clause


class SlowDisk:
    """Promises on a disk whose writes complete when the test says so."""

    def __init__(self) -> None:
        self.promised_peers: list[int] = []
        self.futures: list[Future[None]] = []

    def write(self, effects: Sequence[Effect[Any]]) -> Future[None] | None:
        commits = [effect.peer for effect in effects if isinstance(effect, Commit)]
        self.promised_peers += commits
        return self.request_sync() if commits else None

    def request_sync(self) -> Future[None] | None:
        self.futures.append(asyncio.get_running_loop().create_future())
        return self.futures[-1]

    def done(self) -> None:
        self.futures.pop(0).set_result(None)


def test_holdem_hand_is_promised_before_it_is_written_and_shown(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            slow_disk = SlowDisk()
            web.service.house_service._promises = slow_disk  # type: ignore[assignment]  # has what the service uses
            await web.register("ann", "bob")
            game = await web.game()
            joining = web.start_task(web.ask("POST", f"/games/{game}/players/", "ann"))
            await run_pending_callbacks()
            web.store.complete_write()
            assert (await joining).status == 201
            assert not slow_disk.promised_peers, "one player alone is dealt no cards"
            joining = web.start_task(web.ask("POST", f"/games/{game}/players/", "bob"))
            await run_pending_callbacks()
            assert (await web.ask("GET", f"/games/{game}", "ann")).json["cards"]["hole"] == []
            assert slow_disk.promised_peers == [1]
            assert not web.store.pending_writes, (
                "the promise of a hand that resumes after a crash must be older than the hand"
            )
            slow_disk.done()
            await run_pending_callbacks()
            assert not joining.done()
            assert (await web.ask("GET", f"/games/{game}", "ann")).json["cards"]["hole"] == []
            web.store.complete_write()
            assert (await joining).status == 201
            assert len((await web.ask("GET", f"/games/{game}", "ann")).json["cards"]["hole"]) == 2

    run(main())


@pytest.mark.parametrize("fails", [False, True], ids=["written", "lost"])
def test_oldmaid_game_is_promised_before_it_is_written_and_announced(run: Run, fails: bool) -> None:
    async def main() -> None:
        table, journal = table_with_manual_journal(players=2)
        slow_disk = SlowDisk()
        table.session._promises = slow_disk  # type: ignore[assignment]
        ann, bob = table.join("ann", "bob")
        await run_pending_callbacks()
        assert slow_disk.promised_peers == [1]
        assert (journal.pending_writes, table.heard[ann]) == ([], [])
        slow_disk.done()
        await run_pending_callbacks()
        assert table.heard[bob] == []
        await complete(journal, StoreUnavailable("no space") if fails else None)
        assert [clause(reply) for reply in table.heard[bob]] == ["oldmaid-9.15" if fails else ""]
        assert slow_disk.futures == []

    run(main())


@pytest.mark.parametrize("accounts", [False, True], ids=["without accounts", "accounts"])
def test_durable_house_reads_no_message_before_the_promise_is_on_disk(run: Run, accounts: bool) -> None:
    async def main() -> None:
        store, slow_disk = FakeStore(), SlowDisk()
        async with house_with_fake_store(store, accounts=accounts) as house, RawClient(house.address) as caller:
            await wait_until(
                lambda: house.endpoint.connection_count == 1 and not house.endpoint.connections[1]._is_held
            )
            house.recorder._promises = slow_disk  # type: ignore[assignment]
            async with RawClient(house.address) as late_client:
                await late_client.send(b"STRT P_1")
                await wait_until(lambda: bool(slow_disk.futures) and bool(house.endpoint.connections[2]._input_backlog))
                await caller.send(b"STRT P_1")
                assert re.fullmatch(rb"CARD C_[JQK]", await caller.receive(8)), "its own promise is on disk already"
                assert house.endpoint.counts.messages_received == 1
                slow_disk.done()
                assert re.fullmatch(rb"CARD C_[JQK]", await late_client.receive(8))

    run(main())


def test_async_house_does_not_wait_for_the_disk(run: Run) -> None:
    async def main() -> None:
        async with house_with_fake_store(FakeStore(), durable=False) as house, RawClient(house.address) as caller:
            assert house.recorder.sync_promises() is None
            await caller.send(b"STRT P_1")
            assert re.fullmatch(rb"CARD C_[JQK]", await caller.receive(8))

    run(main())


class ManualFsync:
    """Replaces os.fsync: counts the calls, and blocks them while `may_return` is not set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.call_count = 0
        self.may_return = Event()
        self.may_return.set()
        self.error: OSError | None = None
        monkeypatch.setattr(module.os, "fsync", self)

    def __call__(self, descriptor: int) -> None:
        self.call_count += 1
        self.may_return.wait(TIMEOUT_SECONDS)
        if self.error is not None:
            raise self.error


def test_requests_during_an_fsync_share_the_next_one(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsync = ManualFsync(monkeypatch)

    async def main() -> None:
        with (tmp_path / "deals").open("ab") as file:
            file_sync = FileSync(file.fileno(), SilentLogger())
            fsync.may_return.clear()
            waiting = [file_sync.request_sync() for _ in range(100)]
            assert not any(future is None or future.done() for future in waiting)
            fsync.may_return.set()
            await asyncio.gather(*filter(None, waiting))
            assert fsync.call_count == 2, "one for the first request, and one for all that came during it"
            file_sync.close()

    run(main())


def test_unresponsive_disk_is_not_waited_for_until_it_responds(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync, book = ManualFsync(monkeypatch), RecordingLogger()
    monkeypatch.setattr(module, "MAX_SYNC_WAIT_SECONDS", 0.01)

    async def main() -> None:
        with (tmp_path / "deals").open("ab") as file:
            file_sync = FileSync(file.fileno(), book)
            fsync.may_return.clear()
            await asyncio.gather(*filter(None, [file_sync.request_sync(), file_sync.request_sync()]))
            assert file_sync.request_sync() is None
            assert [entry[:2] for entry in book.entries] == [
                ("error", "dealer's record not synced to disk: a power loss may lose promises")
            ]
            fsync.may_return.set()
            while len(book.entries) < 2:
                await asyncio.sleep(0.001)
            assert book.entries[1][:2] == ("warning", "disk of the dealer's record responds again")
            assert file_sync.request_sync() is not None
            file_sync.close()

    run(main())


def test_failed_fsync_is_logged_and_the_hand_continues(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync, book = ManualFsync(monkeypatch), RecordingLogger()
    fsync.error = OSError(5, "Input/output error")

    async def main() -> None:
        with (tmp_path / "deals").open("ab") as file:
            file_sync = FileSync(file.fileno(), book)
            future = file_sync.request_sync()
            assert future is not None
            await future
            assert book.entries[0][0] == "error"
            assert "Input/output error" in str(book.entries[0][2])
            file_sync.close()

    run(main())


def test_device_is_never_waited_for(run: Run) -> None:
    async def main() -> None:
        descriptor = os.open("/dev/full", os.O_WRONLY)
        file_sync = FileSync(descriptor, SilentLogger())
        assert file_sync.request_sync() is None
        file_sync.close()
        os.close(descriptor)

    run(main())


def test_effects_without_a_promise_are_not_waited_for(run: Run, tmp_path: Path) -> None:
    class NoPromises:
        def write_promises(self, effects: object) -> bool:
            return False

    async def main() -> None:
        with (tmp_path / "deals").open("ab") as file:
            file_sync = FileSync(file.fileno(), SilentLogger())
            assert Promises(NoPromises(), file_sync).write([]) is None  # type: ignore[arg-type]
            file_sync.close()

    run(main())
