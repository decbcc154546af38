"""Supervises one program: starts it, forwards signals to all of its processes, and enforces its limits.

The supervisor is the process that all processes of the program belong to: as their subreaper, or as the first process
of their namespace. It ends with the last of them.
"""

import errno
import os
import resource
import selectors
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

from croupier.conformance.containment import sandbox
from croupier.conformance.containment.descendants import (
    descendants_of,
    parse_written_bytes,
    resident_bytes,
    signal_descendants,
    used_bytes,
    written_bytes,
)
from croupier.conformance.containment.launch_spec import (
    CONTROL_PIPE,
    EXITED,
    FAILED,
    LIMIT,
    MEBIBYTE,
    PIPE_NAMES,
    STARTED,
    STATUS_PIPE,
    STDERR_PIPE,
    STDOUT_PIPE,
    TERMINATE,
    LaunchSpec,
    Limits,
)

WATCH_SECONDS: Final = 0.2
"""How often the limits are checked."""

KILL_SECONDS: Final = 0.01
"""The pause between two attempts to kill what still starts processes."""

MAX_DESCRIPTORS: Final = 4096
MAX_THREADS_PER_PROCESS: Final = 16
"""The kernel counts threads, so that it allows this many times as many of them as processes."""

SIGXCPU_GRACE_SECONDS: Final = 5
"""How long a program may run on that ignores SIGXCPU, in seconds of processor time."""

EXEC_FAILED_STATUS: Final = 127


class Pipes:
    """The descriptors of a program's named pipes, and of /proc outside its sandbox, if there is one."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.stdout, self.stderr, self.status, self.control, self.proc = numbers

    @classmethod
    def open(cls, folder: str) -> "Pipes":
        """Open and remove the named pipes of a folder. Raises OSError if the tester has cancelled the start."""
        flags = dict.fromkeys(PIPE_NAMES, os.O_WRONLY) | {CONTROL_PIPE: os.O_RDONLY}
        names = (STDOUT_PIPE, STDERR_PIPE, STATUS_PIPE, CONTROL_PIPE)
        # A pipe that blocks would wait for its reader for ever.
        numbers = [os.open(f"{folder}/{name}", flags[name] | os.O_NONBLOCK | os.O_CLOEXEC) for name in names]
        for name, number in zip(names, numbers, strict=True):
            Path(folder, name).unlink()
            os.set_blocking(number, name != CONTROL_PIPE)
        try:
            numbers.append(os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        except OSError:  # not Linux
            numbers.append(-1)
        return cls(numbers)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The descriptors, as the constructor takes them."""
        return self.stdout, self.stderr, self.status, self.control, self.proc

    def report(self, word: str, text: object) -> None:
        """Write a line to the status pipe."""
        with suppress(BrokenPipeError):
            os.write(self.status, f"{word} {text}\n".encode(errors="backslashreplace"))


def supervise(spec: LaunchSpec, pipes: Pipes, *, is_first_process: bool) -> None:
    """Start a program and return when all of its processes have ended.

    `is_first_process`: this is the first process of a process namespace, so all other processes there belong to the
    program.
    """
    if not spec.words:
        pipes.report(STARTED, 0)
        return
    if not is_first_process:
        sandbox.become_subreaper()
    supervisor = Supervisor(spec.limits, pipes, is_first_process=is_first_process)
    try:
        supervisor.start(spec)
    except OSError as error:
        pipes.report(FAILED, error.strerror or error)
        return
    supervisor.run()


class Supervisor:
    """The parent of a program."""

    def __init__(self, limits: Limits, pipes: Pipes, *, is_first_process: bool) -> None:
        self._limits = limits
        self._pipes = pipes
        self._is_first_process = is_first_process
        self._program = 0
        self._is_terminating = False
        self._is_killing = False
        self._selector = selectors.DefaultSelector()
        self._wakeup, wakeup = os.pipe()
        os.set_blocking(wakeup, False)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._own_counters = _open_own_counters()
        sandbox.make_untraceable()  # which also makes the counters unreadable for others
        self._next_watch = time.monotonic() + WATCH_SECONDS
        self._selector.register(pipes.control, selectors.EVENT_READ)
        self._selector.register(self._wakeup, selectors.EVENT_READ)

    def start(self, spec: LaunchSpec) -> None:
        """Start the program. Raises OSError if there is no such program or folder."""
        outcome, far = os.pipe()
        self._program = os.fork()
        if self._program == 0:
            _become_program(spec, self._pipes, far, is_sandboxed=self._is_first_process)
        for each in (far, self._pipes.stdout, self._pipes.stderr):
            os.close(each)
        with os.fdopen(outcome, "rb") as lines:
            pid, *error = lines.read().splitlines()
        if error:
            os.waitpid(self._program, 0)
            raise OSError(int(error[0]), os.strerror(int(error[0])))
        self._pipes.report(STARTED, int(pid))

    def run(self) -> None:
        """Serve the tester until the last process has ended."""
        while self._reap():
            if self._is_killing:
                self._signal(signal.SIGKILL)
            for key, _ in self._selector.select(KILL_SECONDS if self._is_killing else WATCH_SECONDS):
                self._receive(key.fd)
            if time.monotonic() >= self._next_watch:
                self._watch()
                self._next_watch = time.monotonic() + WATCH_SECONDS

    def _reap(self) -> bool:
        """Wait for the processes that have ended. Returns whether any is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self._program:
                self._pipes.report(EXITED, os.waitstatus_to_exitcode(status))
                self._is_killing = self._is_killing or not self._is_terminating

    def _receive(self, descriptor: int) -> None:
        """Handle a command of the tester, or the end of a process."""
        data = os.read(descriptor, 512)
        if descriptor == self._wakeup:
            return
        if data == TERMINATE:
            self._is_terminating = True
            self._signal(signal.SIGTERM)
        else:  # KILL, or the tester has gone
            self._is_killing = True
            if not data:
                self._selector.unregister(descriptor)

    def _signal(self, number: signal.Signals) -> None:
        """Send a signal to all processes of the program."""
        if self._is_first_process:
            with suppress(ProcessLookupError):
                os.kill(-1, number)
        elif sys.platform == "linux":
            signal_descendants(os.getpid(), number)
        else:
            with suppress(ProcessLookupError, PermissionError):  # PermissionError: only zombies are left
                os.killpg(self._program, number)

    def _watch(self) -> None:
        """Kill all processes if they exceed a limit."""
        if self._is_killing:
            return
        for reason in self._exceeded():
            self._is_killing = True
            self._pipes.report(LIMIT, reason)
            return

    def _exceeded(self) -> Iterator[str]:
        """Yield what exceeds its limit: the predicate of a sentence."""
        limits = self._limits
        pids = [pid for pid, _ in descendants_of(os.getpid())]
        if len(pids) > limits.max_processes:
            yield f"has {len(pids)} processes; allowed: {limits.max_processes}"
        max_bytes = limits.max_memory_mib * MEBIBYTE
        if resident_bytes(pids) > max_bytes and (used := used_bytes(pids)) > max_bytes:
            yield f"uses {used // MEBIBYTE:,} MiB of memory; allowed: {limits.max_memory_mib:,} MiB"
        if (written := written_bytes(pids) + self._written_before()) > limits.max_written_mib * MEBIBYTE:
            yield f"has written {written // MEBIBYTE:,} MiB; allowed: {limits.max_written_mib:,} MiB"

    def _written_before(self) -> int:
        """What the processes have written that have ended."""
        return parse_written_bytes(os.pread(self._own_counters, 4096, 0)) if self._own_counters >= 0 else 0


def _open_own_counters() -> int:
    """Open /proc/self/io; −1 if there is none."""
    try:
        return os.open("/proc/self/io", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1


def _become_program(spec: LaunchSpec, pipes: Pipes, outcome: int, *, is_sandboxed: bool) -> NoReturn:
    """Turn this process, just forked, into the program. Writes its process id and the number of an error, if any."""
    try:
        os.setsid()
        sandbox.end_with_parent()
        os.write(outcome, f"{_outer_pid(pipes.proc)}\n".encode())
        _set_limits(spec.limits)
        os.chdir(spec.cwd)
        empty = os.open(os.devnull, os.O_RDONLY)
        for target, descriptor in enumerate((empty, pipes.stdout, pipes.stderr)):
            os.dup2(descriptor, target)
        os.closerange(3, outcome)
        os.closerange(outcome + 1, MAX_DESCRIPTORS)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # ignored by Python
            signal.signal(number, signal.SIG_DFL)
        if is_sandboxed:
            sandbox.drop_privileges()
        os.execvpe(  # noqa: S606 -- no shell is wanted
            spec.words[0], spec.words, spec.environment
        )
    except OSError as error:
        os.write(outcome, f"{error.errno or errno.EINVAL}\n".encode())
    finally:
        os._exit(EXEC_FAILED_STATUS)


def _outer_pid(proc: int) -> int:
    """The id of this process outside its namespace, where `proc` is a descriptor of /proc."""
    return os.getpid() if proc < 0 else int(os.readlink("self", dir_fd=proc))


def _set_limits(limits: Limits) -> None:
    """Set the limits that the kernel enforces."""
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: limits.max_cpu_seconds,
        resource.RLIMIT_FSIZE: max(limits.max_written_mib * MEBIBYTE, _machine_memory_bytes()),
        resource.RLIMIT_NOFILE: MAX_DESCRIPTORS,
        resource.RLIMIT_NPROC: _running_threads() + limits.max_processes * MAX_THREADS_PER_PROCESS,
    }
    for kind, value in wanted.items():
        grace = SIGXCPU_GRACE_SECONDS if kind == resource.RLIMIT_CPU else 0  # the hard limit is SIGKILL
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY or hard > value + grace:
            hard = value + grace
        resource.setrlimit(kind, (min(value, hard), hard))


def _machine_memory_bytes() -> int:
    """The memory of the machine: Java's ZGC maps a file that is as large as its heap may become."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _running_threads() -> int:
    """The number of all threads of the machine: the kernel counts those that the user already has."""
    try:
        return int(Path("/proc/loadavg").read_text(encoding="utf-8").split()[3].partition("/")[2])
    except OSError:
        return 0
