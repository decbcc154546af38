"""Serves the page of a tournament while it is played, from a thread beside it, at an address that contains a secret."""

from pathlib import Path
from typing import Self

from starlette.routing import Route

from croupier.arena.plan import Plan
from croupier.clients.blocking import LoopThread
from croupier.web.arena_page import ENDPOINTS
from croupier.web.secret_site import new_secret, protect, secret_site, serve_pages
from croupier.web.site_app import create_site_app
from croupier.web.tournament_routes import FolderPages


class ArenaPages(FolderPages):
    """The page of the tournament in a folder, and the app that shows it. `path` is its secret path."""

    def __init__(self, plan: Plan, folder: Path, port: int = 0) -> None:
        secret, site = new_secret(), secret_site("arena", port)
        self.path = f"/arena/{secret}"
        super().__init__(folder, self.path, site, plan)
        routes = [Route(f"/arena/{{secret}}{path}", protect(secret, self.endpoint(path))) for path in ENDPOINTS]
        self.app = create_site_app(site, routes)


class ArenaServer:
    """The page of the tournament in a folder at `url`, an address with a secret. Use it in a `with` statement.

    A failure of the page does not stop the tournament; then `is_lost` is true. Raises OSError if it cannot be served.
    """

    def __init__(self, plan: Plan, folder: Path, port: int = 0) -> None:
        self._thread = LoopThread()
        self._serving = serve_pages(lambda bound_port: ArenaPages(plan, folder, bound_port), port)
        try:
            self._pages, self.url = self._thread.call(self._serving.__aenter__)
        except BaseException:
            self._thread.stop()
            raise

    @property
    def is_lost(self) -> bool:
        """Whether the page shows nothing new any more."""
        return self._pages.is_lost

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._thread.call(self._serving.__aexit__, None, None, None)
        finally:
            self._thread.stop()
