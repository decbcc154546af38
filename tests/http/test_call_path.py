"""The way of an act through the HTTP service is short (functions and files, no times)."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from types import FrameType

import pytest

from croupier.store.commit_place import CommitPlacePolicy
from tests.http.service_fixture import InProcessConnection, InProcessService
from tests.http.test_deferred_responses import bet
from tests.net.raw_client import Run
from tests.recording.fake_store import run_pending_callbacks
from tests.recording.test_holdem_journal import ServiceWithManualJournal, service_with_store

MAX_FUNCTIONS = 25
MAX_FILES = 8

HOUSE = {
    *("core", "observers", "recording", "store", "rooms"),
    *("http/holdem_service.py", "http/house_group.py", "http/views.py", "net/event_loop.py", "net/timer.py"),
}
"""The house, its journal with the futures that wait for it, its views and its timer: what they do with an act is no
part of HTTP, except for the wire."""


MAX_FUNCTIONS_IN_ALL = 52
MAX_FILES_IN_ALL = 18
"""With the house and its views, which are rendered when somebody looks."""

MAX_DURABLE_FUNCTIONS = 73
MAX_DURABLE_FILES = 28
"""With the journal and its SQLite store, too, which commits on the event loop."""


@contextmanager
def recorded_functions(*, with_house: bool = False) -> Iterator[set[tuple[str, str]]]:
    """Record the file and the name of every function of HTTP and of the wire that is entered, or also of the house."""
    functions: set[tuple[str, str]] = set()

    def record(frame: FrameType, event: str, argument: object) -> None:
        path = PurePath(frame.f_code.co_filename)
        if event != "call" or "croupier" not in path.parts or "tests" in path.parts:
            return
        name = path.as_posix().rpartition("/croupier/")[2]
        if with_house or name == "rooms/holdem/wire.py" or not ({name, name.partition("/")[0]} & HOUSE):
            functions.add((name, frame.f_code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(record)
    try:
        yield functions
    finally:
        sys.setprofile(before)


def check(functions: set[tuple[str, str]]) -> None:
    assert ("http/connection.py", "HttpConnection.data_received") in functions
    assert ("rooms/holdem/wire.py", "parse_act") in functions
    assert len(functions) <= MAX_FUNCTIONS, sorted(functions)
    assert len({file for file, _ in functions}) <= MAX_FILES, sorted(functions)


@pytest.fixture
def loop_factory() -> Callable[[], object]:
    """Use only one event loop, because this test has no sockets."""
    from croupier.net import event_loop

    return event_loop.loop_factory()


def test_act_in_memory_takes_at_most_25_functions_in_8_files(run: Run) -> None:
    async def main() -> None:
        with InProcessService() as web:
            game, (ann, _) = await web.seat_players("ann", "bob")
            actor = InProcessConnection(web.service)
            act = bet(game, ann, "ann", 10)
            with recorded_functions() as functions:
                actor.connection.data_received(act)
            assert actor.transport.writes
            check(functions)
            await actor.leave()

    run(main())


def test_act_in_memory_takes_at_most_52_functions_in_18_files_with_the_house(run: Run) -> None:
    async def main() -> None:
        with InProcessService() as web:
            game, (ann, _) = await web.seat_players("ann", "bob")
            actor = InProcessConnection(web.service)
            act = bet(game, ann, "ann", 10)
            with recorded_functions(with_house=True) as functions:
                actor.connection.data_received(act)
            assert actor.transport.writes
            assert len(functions) <= MAX_FUNCTIONS_IN_ALL, sorted(functions)
            assert len({file for file, _ in functions}) <= MAX_FILES_IN_ALL, sorted(functions)
            await actor.leave()

    run(main())


def test_act_in_an_sqlite_journal_takes_at_most_73_functions_in_28_files_with_the_house(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CommitPlacePolicy, "allows_loop", lambda *_: True)

    async def main() -> None:
        async with service_with_store(tmp_path / "store") as web:
            game, (ann, _) = await web.seat_players("ann", "bob")
            actor = InProcessConnection(web.service)
            act = bet(game, ann, "ann", 10)
            with recorded_functions(with_house=True) as functions:
                actor.connection.data_received(act)
            assert actor.transport.writes, "answered before the call returns"
            assert len(functions) <= MAX_DURABLE_FUNCTIONS, sorted(functions)
            assert len({file for file, _ in functions}) <= MAX_DURABLE_FILES, sorted(functions)
            await actor.leave()

    run(main())


def test_act_with_a_journal_takes_at_most_25_functions_in_8_files(run: Run) -> None:
    async def main() -> None:
        with ServiceWithManualJournal() as web:
            game, (ann, _) = await web.seat_two()
            actor = InProcessConnection(web.service)
            act = bet(game, ann, "ann", 10)
            with recorded_functions() as functions:
                actor.connection.data_received(act)
                await run_pending_callbacks()
                web.store.complete_write()
                await run_pending_callbacks()
            assert actor.transport.writes
            check(functions)
            await actor.leave()

    run(main())
