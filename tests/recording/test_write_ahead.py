"""Write-ahead: effects are released in order when they are durable, whatever happens to the store or in the room."""

import asyncio
from asyncio import Future

import pytest

from croupier.recording.write_ahead import WriteAhead
from croupier.store.records import SUPERSEDED_MESSAGE, StoreUnavailable, WriteRefused
from tests.net.raw_client import Run
from tests.net.test_faults import RecordingLogger
from tests.recording.fake_store import run_pending_callbacks


class Room:
    """A room and its store: a batch is a text; its writes complete when the test says so, or at once if `is_fast`."""

    def __init__(self) -> None:
        self.gathered: list[str] = []
        self.pending: list[tuple[str, Future[None]]] = []
        self.log: list[str] = []
        self.stored: set[str] = set()
        self.voided: str | None = None
        self.is_fast = False
        self.failure: Exception | None = None
        self.book = RecordingLogger()
        self.is_up = asyncio.Event()
        self.write_ahead: WriteAhead[str] = WriteAhead(self, self, self.book)

    def say(self, word: str) -> None:
        self.gathered.append(word)
        self.write_ahead.flush()

    def complete(self, error: Exception | None = None) -> str:
        ((batch, future),) = self.pending
        self.pending.clear()
        future.set_result(None) if error is None else future.set_exception(error)
        return batch

    async def recover(self) -> None:
        self.is_up.set()
        while not self.pending:
            await asyncio.sleep(0.001)

    # The store.

    @property
    def store(self) -> "Room":
        return self

    async def wait_until_up(self) -> None:
        await self.is_up.wait()

    def write(self, batch: str) -> Future[None]:
        future: Future[None] = asyncio.get_running_loop().create_future()
        self.pending.append((batch, future))
        if self.is_fast:
            self.complete(self.failure)
        return future

    async def write_again(self, batch: str) -> None:
        if batch not in self.stored:
            await self.write(batch)

    def confirm(self, batch: str) -> None:
        self.log.append(f"confirm {batch}")

    # The room.

    def take_batch(self) -> str | None:
        words, self.gathered = self.gathered, []
        return " ".join(words) or None

    def release(self, batch: str) -> None:
        self.log.append(f"release {batch}")
        if "broken" in batch:
            raise IndexError(batch)

    def suspend(self, batch: str | None) -> str | None:
        self.log.append(f"suspend {batch}")
        return self.voided

    def resume(self) -> None:
        self.log.append("resume")


def released(*batches: str) -> list[str]:
    return [line for batch in batches for line in (f"confirm {batch}", f"release {batch}")]


def test_next_batch_gathers_while_one_is_written(run: Run) -> None:
    async def main() -> None:
        room = Room()
        for word in ("one", "two", "three"):
            room.say(word)
        assert (room.log, [batch for batch, _ in room.pending]) == ([], ["one"])
        settled = room.write_ahead.settled()
        room.complete()
        await run_pending_callbacks()
        assert settled.done()
        assert room.log == released("one")
        assert room.complete() == "two three"
        await run_pending_callbacks()
        assert room.log == released("one", "two three")
        assert not room.write_ahead.is_writing
        assert room.write_ahead.settled().done()

    run(main())


@pytest.mark.parametrize("at_once", [True, False])
def test_batch_that_is_durable_at_once_is_released_at_once_if_asked(run: Run, at_once: bool) -> None:
    async def main() -> None:
        room = Room()
        room.is_fast = True
        room.gathered.append("one")
        room.write_ahead.flush(at_once=at_once)
        assert room.log == (released("one") if at_once else [])
        assert room.write_ahead.is_prompt
        assert room.write_ahead.settled().done() is at_once
        room.gathered.append("two")
        await run_pending_callbacks()
        room.write_ahead.flush(at_once=at_once)
        await run_pending_callbacks()
        assert room.log == released("one", "two")
        room.is_fast = False
        room.gathered.append("three")
        room.write_ahead.flush(at_once=at_once)
        assert not room.write_ahead.is_prompt

    run(main())


@pytest.mark.parametrize("at_once", [True, False])
def test_failure_at_once_suspends_the_room(run: Run, at_once: bool) -> None:
    async def main() -> None:
        room = Room()
        room.is_fast, room.failure = True, StoreUnavailable("the disk is full")
        room.gathered.append("one")
        room.write_ahead.flush(at_once=at_once)
        await run_pending_callbacks()
        assert room.write_ahead.trouble == "the disk is full"
        room.failure = None
        room.is_up.set()
        await run_pending_callbacks()
        assert room.log == ["suspend one", *released("one"), "resume"]

    run(main())


def test_error_in_a_release_loses_no_other_batch(run: Run) -> None:
    async def main() -> None:
        errors: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context["exception"]))
        room = Room()
        room.say("broken")
        room.say("two")
        room.complete()
        await run_pending_callbacks()
        assert room.complete() == "two"
        await run_pending_callbacks()
        assert room.log == released("broken", "two")
        assert [type(error) for error in errors] == [IndexError]

    run(main())


@pytest.mark.parametrize("is_stored", [False, True], ids=["lost", "written after all"])
@pytest.mark.parametrize("voided", [None, "voided"])
def test_outage_is_retried_before_the_room_resumes(run: Run, is_stored: bool, voided: str | None) -> None:
    async def main() -> None:
        room = Room()
        room.voided = voided
        room.say("one")
        room.say("two")
        settled = room.write_ahead.settled()
        room.complete(StoreUnavailable("the disk is full"))
        await run_pending_callbacks()
        assert settled.done()
        assert room.write_ahead.trouble == "the disk is full"
        assert room.log == ["suspend one"]
        room.say("three")
        assert room.pending == []
        if is_stored:
            room.stored.add("one")
        await room.recover()
        if not is_stored:
            assert room.complete(StoreUnavailable("again")) == "one"
            await run_pending_callbacks()
            assert room.write_ahead.trouble == "again"
            await room.recover()
            assert room.complete() == "one"
            await run_pending_callbacks()
        if voided:
            assert "resume" not in room.log
            assert room.complete() == "voided"
            await run_pending_callbacks()
        written = ["one", "voided"] if voided else ["one"]
        assert room.log == ["suspend one", *released(*written), "resume"]
        assert room.write_ahead.trouble is None
        assert room.complete() == "two three"
        await run_pending_callbacks()
        assert room.log[-1] == "release two three"
        events = [event for _, event, _ in room.book.entries]
        assert events == ["store unavailable", "store available again"]

    run(main())


@pytest.mark.parametrize("after_outage", [False, True])
def test_superseded_room_writes_nothing_more(run: Run, after_outage: bool) -> None:
    async def main() -> None:
        room = Room()
        room.say("one")
        if after_outage:
            room.complete(StoreUnavailable("the disk is full"))
            await room.recover()
        room.complete(WriteRefused("found facts of table from 2 on"))
        await run_pending_callbacks()
        room.say("two")
        room.is_up.set()
        await run_pending_callbacks()
        assert room.pending == []
        assert room.write_ahead.trouble == SUPERSEDED_MESSAGE
        assert room.write_ahead.is_superseded
        assert not room.write_ahead.is_recovering
        assert room.log == ["suspend one", *["suspend None"] * after_outage]

    run(main())


def test_room_is_suspended_by_an_outage_without_a_write(run: Run) -> None:
    async def main() -> None:
        room = Room()
        for _ in range(2):
            room.write_ahead.suspend("away")
            assert room.log == ["suspend None"]
        room.say("one")
        assert room.pending == []
        await room.recover()
        assert room.log == ["suspend None", "resume"]
        assert room.complete() == "one"
        await run_pending_callbacks()

    run(main())


def test_stopped_room_is_not_recovered(run: Run) -> None:
    async def main() -> None:
        room = Room()
        room.say("one")
        room.complete(StoreUnavailable("away"))
        await run_pending_callbacks()
        room.write_ahead.stop()
        room.is_up.set()
        await run_pending_callbacks()
        assert room.pending == []
        assert room.log == ["suspend one"]

    run(main())
