"""Records every byte that browsers receive of a game, to compare it with games in which unseen cards are swapped."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from http import HTTPStatus
from itertools import count
from typing import Any, NamedTuple

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from croupier.web.config import WebConfig
from croupier.web.cookies import Visitor
from tests.conformance.mutants.simulated_time import SimulatedTimeLoop
from tests.net.raw_client import Run
from tests.web.app_fixture import KEYS, Browser, Viewer

CONFIG = WebConfig(max_acts_per_second=1000)
SETTLE_SECONDS = 0.06
"""Simulated time in which everything that follows an action has reached the browsers."""

TABLE = "the-table"


class FrozenTimeLoop(SimulatedTimeLoop):
    """Simulated time that passes only in pauses, so that the same game takes the same time."""

    def time(self) -> float:
        """Return the sum of the pauses, in seconds."""
        return self._skipping_selector.skipped_seconds


def run_alike[T](main: Coroutine[Any, Any, T]) -> T:
    """Run a game of the web app without randomness and without time: everything it sends follows from its deck."""
    run = Run(FrozenTimeLoop)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.time", lambda: 0.0)
        patch.setattr("croupier.web.seating.new_table_id", lambda: TABLE)
        patch.setattr("croupier.web.feed.INSTANCE_BYTES", 0)
        result = run(main)
    assert run.faults == []
    return result


def browser_of(app: Starlette, letter: str) -> Browser:
    """A browser with a cookie of its own."""
    browser = Browser(app)
    browser.client.cookies.set("croupier", KEYS.encode(Visitor(letter * 22, 1 << 31)))
    return browser


class Step(NamedTuple):
    """A part of a game: what the protocol has shown to the person, and the bytes that the browsers received."""

    known: Sequence[str]
    received: Sequence[bytes]


class Recorder:
    """Records what the person at a table, and a visitor without a seat, receive: answers, pages, and open streams.

    `records` returns ROOM/TABLE/NUMBER of the finished games, whose pages are opened once, and of the running one.
    `watched` is the address at which the table is watched, if that does not follow from the address of the person's.
    """

    def __init__(
        self,
        app: Starlette,
        person: Browser,
        visitor: Browser,
        streams: Sequence[Viewer],
        records: Callable[[], Sequence[str]] = tuple,
        watched: str = "",
    ) -> None:
        self._watched_pages = [watched, f"{watched}/text"] if watched else []
        self.steps: list[Step] = []
        self._records = records
        self._opened = set[str]()
        self._app = app
        self._person = person
        self._visitor = visitor
        self._streams = streams
        self._counts = [0] * len(streams)

    async def follow(self, known: Sequence[str]) -> None:
        """Record what the streams have sent since the last step."""
        await asyncio.sleep(SETTLE_SECONDS)
        self._add(known, ())

    async def look(self, known: Sequence[str], *answers: httpx.Response) -> None:
        """Record answers, the pages of the table and of records, refused actions, and what the streams have sent."""
        await asyncio.sleep(SETTLE_SECONDS)
        paths = [path for path in page_paths(self._app) if "{id}" in path]
        pages = [*answers, *await self._pages([*paths, *self._watched_pages])]
        for record in self._records():
            if record not in self._opened:
                pages += await self._record_pages(record)
        for form in ({"version": "stale", "act": "leave"}, {"version": self._person.version, "act": "no such action"}):
            for accept in ("application/json", "text/html"):
                for browser in (self._person, self._visitor):
                    pages.append(await browser.post(f"{self._person.table}/act", form, accept=accept))
        self._add(known, pages)

    async def browse(self, known: Sequence[str]) -> None:
        """Record all pages that have no parameter but the id of a table."""
        self._add(known, await self._pages(page_paths(self._app)))

    async def _pages(self, paths: Iterable[str]) -> list[httpx.Response]:
        table = self._person.table.rpartition("/")[2]
        found = [path.replace("{id}", table) for path in paths]
        return [await browser.get(path) for browser in (self._person, self._visitor) for path in found]

    async def _record_pages(self, record: str) -> list[httpx.Response]:
        """Open the page of a record, what its script gets at each step, and the page of its deal."""
        found = [await self._visitor.get(f"/fair/{record}"), await self._visitor.get(f"/replay/{record}")]
        for step in count():
            if found[-1].status_code != HTTPStatus.OK:
                break
            self._opened.add(record)
            path = f"/replay/{record}?step={step}"
            found.append(await self._visitor.get(path, headers={"accept": "application/json"}))
        return found

    def _add(self, known: Sequence[str], pages: Sequence[httpx.Response]) -> None:
        received = [repr((page.status_code, sorted(page.headers.items()))).encode() + page.content for page in pages]
        for number, stream in enumerate(self._streams):
            received += [repr(message).encode() for message in stream.messages[self._counts[number] :]]
            self._counts[number] = len(stream.messages)
        self.steps.append(Step(tuple(known), received))


def page_paths(app: Starlette) -> list[str]:
    """The paths of all pages that have no parameter but the id of a table, `{id}`."""
    paths = [route.path for route in app.routes if isinstance(route, Route) and "GET" in (route.methods or ())]
    return [path for path in paths if not path.endswith("/events") and "{" not in path.replace("{id}", "")]


def shared_steps(one: Sequence[Step], other: Sequence[Step]) -> int:
    """The number of steps up to which the person knows the same of two games.

    Raises AssertionError if a browser received different bytes in one of them.
    """
    for number, (here, there) in enumerate(zip(one, other, strict=False)):
        if here.known != there.known:
            return number
        assert here.received == there.received
    return min(len(one), len(other))
