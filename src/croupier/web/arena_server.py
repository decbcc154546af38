"""Serves the page of a tournament from a process of its own: reports take seconds, and bots do not wait for them."""

import multiprocessing
import os
import signal
from multiprocessing.connection import Connection
from time import monotonic
from types import TracebackType
from typing import Final, Self

from croupier.arena.plan import Pairing, Plan
from croupier.arena.series import Series

SEND_INTERVAL_SECONDS: Final = 0.05
NICENESS: Final = 10
"""The process leaves the processors to bots when all are busy."""

STOP_SECONDS: Final = 2.0
"""The time that the process has to end its streams."""


class ArenaServer:
    """The page of a tournament at `url`, an address with a secret. Use it in a `with` statement.

    A failure of the page does not stop the tournament; then `is_lost` is true. Raises OSError if it cannot be served.
    """

    def __init__(self, plan: Plan, port: int = 0) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=_main, args=(plan, port, other), daemon=True)
        self._process.start()
        other.close()
        self.is_lost = False
        self._changed: dict[Pairing, Series] = {}
        self._sent: dict[Pairing, int] = {}
        self._sent_at = monotonic()
        found = self._receive()
        if isinstance(found, OSError):
            self.close()
            raise found
        self.url = found

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def show(self, series: Series) -> None:
        """Show a series that has changed, soon."""
        self._changed[series.pairing] = series
        if monotonic() - self._sent_at >= SEND_INTERVAL_SECONDS:
            self._send_changes()

    def finish(self) -> None:
        """Show the last report."""
        self._send_changes()
        self._send(None)

    def close(self) -> None:
        """End the page and its process."""
        self._connection.close()
        self._process.join(STOP_SECONDS)
        self._process.kill()
        self._process.join()

    def _receive(self) -> str | OSError:
        """The address of the page, or why it cannot be served."""
        try:
            found: str | OSError = self._connection.recv()
        except EOFError:
            return ChildProcessError("the process of the page has ended")
        return found

    def _send_changes(self) -> None:
        changes = [
            (pairing, [*series.tallies[self._sent.get(pairing, 0) :]]) for pairing, series in self._changed.items()
        ]
        self._sent |= {pairing: len(series.tallies) for pairing, series in self._changed.items()}
        self._changed.clear()
        self._send(changes)
        self._sent_at = monotonic()

    def _send(self, message: object) -> None:
        if not self.is_lost:
            try:
                self._connection.send(message)
            except OSError:
                self.is_lost = True


def _main(plan: Plan, port: int, connection: Connection) -> None:
    """The main function of the process. It ends when the other end of the connection is closed."""
    from croupier.net.event_loop import run

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes of the terminal; the first one decides
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    run(_serve(plan, port, connection))


async def _serve(plan: Plan, port: int, connection: Connection) -> None:
    """Serve the page while the connection is open."""
    import asyncio

    from croupier.web.arena_page import ArenaPage
    from croupier.web.secret_site import serve_pages

    try:
        async with serve_pages(lambda bound_port: ArenaPage(plan, bound_port), port) as (page, url):
            connection.send(url)
            while True:
                try:
                    changes = await asyncio.to_thread(connection.recv)
                except (EOFError, OSError):
                    return
                if changes is None:
                    page.finish()
                else:
                    page.note(changes)
    except OSError as error:
        connection.send(error)
