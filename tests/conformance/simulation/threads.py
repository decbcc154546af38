"""Threads that block in the simulated time of a loop: sleeping, sockets, locks and timers of one program.

Time passes only while every thread of every program waits. A thread waits for a `Signal`, at most for some seconds, and
possibly until a socket is ready.
"""

import ctypes
import socket
import threading
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Self

from tests.conformance.mutants.simulated_time import SimulatedTimeLoop


class ProgramEnded(BaseException):
    """Ends a thread of a program that was stopped."""


class Signal:
    """What one thread waits for, once."""

    def __init__(self) -> None:
        self.is_set = False
        self.is_waited_for = False
        self.clean: Callable[[], object] = lambda: None
        self.released = threading.Event()


class Threads:
    """The threads of a program, and its sockets. `report` receives the exception that ends a thread."""

    def __init__(self, loop: SimulatedTimeLoop, report: Callable[[BaseException], object]) -> None:
        self.loop = loop
        self.has_ended = False
        self.sockets: set[socket.socket] = set()
        self._report = report
        self._mutex = threading.Lock()
        self._waiting: set[Signal] = set()

    # In a thread of the program.

    def sleep(self, seconds: float) -> None:
        """Stand for `time.sleep`."""
        if seconds > 0:
            self.wait(Signal(), seconds)

    def wait(
        self, signal: Signal, seconds: float | None = None, *, descriptor: int | None = None, is_writing: bool = False
    ) -> bool:
        """Wait for the signal, or until the descriptor is ready; return False after this many seconds."""
        if self.has_ended:
            raise ProgramEnded
        if not signal.is_set:
            self.loop.post(partial(self._begin, signal, seconds, descriptor, is_writing=is_writing))
            signal.released.wait()
            if self.has_ended:
                raise ProgramEnded
        return signal.is_set

    def set(self, signal: Signal) -> None:
        """Let the thread that waits for the signal go on."""
        signal.is_set = True
        self._release(signal)

    def start(self, run: Callable[[], object]) -> Callable[[], None]:
        """Count a thread that is about to run; return what it is to run."""
        self.loop.count_running(1)

        def counted() -> None:
            try:
                run()
            except ProgramEnded:
                pass
            except BaseException as error:  # as `threading.excepthook` does
                self._report(error)
            finally:
                self.loop.count_running(-1)

        return counted

    # In the loop.

    def _begin(self, signal: Signal, seconds: float | None, descriptor: int | None, *, is_writing: bool) -> None:
        with self._mutex:
            if signal.released.is_set():
                return
            signal.is_waited_for = True
            self._waiting.add(signal)
            self.loop.count_running(-1)
        if self.has_ended:
            self._release(signal)
            return
        if descriptor is not None:
            add, remove = (
                (self.loop.add_writer, self.loop.remove_writer)
                if is_writing
                else (self.loop.add_reader, self.loop.remove_reader)
            )
            add(descriptor, self.set, signal)
            signal.clean = lambda: remove(descriptor)
        if seconds is not None:
            timer = self.loop.call_later(max(0.0, seconds), self._release, signal)
            remove_descriptor = signal.clean
            signal.clean = lambda: (timer.cancel(), remove_descriptor())

    def _release(self, signal: Signal) -> None:
        with self._mutex:
            if signal.is_waited_for:
                signal.is_waited_for = False
                self._waiting.discard(signal)
                self.loop.count_running(1)
            signal.released.set()
        if threading.current_thread() is threading.main_thread():
            signal.clean()
        else:
            self.loop.post(lambda: signal.clean())  # noqa: PLW0108 -- it may change until then

    def end(self) -> None:
        """End the threads where they wait, and close the sockets, as the end of a process does."""
        self.has_ended = True
        with self._mutex:
            waiting = [*self._waiting]
        for signal in waiting:
            self._release(signal)
        for each in [*self.sockets]:
            each.close()


class ProgramThread(threading.Thread):
    """A thread of any program."""


def interrupt_threads() -> None:
    """End the threads of all programs where they are, one in an endless loop too, which `Threads.end` cannot reach."""
    for thread in threading.enumerate():
        if isinstance(thread, ProgramThread) and thread.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(ProgramEnded))


def thread_class(threads: Threads) -> type[ProgramThread]:
    """Stand for `threading.Thread`."""

    class Thread(ProgramThread):
        def start(self) -> None:
            self.daemon = True
            self.run = threads.start(self.run)  # type: ignore[method-assign]
            super().start()

    return Thread


def timer_class(threads: Threads) -> type[ProgramThread]:
    """Stand for `threading.Timer`."""

    class Timer(thread_class(threads)):  # type: ignore[misc]  # a class of this program
        def __init__(self, seconds: float, function: Callable[[], object]) -> None:
            super().__init__()
            self._seconds, self._function, self._cancelled = seconds, function, Signal()

        def cancel(self) -> None:
            threads.set(self._cancelled)

        def run(self) -> None:
            if not threads.wait(self._cancelled, self._seconds):
                self._function()

    return Timer


class RLock:
    """Stands for `threading.RLock`, without a limit."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._real = threading.RLock()
        self._mutex = threading.Lock()
        self._waiting: list[Signal] = []

    def acquire(self) -> bool:
        while not self._real.acquire(blocking=False):
            signal = Signal()
            with self._mutex:
                self._waiting.append(signal)
            if self._real.acquire(blocking=False):  # released meanwhile: nobody would set the signal
                break
            self._threads.wait(signal)
        return True

    def release(self) -> None:
        self._real.release()
        with self._mutex:
            waiting, self._waiting = self._waiting, []
        for signal in waiting:
            self._threads.set(signal)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


class Condition(RLock):
    """Stands for `threading.Condition`; the lock is held once by a thread that waits."""

    def __init__(self, threads: Threads) -> None:
        super().__init__(threads)
        self._sleepers: list[Signal] = []

    def wait(self, timeout: float | None = None) -> bool:
        signal = Signal()
        self._sleepers.append(signal)
        self.release()
        try:
            return self._threads.wait(signal, timeout)
        finally:
            if self._threads.has_ended:
                self._real.acquire()  # the threads of an ended program leave it one after the other
            else:
                self.acquire()

    def notify_all(self) -> None:
        sleepers, self._sleepers = self._sleepers, []
        for signal in sleepers:
            self._threads.set(signal)


def socket_class(threads: Threads) -> type[socket.socket]:  # noqa: C901 -- a class of small methods
    """Stand for `socket.socket`."""

    class Socket(socket.socket):
        """A socket that never blocks the loop; `_seconds` is its timeout."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._seconds: float | None = None
            super().setblocking(False)
            self.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)  # the kernel waits in real time
            threads.sockets.add(self)
            if threads.has_ended:
                self.close()
                raise ProgramEnded

        def settimeout(self, value: float | None) -> None:
            self._seconds = value

        def gettimeout(self) -> float | None:
            return self._seconds

        def _when_ready(self, attempt: Callable[[], Any], *, is_writing: bool = False) -> Any:
            while True:
                try:
                    return attempt()
                except (BlockingIOError, InterruptedError):
                    if threading.current_thread() is threading.main_thread():
                        raise  # asyncio waits itself
                    if not threads.wait(Signal(), self._seconds, descriptor=self.fileno(), is_writing=is_writing):
                        raise TimeoutError("timed out") from None

        def recv(self, *arguments: Any) -> bytes:
            receive = super().recv
            found: bytes = self._when_ready(lambda: receive(*arguments))
            return found

        def recv_into(self, *arguments: Any) -> int:
            receive = super().recv_into
            size: int = self._when_ready(lambda: receive(*arguments))
            return size

        def send(self, data: Any, *flags: int) -> int:
            send = super().send
            size: int = self._when_ready(lambda: send(data, *flags), is_writing=True)
            return size

        def sendall(self, data: Any, *flags: int) -> None:
            rest = memoryview(data)
            while rest:
                rest = rest[self.send(rest, *flags) :]

        def accept(self) -> tuple["Socket", Any]:
            accept = super()._accept  # type: ignore[misc]  # what `socket.accept` calls
            descriptor, address = self._when_ready(accept)
            return Socket(self.family, self.type, self.proto, descriptor), address

        def connect(self, address: Any) -> None:
            super().setblocking(True)  # loopback connects or refuses at once
            try:
                super().connect(address)
            finally:
                super().setblocking(False)

        def _real_close(self) -> None:
            threads.sockets.discard(self)
            super()._real_close()  # type: ignore[misc]  # what `socket.close` calls

    return Socket


def selector_class(threads: Threads) -> type:
    """Stand for `selectors.PollSelector` with one readable object."""

    class Selector:
        def __enter__(self) -> Self:
            return self

        def __exit__(self, *error: object) -> None:
            pass

        def register(self, readable: Any, events: int) -> None:
            self._descriptor = readable.fileno()

        def select(self, seconds: float) -> Sequence[int]:
            is_ready = threads.wait(Signal(), seconds, descriptor=self._descriptor)
            return [self._descriptor] if is_ready else []

    return Selector
