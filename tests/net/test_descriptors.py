"""A server without free file descriptors logs that once, and continues when some are free again."""

import asyncio
import errno
import os
import resource
import socket
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from croupier.net import descriptors
from croupier.net.descriptors import MIN_FREE_PROBES, DescriptorMonitor
from tests.net.raw_client import Run
from tests.processes import COMMAND, PATIENCE, Serving

EXHAUSTED = "no file descriptors are left, so new connections are not accepted"
FREE = "file descriptors are free again, so connections are accepted"


class RecordedLog(list[tuple[str, str]]):
    """Records log entries."""

    def error(self, event: str) -> None:
        self.append(("error", event))

    def warning(self, event: str) -> None:
        self.append(("warning", event))


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_shortage_and_its_end_are_logged_once(run: Run, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(descriptors, "PROBE_INTERVAL_SECONDS", 0.0)
    real_dup: Callable[[int], int] = os.dup
    free, probes = True, 0

    def dup(descriptor: int) -> int:
        nonlocal probes
        probes += 1
        if free:
            return real_dup(descriptor)
        raise OSError(number, "none left")

    async def wait_for_probes() -> None:
        before = probes
        while probes < before + MIN_FREE_PROBES + 2:
            await asyncio.sleep(0)

    async def main() -> None:
        nonlocal free
        log: Any = RecordedLog()
        monitor = DescriptorMonitor(log)
        await wait_for_probes()
        assert log == []
        for repetition in (1, 2):
            free = False
            await wait_for_probes()
            monitor.report_exhausted()
            assert log == [("error", EXHAUSTED), ("warning", FREE)] * (repetition - 1) + [("error", EXHAUSTED)]
            free = True
            await wait_for_probes()
            assert log == [("error", EXHAUSTED), ("warning", FREE)] * repetition
        monitor.close()

    monkeypatch.setattr(os, "dup", dup)
    run(main())


ASYNCIO = "import sys; sys.modules['uvloop'] = None; from croupier.cli import main; main()"
LOOPS = {"uvloop": (*COMMAND, "serve"), "asyncio": (sys.executable, "-c", ASYNCIO, "serve")}


@pytest.mark.slow
@pytest.mark.parametrize("room", ["kuhn", "holdem"])
@pytest.mark.parametrize("command", LOOPS.values(), ids=LOOPS.keys())
def test_server_logs_a_shortage_once_and_serves_again(command: tuple[str, ...], room: str) -> None:
    with Serving(room, "--port", 0, "--journal", "off", command=command) as serving, ExitStack() as callers:
        resource.prlimit(serving.pid, resource.RLIMIT_NOFILE, (64, 64))
        for _ in range(200):
            callers.enter_context(socket.create_connection((serving.host, serving.port), PATIENCE))
        await_entry(serving, EXHAUSTED)
        callers.close()
        await_entry(serving, FREE)
        with serving.call(room) as caller:
            caller.sendall(b"GET /games/ HTTP/1.1\r\nHost: x\r\n\r\n")
            assert caller.recv(1)
        assert serving.stop() == 0
        assert [entry["event"] for entry in serving.entries] == [EXHAUSTED, FREE, "closing", "closed"]


def await_entry(serving: Serving, event: str) -> None:
    """Wait until an event is in the log."""
    end = time.monotonic() + PATIENCE
    while event not in serving.log:
        assert time.monotonic() < end
        time.sleep(0.05)
