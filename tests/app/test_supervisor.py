"""The supervisor starts, restarts and stops workers; here they are small programs that open no rooms."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from croupier.app import supervisor as supervisor_module
from croupier.app.config import RoomConfig, ServerConfig
from croupier.app.server_sockets import ServerSockets
from croupier.app.supervisor import MAX_FAILURES, Supervisor
from croupier.core.logger import SilentLogger
from croupier.net.event_loop import run
from croupier.rooms import ROOMS
from tests.processes import PATIENCE, is_running

WORKER = """
import asyncio, json, os, signal, sys
from pathlib import Path
from croupier.cluster.local_bus import LocalBus
from croupier.net.event_loop import run

async def main():
    setup = json.loads(os.environ["CROUPIER_WORKER"])
    number, folder = setup["number"], Path(sys.argv[1])
    with (folder / "started").open("a") as file:
        file.write(f"{number} {setup['slot']} {setup['row']} {os.getpid()}\\n")
    if (folder / "fails").exists():
        sys.exit(3)
    bus = await LocalBus.open(setup["bus"])
    stops = asyncio.Queue()
    await bus.subscribe(f"worker.{number}.stop", lambda _, reason: stops.put_nowait(reason.decode()))
    bus.lost.add_done_callback(lambda _: stops.put_nowait("lost"))
    if setup["slot"] == 0:
        await bus.request("supervisor.tables", b"%d" % number, 20.0)
    ready = {"number": number, "lines": [f"worker {number}"]}
    await bus.publish("supervisor.ready", json.dumps(ready).encode())
    if (folder / "dies").exists():
        await asyncio.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
    if (folder / "ends").exists():
        await bus.publish("supervisor.stopping", b"%d" % number)
    for _ in range(int((folder / "stops").read_text()) if (folder / "stops").exists() else 1):
        reason = await stops.get()
        with (folder / "stopped").open("a") as file:
            file.write(f"{number} {reason}\\n")

run(main())
"""


class Log(SilentLogger):
    """Keeps the events that are logged."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def info(self, event: str, **facts: object) -> None:
        self.events.append(event)

    def error(self, event: str, **facts: object) -> None:
        self.events.append(event)


class Setting:
    """A supervisor with two workers whose programs use a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = Log()
        self.lines: list[str] = []
        self.requests = asyncio.Queue[str]()

    def write(self, name: str, text: str = "") -> None:
        (self.folder / name).write_text(text)

    def read(self, name: str) -> list[list[str]]:
        """The lines that workers have written, in words."""
        path = self.folder / name
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    async def wait_for(self, is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not is_so():
            assert time.monotonic() < end, self.log.events
            await asyncio.sleep(0.005)

    async def wait_until_open(self) -> None:
        await self.wait_for(lambda: bool(self.lines))

    async def run(self) -> int:
        """Run the supervisor, and return its exit status."""
        kuhn = RoomConfig(ROOMS["kuhn"], 0, ROOMS["kuhn"].settings())
        config = ServerConfig(workers=2, drain_seconds=0.0)
        sockets = await ServerSockets.bind([kuhn], config, self.log)
        command = [sys.executable, "-c", WORKER, str(self.folder)]
        running = Supervisor(command, sockets, config, [kuhn], self.requests, announce=self.lines.append, log=self.log)
        await running.open_bus()
        try:
            return await running.run()
        finally:
            sockets.close()


def supervised(folder: Path, meanwhile: Callable[[Setting], Coroutine[Any, Any, None]]) -> tuple[int, Setting]:
    """Run a supervisor to its end, and something meanwhile; return its exit status."""

    async def main() -> tuple[int, Setting]:
        setting = Setting(folder)
        async with asyncio.timeout(PATIENCE):
            status, _ = await asyncio.gather(setting.run(), meanwhile(setting))
        return status, setting

    return run(main())


async def nothing(_: Setting) -> None:
    """Do nothing."""


def test_lines_of_the_first_worker_are_announced_once(tmp_path: Path) -> None:
    async def stop(setting: Setting) -> None:
        await setting.wait_until_open()
        setting.requests.put_nowait("SIGTERM")

    status, setting = supervised(tmp_path, stop)
    assert (status, setting.lines) == (0, ["worker 0"])
    assert [line[:3] for line in setting.read("started")] == [["0", "0", "0"], ["1", "1", "1"]]
    assert sorted(setting.read("stopped")) == [["0", "stop"], ["1", "stop"]]


def test_server_ends_when_the_first_worker_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "fails").touch()
    status, setting = supervised(tmp_path, nothing)
    assert status == 1
    assert setting.lines == []
    assert len(setting.read("started")) == 1


def test_worker_that_dies_is_replaced_until_it_dies_again_and_again(tmp_path: Path) -> None:
    async def kill(setting: Setting) -> None:
        await setting.wait_until_open()
        setting.write("dies")
        pid = setting.read("started")[1][3]
        os.kill(int(pid), signal.SIGKILL)

    status, setting = supervised(tmp_path, kill)
    assert status == 1
    assert [line[1:3] for line in setting.read("started")] == [["0", "0"], *[["1", "1"]] * MAX_FAILURES]
    assert setting.log.events.count("worker died") == MAX_FAILURES
    assert setting.log.events[-1] == "worker 2 died 5 times within 10 seconds"
    assert setting.read("stopped") == [["0", "stop"]]


def test_workers_are_restarted_one_by_one(tmp_path: Path) -> None:
    async def restart(setting: Setting) -> None:
        await setting.wait_until_open()
        setting.requests.put_nowait("SIGHUP")
        await setting.wait_for(lambda: len(setting.read("stopped")) == 2)
        setting.requests.put_nowait("SIGTERM")

    status, setting = supervised(tmp_path, restart)
    assert status == 0
    started = [[int(word) for word in line[:3]] for line in setting.read("started")]
    assert started == [[0, 0, 0], [1, 1, 1], [2, 0, 2], [3, 1, 0]]  # a row is used again after its process has ended
    assert setting.read("stopped")[:2] == [["0", "restart"], ["1", "restart"]]
    assert "worker died" not in setting.log.events


@pytest.mark.extended
def test_old_workers_stay_if_a_new_one_does_not_open(tmp_path: Path) -> None:
    async def restart(setting: Setting) -> None:
        await setting.wait_until_open()
        setting.write("fails")
        setting.requests.put_nowait("SIGHUP")
        await setting.wait_for(lambda: "restart ended: a new worker did not open its rooms" in setting.log.events)
        setting.requests.put_nowait("SIGTERM")

    status, setting = supervised(tmp_path, restart)
    assert status == 0
    assert sorted(setting.read("stopped")) == [["0", "stop"], ["1", "stop"]]


def test_worker_that_is_stopped_before_it_is_open_has_not_failed(tmp_path: Path) -> None:
    async def restart(setting: Setting) -> None:
        await setting.wait_until_open()
        setting.requests.put_nowait("SIGHUP")
        await setting.wait_for(lambda: len(setting.read("started")) == 3)
        setting.requests.put_nowait("SIGTERM")

    status, setting = supervised(tmp_path, restart)
    assert status == 0
    assert not any("restart ended" in event for event in setting.log.events)


def test_worker_that_stops_by_itself_stops_the_server(tmp_path: Path) -> None:
    (tmp_path / "ends").touch()
    status, setting = supervised(tmp_path, nothing)
    assert status == 0
    assert "worker died" not in setting.log.events


def test_another_signal_reaches_the_workers(tmp_path: Path) -> None:
    async def stop(setting: Setting) -> None:
        setting.write("stops", "2")
        await setting.wait_until_open()
        setting.requests.put_nowait("SIGTERM")
        await setting.wait_for(lambda: len(setting.read("stopped")) == 2)
        setting.requests.put_nowait("SIGTERM")

    status, setting = supervised(tmp_path, stop)
    assert status == 0
    assert len(setting.read("stopped")) == 4


def test_worker_that_does_not_stop_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor_module, "KILL_SECONDS", 0.05)

    async def stop(setting: Setting) -> None:
        setting.write("stops", "2")
        await setting.wait_until_open()
        setting.requests.put_nowait("SIGTERM")

    status, setting = supervised(tmp_path, stop)
    assert status == 0
    assert len(setting.read("stopped")) <= 2, "none of them has received what it waits for"
    assert not any(is_running(int(pid)) for *_, pid in setting.read("started"))
