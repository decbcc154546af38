"""What is to be seen at the tables, rendered once for everybody who sees the same, until it changes."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Final

from msgspec import Struct

from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.table.register import NUMBER
from croupier.rooms.holdem.table.table import Table
from croupier.rooms.holdem.wire import CONTENT, Dialect, Headers, encode

MOST_LISTS = 256
"""For how many viewers the list of games is kept."""

LISTED = 131_072
"""The longest list of games that the client of dialect hspe-go can read, in bytes (ruling H1)."""

FIRST: Final = (b"link", b'</games/?after=0>; rel="first"')
"""Where all games are found, page by page, when a list has not room for them (holdem-9.12)."""


class Shown(Struct, frozen=True, gc=False):
    """A page as one viewer sees it. `told` are the headers of 304, too; `rest` is what follows the date in 200."""

    text: bytes
    etag: bytes
    told: Headers
    content: Headers
    rest: bytes


def shown(text: bytes, etag: bytes, dialect: Dialect, *others: tuple[bytes, bytes]) -> Shown:
    """A page from its bytes. In dialect hspe-go it goes as one chunk, which that client reads in one piece (7.10)."""
    told = [(b"etag", etag), *others, *ALWAYS]
    if dialect == "readme":
        content = [(b"content-type", CONTENT[dialect]), (b"content-length", b"%d" % len(text))]
        rest = lines(content) + lines(told) + b"\r\n" + text
    else:
        content = [(b"content-type", CONTENT[dialect])]
        chunked = lines([*content, *told, (b"transfer-encoding", b"chunked")])
        rest = b"%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (chunked, len(text), text)
    return Shown(text, etag, told, content, rest)


def lines(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Headers as they are sent."""
    return b"".join([b"%s: %s\r\n" % header for header in headers])


HIDDEN: Final[Mapping[Dialect, bytes]] = {"readme": b'"cards":{"hole":[]', "hspe-go": b'"cards":{"hole":null'}
"""The hole cards as the public sees them; within a name the quotes would stand behind backslashes."""

ALWAYS = ((b"cache-control", b"no-cache"), (b"vary", b"authorization"))
"""What is told about every page: it is to be asked for again, and depends on who asks."""


class Page:
    """One game as it is seen, and who waits for news of it."""

    __slots__ = ("_dialect", "_handles", "_private", "_public", "_seen", "table", "waiting")

    def __init__(self, table: Table, dialect: Dialect) -> None:
        self.table = table
        self.waiting: set[asyncio.Future[None]] = set()
        self._dialect: Dialect = dialect
        self._seen = -1
        self._handles: frozenset[str] | None = None
        self._public: Shown | None = None
        self._private: dict[str, Shown] = {}

    def shown(self, user: str | None) -> Shown:
        """The game as a user sees it, None for the public."""
        table = self.table
        if self._seen != table.version:
            self._turn_over()
        if user is not None:
            found = self._private.get(user)
            if found is not None:
                return found
            if table.seat_of(user) is not None:
                return self._render(user)
        return self._public or self._render(None)

    def lists(self, user: str) -> bool:
        """Whether the game lists a user among those at its table."""
        if self._seen != self.table.version:
            self._turn_over()
        if self._handles is None:
            self._handles = frozenset(player.handle for player in self.table.view(None).table)
        return user in self._handles

    async def news(self, seconds: float, gone: asyncio.Future[None]) -> None:
        """Wait until the game changes, so many seconds are over, whoever waits is gone, or the service closes."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        self.waiting.add(waiter)
        timer = loop.call_later(seconds, release, waiter)
        gone.add_done_callback(lambda _: release(waiter))
        try:
            await waiter
        finally:
            timer.cancel()
            self.waiting.discard(waiter)

    def tell(self) -> None:
        """Release whoever waits for news."""
        for waiter in self.waiting:
            release(waiter)

    def _turn_over(self) -> None:
        self._seen = self.table.version
        self._handles = self._public = None
        self._private.clear()

    def _render(self, user: str | None) -> Shown:
        version = b"%d" % self._seen
        told = (b"x-game-version", version)
        if user is None:
            text = encode(self.table.view(), self._dialect)
            self._public = shown(text, b'"%s"' % version, self._dialect, told)
            return self._public
        page = self._public or self._render(None)
        if hole := self.table.hole(user):  # who has no cards sees what everybody sees
            hidden = HIDDEN[self._dialect]
            assert hidden in page.text, "a game hides the hole cards from the public"
            text = page.text.replace(hidden, b'"cards":{"hole":["%s"]' % '","'.join(hole).encode(), 1)
            guid = str(self.table.seat_of(user)).encode()
            page = shown(text, b'"%s.%s"' % (version, guid), self._dialect, told)
        self._private[user] = page
        return page


def release(waiter: asyncio.Future[None]) -> None:
    """Let a waiter go on, if nobody has before."""
    if not waiter.done():
        waiter.set_result(None)


class Pages:
    """All games of a house, and the list of them."""

    def __init__(self, house: House, dialect: Dialect) -> None:
        self._house = house
        self._dialect: Dialect = dialect
        self._pages: dict[str, Page] = {}
        self._lists: dict[str | None, Shown] = {}

    def page(self, guid: str) -> Page | None:
        """The page of a game, None where there is none."""
        table = self._house.game(guid)
        if table is None:
            return None
        page = self._pages.get(guid)
        if page is None:
            page = self._pages[guid] = Page(table, self._dialect)
        return page

    def list(self, user: str | None) -> Shown:
        """The games in one list, as many as are shown at once, with the hole cards of the viewer."""
        lists = self._lists
        found = lists.get(user)
        if found is None:
            if user is not None and not self._house.plays(user):
                return self.list(None)
            if len(lists) >= MOST_LISTS:
                lists.clear()
            tables = self._fitting(self._house.chosen(user), user)
            others = [FIRST] if len(tables) < len(self._house.games()) else []
            found = lists[user] = self._listed(sorted(tables, key=NUMBER), user, *others)
        return found

    def part(self, user: str | None, after: int, limit: int | None) -> Shown:
        """At most `limit` games that were made after the one of a number, with a link to those that follow."""
        found, more = self._house.after(after, limit)
        tables = self._fitting(found, user)
        others = []
        if more or len(tables) < len(found):
            size = b"" if limit is None else b"limit=%d&" % limit
            others = [(b"link", b'</games/?%safter=%d>; rel="next"' % (size, tables[-1].number))]
        return self._listed(tables, user, *others)

    def moved(self, games: Iterable[str]) -> None:
        """Something has changed, and can be seen at these games, which may be gone."""
        self._lists.clear()
        for guid in games:
            page = self._pages.get(guid)
            if page is not None:
                if self._house.game(guid) is None:
                    del self._pages[guid]
                page.tell()

    def tell(self) -> None:
        """Release whoever waits for news of any game."""
        for page in self._pages.values():
            page.tell()

    def _fitting(self, tables: Sequence[Table], user: str | None) -> Sequence[Table]:
        """As many of these games, from the first on, as a client of the dialect can read in one list."""
        if self._dialect == "readme":
            return tables
        length = len(b"[]\n")
        for number, table in enumerate(tables):
            length += len(self._text(table, user)) + 1
            if length > LISTED:
                return tables[:number]
        return tables

    def _listed(self, tables: Iterable[Table], user: str | None, *others: tuple[bytes, bytes]) -> Shown:
        text = b"[%s]" % b",".join([self._text(table, user) for table in tables])
        if self._dialect == "hspe-go":
            text += b"\n"
        return shown(text, b'"%s"' % _digest(text), self._dialect, *others)

    def _text(self, table: Table, user: str | None) -> bytes:
        """A game as it stands in a list."""
        page = self.page(table.guid)
        assert page is not None, "a game that is listed is there"
        return page.shown(user).text.rstrip(b"\n")


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=6).hexdigest().encode()
