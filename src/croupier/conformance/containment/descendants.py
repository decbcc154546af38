"""The processes that a process has started, and what they use, read from /proc."""

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


def children_of(pid: int) -> list[int]:
    """The children of a process; empty if there is no such process, or no /proc."""
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(ProcessLookupError):
                found += map(int, (task / "children").read_text(encoding="utf-8").split())
        return found
    return [child for child in _process_ids() if _parent_of(child) == pid]


def _process_ids() -> Iterator[int]:
    with suppress(OSError):
        yield from (int(each.name) for each in PROC.iterdir() if each.name.isdecimal())


def _parent_of(pid: int) -> int | None:
    """The parent of a process, None if there is no such process. Its name, in parentheses, may contain anything."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[1])


def descendants_of(pid: int) -> list[tuple[int, int]]:
    """Everything that a process has started and that still runs: pairs of a process and its parent, parents first."""
    found: list[tuple[int, int]] = []
    waiting = [pid]
    while waiting:
        parent = waiting.pop(0)
        children = children_of(parent)
        found += [(child, parent) for child in children]
        waiting += children
    return found


def signal_descendants(pid: int, number: signal.Signals) -> None:
    """Send a signal to everything that a process has started.

    A process that has ended meanwhile, and whose id another process has now, is not mistaken for it.
    """
    for child, parent in descendants_of(pid):
        with suppress(OSError):
            descriptor = os.pidfd_open(child)
            try:
                if _parent_of(child) in {parent, pid}:
                    signal.pidfd_send_signal(descriptor, number)
            finally:
                os.close(descriptor)


def resident_bytes(pids: Iterable[int]) -> int:
    """The memory of processes; what they share counts for each."""
    total = 0
    for pid in pids:
        with suppress(OSError, IndexError):
            total += int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1])
    return total * PAGE_BYTES


def used_bytes(pids: Iterable[int]) -> int:
    """The memory that processes use, without files that are in memory; what they share counts once.

    Takes milliseconds for a large process. A process that forbids this counts with all of its memory.
    """
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()[1:]
        except OSError:
            total += resident_bytes([pid])
            continue
        sizes = {name: int(size) for name, size, *_ in (line.split() for line in lines)}
        total += 1024 * sum(sizes.get(name, 0) for name in ("Pss_Anon:", "Pss_Shmem:", "SwapPss:"))
    return total


def written_bytes(pids: Iterable[int]) -> int:
    """How much processes, and the children that they have waited for, have written to disk."""
    total = 0
    for pid in pids:
        with suppress(OSError):
            total += parse_written_bytes(Path(f"/proc/{pid}/io").read_bytes())
    return total


def parse_written_bytes(counters: bytes) -> int:
    """The bytes written to disk in the contents of /proc/PID/io."""
    return next((int(line.split()[1]) for line in counters.splitlines() if line.startswith(b"write_bytes:")), 0)
