"""Serves the page of a tournament while it is played, from a thread beside it, at an address that contains a secret."""

from pathlib import Path
from typing import Self

from starlette.routing import Route

from croupier.arena.plan import Plan
from croupier.clients.blocking import LoopThread
from croupier.core.logger import SilentLogger
from croupier.web.arena_page import ENDPOINTS
from croupier.web.render import Renderer
from croupier.web.secret_site import create_secret_site, new_secret, protect, serve_pages, site_config
from croupier.web.streams import Streams
from croupier.web.tournament_routes import FolderPages


class ArenaPages(FolderPages):
    """The page of the tournament in a folder, and the app that shows it. `path` is its secret path."""

    def __init__(self, plan: Plan, folder: Path, port: int = 0) -> None:
        secret, config, renderer = new_secret(), site_config("arena", port), Renderer([])
        self.path = f"/arena/{secret}"
        super().__init__(folder, self.path, Streams(config), renderer, log=SilentLogger(), plan=plan)
        routes = [Route(f"/arena/{{secret}}{path}", protect(secret, self.endpoint(path))) for path in ENDPOINTS]
        self.app = create_secret_site(routes, renderer, config)


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
