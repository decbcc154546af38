"""Benchmark: the web app, for people who watch one table and for a browser that opens its first page.

Watching: two people play hold'em, and check or call; many spectators have a stream of the table. Measured is the time
from the start of a request with an act until each stream has the new state. Server and load have a core each.

First load: the bytes that a browser receives for the lobby and everything that it refers to, compressed as browsers
ask for it, and the hosts that these pages name.
"""

import argparse
import asyncio
import re
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from statistics import median, quantiles
from time import perf_counter
from typing import Final

import httpx

from croupier.net.event_loop import run
from harness import BenchError, Cores, Server, allow_open_files, fail, pick_cores, running, verdict

CROUPIER: Final = [sys.executable, "-m", "croupier", "serve", "holdem", "--port", "0", "--web-port", "0"]
OPTIONS: Final = ["--journal", "off", "--log-level", "error"]
SPREAD_TARGET_MS: Final = 100.0
FIRST_LOAD_TARGET_BYTES: Final = 150 * 1024
PAUSE_SECONDS: Final = 0.05
"""The pause between two acts."""

REFERENCE: Final = re.compile(r'(?:href|src)="(/static/[^"#]+)')
FOREIGN: Final = re.compile(r'(?:href|src|action)="(?:https?:)?//([^/"]+)')
CSRF: Final = re.compile(r'name="csrf" value="([^"]+)"')
VERSION: Final = re.compile(r'data-version="([^"]+)"')


class Person:
    """A person at the hold'em table, without a browser."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self._csrf = ""
        self.table = ""

    async def sit(self) -> None:
        """Take a seat."""
        self._csrf = _find(CSRF, (await self._client.get("/")).text)
        answer = await self._client.post("/play", data={"csrf": self._csrf, "room": "holdem"})
        self.table = answer.headers["location"]

    async def version_to_act_on(self) -> str | None:
        """Return the version of the table if this person can check or call."""
        page = (await self._client.get(self.table)).text
        return _find(VERSION, page) if 'value="call"' in page else None

    async def call(self, version: str) -> None:
        """Check or call. Raises BenchError if the table has changed."""
        form = {"csrf": self._csrf, "version": version, "act": "call"}
        answer = await self._client.post(f"{self.table}/act", data=form, headers={"accept": "application/json"})
        if answer.status_code not in {200, 202}:
            raise BenchError(f"an act was answered with {answer.status_code}: {answer.text[:200]}")


class Spectator:
    """A stream of a table: the number of its events and the time of the last one."""

    def __init__(self) -> None:
        self.events = 0
        self.last = 0.0
        self.bytes_received = 0

    @asynccontextmanager
    async def watching(self, port: int, path: str) -> AsyncIterator[None]:
        """Read the stream while the context is open."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        reading = asyncio.create_task(self._read(reader))
        try:
            yield
        finally:
            reading.cancel()
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            self.bytes_received += len(line)
            if line.startswith(b"id: "):
                self.events += 1
                self.last = perf_counter()


async def spread(port: int, spectator_count: int, act_count: int) -> tuple[list[float], float]:
    """Return the times in seconds from an act to each spectator, and the mean bytes of an event."""
    async with AsyncExitStack() as stack:
        people = []
        for _ in range(2):
            client = await stack.enter_async_context(httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}"))
            people.append(Person(client))
            await people[-1].sit()
        path = f"/watch/{people[0].table.rpartition('/')[2]}/events"
        spectators = [Spectator() for _ in range(spectator_count)]
        for spectator in spectators:
            await stack.enter_async_context(spectator.watching(port, path))
        while not all(spectator.events for spectator in spectators):
            await asyncio.sleep(PAUSE_SECONDS)
        times: list[float] = []
        while len(times) < act_count * spectator_count:
            await asyncio.sleep(PAUSE_SECONDS)
            for person in people:
                if (version := await person.version_to_act_on()) is not None:
                    times += await _time_act(person, version, spectators)
                    break
        received = sum(spectator.bytes_received for spectator in spectators)
        return times, received / sum(spectator.events for spectator in spectators)


async def _time_act(person: Person, version: str, spectators: Sequence[Spectator]) -> list[float]:
    before = [spectator.events for spectator in spectators]
    start = perf_counter()
    await person.call(version)
    while any(spectator.events == events for spectator, events in zip(spectators, before, strict=True)):
        await asyncio.sleep(0.001)
    return [spectator.last - start for spectator in spectators]


async def first_load(port: int) -> tuple[int, set[str]]:
    """Return the bytes of the lobby with all that it refers to, as sent, and the names of other hosts in it."""
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers={"accept-encoding": "gzip"}) as client:
        lobby = await client.get("/")
        answers = [lobby, *[await client.get(path) for path in sorted({*REFERENCE.findall(lobby.text)})]]
        for answer in answers:
            answer.raise_for_status()
        return sum(answer.num_bytes_downloaded for answer in answers), {*FOREIGN.findall(lobby.text)}


def _find(pattern: re.Pattern[str], page: str) -> str:
    found = pattern.search(page)
    if found is None:
        raise BenchError(f"a page has no {pattern.pattern}: {page[:200]}")
    return found[1]


def measure(server: Server, spectator_count: int, act_count: int) -> None:
    """Print the figures of a server."""
    size, hosts = run(first_load(server.port))
    is_met = size < FIRST_LOAD_TARGET_BYTES and not hosts
    print(f"first load: {size / 1024:.1f} KiB, {len(hosts)} other hosts: {verdict(is_met)}")
    before = server.cpu_s()
    times, event_bytes = run(spread(server.port, spectator_count, act_count))
    cpu_ms = (server.cpu_s() - before) * 1e3 / act_count
    p99 = quantiles(times, n=100)[98] * 1e3
    print(
        f"{spectator_count} spectators, {act_count} acts: p50 {median(times) * 1e3:.1f} ms, p99 {p99:.1f} ms, "
        f"{event_bytes / 1024:.1f} KiB an event, {cpu_ms:.1f} ms of processor time an act and its requests: "
        f"{verdict(p99 < SPREAD_TARGET_MS)}"
    )


def main() -> int:
    """Run the benchmark and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--spectators", type=int, default=500)
    parser.add_argument("--acts", type=int, default=40)
    options = parser.parse_args()
    cores: Cores = pick_cores()
    try:
        allow_open_files(2 * options.spectators)
        with running([*CROUPIER, *OPTIONS], cores.server) as server:
            measure(server, options.spectators, options.acts)
    except BenchError as error:
        return fail(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
