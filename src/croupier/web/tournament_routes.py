"""The tournament in a folder on a page of the web app, live while `croupier arena --out` writes it.

A process beside the server reads the folder and makes the reports: they take seconds, and games do not wait for them.
"""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from croupier.arena.plan import Plan
from croupier.arena.record import RecordFollower
from croupier.arena.tournament import Tournament
from croupier.core.logger import Logger
from croupier.core.presentation import text
from croupier.web.arena_page import MIN_PAUSE_SECONDS, MadeReport, TournamentPage, make_report
from croupier.web.arena_server import NICENESS
from croupier.web.render import Renderer
from croupier.web.streams import Streams

PATH: Final = "/tournament"

type FolderNews = Plan | MadeReport | str | None
"""What the process sends: a tournament that has begun, its reports, None at its end, or why it cannot be shown."""


class TournamentRoutes:
    """Shows the tournament in a folder to everybody. A failure of the process is logged, and leaves the page."""

    def __init__(self, folder: Path, streams: Streams, renderer: Renderer, log: Logger) -> None:
        self._renderer = renderer
        self._streams = streams
        self._log = log
        self._page: TournamentPage | None = None
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=follow_folder, args=(folder, other), daemon=True)
        self._process.start()
        other.close()
        self._thread = ThreadPoolExecutor(1, "tournament")
        self._receiving = asyncio.create_task(self._receive())

    @property
    def routes(self) -> Sequence[BaseRoute]:
        """The routes."""
        return [
            Route(PATH, self._endpoint("")),
            Route(f"{PATH}/events", self._endpoint("/events")),
            Route(f"{PATH}/results.html", self._endpoint("/results.html")),
        ]

    def close(self) -> None:
        """End the streams and the process."""
        self._process.kill()
        if self._page is not None:
            self._page.feed.end()

    async def wait_closed(self) -> None:
        """Wait until the process has ended after `close`."""
        await self._receiving
        self._process.join()
        self._thread.shutdown()
        self._connection.close()

    def _endpoint(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            if self._page is None:
                return self._renderer.error(request, 404, text("No tournament has begun yet."))
            return self._page.endpoints[name](request)

        return respond

    async def _receive(self) -> None:
        """Show what the process sends, until it ends."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                news: FolderNews = await loop.run_in_executor(self._thread, self._connection.recv)
            except (EOFError, OSError):
                return
            self._show(news)

    def _show(self, news: FolderNews) -> None:
        if isinstance(news, Plan):
            if self._page is not None:
                self._page.end()
            self._page = TournamentPage(news, PATH, self._renderer, self._streams)
        elif isinstance(news, str):
            self._log.error("the tournament cannot be shown", reason=news)
        elif self._page is not None:
            if news is None:
                self._page.end()
            else:
                self._page.publish(news)


def follow_folder(folder: Path, connection: Connection) -> None:
    """Send the tournaments in a folder: the main function of the process. It ends with the server."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes of the terminal; the server decides
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    try:
        while True:
            try:
                record = RecordFollower(folder)
            except FileNotFoundError:
                if connection.poll(MIN_PAUSE_SECONDS):
                    return
            else:
                if _follow_tournament(record, connection):
                    return
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the server has ended
    except (OSError, ValueError, ImportError) as error:
        connection.send(str(error))


def _follow_tournament(record: RecordFollower, connection: Connection) -> bool:
    """Send a tournament and its reports until the folder has another one; return whether the server has ended."""
    connection.send(record.plan)
    tournament, is_shown_over = Tournament(record.plan), False
    while not record.is_replaced:
        pause, is_over = MIN_PAUSE_SECONDS, record.is_over
        chunks = record.read()
        for each in chunks:
            tournament.add(each.pairing, each.chunk, each.tally)
        if chunks:
            made = make_report(tournament)
            connection.send(made)
            pause = made.pause_seconds
        if is_over and not is_shown_over:
            connection.send(None)
            is_shown_over = True
        if connection.poll(pause):
            return True
    return False
