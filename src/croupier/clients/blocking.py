"""Synchronous client of a hold'em server, for programs without an event loop."""

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
    """The synchronous counterpart of HoldemClient, with the same methods; use it as a context manager.

    Every call blocks until it is done.
    """

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

    def register(self) -> Guid | None:
        """See `HoldemClient.register`."""
        return self.run(self.api.register())

    def list_games(self) -> list[Game]:
        """See `HoldemClient.list_games`."""
        return self.run(self.api.list_games())

    def get_game(self, game: Guid) -> Game:
        """See `HoldemClient.get_game`."""
        return self.run(self.api.get_game(game))

    def watch(self, game: Guid) -> Iterator[Game]:
        """See `HoldemClient.watch`."""
        watcher = GameWatcher(self.api, game)
        try:
            while True:
                yield self.run(watcher.next_game())
        finally:
            self.close_stream(watcher)

    def create_game(self) -> JoinedGame:
        """See `HoldemClient.create_game`."""
        return self.run(self.api.create_game())

    def join(self, game: Guid | None = None) -> JoinedGame:
        """See `HoldemClient.join`."""
        return self.run(self.api.join(game))

    def act(self, act: Act) -> str | None:
        """See `HoldemClient.act`."""
        return self.run(self.api.act(act))

    def leave(self, joined_game: JoinedGame) -> None:
        """See `HoldemClient.leave`."""
        self.run(self.api.leave(joined_game))

    def sit(self, game: Guid | None = None) -> "BlockingHoldemSeat":
        """Return a seat to be used as a context manager: in this game, or in any game with a free seat."""
        return BlockingHoldemSeat(self, game)

    def run[T](self, flow: RequestFlow[T]) -> T:
        """Run a request flow to its end and return its result."""
        response: ApiResponse | ConnectionFailed | None = None
        try:
            while True:
                match flow.send(response):
                    case Delay(seconds):
                        time.sleep(seconds)
                        response = None
                    case ApiRequest() as request:
                        response = self._request(request)
                    case ApiStream(owner, request, restart):
                        response = self._read_stream(owner, request, restart=restart)
        except StopIteration as stop:
            result: T = stop.value
            return result

    def close_stream(self, owner: object) -> None:
        """See `HoldemClient.close_stream`."""
        stream = self._streams.pop(owner, None)
        if stream is not None:
            stream.response.close()

    def _request(self, request: ApiRequest) -> ApiResponse | ConnectionFailed:
        response_context = self._http.stream(
            request.method, request.path, content=request.body or None, headers=dict(request.headers)
        )
        try:
            with response_context as response:
                body = ResponseBody(response)
                for chunk in response.iter_bytes():
                    body.add(chunk)
        except httpx.TransportError as error:
            return connection_failed(error)
        return ApiResponse(response.status_code, response.headers, body.to_bytes())

    def _read_stream(self, owner: object, api_request: ApiRequest, *, restart: bool) -> ApiResponse | ConnectionFailed:
        if restart:
            self.close_stream(owner)
        try:
            if owner not in self._streams:
                request = self._http.build_request(
                    api_request.method, api_request.path, headers=dict(api_request.headers)
                )
                response = self._http.send(request, stream=True)
                self._streams[owner] = OpenStream(response, response.iter_bytes())
            stream = self._streams[owner]
            if stream.response.status_code == HTTPStatus.OK:
                check_not_compressed(stream.response)
                for chunk in stream.chunks:
                    if line := stream.lines.newest_line(chunk):
                        return ApiResponse(HTTPStatus.OK, stream.response.headers, line)
            last_response: ApiResponse | ConnectionFailed = stream.final_response()
        except httpx.TransportError as error:
            last_response = connection_failed(error)
        self.close_stream(owner)
        return last_response


class BlockingHoldemSeat:
    """The synchronous counterpart of HoldemSeat: enter it with `with`, iterate over it with `for game in seat`."""

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
        """See `HoldemSeat.joined_game`."""
        return self._session.joined_game

    @property
    def player(self) -> Player:
        """See `HoldemSeat.player`."""
        return self._session.player

    @property
    def nets(self) -> list[int]:
        """See `HoldemSeat.nets`."""
        return self._session.nets

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Game:
        game = self._client.run(self._session.next_game())
        if game is None:
            raise StopIteration
        return game

    def make_move(self, move: Move | Act) -> str | None:
        """See `HoldemSeat.make_move`."""
        return self._client.run(self._session.make_move(move))
