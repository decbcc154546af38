"""The dealer's promise is on the disk before anybody sees a card that follows from it; no disk stops a room."""

import asyncio
import os
import re
from asyncio import Future
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from croupier.core.session import Commit, Effect
from croupier.logs import silent_logger
from croupier.recording import promises as module
from croupier.recording.promises import FileSync, Promises
from croupier.store.records import StoreUnavailable
from tests.net.raw_client import Caller, Run
from tests.net.test_faults import Book
from tests.recording.fake_store import Ink, by_hand, turns
from tests.recording.test_durable_session import held
from tests.recording.test_holdem_journal import Holding
from tests.recording.test_house_recorder import until
from tests.rooms.oldmaid.tables import clause


class Slow:
    """A disk that is as slow as the test wants; `log` is what has happened, in order."""

    def __init__(self) -> None:
        self.promised: list[int] = []
        self.futures: list[Future[None]] = []

    def keep(self, effects: Sequence[Effect[Any]]) -> Future[None] | None:
        commits = [effect.peer for effect in effects if isinstance(effect, Commit)]
        self.promised += commits
        return self.synced() if commits else None

    def synced(self) -> Future[None] | None:
        self.futures.append(asyncio.get_running_loop().create_future())
        return self.futures[-1]

    def done(self) -> None:
        self.futures.pop(0).set_result(None)


def test_a_hand_of_holdem_is_promised_before_it_is_written_and_shown(run: Run) -> None:
    async def main() -> None:
        with Holding() as web:
            slow = Slow()
            web.service.service._promises = slow  # type: ignore[assignment]  # all that is asked of it
            await web.enrol("ann", "bob")
            game = await web.game()
            joining = web.later(web.ask("POST", f"/games/{game}/players/", "ann"))
            await turns()
            web.journal.done()
            assert (await joining).status == 201
            assert not slow.promised, "one player is dealt no card"
            joining = web.later(web.ask("POST", f"/games/{game}/players/", "bob"))
            await turns()
            looking = web.later(web.ask("GET", f"/games/{game}", "ann"))
            await turns()
            assert slow.promised == [1]
            assert not web.journal.writings, "a hand that goes on after a crash was promised before"
            slow.done()
            await turns()
            assert not joining.done()
            assert not looking.done()
            web.journal.done()
            assert (await joining).status == 201
            assert (await looking).status == 200

    run(main())


@pytest.mark.parametrize("lost", [False, True], ids=["written", "lost"])
def test_a_game_of_old_maid_is_promised_before_it_is_written_and_told(run: Run, lost: bool) -> None:
    async def main() -> None:
        evening, journal = held(players=2)
        slow = Slow()
        evening.written._promises = slow  # type: ignore[assignment]
        ann, bob = evening.join("ann", "bob")
        await turns()
        assert slow.promised == [1]
        assert (journal.pages, evening.heard[ann]) == ([], [])
        slow.done()
        await turns()
        assert evening.heard[bob] == []
        await journal.done(StoreUnavailable("no space") if lost else None)
        assert [clause(reply) for reply in evening.heard[bob]] == ["oldmaid-9.15" if lost else ""]
        assert slow.futures == []

    run(main())


@pytest.mark.parametrize("accounts", [False, True], ids=["without accounts", "accounts"])
def test_a_client_of_a_durable_house_is_heard_when_its_cards_are_promised(run: Run, accounts: bool) -> None:
    async def main() -> None:
        ink, slow = Ink(), Slow()
        async with by_hand(ink, accounts=accounts) as house, Caller(house.address) as caller:
            await until(lambda: house.board.connection_count == 1 and not house.board.connections[1]._is_held)
            house.books._promises = slow  # type: ignore[assignment]
            async with Caller(house.address) as late:
                await late.say(b"STRT P_1")
                await until(lambda: bool(slow.futures) and bool(house.board.connections[2]._input_backlog))
                await caller.say(b"STRT P_1")
                assert re.fullmatch(rb"CARD C_[JQK]", await caller.hear(8)), "its own promise was kept before"
                assert house.board.counts.messages_received == 1
                slow.done()
                assert re.fullmatch(rb"CARD C_[JQK]", await late.hear(8))

    run(main())


def test_a_house_that_is_not_durable_waits_for_no_disk(run: Run) -> None:
    async def main() -> None:
        async with by_hand(Ink(), durable=False) as house, Caller(house.address) as caller:
            assert house.books.sync_promises() is None
            await caller.say(b"STRT P_1")
            assert re.fullmatch(rb"CARD C_[JQK]", await caller.hear(8))

    run(main())


class Syncs:
    """fsync that is counted, and stopped by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.number = 0
        self.go = Event()
        self.go.set()
        self.error: OSError | None = None
        monkeypatch.setattr(module.os, "fsync", self)

    def __call__(self, descriptor: int) -> None:
        self.number += 1
        self.go.wait(10)
        if self.error is not None:
            raise self.error


def test_all_who_wait_while_the_disk_is_busy_wait_for_one_fsync(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    syncs = Syncs(monkeypatch)

    async def main() -> None:
        with (tmp_path / "deals").open("ab") as file:
            disk = FileSync(file.fileno(), silent_logger())
            syncs.go.clear()
            waiting = [disk.request_sync() for _ in range(100)]
            assert not any(one is None or one.done() for one in waiting)
            syncs.go.set()
            await asyncio.gather(*filter(None, waiting))
            assert syncs.number == 2, "the first one may have begun before the others were there"
            disk.close()

    run(main())


def test_a_disk_that_does_not_answer_is_not_waited_for_until_it_does(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    syncs, book = Syncs(monkeypatch), Book()
    monkeypatch.setattr(module, "MAX_SYNC_WAIT_SECONDS", 0.01)

    async def main() -> None:
        with (tmp_path / "deals").open("ab") as file:
            disk = FileSync(file.fileno(), book)
            syncs.go.clear()
            await asyncio.gather(*filter(None, [disk.request_sync(), disk.request_sync()]))
            assert disk.request_sync() is None
            assert [entry[:2] for entry in book.entries] == [
                ("error", "the dealer's record may lack promises after a power loss")
            ]
            syncs.go.set()
            while len(book.entries) < 2:
                await asyncio.sleep(0.001)
            assert book.entries[1][:2] == ("warning", "the disk of the dealer's record answers again")
            assert disk.request_sync() is not None
            disk.close()

    run(main())


def test_a_disk_that_fails_is_logged_and_the_hand_goes_on(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    syncs, book = Syncs(monkeypatch), Book()
    syncs.error = OSError(5, "Input/output error")

    async def main() -> None:
        with (tmp_path / "deals").open("ab") as file:
            disk = FileSync(file.fileno(), book)
            future = disk.request_sync()
            assert future is not None
            await future
            assert book.entries[0][0] == "error"
            assert "Input/output error" in str(book.entries[0][2])
            disk.close()

    run(main())


def test_nobody_waits_for_what_is_no_plain_file(run: Run) -> None:
    async def main() -> None:
        descriptor = os.open("/dev/full", os.O_WRONLY)
        disk = FileSync(descriptor, silent_logger())
        assert disk.request_sync() is None
        disk.close()
        os.close(descriptor)

    run(main())


def test_effects_without_a_promise_are_not_waited_for(run: Run, tmp_path: Path) -> None:
    class Nothing:
        def promise(self, effects: object) -> bool:
            return False

    async def main() -> None:
        with (tmp_path / "deals").open("ab") as file:
            disk = FileSync(file.fileno(), silent_logger())
            assert Promises(Nothing(), disk).write([]) is None  # type: ignore[arg-type]
            disk.close()

    run(main())
