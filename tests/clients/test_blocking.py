"""The proxy that calls asynchronous clients from programs without an event loop."""

import asyncio
import gc
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from threading import Timer
from types import FrameType
from typing import Any

import pytest

import croupier
from croupier.clients.blocking import BlockingProxy, blocking
from croupier.core.bots import RandomBot
from croupier.rooms.kuhn.wire import Actn, Card, Strt
from croupier.rooms.oldmaid.ring.player_events import PlayerEvent, PlayerFinished, SeatTaken
from tests.app.socket_harness import ServerThread
from tests.clients.oldmaid_fixtures import OpenTable, luck, make_client, open_table, play_with_bot
from tests.net.raw_client import TIMEOUT_SECONDS, Run
from tests.processes import PATIENCE

INTERRUPTED_MODULES = {"asyncio.tasks", "concurrent.futures._base", "croupier.clients.blocking", "threading"}


class Clock:
    """An asynchronous client that counts."""

    def __init__(self, *, can_open: bool = True) -> None:
        self.can_open = can_open
        self.is_closed = False
        self.cancelled = 0
        self.sleeping = 0
        self.on_hang: Callable[[], object] = bool

    async def __aenter__(self) -> "Clock":
        if not self.can_open:
            raise ConnectionError("no clock")
        return self

    async def __aexit__(self, *error: object) -> None:
        self.is_closed = True

    async def add(self, number: int, *, other: int = 1) -> int:
        """Return the sum."""
        await asyncio.sleep(0)
        return number + other

    async def hang(self) -> None:
        self.on_hang()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise

    async def sleep(self) -> None:
        self.sleeping += 1
        try:
            await asyncio.sleep(0.05)
        finally:
            self.sleeping -= 1

    async def ticks(self, number: int) -> AsyncGenerator[int]:
        try:
            for tick in range(number):
                yield tick
        finally:
            await asyncio.sleep(0)
            self.is_closed = True


class BlockingClock(BlockingProxy[Clock]):
    add = blocking(Clock.add)
    hang = blocking(Clock.hang)
    sleep = blocking(Clock.sleep)

    def ticks(self, number: int) -> Iterator[int]:
        return self._iterate(self._client.ticks(number))


def client_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "croupier-client"]


def interrupt() -> None:
    """Press Ctrl-C: the system delivers it to the main thread."""
    main_thread = threading.main_thread().ident
    assert main_thread is not None
    signal.pthread_kill(main_thread, signal.SIGINT)


def receive_interrupted(game: Any) -> None:
    """Wait for a message that does not come, until Ctrl-C is pressed."""
    Timer(0.1, interrupt).start()
    game.receive()


def test_a_method_is_called_with_its_arguments_and_keeps_its_documentation() -> None:
    with BlockingClock(Clock()) as clock:
        assert clock.add(1) == 2
        assert clock.add(1, other=4) == 5
    assert BlockingClock.add.__doc__ == "Return the sum."


def test_a_client_works_without_a_context_and_its_thread_does_not_keep_the_program_alive() -> None:
    program = (
        "from tests.clients.test_blocking import BlockingClock, Clock\n"
        "clock = BlockingClock(Clock())\n"
        "print(clock.add(1))\n"
        "clock.__enter__()\n"
        "ticks = clock.ticks(5)\n"
        "next(ticks)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert (done.stdout, done.stderr) == ("2\n", "")


def test_leaving_the_context_ends_the_thread() -> None:
    threads = client_threads()
    client = Clock()
    with BlockingClock(client) as clock:
        clock.add(1)
        assert len(client_threads()) == len(threads) + 1
    assert client_threads() == threads
    assert client.is_closed


def test_a_client_that_cannot_be_entered_ends_its_thread() -> None:
    threads = client_threads()
    with pytest.raises(ConnectionError, match="no clock"), BlockingClock(Clock(can_open=False)):
        pass
    assert client_threads() == threads


def test_a_closed_client_raises() -> None:
    with BlockingClock(Clock()) as clock:
        pass
    with pytest.raises(RuntimeError, match="the client is closed"):
        clock.add(1)


def test_several_threads_may_call() -> None:
    with BlockingClock(Clock()) as clock, ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(clock.add, range(200))) == [*range(1, 201)]


def test_leaving_cancels_a_call_of_another_thread() -> None:
    client = Clock()
    with ThreadPoolExecutor(1) as threads:
        with BlockingClock(client) as clock:
            hanging = threads.submit(clock.hang)
            clock.add(1)
        with pytest.raises(CancelledError):
            hanging.result(TIMEOUT_SECONDS)
    assert client.cancelled == 1


def test_an_iteration_that_is_given_up_closes_its_generator() -> None:
    client = Clock()
    with BlockingClock(client) as clock:
        assert [*clock.ticks(3)] == [0, 1, 2]
        client.is_closed = False
        for _ in clock.ticks(3):
            break
        assert client.is_closed


def test_ctrl_c_cancels_the_call() -> None:
    client = Clock()
    with BlockingClock(client) as clock:
        client.on_hang = interrupt
        with pytest.raises(KeyboardInterrupt):
            clock.hang()
        assert clock.add(1) == 2
        assert client.cancelled == 1


@contextmanager
def interrupted_at_function(number: int) -> Iterator[None]:
    """Raise KeyboardInterrupt at the start of this one of the functions that the body calls in this thread.

    An `__exit__` is not interrupted: in Python its lock may then stay locked.
    """
    calls = count()

    def trace(frame: FrameType, event: str, argument: object) -> None:
        is_counted = frame.f_globals["__name__"] in INTERRUPTED_MODULES and frame.f_code.co_name != "__exit__"
        if is_counted and next(calls) == number:
            raise KeyboardInterrupt

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def test_ctrl_c_at_any_moment_of_a_call_leaves_no_coroutine() -> None:
    client = Clock()
    with BlockingClock(client) as clock:
        for number in count():
            try:
                with interrupted_at_function(number):
                    clock.sleep()
            except KeyboardInterrupt:
                assert clock.add(1) == 2
                assert clock.add(1) == 2
                assert client.sleeping == 0, number
            else:
                break
        gc.collect()  # a coroutine that is never awaited warns
    assert number > 10


def test_ctrl_c_loses_no_message(house: ServerThread) -> None:
    with croupier.connect("kuhn", *house.address) as game:
        with pytest.raises(KeyboardInterrupt):
            receive_interrupted(game)
        game.send(Strt("P_1"))
        assert isinstance(game.receive(), Card)
        game.send(Actn("BET"))
        assert isinstance(game.receive(), Card)
    assert house.endpoint.counts.violations == 0


def test_ctrl_c_ends_a_program_that_waits(house: ServerThread) -> None:
    host, port = house.address
    program = (
        "import croupier\n"
        f"with croupier.connect('kuhn', {host!r}, {port}) as game:\n"
        "    print('waiting', flush=True)\n"
        "    game.receive()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    assert errors.endswith("KeyboardInterrupt\n")
    assert "never" not in errors
    assert "pending" not in errors
    assert process.returncode == -signal.SIGINT


def play_oldmaid(table: OpenTable) -> tuple[list[PlayerEvent], Any]:
    """Play a game without an event loop; return the events and the result."""
    events: list[PlayerEvent] = []
    bot = RandomBot()
    with make_client(table, "ann") as ring:
        while not (events and isinstance(events[-1], PlayerFinished)):
            pick = ring.player.decide(bot, luck(1), 0)
            if pick is not None:
                assert pick in ring.legal
                ring.send(pick)
            events.append(ring.receive())
    return events, ring.result


def test_old_maid_is_played_without_an_event_loop(run: Run) -> None:
    async def main() -> None:
        async with open_table(2) as table:
            (events, result), _ = await asyncio.gather(
                asyncio.to_thread(play_oldmaid, table), play_with_bot(table, "bob", 2)
            )
            assert isinstance(events[0], SeatTaken)
            assert result.outcome in {"out", "lost"}
            assert {*table.rankings[0]} == {"ann", "bob"}

    run(main())
