"""The tournament in a folder on a page of the web app, live while `croupier arena --out` writes it.

A process beside the server reads the folder and makes the reports: they take seconds, and games do not wait for them.
"""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from croupier.arena.plan import Plan
from croupier.arena.record import RecordFollower
from croupier.arena.tournament import Tournament
from croupier.core.presentation import text
from croupier.web.arena_page import ENDPOINTS, MIN_PAUSE_SECONDS, MadeReport, TournamentPage, make_report
from croupier.web.secret_site import Endpoint
from croupier.web.site import Site

PATH: Final = "/tournament"

NICENESS: Final = 10
"""The process leaves the processors to bots when all are busy."""

type FolderNews = Plan | MadeReport | str | None
"""What the process sends: a tournament that has begun, its reports, None at its end, or why it cannot be shown."""


class FolderPages:
    """The pages of the tournaments in a folder, one after another, at `path`; see `TournamentPage`.

    With `plan` the page of a tournament is there before it begins. `is_lost` is true when the folder cannot be read any
    more: that is logged, and leaves the page as it is.
    """

    def __init__(self, folder: Path, path: str, site: Site, plan: Plan | None = None) -> None:
        self.is_lost = False
        self._folder = folder
        self._path = path
        self._site = site
        self._page = None if plan is None else self._make_page(plan)

    async def run(self) -> None:
        """Show what a process reads in the folder, until it ends or this is cancelled."""
        context = multiprocessing.get_context("spawn")
        connection, other = context.Pipe()
        process = context.Process(target=follow_folder, args=(self._folder, other), daemon=True)
        process.start()
        other.close()
        loop, thread = asyncio.get_running_loop(), ThreadPoolExecutor(1, "tournament")
        try:
            while True:
                self._show(await loop.run_in_executor(thread, connection.recv))
        except (EOFError, OSError):
            self.is_lost = True
        finally:
            process.kill()
            process.join()
            thread.shutdown()
            connection.close()

    def end(self) -> None:
        """Publish that the tournament is over, and end all streams."""
        if self._page is not None:
            self._page.end()

    def close(self) -> None:
        """End all streams."""
        if self._page is not None:
            self._page.feed.end()

    def endpoint(self, name: str) -> Endpoint:
        """Return what answers requests for one of the ENDPOINTS."""

        async def respond(request: Request) -> Response:
            if self._page is None:
                return self._site.renderer.error(request, 404, text("No tournament has begun yet."))
            return ENDPOINTS[name](self._page, request)

        return respond

    def _show(self, news: FolderNews) -> None:
        if isinstance(news, Plan):
            if self._page is None or self._page.plan != news or self._page.feed.is_over:
                self.end()
                self._page = self._make_page(news)
        elif isinstance(news, str):
            self._site.log.error("the tournament cannot be shown", reason=news)
        elif self._page is not None:
            if news is None:
                self._page.end()
            else:
                self._page.publish(news)

    def _make_page(self, plan: Plan) -> TournamentPage:
        return TournamentPage(plan, self._path, self._site)


class TournamentRoutes:
    """Shows the tournament in a folder to everybody."""

    def __init__(self, folder: Path, site: Site) -> None:
        self._pages = FolderPages(folder, PATH, site)
        self._following = asyncio.create_task(self._pages.run())
        self.routes: Sequence[BaseRoute] = [Route(f"{PATH}{name}", self._pages.endpoint(name)) for name in ENDPOINTS]

    def close(self) -> None:
        """End the streams and the process."""
        self._following.cancel()
        self._pages.close()

    async def wait_closed(self) -> None:
        """Wait until the process has ended after `close`."""
        await asyncio.wait([self._following])


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
    tournament, is_shown_over, due_at = Tournament(record.plan), False, monotonic()
    while not record.is_replaced:
        is_over = record.is_over
        if (is_over or monotonic() >= due_at) and (chunks := record.read()):
            for each in chunks:
                tournament.add(each.pairing, each.chunk, each.tally)
            made = make_report(tournament)
            connection.send(made)
            due_at = monotonic() + made.pause_seconds
        if is_over and not is_shown_over:
            connection.send(None)
            is_shown_over = True
        if connection.poll(MIN_PAUSE_SECONDS):
            return True
    return False
