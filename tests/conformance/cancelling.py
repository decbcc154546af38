"""Cancels a coroutine in each of its first turns of the event loop, and counts the sockets that it leaves open."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from stat import S_ISSOCK
from typing import Any

SETTLE_SECONDS = 10.0
"""How long closed transports may take to close their sockets, and other ends in this process to notice it."""

TURNS = (*range(40), *range(40, 200, 7), *range(200, 1000, 60))
"""After how many turns of the event loop a coroutine is cancelled."""


DESCRIPTORS = Path("/dev/fd")


def open_sockets() -> set[int]:
    """The sockets of this process that are open, by the numbers of their inodes."""
    found = set()
    for path in DESCRIPTORS.iterdir():
        with suppress(OSError):  # the descriptor of the folder itself is closed by now
            status = os.fstat(int(path.name))
            if S_ISSOCK(status.st_mode):
                found.add(status.st_ino)
    return found


async def count_left_open(start: Callable[[], Coroutine[Any, Any, Any]]) -> Mapping[int, int]:
    """Return how many sockets are left open by a coroutine that is cancelled after some turns, by their number."""
    loop = asyncio.get_running_loop()
    left: dict[int, int] = {}
    for turns in TURNS:
        before = open_sockets()
        task = asyncio.ensure_future(start())
        await _pass_turns(turns)
        task.cancel()
        await asyncio.wait([task])
        end = loop.time() + SETTLE_SECONDS
        while (opened := open_sockets() - before) and loop.time() < end:
            await asyncio.sleep(0.001)
        if opened:
            left[turns] = len(opened)
    return left


async def _pass_turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)
