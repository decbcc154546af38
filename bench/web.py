"""Benchmark: the web app, for people who watch one table, a browser that opens its first page, and programs beside it.

Watching: two people play hold'em, and check or call; many spectators have a stream of the table. Measured is the time
from the start of a request with an act until each stream has the new state. Server and load have a core each.

First load: the bytes that a browser receives for the lobby and everything that it refers to, compressed as browsers
ask for it, and the hosts that these pages name.

First card: the time from the line with the URL of a server of all rooms until Chromium shows a card of a game against
the house. The browser is open before; the person clicks as soon as a button is there.

Bots: two bots play hold'em over REST as in bench/rest.py, at servers without the web app, with it, and with it while
spectators watch the bots; the servers take turns.
"""

import argparse
import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from statistics import median, quantiles
from threading import Event, Thread
from time import perf_counter
from typing import Final

import httpx

from croupier.net.event_loop import run
from croupier.rooms import ROOMS
from harness import BenchError, Cores, Result, Server, allow_open_files, fail, pick_cores, running, verdict
from rest import STACK, Setting, play_at, sit_down

SERVE: Final = [sys.executable, "-m", "croupier", "serve", "holdem"]
CROUPIER: Final = [*SERVE, "--port", "0", "--web-port", "0"]
OPTIONS: Final = ["--journal", "off", "--log-level", "error"]
SPREAD_TARGET_MS: Final = 100.0
FIRST_LOAD_TARGET_BYTES: Final = 150 * 1024
FIRST_CARD_TARGET_SECONDS: Final = 1.0
SLOWER_TARGET: Final = 0.05
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


# Programs beside the web app.


@contextmanager
def spectators_of(port: int, path: str, count: int) -> Iterator[None]:
    """Open streams of a table, and read them in a thread while the context is open."""
    streams = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
    is_over = Event()
    with DefaultSelector() as selector:
        for stream in streams:
            stream.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            selector.register(stream, EVENT_READ)

        def read() -> None:
            while not is_over.is_set():
                for key, _ in selector.select(PAUSE_SECONDS):
                    if isinstance(key.fileobj, socket.socket) and not key.fileobj.recv(1 << 16):
                        selector.unregister(key.fileobj)

        reader = Thread(target=read)
        reader.start()
        try:
            yield
        finally:
            is_over.set()
            reader.join()
            for stream in streams:
                stream.close()


def free_port() -> int:
    """Return a port that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


def play_beside(setting: Setting, *, is_open: bool, spectator_count: int = 0) -> Result:
    """Let two bots play at a new server: with the web app if it `is_open`, and with spectators of their table."""
    port = free_port()
    options = [*OPTIONS, "--port", str(port), "--turn-seconds", "86400", "--stack", str(STACK)]
    command = [*SERVE, *options, *(["--web-port", "0"] if is_open else [])]
    with running(command, setting.cores.server) as server:  # with a web app, its port is the first one that is printed
        table = sit_down(Server(server.pid, port), 2)
        with spectators_of(server.port, f"/watch/{table.guid}/events", spectator_count):
            return play_at(setting, [table])


def compare_playing(setting: Setting, spectator_count: int) -> None:
    """Print the hands per second of two bots with the web app, as a share of those without it in the same round.

    Rounds go forth and back in turns, so that a machine that becomes slower favours no side.
    """
    plays: list[Callable[[], Result]] = [
        lambda: play_beside(setting, is_open=False),
        lambda: play_beside(setting, is_open=True),
        lambda: play_beside(setting, is_open=True, spectator_count=spectator_count),
    ]
    rounds = []
    for number in range(setting.rounds):
        direction = -1 if number % 2 else 1
        rounds.append([play() for play in plays[::direction]][::direction])
    closed, *others = zip(*rounds, strict=True)
    hands = median(result.hands / result.seconds for result in closed)
    print(f"two bots without the web app: {hands:,.0f} hands/s, median of {setting.rounds} rounds")
    for title, results in zip(("open", f"open, {spectator_count} spectators"), others, strict=True):
        pairs = [*zip(closed, results, strict=True)]
        shares = [after.hands / after.seconds / (before.hands / before.seconds) for before, after in pairs]
        cpu = median(
            (after.server_cpu_s / after.hands) / (before.server_cpu_s / before.hands) for before, after in pairs
        )
        target = (
            f"; target {1 - SLOWER_TARGET}: {verdict(median(shares) >= 1 - SLOWER_TARGET)}" if title == "open" else ""
        )
        print(
            f"  {title}: {median(shares):.3f} of the hands/s ({min(shares):.2f} to {max(shares):.2f}), "
            f"{cpu:.3f} of the processor time of a hand{target}",
            flush=True,
        )


# The first card.


@contextmanager
def all_rooms() -> Iterator[tuple[str, float]]:
    """Serve all rooms on free ports; give the URL of the web app, and when it was printed, by `perf_counter`."""
    free_ports = {f"CROUPIER_SERVE_{name.upper()}_PORT": "0" for name in ROOMS}
    command = [sys.executable, "-m", "croupier", "serve", "--web-port", "0", "--log-level", "error"]
    with tempfile.TemporaryDirectory() as data:
        environment = os.environ | free_ports | {"XDG_DATA_HOME": data}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert process.stdout is not None
        try:
            yield process.stdout.readline().rpartition(" ")[2].strip(), perf_counter()
        finally:
            process.terminate()
            process.communicate()


def see_card(url: str) -> None:
    """Play Kuhn poker until a page has the first card, without a browser."""
    with httpx.Client(base_url=url) as client:
        csrf = _find(CSRF, client.get("/").text)
        table = client.post("/play", data={"csrf": csrf, "room": "kuhn"}).headers["location"]
        form = {"csrf": csrf, "version": _find(VERSION, client.get(table).text), "act": "first"}
        client.post(f"{table}/act", data=form)
        if "You are dealt" not in client.get(table).text:
            raise BenchError("no card was dealt")


@contextmanager
def chromium() -> Iterator[Callable[[str], None]]:
    """Start Chromium; give a function that plays Kuhn poker until the first card is on the screen."""
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's sandbox does not start as root
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)

        def see_card_in_browser(url: str) -> None:
            page = browser.new_page()
            page.goto(url)
            page.get_by_role("button", name="Play now").first.click()
            page.locator(".act").first.click()
            page.locator(".own .card").wait_for()
            page.close()

        yield see_card_in_browser
        browser.close()


def time_first_card(rounds: int) -> None:
    """Print the time from the line with the URL until the first card is there."""
    has_browser = shutil.which("chromium") is not None and find_spec("playwright") is not None
    where = "in Chromium" if has_browser else "in the page, without a browser (requirements/browser.txt, Chromium)"
    times = []
    with chromium() if has_browser else nullcontext(see_card) as see:
        for _ in range(rounds):
            with all_rooms() as (url, start):
                see(url)
                times.append(perf_counter() - start)
    found = median(times)
    print(
        f"first card {where}: {found * 1e3:.0f} ms after the URL ({min(times) * 1e3:.0f} to {max(times) * 1e3:.0f}"
        f" in {rounds} rounds): {verdict(found < FIRST_CARD_TARGET_SECONDS)}",
        flush=True,
    )


def main() -> int:
    """Run the benchmark and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--spectators", type=int, default=500)
    parser.add_argument("--acts", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=3.0, help="length of one measured window of the bots")
    parser.add_argument(
        "--rounds", type=int, default=3, help="number of measurements of the bots and of the first card"
    )
    parser.add_argument("--bots-spectators", type=int, default=10, help="number of spectators of the bots")
    options = parser.parse_args()
    cores: Cores = pick_cores()
    try:
        allow_open_files(2 * options.spectators)
        with running([*CROUPIER, *OPTIONS], cores.server) as server:
            measure(server, options.spectators, options.acts)
        time_first_card(options.rounds)
        with tempfile.TemporaryDirectory() as folder:
            compare_playing(Setting(cores, options.seconds, options.rounds, Path(folder)), options.bots_spectators)
    except BenchError as error:
        return fail(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
