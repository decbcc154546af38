"""Views of games: rendered once for all clients that see the same, and cached until the game changes."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Final

from msgspec import Struct

from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.table.register import BY_NUMBER
from croupier.rooms.holdem.table.table import Table
from croupier.rooms.holdem.wire import CONTENT_TYPES, Dialect, HoldemHeaders, encode

MAX_CACHED_LISTS = 256
"""Maximum number of users for whom the list of games is cached."""

MAX_LIST_BYTES = 131_072
"""The longest list of games that the client of dialect hspe-go can read (ruling H1)."""

FIRST_PAGE_LINK: Final = (b"link", b'</games/?after=0>; rel="first"')
"""Links a list that is cut off to its first page; the pages contain all games (holdem-9.12)."""


class Representation(Struct, frozen=True, gc=False):
    """A resource as one viewer sees it. `headers` are those of 304 and 200; `raw_after_date` is the rest of a 200."""

    body: bytes
    etag: bytes
    headers: HoldemHeaders
    content_headers: HoldemHeaders
    raw_after_date: bytes


def make_representation(
    body: bytes, etag: bytes, dialect: Dialect, *extra_headers: tuple[bytes, bytes]
) -> Representation:
    """Build a representation. In dialect hspe-go it is sent as one chunk, which its client reads at once (7.10)."""
    headers = [(b"etag", etag), *extra_headers, *COMMON_HEADERS]
    if dialect == "readme":
        content = [(b"content-type", CONTENT_TYPES[dialect]), (b"content-length", b"%d" % len(body))]
        raw_after_date = encode_headers(content) + encode_headers(headers) + b"\r\n" + body
    else:
        content = [(b"content-type", CONTENT_TYPES[dialect])]
        chunked = encode_headers([*content, *headers, (b"transfer-encoding", b"chunked")])
        raw_after_date = b"%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (chunked, len(body), body)
    return Representation(body, etag, headers, content, raw_after_date)


def encode_headers(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Encode headers for the wire."""
    return b"".join([b"%s: %s\r\n" % header for header in headers])


HIDDEN_HOLE_CARDS: Final[Mapping[Dialect, bytes]] = {
    "readme": b'"cards":{"hole":[]',
    "hspe-go": b'"cards":{"hole":null',
}
"""The hole cards in the public view. A player's name cannot contain this text, because its quotes are escaped."""

COMMON_HEADERS = ((b"cache-control", b"no-cache"), (b"vary", b"authorization"))
"""Headers of every representation: caches must revalidate it, and it depends on the user."""


class GameViewCache:
    """The cached views of one game, and the requests that wait for its next change."""

    __slots__ = ("_cached_version", "_dialect", "_handles", "_private_views", "_public_view", "table", "waiters")

    def __init__(self, table: Table, dialect: Dialect) -> None:
        self.table = table
        self.waiters: set[asyncio.Future[None]] = set()
        self._dialect: Dialect = dialect
        self._cached_version = -1
        self._handles: frozenset[str] | None = None
        self._public_view: Representation | None = None
        self._private_views: dict[str, Representation] = {}

    def view_for(self, user: str | None) -> Representation:
        """The game as a user sees it; None is the public."""
        table = self.table
        if self._cached_version != table.version:
            self._invalidate()
        if user is not None:
            found = self._private_views.get(user)
            if found is not None:
                return found
            if table.player_guid(user) is not None:
                return self._render(user)
        return self._public_view or self._render(None)

    def lists_user(self, user: str) -> bool:
        """Whether a user is listed among the players at the table."""
        if self._cached_version != self.table.version:
            self._invalidate()
        if self._handles is None:
            self._handles = frozenset(player.handle for player in self.table.view(None).table)
        return user in self._handles

    async def wait_for_change(self, seconds: float, disconnected: asyncio.Future[None]) -> None:
        """Wait until the game changes, `seconds` are over, the client disconnects, or the service closes."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        self.waiters.add(waiter)
        timer = loop.call_later(seconds, wake, waiter)
        disconnected.add_done_callback(lambda _: wake(waiter))
        try:
            await waiter
        finally:
            timer.cancel()
            self.waiters.discard(waiter)

    def notify(self) -> None:
        """Wake all requests that wait for a change."""
        for waiter in self.waiters:
            wake(waiter)

    def _invalidate(self) -> None:
        self._cached_version = self.table.version
        self._handles = self._public_view = None
        self._private_views.clear()

    def _render(self, user: str | None) -> Representation:
        version = b"%d" % self._cached_version
        version_header = (b"x-game-version", version)
        if user is None:
            text = encode(self.table.view(), self._dialect)
            self._public_view = make_representation(text, b'"%s"' % version, self._dialect, version_header)
            return self._public_view
        view = self._public_view or self._render(None)
        if hole := self.table.hole(user):  # users without cards see the public view
            hidden_cards = HIDDEN_HOLE_CARDS[self._dialect]
            assert hidden_cards in view.body, "a game hides the hole cards from the public"
            text = view.body.replace(hidden_cards, b'"cards":{"hole":["%s"]' % '","'.join(hole).encode(), 1)
            guid = str(self.table.player_guid(user)).encode()
            view = make_representation(text, b'"%s.%s"' % (version, guid), self._dialect, version_header)
        self._private_views[user] = view
        return view


def wake(waiter: asyncio.Future[None]) -> None:
    """Wake a waiter, unless that has happened before."""
    if not waiter.done():
        waiter.set_result(None)


class ViewCache:
    """The cached views of all games of a house, and of the list of games."""

    def __init__(self, house: House, dialect: Dialect) -> None:
        self._house = house
        self._dialect: Dialect = dialect
        self._games: dict[str, GameViewCache] = {}
        self._lists: dict[str | None, Representation] = {}

    def game(self, guid: str) -> GameViewCache | None:
        """The view cache of a game, or None if there is no such game."""
        table = self._house.game(guid)
        if table is None:
            return None
        view = self._games.get(guid)
        if view is None:
            view = self._games[guid] = GameViewCache(table, self._dialect)
        return view

    def list_view(self, user: str | None) -> Representation:
        """The list of games as a user sees it, cut off at the size that clients of the dialect can read."""
        lists = self._lists
        found = lists.get(user)
        if found is None:
            if user is not None and not self._house.has_player(user):
                return self.list_view(None)
            if len(lists) >= MAX_CACHED_LISTS:
                lists.clear()
            tables = self._fitting_tables(self._house.list_tables(user), user)
            links = [FIRST_PAGE_LINK] if len(tables) < len(self._house.games()) else []
            found = lists[user] = self._render_list(sorted(tables, key=BY_NUMBER), user, *links)
        return found

    def list_page(self, user: str | None, after: int, limit: int | None) -> Representation:
        """At most `limit` games with numbers above `after`, with a link to the next page."""
        found, more = self._house.tables_after(after, limit)
        tables = self._fitting_tables(found, user)
        links = []
        if more or len(tables) < len(found):
            size = b"" if limit is None else b"limit=%d&" % limit
            links = [(b"link", b'</games/?%safter=%d>; rel="next"' % (size, tables[-1].number))]
        return self._render_list(tables, user, *links)

    def notify_changed(self, games: Iterable[str]) -> None:
        """Handle changes of these games, which may have ended."""
        self._lists.clear()
        for guid in games:
            view = self._games.get(guid)
            if view is not None:
                if self._house.game(guid) is None:
                    del self._games[guid]
                view.notify()

    def notify_all(self) -> None:
        """Wake all requests that wait for a change of any game."""
        for view in self._games.values():
            view.notify()

    def _fitting_tables(self, tables: Sequence[Table], user: str | None) -> Sequence[Table]:
        """The longest prefix of these games that a client of the dialect can read in one list."""
        if self._dialect == "readme":
            return tables
        length = len(b"[]\n")
        for number, table in enumerate(tables):
            length += len(self._list_entry(table, user)) + 1
            if length > MAX_LIST_BYTES:
                return tables[:number]
        return tables

    def _render_list(
        self, tables: Iterable[Table], user: str | None, *extra_headers: tuple[bytes, bytes]
    ) -> Representation:
        text = b"[%s]" % b",".join([self._list_entry(table, user) for table in tables])
        if self._dialect == "hspe-go":
            text += b"\n"
        return make_representation(text, b'"%s"' % _digest(text), self._dialect, *extra_headers)

    def _list_entry(self, table: Table, user: str | None) -> bytes:
        """A game as an element of a list."""
        view = self.game(table.guid)
        assert view is not None, "a listed game exists"
        return view.view_for(user).body.rstrip(b"\n")


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=6).hexdigest().encode()
