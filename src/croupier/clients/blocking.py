"""The client of hold'em for programs without an event loop: every call returns when it is done."""

import time
from collections.abc import Iterator
from http import HTTPStatus
from ssl import SSLContext
from types import TracebackType
from typing import Self

import httpx

from croupier.clients.holdem import REQUEST_TIMEOUT, OpenStream, connection_failed, verify_option, with_scheme
from croupier.clients.holdem_api import (
    ApiRequest,
    ApiResponse,
    ApiStream,
    ConnectionFailed,
    Delay,
    GameWatcher,
    HoldemApi,
    JoinedGame,
    Refusal,
    RequestFlow,
)
from croupier.clients.response_bodies import IDENTITY_ENCODING_HEADERS, ResponseBody, check_not_compressed
from croupier.clients.seat_session import SeatSession
from croupier.rooms.holdem.engine.legal import Move
from croupier.rooms.holdem.player import Player
from croupier.rooms.holdem.wire import Act, Dialect, Game, Guid


class BlockingHoldemClient:
    """A `Client` to be entered with `with`."""

    def __init__(
        self,
        url: str,
        user: str,
        password: str,
        *,
        ssl: SSLContext | None = None,
        retry_timeout: float = 30.0,
        dialect: Dialect | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.api = HoldemApi(user, password, retry_timeout, dialect)
        address = with_scheme(url)
        self._http = httpx.Client(
            base_url=address,
            headers=IDENTITY_ENCODING_HEADERS,
            verify=verify_option(address, ssl),
            timeout=REQUEST_TIMEOUT,
            transport=transport,
        )
        self._streams: dict[object, OpenStream[Iterator[bytes]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for owner in [*self._streams]:
            self.close_stream(owner)
        self._http.close()

    def register(self) -> Guid:
        """As in Client."""
        return self.run(self.api.register())

    def list_games(self) -> list[Game]:
        """As in Client."""
        return self.run(self.api.list_games())

    def get_game(self, game: Guid) -> Game:
        """As in Client."""
        return self.run(self.api.get_game(game))

    def watch(self, game: Guid) -> Iterator[Game]:
        """As in Client."""
        lookout = GameWatcher(self.api, game)
        try:
            while True:
                yield self.run(lookout.next_game())
        finally:
            self.close_stream(lookout)

    def create_game(self) -> JoinedGame:
        """As in Client."""
        return self.run(self.api.create_game())

    def join(self, game: Guid | None = None) -> JoinedGame:
        """As in Client."""
        return self.run(self.api.join(game))

    def act(self, act: Act) -> str:
        """As in Client."""
        return self.run(self.api.act(act))

    def leave(self, joined_game: JoinedGame) -> None:
        """As in Client."""
        self.run(self.api.leave(joined_game))

    def sit(self, game: Guid | None = None) -> "BlockingHoldemSeat":
        """A table to be entered with `with`: that of a game, or of any that has a free seat."""
        return BlockingHoldemSeat(self, game)

    def run[T](self, flow: RequestFlow[T]) -> T:
        """Run an errand."""
        reply: ApiResponse | ConnectionFailed | None = None
        try:
            while True:
                match flow.send(reply):
                    case Delay(seconds):
                        time.sleep(seconds)
                        reply = None
                    case ApiRequest() as ask:
                        reply = self._request(ask)
                    case ApiStream(owner, ask, fresh):
                        reply = self._read_stream(owner, ask, fresh=fresh)
        except StopIteration as end:
            done: T = end.value
            return done

    def close_stream(self, owner: object) -> None:
        """As in Client."""
        following = self._streams.pop(owner, None)
        if following is not None:
            following.response.close()

    def _request(self, ask: ApiRequest) -> ApiResponse | ConnectionFailed:
        asked = self._http.stream(ask.method, ask.path, content=ask.body or None, headers=dict(ask.headers))
        try:
            with asked as response:
                body = ResponseBody(response)
                for piece in response.iter_bytes():
                    body.add(piece)
        except httpx.TransportError as error:
            return connection_failed(error)
        return ApiResponse(response.status_code, response.headers, body.to_bytes())

    def _read_stream(self, owner: object, ask: ApiRequest, *, fresh: bool) -> ApiResponse | ConnectionFailed:
        if fresh:
            self.close_stream(owner)
        try:
            if owner not in self._streams:
                request = self._http.build_request(ask.method, ask.path, headers=dict(ask.headers))
                response = self._http.send(request, stream=True)
                self._streams[owner] = OpenStream(response, response.iter_bytes())
            following = self._streams[owner]
            if following.response.status_code == HTTPStatus.OK:
                check_not_compressed(following.response)
                for piece in following.chunks:
                    if line := following.lines.newest_line(piece):
                        return ApiResponse(HTTPStatus.OK, following.response.headers, line)
            end: ApiResponse | ConnectionFailed = following.final_response()
        except httpx.TransportError as error:
            end = connection_failed(error)
        self.close_stream(owner)
        return end


class BlockingHoldemSeat:
    """A `Table` to be entered with `with`: `for game in table`."""

    def __init__(self, client: BlockingHoldemClient, game: Guid | None) -> None:
        self._client = client
        self._game = game

    def __enter__(self) -> Self:
        self._session = SeatSession(self._client.api, self._client.join(self._game))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close_stream(self._session.watcher)
        if not isinstance(error, ConnectionError | Refusal):
            self._client.run(self._session.leave())

    @property
    def joined_game(self) -> JoinedGame:
        """As in Table."""
        return self._session.joined_game

    @property
    def player(self) -> Player:
        """As in Table."""
        return self._session.player

    @property
    def nets(self) -> list[int]:
        """As in Table."""
        return self._session.nets

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Game:
        game = self._client.run(self._session.next_game())
        if game is None:
            raise StopIteration
        return game

    def make_move(self, move: Move | Act) -> str:
        """As in Table."""
        return self._client.run(self._session.make_move(move))
