"""Views of games: rendered once for all clients that see the same, and cached until a change of the game is durable."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from hashlib import blake2b
from typing import Final

from msgspec import Struct

from croupier.http.messages import Header, Response, prepare
from croupier.net.event_loop import resolve
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.presentation import ShownTable
from croupier.rooms.holdem.table.register import BY_NUMBER, Register
from croupier.rooms.holdem.wire import CONTENT_TYPES, Dialect, Game, Guid, encode

MAX_CACHED_LISTS = 256
"""Maximum number of users for whom the list of games is cached."""

MAX_LIST_BYTES = 131_072
"""The longest list of games that the client of dialect hspe-go can read (ruling H1)."""

FIRST_PAGE_LINK: Final = (b"link", b'</games/?after=0>; rel="first"')
"""Links a list that is cut off to its first page; the pages contain all games (holdem-9.12)."""


class Representation(Struct, frozen=True, dict=True):
    """A resource as one viewer sees it. Its responses have `headers`, and the whole one has `content_headers`, too."""

    body: bytes
    etag: bytes
    content_headers: Sequence[Header]
    headers: Sequence[Header]

    @cached_property
    def response(self) -> Response:
        """The whole response."""
        return prepare(200, [*self.content_headers, *self.headers], self.body)

    @cached_property
    def not_modified(self) -> Response:
        """The response for a viewer who has the body already."""
        return prepare(304, self.headers)


def make_representation(body: bytes, etag: bytes, dialect: Dialect, *extra_headers: Header) -> Representation:
    """Build a representation. In dialect hspe-go it is sent as one chunk, which its client reads at once (7.10)."""
    length = [(b"content-length", b"%d" % len(body))] if dialect == "readme" else []
    content_headers = [(b"content-type", CONTENT_TYPES[dialect]), *length]
    return Representation(body, etag, content_headers, [(b"etag", etag), *extra_headers, *COMMON_HEADERS])


HIDDEN_HOLE_CARDS: Final[Mapping[Dialect, bytes]] = {
    "readme": b'"cards":{"hole":[]',
    "hspe-go": b'"cards":{"hole":null',
}
"""The hole cards in the public view. A player's name cannot contain this text, because its quotes are escaped."""

COMMON_HEADERS = ((b"cache-control", b"no-cache"), (b"vary", b"authorization"))
"""Headers of every representation: caches must revalidate it, and it depends on the user."""


class GameViewCache:
    """The cached views of one game, and what is called after every change of it: `waiters`, which must not raise.

    `shown` is what may be shown of the table: its state when the last changes became durable.
    """

    __slots__ = ("_dialect", "_views", "guid", "number", "shown", "waiters")

    def __init__(self, shown: ShownTable, dialect: Dialect) -> None:
        self.guid = shown.guid
        self.number = shown.number
        self.waiters: set[Callable[[], None]] = set()
        self._dialect: Dialect = dialect
        self.show(shown)

    def show(self, shown: ShownTable) -> None:
        """Replace what is shown."""
        self.shown = shown
        self._views: dict[str | None, Representation] = {}  # by user; None is the public

    @property
    def version(self) -> int:
        """The version of the game."""
        return self.shown.version

    @property
    def has_free_seat(self) -> bool:
        """Whether the next player to join gets a seat."""
        return self.shown.has_free_seat

    def view_for(self, user: str | None) -> Representation:
        """The game as a user sees it; None is the public."""
        viewer = user if user in self.shown.guids else None
        found = self._views.get(viewer)
        if found is None:
            found = self._views[viewer] = self._render(viewer)
        return found

    def lists_user(self, user: str) -> bool:
        """Whether a user is listed among the players at the table."""
        return any(player.handle == user for player in self.shown.public.table)

    async def wait_for_change(self, seconds: float, disconnected: asyncio.Future[None]) -> None:
        """Wait until the game changes, `seconds` are over, the client disconnects, or the service closes."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        wake = partial(resolve, waiter)
        self.waiters.add(wake)
        timer = loop.call_later(seconds, wake)

        def on_disconnected(_: asyncio.Future[None]) -> None:
            wake()

        disconnected.add_done_callback(on_disconnected)
        try:
            await waiter
        finally:
            disconnected.remove_done_callback(on_disconnected)  # the caller may wait again
            timer.cancel()
            self.waiters.discard(wake)

    def notify(self) -> None:
        """Wake all requests that wait for a change."""
        for wake in [*self.waiters]:
            wake()

    def _render(self, user: str | None) -> Representation:
        version = b"%d" % self.shown.version
        version_header = (b"x-game-version", version)
        if user is None:
            text = encode(self.shown.public, self._dialect)
            return make_representation(text, b'"%s"' % version, self._dialect, version_header)
        public = self.view_for(None)
        hole = self.shown.holes.get(user)
        if not hole:
            return public
        hidden_cards = HIDDEN_HOLE_CARDS[self._dialect]
        assert hidden_cards in public.body, "a game hides the hole cards from the public"
        text = public.body.replace(hidden_cards, b'"cards":{"hole":["%s"]' % '","'.join(hole).encode(), 1)
        guid = self.shown.guids[user].encode()
        return make_representation(text, b'"%s.%s"' % (version, guid), self._dialect, version_header)


class ViewCache:
    """The cached views of all games of a house, and of the list of games.

    They show what was passed to `publish` last, and never wait. `games` are the cached views of each game. `settings`
    are those of the houses.
    """

    def __init__(self, settings: Settings) -> None:
        self._listed = settings.listed
        self._dialect: Dialect = settings.dialect
        self.games = Register[GameViewCache]()
        self._lists: dict[str | None, Representation] = {}

    def publish(self, changes: Mapping[Guid, ShownTable | None]) -> None:
        """Show these tables from now on, and no longer those that are None; wake the requests that wait for them."""
        if changes:
            self._lists.clear()
        for guid, shown in changes.items():
            game = self.games.get(guid)
            if shown is None:
                if game is not None:
                    self.games.remove(game)
                    self._update_users(guid, game.shown.guids, {})
                    game.notify()
            elif game is None:
                self.games.add(GameViewCache(shown, self._dialect))
                self._update_users(guid, {}, shown.guids)
            else:
                old = game.shown
                game.show(shown)
                if shown.guids is not old.guids and shown.guids != old.guids:
                    self._update_users(guid, old.guids, shown.guids)
                if game.waiters and shown.version != old.version:
                    game.notify()

    def _update_users(self, game: Guid, old: Mapping[str, Guid], new: Mapping[str, Guid]) -> None:
        for user in old.keys() - new.keys():
            self.games.user_left(user, game)
        for user in new.keys() - old.keys():
            self.games.user_joined(user, game)

    def public_view(self, guid: Guid) -> Game:
        """The game as the public sees it, as a message; there must be one."""
        game = self.games.get(guid)
        assert game is not None, "a game is not removed while a player is joining it"
        return game.shown.public

    def games_for(self, user: str | None) -> Sequence[GameViewCache]:
        """The games on the first page of the list for a user (holdem-9.12).

        Games that the user is in come first, then games with a free seat, then others.
        """
        return self.games.list_tables(user, self._listed)

    def games_after(self, number: int, limit: int | None = None) -> tuple[Sequence[GameViewCache], bool]:
        """At most `limit` games created after the one with a number, and whether there are more (holdem-9.12)."""
        return self.games.tables_after(number, self._listed if limit is None else min(limit, self._listed))

    def list_view(self, user: str | None) -> Representation:
        """The list of games as a user sees it, cut off at the size that clients of the dialect can read."""
        lists = self._lists
        found = lists.get(user)
        if found is None:
            if user is not None and not self.games.count_games(user):
                return self.list_view(None)
            if len(lists) >= MAX_CACHED_LISTS:
                lists.clear()
            games = self._fitting_games(self.games_for(user), user)
            links = [FIRST_PAGE_LINK] if len(games) < len(self.games) else []
            found = lists[user] = self._render_list(sorted(games, key=BY_NUMBER), user, *links)
        return found

    def list_page(self, user: str | None, after: int, limit: int | None) -> Representation:
        """At most `limit` games with numbers above `after`, with a link to the next page."""
        found, more = self.games_after(after, limit)
        games = self._fitting_games(found, user)
        links = []
        if more or len(games) < len(found):
            size = b"" if limit is None else b"limit=%d&" % limit
            links = [(b"link", b'</games/?%safter=%d>; rel="next"' % (size, games[-1].number))]
        return self._render_list(games, user, *links)

    def notify_all(self) -> None:
        """Wake all requests that wait for a change of any game."""
        for game in self.games.tables:
            game.notify()

    def _fitting_games(self, games: Sequence[GameViewCache], user: str | None) -> Sequence[GameViewCache]:
        """The longest prefix of these games that a client of the dialect can read in one list."""
        if self._dialect == "readme":
            return games
        length = len(b"[]\n")
        for number, game in enumerate(games):
            length += len(_list_entry(game, user)) + 1
            if length > MAX_LIST_BYTES:
                return games[:number]
        return games

    def _render_list(self, games: Iterable[GameViewCache], user: str | None, *extra_headers: Header) -> Representation:
        text = b"[%s]" % b",".join([_list_entry(game, user) for game in games])
        if self._dialect == "hspe-go":
            text += b"\n"
        return make_representation(text, b'"%s"' % _digest(text), self._dialect, *extra_headers)


def _list_entry(game: GameViewCache, user: str | None) -> bytes:
    return game.view_for(user).body.rstrip(b"\n")


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=6).hexdigest().encode()
