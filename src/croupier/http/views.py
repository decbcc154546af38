"""What is to be seen at the tables, rendered once for everybody who sees the same, until it changes."""

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
"""For how many viewers the list of games is kept."""

MAX_LIST_BYTES = 131_072
"""The longest list of games that the client of dialect hspe-go can read, in bytes (ruling H1)."""

FIRST_PAGE_LINK: Final = (b"link", b'</games/?after=0>; rel="first"')
"""Where all games are found, page by page, when a list has not room for them (holdem-9.12)."""


class Representation(Struct, frozen=True, gc=False):
    """A page as one viewer sees it. `told` are the headers of 304, too; `rest` is what follows the date in 200."""

    body: bytes
    etag: bytes
    headers: HoldemHeaders
    content_headers: HoldemHeaders
    raw_after_date: bytes


def make_representation(
    body: bytes, etag: bytes, dialect: Dialect, *extra_headers: tuple[bytes, bytes]
) -> Representation:
    """A page from its bytes. In dialect hspe-go it goes as one chunk, which that client reads in one piece (7.10)."""
    told = [(b"etag", etag), *extra_headers, *COMMON_HEADERS]
    if dialect == "readme":
        content = [(b"content-type", CONTENT_TYPES[dialect]), (b"content-length", b"%d" % len(body))]
        rest = encode_headers(content) + encode_headers(told) + b"\r\n" + body
    else:
        content = [(b"content-type", CONTENT_TYPES[dialect])]
        chunked = encode_headers([*content, *told, (b"transfer-encoding", b"chunked")])
        rest = b"%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (chunked, len(body), body)
    return Representation(body, etag, told, content, rest)


def encode_headers(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Headers as they are sent."""
    return b"".join([b"%s: %s\r\n" % header for header in headers])


HIDDEN_HOLE_CARDS: Final[Mapping[Dialect, bytes]] = {
    "readme": b'"cards":{"hole":[]',
    "hspe-go": b'"cards":{"hole":null',
}
"""The hole cards as the public sees them; within a name the quotes would stand behind backslashes."""

COMMON_HEADERS = ((b"cache-control", b"no-cache"), (b"vary", b"authorization"))
"""What is told about every page: it is to be asked for again, and depends on who asks."""


class GameViewCache:
    """One game as it is seen, and who waits for news of it."""

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
        """The game as a user sees it, None for the public."""
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
        """Whether the game lists a user among those at its table."""
        if self._cached_version != self.table.version:
            self._invalidate()
        if self._handles is None:
            self._handles = frozenset(player.handle for player in self.table.view(None).table)
        return user in self._handles

    async def wait_for_change(self, seconds: float, disconnected: asyncio.Future[None]) -> None:
        """Wait until the game changes, so many seconds are over, whoever waits is gone, or the service closes."""
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
        """Release whoever waits for news."""
        for waiter in self.waiters:
            wake(waiter)

    def _invalidate(self) -> None:
        self._cached_version = self.table.version
        self._handles = self._public_view = None
        self._private_views.clear()

    def _render(self, user: str | None) -> Representation:
        version = b"%d" % self._cached_version
        told = (b"x-game-version", version)
        if user is None:
            text = encode(self.table.view(), self._dialect)
            self._public_view = make_representation(text, b'"%s"' % version, self._dialect, told)
            return self._public_view
        page = self._public_view or self._render(None)
        if hole := self.table.hole(user):  # who has no cards sees what everybody sees
            hidden = HIDDEN_HOLE_CARDS[self._dialect]
            assert hidden in page.body, "a game hides the hole cards from the public"
            text = page.body.replace(hidden, b'"cards":{"hole":["%s"]' % '","'.join(hole).encode(), 1)
            guid = str(self.table.player_guid(user)).encode()
            page = make_representation(text, b'"%s.%s"' % (version, guid), self._dialect, told)
        self._private_views[user] = page
        return page


def wake(waiter: asyncio.Future[None]) -> None:
    """Let a waiter go on, if nobody has before."""
    if not waiter.done():
        waiter.set_result(None)


class ViewCache:
    """All games of a house, and the list of them."""

    def __init__(self, house: House, dialect: Dialect) -> None:
        self._house = house
        self._dialect: Dialect = dialect
        self._games: dict[str, GameViewCache] = {}
        self._lists: dict[str | None, Representation] = {}

    def game(self, guid: str) -> GameViewCache | None:
        """The page of a game, None where there is none."""
        table = self._house.game(guid)
        if table is None:
            return None
        page = self._games.get(guid)
        if page is None:
            page = self._games[guid] = GameViewCache(table, self._dialect)
        return page

    def list_view(self, user: str | None) -> Representation:
        """The games in one list, as many as are shown at once, with the hole cards of the viewer."""
        lists = self._lists
        found = lists.get(user)
        if found is None:
            if user is not None and not self._house.has_player(user):
                return self.list_view(None)
            if len(lists) >= MAX_CACHED_LISTS:
                lists.clear()
            tables = self._fitting_tables(self._house.list_tables(user), user)
            others = [FIRST_PAGE_LINK] if len(tables) < len(self._house.games()) else []
            found = lists[user] = self._render_list(sorted(tables, key=BY_NUMBER), user, *others)
        return found

    def list_page(self, user: str | None, after: int, limit: int | None) -> Representation:
        """At most `limit` games that were made after the one of a number, with a link to those that follow."""
        found, more = self._house.tables_after(after, limit)
        tables = self._fitting_tables(found, user)
        others = []
        if more or len(tables) < len(found):
            size = b"" if limit is None else b"limit=%d&" % limit
            others = [(b"link", b'</games/?%safter=%d>; rel="next"' % (size, tables[-1].number))]
        return self._render_list(tables, user, *others)

    def notify_changed(self, games: Iterable[str]) -> None:
        """Something has changed, and can be seen at these games, which may be gone."""
        self._lists.clear()
        for guid in games:
            page = self._games.get(guid)
            if page is not None:
                if self._house.game(guid) is None:
                    del self._games[guid]
                page.notify()

    def notify_all(self) -> None:
        """Release whoever waits for news of any game."""
        for page in self._games.values():
            page.notify()

    def _fitting_tables(self, tables: Sequence[Table], user: str | None) -> Sequence[Table]:
        """As many of these games, from the first on, as a client of the dialect can read in one list."""
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
        """A game as it stands in a list."""
        page = self.game(table.guid)
        assert page is not None, "a game that is listed is there"
        return page.view_for(user).body.rstrip(b"\n")


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=6).hexdigest().encode()
