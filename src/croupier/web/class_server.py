"""Serves a matrix to the class while it is played: its pages, at an address that contains a secret."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from msgspec.structs import replace

from croupier.conformance.matrix.matrix import Matrix, MatrixPlan
from croupier.conformance.throttle import Throttle
from croupier.core.logger import SilentLogger
from croupier.net.addresses import format_address
from croupier.net.listening_socket import bind_socket, bound_address
from croupier.web.class_page import GridPage, MatrixState
from croupier.web.class_routes import ClassRoutes
from croupier.web.class_view import ClassPrivacy, GridPlan, roster
from croupier.web.config import WebConfig
from croupier.web.cookies import SigningKeys
from croupier.web.http_server import AppServer
from croupier.web.logins import Logins
from croupier.web.protocol_routes import ProtocolRoutes
from croupier.web.render import Renderer
from croupier.web.rooms import RoomName, room_title
from croupier.web.site import create_site
from croupier.web.streams import Streams

HOST: Final = "127.0.0.1"
CLASS_ID_BYTES: Final = 16
"""Programs of students run on this machine, and can connect to the server: they must not guess the id."""

PUBLISH_INTERVAL_SECONDS: Final = 0.5


class ClassPages:
    """The pages of a matrix, one for each room, and the app that shows them. `path` is the secret path of the class."""

    def __init__(self, plan: MatrixPlan, privacy: ClassPrivacy, port: int = 0) -> None:
        members = roster(plan.submissions, is_anonymous=privacy.is_anonymous)
        class_id = secrets.token_urlsafe(CLASS_ID_BYTES)
        config = WebConfig(cookie=f"croupier-class-{port}")
        renderer = Renderer([])
        self.path = f"/class/{class_id}"
        self._plan = plan
        self._matrix: Matrix | None = None
        self._changes = Throttle(self.publish, PUBLISH_INTERVAL_SECONDS)
        start = MatrixState(plan.results([], is_complete=False))
        self._pages = {}
        for terms in plan.terms:
            room = terms.room
            grid = GridPlan(
                room=room.name,
                servers=plan.players(room, "server"),
                clients=plan.players(room, "client"),
                members=members,
                privacy=privacy,
                path=f"{self.path}/{room.name}",
            )
            self._pages[room.name] = GridPage(RoomName(room.name, room_title(room)), grid, start, renderer)
        routes = ClassRoutes(class_id, self._pages, Streams(config), renderer).routes
        self.app = create_site(
            [*routes, *ProtocolRoutes(renderer).routes],
            renderer,
            config,
            keys=SigningKeys(),
            logins=Logins(None),
            log=SilentLogger(),
        )

    def note(self, matrix: Matrix) -> None:
        """Note that a matrix has changed; `run` publishes it."""
        self._matrix = matrix
        self._changes.note()

    async def run(self) -> None:
        """Publish changes until it is cancelled."""
        await self._changes.run()

    def end(self) -> None:
        """Publish the last state, and end all streams."""
        self.publish(is_running=False)

    def publish(self, *, is_running: bool = True) -> None:
        """Publish the state of the matrix now."""
        cells, building, running = [], [], []
        if self._matrix is not None:
            cells, building, running = self._matrix.cells, self._matrix.building, self._matrix.running
        results = self._plan.results(cells, is_complete=len(cells) == self._plan.cells)
        state = MatrixState(results, tuple(building), tuple(running), is_running)
        for page in self._pages.values():
            page.publish(state)


def shuffle_students(plan: MatrixPlan) -> MatrixPlan:
    """Return a plan with the students in a random order: neither their numbers nor who plays first say who they are."""
    students = [each for each in plan.submissions if not each.is_reference]
    secrets.SystemRandom().shuffle(students)
    return replace(plan, submissions=[*students, *(each for each in plan.submissions if each.is_reference)])


@asynccontextmanager
async def serve_class(plan: MatrixPlan, privacy: ClassPrivacy, port: int) -> AsyncIterator[tuple[ClassPages, str]]:
    """Serve the pages of a matrix on loopback while the context is open; yield them and their URL. Raises OSError."""
    with await bind_socket(HOST, port) as bound:
        address = bound_address(bound)
        pages = ClassPages(plan, privacy, address[1])
        server = AppServer(pages.app, bound)
        publishing = asyncio.create_task(pages.run())
        try:
            yield pages, f"http://{format_address(address)}{pages.path}"
        finally:
            publishing.cancel()
            pages.end()
            await server.close()
