"""The demo runs for a long time: people who come and go leave nothing behind in the server."""

import asyncio
import os
import random
import re
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, NamedTuple

import httpx
import pytest

from croupier.rooms import HOUSE_ROOMS, ROOMS
from tests.processes import COMMAND, PATIENCE, Serving

SOAK_SECONDS: Final = 60.0
SAMPLE_SECONDS: Final = 1.0
PAGES: Final = ("/", "/watch", "/replay", "/protocols", "/protocols/holdem", "/check", "/fair", "/nowhere")
PLAYERS: Final = 3
WATCHERS: Final = 3
MAX_GROWTH_BYTES: Final = 8 << 20
"""Seats of browsers that have gone are kept for two minutes."""

MAX_MORE_FILES: Final = 40
"""A seat in Old Maid that is kept has a few connections."""


class Sample(NamedTuple):
    """What a process uses: resident memory in bytes, and open file descriptors."""

    memory: int
    files: int


def sample(pid: int) -> Sample:
    """What a process uses now."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return Sample(pages * os.sysconf("SC_PAGE_SIZE"), len([*Path(f"/proc/{pid}/fd").iterdir()]))


async def watch(client: httpx.AsyncClient, luck: random.Random) -> None:
    """Open all pages, and watch the table of hold'em with the most players for a while."""
    for path in PAGES:
        await client.get(path)
    found = re.search(r'href="(/watch/[^"]+)"', (await client.get("/watch")).text)
    assert found, "the bots of the demo play hold'em"
    async with client.stream("GET", f"{found[1]}/events") as events:
        end = time.monotonic() + luck.uniform(1, 10)
        async for _ in events.aiter_lines():
            if time.monotonic() > end:
                return


async def play(client: httpx.AsyncClient, luck: random.Random) -> None:
    """Take a seat, act some times with the stream of the table open, and leave or just go away."""
    csrf = field(await client.get("/"), "csrf")
    room = luck.choice([*HOUSE_ROOMS, "holdem", "oldmaid"])
    seat = await client.post("/play", data={"csrf": csrf, "room": room})
    if seat.status_code == 429:  # too many new browsers from one address
        await asyncio.sleep(5)
        return
    assert seat.status_code == 303, seat.text
    table = seat.headers["location"]
    async with client.stream("GET", f"{table}/events") as events:
        async for _ in events.aiter_lines():
            break
        for _ in range(luck.randrange(30)):
            page = await client.get(table)
            actions = re.findall(r'name="act" value="([^"]+)" form="act"', page.text)
            if not actions:
                break
            form = {"csrf": csrf, "version": field(page, "version"), "act": luck.choice(actions)}
            done = await client.post(f"{table}/act", data=form, headers={"accept": "application/json"})
            assert done.status_code in {200, 202, 409, 429}, done.text
            await asyncio.sleep(0.1)
    if luck.random() < 0.5:
        await client.post(f"{table}/leave", data={"csrf": csrf})


def field(page: httpx.Response, name: str) -> str:
    """The value of a hidden field of a page."""
    found = re.search(rf'name="{name}" value="([^"]+)"', page.text)
    assert found, page.text
    return found[1]


async def soak(server: Serving, seconds: float) -> list[Sample]:
    """Let people watch and play, and sample what the server uses."""
    url = f"http://127.0.0.1:{server.ports['web']}"
    end = time.monotonic() + seconds

    async def repeat(visit: Callable[[httpx.AsyncClient, random.Random], Awaitable[None]], seed: int) -> None:
        luck = random.Random(seed)
        while time.monotonic() < end:
            async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client:
                await visit(client, luck)

    samples = []
    async with asyncio.TaskGroup() as people:
        for number in range(WATCHERS):
            people.create_task(repeat(watch, number))
        for number in range(PLAYERS):
            people.create_task(repeat(play, number))
        while time.monotonic() < end:
            samples.append(sample(server.pid))
            await asyncio.sleep(SAMPLE_SECONDS)
    return samples


@pytest.mark.slow
def test_the_demo_uses_no_more_after_a_while() -> None:
    command = (*COMMAND, "demo", "--free-ports")
    with Serving("--no-browser", "--pause", "0.2", command=command, ready=len(ROOMS) + 2) as server:
        samples = asyncio.run(soak(server, SOAK_SECONDS))
        third = len(samples) // 3
        early, late = samples[third : 2 * third], samples[2 * third :]
        assert max(each.memory for each in late) <= max(each.memory for each in early) + MAX_GROWTH_BYTES
        assert max(each.files for each in late) <= max(each.files for each in early) + MAX_MORE_FILES
        server.signal(signal.SIGINT)
        assert server.end() == 0
        assert server.log == ""
