"""The routes of the protocol pages."""

from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from croupier.web.protocols import PAGES, protocol_page
from croupier.web.render import Renderer


class ProtocolRoutes:
    """Shows the protocol pages, clause by clause."""

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer
        self.routes: Sequence[BaseRoute] = [Route("/protocols", self.list_pages), Route("/protocols/{name}", self.show)]

    async def list_pages(self, request: Request) -> Response:
        """List the protocol pages."""
        pages = [(name, page.title) for name in PAGES if (page := protocol_page(name)) is not None]
        return self._renderer.page(request, "protocols.html", protocols=pages)

    async def show(self, request: Request) -> Response:
        """Show a protocol page."""
        name = request.path_params["name"]
        protocol = protocol_page(name) if name in PAGES else None
        if protocol is None:
            raise HTTPException(404)
        return self._renderer.page(request, "protocol.html", name=name, protocol=protocol)
