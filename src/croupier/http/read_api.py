"""What is to be seen of the games of hold'em: now, when it changes, as it goes on, and when a hand is over."""

import asyncio
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from msgspec.json import encode as to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router

from croupier.http.auth import Denied, Guard, Login
from croupier.http.holdem_service import DOWN, Desk
from croupier.http.limits import Limits
from croupier.http.openapi import description
from croupier.http.paging import listed
from croupier.http.responses import Asked, Failed, Reply, denied, parameters, unchanged, verified
from croupier.http.streams import EVENTS, LINES, Crowd, Receive, Send, departure, stream
from croupier.http.views import Page, Shown
from croupier.net.client_addresses import counted
from croupier.rooms.holdem.histories.phh import to_phh
from croupier.rooms.holdem.wire import Dialect
from croupier.store.records import StoreDown

LOOK: Final = "croupier.look"
"""Where the scope of a request has what is to be known of it, for when the very same is asked again."""


ROUND_SECONDS: Final = 1.0
"""After how long at most a stream ends whose user has a new password, though nothing happens in the game."""


class Look:
    """What is asked for with a GET: the game of `guid`, or all of them without one. Other requests are not `plain`.

    `login` is that of whoever asks, None for the public; it may have to be verified again.
    """

    __slots__ = ("authorization", "guid", "login", "match", "plain")

    def __init__(self, scope: MutableMapping[str, Any]) -> None:
        path = scope["path"]
        self.guid = path[7:].removesuffix("/")
        listed = path in {"/games", "/games/"}
        self.plain = not scope["query_string"] and (listed or (path[:7] == "/games/" and bool(self.guid)))
        self.authorization: bytes | None = None
        self.match: bytes | None = None
        self.login: Login | None = None
        for name, value in scope["headers"]:
            if name == b"authorization":
                self.authorization = value
            elif name == b"if-none-match":
                self.match = value


class Watching:
    """Answers everything that is asked with GET or HEAD."""

    def __init__(self, desk: Desk, guard: Guard, dialect: Dialect, limits: Limits) -> None:
        self.crowd = Crowd(limits.streams, limits.streams_each)
        self._desk = desk
        self._pages = desk.pages
        self._guard = guard
        self._dialect: Dialect = dialect
        self._limits = limits
        self._version: int | None = None
        self._round: asyncio.TimerHandle | None = None
        self._described = to_json(description(dialect))
        self._others = Router(
            [
                Route("/openapi.json", self._openapi),
                Route("/games/{game}/hands/{hand}", self._hand),
                Route("/games/{game}/events", Events(self)),
            ],
            redirect_slashes=False,
        )

    def at_hand(self, scope: MutableMapping[str, Any]) -> tuple[Shown, bool] | None:
        """The page that is asked for with GET, and whether the asker has it already.

        None where there is more to it than that.
        """
        look = self.look(scope)
        if look is None:
            return None
        user = _name(look.login)
        if look.guid:
            page = self._pages.page(look.guid)
            if page is None or self._hidden(page, user):
                return None
            found = page.shown(user)
        else:
            found = self._pages.list(user)
        return found, look.match is not None and unchanged(look.match, found.etag)

    def look(self, scope: MutableMapping[str, Any]) -> Look | None:
        """What a plain GET asks for, and who does; None where that is something else, or credentials to be verified."""
        look: Look | None = scope.get(LOOK)
        if look is None:
            look = scope[LOOK] = Look(scope)
        if not look.plain:
            return None
        if look.authorization is not None and (look.login is None or not self._guard.stands(look.login)):
            look.login = self._guard.verified(look.authorization)
            if look.login is None:
                return None
        return look

    async def see(self, question: Asked, names: Sequence[str]) -> Reply:
        """The list of games, or one game, now or when it has changed (holdem-5.1, holdem-5.2, holdem-9.3)."""
        login = await self._viewer(question)
        await self._settled(login)
        user = _name(login)
        if not names:
            return _seen(listed(self._pages, user, question.scope["query_string"]), question)
        wait, since = parameters(question.scope["query_string"])
        page = self._page(names[0], user)
        if wait is None or question.scope["method"] == "HEAD":
            return _seen(page.shown(user), question)
        with self._place(question, login):
            if since is None or since == page.table.version:
                await self._changed(page, login, min(wait, self._limits.wait), question.receive)
        return _seen(self._page(names[0], user, "holdem-9.4").shown(user), question)

    async def _changed(self, page: Page, login: Login | None, seconds: float, receive: Receive) -> None:
        """Wait at most so many seconds until a game has changed. Raises Failed when its viewer may not go on."""
        loop = asyncio.get_running_loop()
        version, end = page.table.version, loop.time() + seconds
        with departure(receive) as gone:
            while (left := end - loop.time()) > 0 and not gone.done() and self._goes_on(page):
                await page.news(left, gone)
                await self._settled(login)
                if page.table.version != version:
                    return

    async def show(self, question: Asked, send: Send) -> None:
        """Let Starlette find who answers."""
        scope = {**question.scope, "path": question.scope["path"].removesuffix("/"), "question": question}
        if scope["method"] != "HEAD":
            await self._others(scope, question.receive, send)
            return

        async def bodiless(message: MutableMapping[str, Any]) -> None:
            await send({**message, "body": b""} if "body" in message else message)

        await self._others(scope, question.receive, bodiless)

    async def stream(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """The stream of a game (holdem-9.6)."""
        question: Asked = scope["question"]
        login = await self._viewer(question)
        await self._settled(login)
        user = _name(login)
        page = self._page(scope["path_params"]["game"], user)
        manner = LINES if b"application/x-ndjson" in question.accept.lower() else EVENTS
        if scope["method"] == "HEAD":
            await send(manner.start)
            await send({"type": "http.response.body", "body": b""})
            return
        with self._place(question, login):
            await stream(
                page,
                user,
                manner,
                question.last,
                ready=lambda: self._ready(login),
                goes_on=lambda: self._goes_on(page),
                alive=self._limits.alive,
                receive=receive,
                send=send,
            )

    async def _openapi(self, request: Request) -> Response:  # noqa: ARG002 -- as Starlette calls it
        return Response(self._described, media_type="application/json")

    async def _hand(self, request: Request) -> Response:
        """A hand that is over, with the hole cards that were shown and those of the viewer (holdem-9.7)."""
        question: Asked = request.scope["question"]
        login = await self._viewer(question)
        await self._settled(login)
        table = self._page(request.path_params["game"], None).table
        number = request.path_params["hand"].removesuffix(".phh")
        played = table.hands.get(int(number)) if number.isascii() and number.isdigit() and len(number) < 20 else None
        if played is None:
            raise Failed(404, "holdem-9.7", f"found the hand {number[:40]!r}; allowed: one that is over, and kept")
        own = [seat for seat, name in enumerate(played.players) if name == _name(login)]
        text = to_phh(
            played.hand, players=played.players, table=table.guid, number=int(number), open={*played.hand.shown, *own}
        )
        return Response(text, media_type="application/toml", headers={"vary": "Authorization"})

    async def _viewer(self, question: Asked) -> Login | None:
        """Who wants to see something, None for the public."""
        if question.authorization is None:
            return None
        return await verified(question, "holdem-2.8", self._guard, self._dialect)

    async def _settled(self, login: Login | None) -> None:
        """Wait until all that can be seen is durable, and its viewer is still a user. Raises Failed."""
        moved = True
        while moved:
            version = self._guard.version()
            if login is not None:
                await self._confirm(login)
            try:
                await self._desk.settle()
            except StoreDown:
                raise Failed(DOWN.status, DOWN.clause, DOWN.detail, (b"retry-after", b"1")) from None
            moved = login is not None and self._guard.version() != version

    async def _confirm(self, login: Login) -> None:
        """See whether a user still has the password with which the login was verified. Raises Failed."""
        try:
            if not await self._guard.confirmed(login):
                raise Denied("wrong", f"found another password of {login.name!r} now; allowed: to log in again")
        except Denied as reason:
            raise denied(reason, "holdem-2.8", self._dialect) from None

    async def _ready(self, login: Login | None) -> bool:
        """The same; False where it fails."""
        try:
            await self._settled(login)
        except Failed:
            return False
        return True

    def _goes_on(self, page: Page) -> bool:
        """Whether there will be news of a game."""
        return not self._desk.closing and self._pages.page(page.table.guid) is page

    def _hidden(self, page: Page, user: str | None) -> bool:
        """Whether a game is not shown to a user, because he is not at its table (holdem-7.3)."""
        return user is not None and self._dialect == "hspe-go" and not page.lists(user)

    def _page(self, guid: str, user: str | None, clause: str = "holdem-8.4") -> Page:
        """The page of a game which a user may see. Raises Failed."""
        page = self._pages.page(guid)
        if page is None:
            raise Failed(404, clause, f"found the game {guid[:100]!r}; allowed: one of /games/")
        if self._hidden(page, user):
            told = f"found {user!r}, who is not at the table; allowed: who is, or no credentials"
            raise Failed(403, "holdem-7.3", told)
        return page

    @contextmanager
    def _place(self, question: Asked, login: Login | None) -> Iterator[None]:
        """A place among those who wait."""
        who = f"address {counted(question.address)}" if login is None else f"user {login.name}"
        if told := self.crowd.full(who):
            raise Failed(429, "holdem-9.10", told, (b"retry-after", b"1"))
        with self.crowd.place(who):
            if self._round is None:
                self._version = self._guard.version()
                self._go_round()
            yield

    def _go_round(self) -> None:
        """Once a second while somebody waits: wake everybody when users have changed."""
        if self._version != (version := self._guard.version()):
            self._version = version
            self._pages.tell()
        self._round = asyncio.get_running_loop().call_later(ROUND_SECONDS, self._go_round) if self.crowd.size else None


class Events:
    """The stream of a game as Starlette wants an ASGI application."""

    def __init__(self, watching: Watching) -> None:
        self._watching = watching

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Send a game as it goes on."""
        await self._watching.stream(scope, receive, send)


def _name(login: Login | None) -> str | None:
    return None if login is None else login.name


def _seen(shown: Shown, question: Asked) -> Reply:
    if question.match is not None and unchanged(question.match, shown.etag):
        return Reply(304, shown.told)
    return Reply(200, [*shown.content, *shown.told], shown.text)
