"""Serves a matrix to the class while it is played: its pages, at an address that contains a secret."""

import secrets
from contextlib import AbstractAsyncContextManager
from typing import Final

from msgspec.structs import replace

from croupier.conformance.matrix.matrix import Matrix, MatrixPlan
from croupier.conformance.throttle import Throttle
from croupier.web.class_page import GridPage, MatrixState
from croupier.web.class_routes import ClassRoutes
from croupier.web.class_view import ClassPrivacy, GridPlan, roster
from croupier.web.protocol_routes import ProtocolRoutes
from croupier.web.rooms import RoomName, room_title
from croupier.web.secret_site import new_secret, secret_site, serve_pages
from croupier.web.site_app import create_site_app

PUBLISH_INTERVAL_SECONDS: Final = 0.5


class ClassPages:
    """The pages of a matrix, one for each room, and the app that shows them. `path` is the secret path of the class."""

    def __init__(self, plan: MatrixPlan, privacy: ClassPrivacy, port: int = 0) -> None:
        members = roster(plan.submissions, is_anonymous=privacy.is_anonymous)
        secret, site = new_secret(), secret_site("class", port)
        self.path = f"/class/{secret}"
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
            self._pages[room.name] = GridPage(RoomName(room.name, room_title(room)), grid, start, site.renderer)
        routes = ClassRoutes(secret, self._pages, site).routes
        self.app = create_site_app(site, [*routes, *ProtocolRoutes(site.renderer).routes])

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


def serve_class(
    plan: MatrixPlan, privacy: ClassPrivacy, port: int
) -> AbstractAsyncContextManager[tuple[ClassPages, str]]:
    """Serve the pages of a matrix on loopback while the context is open; it has them and their URL. Raises OSError."""
    return serve_pages(lambda bound_port: ClassPages(plan, privacy, bound_port), port)
