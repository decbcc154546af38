"""The client of hold'em for programs without an event loop: every call returns when it is done."""

import time
from collections.abc import Iterator
from http import HTTPStatus
from ssl import SSLContext
from types import TracebackType
from typing import Self

import httpx

from croupier.clients.holdem import TIMEOUT, Following, located, lost, trust
from croupier.clients.holdem_api import Ask, Errand, Errands, Follow, Lookout, Lost, Pause, Place, Refusal, Reply
from croupier.clients.response_bodies import PLAIN, Body, unpacked
from croupier.clients.seat_session import Stay
from croupier.rooms.holdem.engine.legal import Move
from croupier.rooms.holdem.player import Player
from croupier.rooms.holdem.wire import Act, Dialect, Game, Guid


class BlockingClient:
    """A `Client` to be entered with `with`."""

    def __init__(
        self,
        url: str,
        user: str,
        password: str,
        *,
        ssl: SSLContext | None = None,
        patience: float = 30.0,
        dialect: Dialect | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.errands = Errands(user, password, patience, dialect)
        address = located(url)
        self._http = httpx.Client(
            base_url=address, headers=PLAIN, verify=trust(address, ssl), timeout=TIMEOUT, transport=transport
        )
        self._followed: dict[object, Following[Iterator[bytes]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for owner in [*self._followed]:
            self.hang_up(owner)
        self._http.close()

    def enrol(self) -> Guid:
        """As in Client."""
        return self.run(self.errands.enrol())

    def games(self) -> list[Game]:
        """As in Client."""
        return self.run(self.errands.games())

    def game(self, game: Guid) -> Game:
        """As in Client."""
        return self.run(self.errands.look(game))

    def watch(self, game: Guid) -> Iterator[Game]:
        """As in Client."""
        lookout = Lookout(self.errands, game)
        try:
            while True:
                yield self.run(lookout.next())
        finally:
            self.hang_up(lookout)

    def open(self) -> Place:
        """As in Client."""
        return self.run(self.errands.open())

    def join(self, game: Guid | None = None) -> Place:
        """As in Client."""
        return self.run(self.errands.join(game))

    def act(self, act: Act) -> str:
        """As in Client."""
        return self.run(self.errands.act(act))

    def leave(self, place: Place) -> None:
        """As in Client."""
        self.run(self.errands.leave(place))

    def sit(self, game: Guid | None = None) -> "BlockingTable":
        """A table to be entered with `with`: that of a game, or of any that has a free seat."""
        return BlockingTable(self, game)

    def run[T](self, errand: Errand[T]) -> T:
        """Run an errand."""
        reply: Reply | Lost | None = None
        try:
            while True:
                match errand.send(reply):
                    case Pause(seconds):
                        time.sleep(seconds)
                        reply = None
                    case Ask() as ask:
                        reply = self._ask(ask)
                    case Follow(owner, ask, fresh):
                        reply = self._follow(owner, ask, fresh=fresh)
        except StopIteration as end:
            done: T = end.value
            return done

    def hang_up(self, owner: object) -> None:
        """As in Client."""
        following = self._followed.pop(owner, None)
        if following is not None:
            following.response.close()

    def _ask(self, ask: Ask) -> Reply | Lost:
        asked = self._http.stream(ask.method, ask.path, content=ask.body or None, headers=dict(ask.headers))
        try:
            with asked as response:
                body = Body(response)
                for piece in response.iter_bytes():
                    body.add(piece)
        except httpx.TransportError as error:
            return lost(error)
        return Reply(response.status_code, response.headers, body.whole())

    def _follow(self, owner: object, ask: Ask, *, fresh: bool) -> Reply | Lost:
        if fresh:
            self.hang_up(owner)
        try:
            if owner not in self._followed:
                request = self._http.build_request(ask.method, ask.path, headers=dict(ask.headers))
                response = self._http.send(request, stream=True)
                self._followed[owner] = Following(response, response.iter_bytes())
            following = self._followed[owner]
            if following.response.status_code == HTTPStatus.OK:
                unpacked(following.response)
                for piece in following.pieces:
                    if line := following.lines.newest(piece):
                        return Reply(HTTPStatus.OK, following.response.headers, line)
            end: Reply | Lost = following.end()
        except httpx.TransportError as error:
            end = lost(error)
        self.hang_up(owner)
        return end


class BlockingTable:
    """A `Table` to be entered with `with`: `for game in table`."""

    def __init__(self, client: BlockingClient, game: Guid | None) -> None:
        self._client = client
        self._game = game

    def __enter__(self) -> Self:
        self._stay = Stay(self._client.errands, self._client.join(self._game))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.hang_up(self._stay.lookout)
        if not isinstance(error, ConnectionError | Refusal):
            self._client.run(self._stay.leave())

    @property
    def place(self) -> Place:
        """As in Table."""
        return self._stay.place

    @property
    def player(self) -> Player:
        """As in Table."""
        return self._stay.player

    @property
    def settled(self) -> list[int]:
        """As in Table."""
        return self._stay.settled

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Game:
        game = self._client.run(self._stay.news())
        if game is None:
            raise StopIteration
        return game

    def say(self, move: Move | Act) -> str:
        """As in Table."""
        return self._client.run(self._stay.say(move))
