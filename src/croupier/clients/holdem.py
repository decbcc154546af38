"""Asynchronous client of a hold'em server, and a function that lets a bot play at it."""

import asyncio
from collections.abc import AsyncIterator
from http import HTTPStatus
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from types import TracebackType
from typing import Self

import httpx

from croupier.clients.holdem_api import (
    LONG_POLL_SECONDS,
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
from croupier.clients.play import BotTally
from croupier.clients.response_bodies import IDENTITY_ENCODING_HEADERS, NdjsonReader, ResponseBody, check_not_compressed
from croupier.clients.seat_session import SeatSession
from croupier.clients.waiting_notice import WaitNotice
from croupier.core.bots import Bot
from croupier.core.dealer import Luck
from croupier.core.errors import Violation
from croupier.core.redaction import redact
from croupier.core.session import Address
from croupier.rooms.holdem.engine.legal import Move
from croupier.rooms.holdem.player import Player
from croupier.rooms.holdem.table.views import View
from croupier.rooms.holdem.wire import Act, Dialect, Game, Guid

__all__ = ["HoldemClient", "HoldemSeat", "JoinedGame", "Refusal", "play_hands"]

REQUEST_TIMEOUT = httpx.Timeout(10.0, read=LONG_POLL_SECONDS + 10.0)
"""The read timeout is longer than a long poll, for which the server delays its answer."""


class OpenStream[Pieces]:
    """A streamed response: one state of a game per line, of which only the newest matters."""

    def __init__(self, response: httpx.Response, chunks: Pieces) -> None:
        self.response = response
        self.chunks = chunks
        self.lines = NdjsonReader()

    def final_response(self) -> ApiResponse | ConnectionFailed:
        """Return how the stream ended: an error response, or a lost connection."""
        if self.response.status_code == HTTPStatus.OK:
            return ConnectionFailed("the stream has ended")
        return ApiResponse(self.response.status_code, self.response.headers, b"")


class HoldemClient:
    """A user of a hold'em server: `HoldemClient("http://127.0.0.1:8080", "ann", "secret")`.

    Use it as an async context manager. Methods raise Refusal if the server refuses the request, Violation if the server
    breaks the protocol, and ConnectionError if the server cannot be reached for `retry_timeout` seconds.

    Without `dialect`, the client recognises the server's dialect by its answers. `ssl` is the TLS context for a server
    with a private certificate; `transport` replaces the network, for tests. Raises ValueError if the URL or the user
    name is invalid.
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
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.api = HoldemApi(user, password, retry_timeout, dialect)
        self.url = url
        address = with_scheme(url)
        self._http = httpx.AsyncClient(
            base_url=address,
            headers=IDENTITY_ENCODING_HEADERS,
            verify=verify_option(address, ssl),
            timeout=REQUEST_TIMEOUT,
            transport=transport,
        )
        self._streams: dict[object, OpenStream[AsyncIterator[bytes]]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for owner in [*self._streams]:
            await self.close_stream(owner)
        await self._http.aclose()

    async def register(self) -> Guid | None:
        """Register the user, if it is new; return its GUID, or None if the server does not repeat it."""
        return await self.run(self.api.register())

    async def list_games(self) -> list[Game]:
        """Return all games, with the user's cards where it has any."""
        return await self.run(self.api.list_games())

    async def get_game(self, game: Guid) -> Game:
        """Return a game, with the user's cards if it has any."""
        return await self.run(self.api.get_game(game))

    async def watch(self, game: Guid) -> AsyncIterator[Game]:
        """Yield a game now and after every change, without end."""
        watcher = GameWatcher(self.api, game)
        try:
            while True:
                yield await self.run(watcher.next_game())
        finally:
            await self.close_stream(watcher)

    async def create_game(self) -> JoinedGame:
        """Create a game and join it."""
        return await self.run(self.api.create_game())

    async def join(self, game: Guid | None = None) -> JoinedGame:
        """Join this game, or any game with a free seat."""
        return await self.run(self.api.join(game))

    async def act(self, act: Act) -> str | None:
        """Bet or fold. Returns the reason if the server treated an invalid bet as a fold, else None.

        `HoldemSeat.make_move` checks moves before it sends them.
        """
        return await self.run(self.api.act(act))

    async def leave(self, joined_game: JoinedGame) -> None:
        """Leave a game; chips that were bet in the running hand are lost."""
        await self.run(self.api.leave(joined_game))

    def sit(self, game: Guid | None = None) -> "HoldemSeat":
        """Return a seat to be used as an async context manager: in this game, or in any game with a free seat."""
        return HoldemSeat(self, game)

    async def run[T](self, flow: RequestFlow[T]) -> T:
        """Run a request flow to its end and return its result."""
        response: ApiResponse | ConnectionFailed | None = None
        try:
            while True:
                match flow.send(response):
                    case Delay(seconds):
                        await asyncio.sleep(seconds)
                        response = None
                    case ApiRequest() as request:
                        response = await self._request(request)
                    case ApiStream(owner, request, restart):
                        response = await self._read_stream(owner, request, restart=restart)
        except StopIteration as stop:
            result: T = stop.value
            return result

    async def close_stream(self, owner: object) -> None:
        """Close the streamed response of this owner, if there is one."""
        stream = self._streams.pop(owner, None)
        if stream is not None:
            await stream.response.aclose()

    async def _request(self, request: ApiRequest) -> ApiResponse | ConnectionFailed:
        response_context = self._http.stream(
            request.method, request.path, content=request.body or None, headers=dict(request.headers)
        )
        try:
            async with response_context as response:
                body = ResponseBody(response)
                async for chunk in response.aiter_bytes():
                    body.add(chunk)
        except httpx.TransportError as error:
            return connection_failed(error)
        return ApiResponse(response.status_code, response.headers, body.to_bytes())

    async def _read_stream(
        self, owner: object, api_request: ApiRequest, *, restart: bool
    ) -> ApiResponse | ConnectionFailed:
        if restart:
            await self.close_stream(owner)
        try:
            if owner not in self._streams:
                request = self._http.build_request(
                    api_request.method, api_request.path, headers=dict(api_request.headers)
                )
                response = await self._http.send(request, stream=True)
                self._streams[owner] = OpenStream(response, response.aiter_bytes())
            stream = self._streams[owner]
            if stream.response.status_code == HTTPStatus.OK:
                check_not_compressed(stream.response)
                async for chunk in stream.chunks:
                    if line := stream.lines.newest_line(chunk):
                        return ApiResponse(HTTPStatus.OK, stream.response.headers, line)
            last_response: ApiResponse | ConnectionFailed = stream.final_response()
        except httpx.TransportError as error:
            last_response = connection_failed(error)
        await self.close_stream(owner)
        return last_response


class HoldemSeat:
    """A seat at a table: entering the context joins the game, leaving it leaves the game.

    `async for game in seat` yields the states of the game while the user has the seat. `player` follows the game:
    `player.view` is the meaning of the latest Game for the user, `player.legal` the moves that are allowed now. `nets`
    are the results of the finished hands.
    """

    def __init__(self, client: HoldemClient, game: Guid | None) -> None:
        self._client = client
        self._game = game

    async def __aenter__(self) -> Self:
        self._session = SeatSession(self._client.api, await self._client.join(self._game))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.close_stream(self._session.watcher)
        if not isinstance(error, ConnectionError | Refusal):
            await self._client.run(self._session.leave())

    @property
    def joined_game(self) -> JoinedGame:
        """The game, and the user's GUID in it."""
        return self._session.joined_game

    @property
    def player(self) -> Player:
        """The session that follows the game."""
        return self._session.player

    @property
    def nets(self) -> list[int]:
        """The result of every finished hand, in chips."""
        return self._session.nets

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Game:
        game = await self._client.run(self._session.next_game())
        if game is None:
            raise StopAsyncIteration
        return game

    async def make_move(self, move: Move | Act) -> str | None:
        """Fold, or bet a number of chips. Returns None, or the reason why the move was treated as a fold or not made.

        Raises IllegalMove if the move is not in `player.legal`; nothing is sent then.
        """
        return await self._client.run(self._session.make_move(move))


async def play_hands(
    client: HoldemClient,
    bot: Bot[View, Move],
    luck: Luck,
    hands: int | None = None,
    *,
    rebuy: bool | None = None,
    game: Guid | None = None,
    tally: BotTally | None = None,
) -> BotTally:
    """Let a bot play `hands` hands, or without this number as long as it can.

    The bot registers and takes a seat in `game`, or in any game with a free seat. If it loses the seat, because it has
    no chips or was too slow, it joins again if `rebuy` is true; by default `rebuy` is true if `hands` is given. While
    the bot is not dealt in it waits, and the logger `croupier` logs a warning.

    Returns the tally. Its `fault` is the error that ended the run early, its `connections` the number of seats taken.
    Pass a `tally` to keep the results if the call is cancelled. Raises IllegalMove if the bot chooses a move that is
    not allowed.
    """
    tally = BotTally() if tally is None else tally
    rebuy = hands is not None if rebuy is None else rebuy
    try:
        await client.register()
        while hands is None or len(tally.nets) < hands:
            hands_before = len(tally.nets)
            async with client.sit(game) as seat:
                tally.connections += 1
                try:
                    await _play_seat(client, seat, bot, luck, None if hands is None else hands - hands_before)
                finally:
                    tally.nets += seat.nets
            if not rebuy:
                break
            if len(tally.nets) == hands_before:
                raise ConnectionError("the bot lost its seat before it finished a hand")
    except (Violation, Refusal, ConnectionError) as fault:
        tally.fault = fault
    return tally


async def _play_seat(
    client: HoldemClient, seat: HoldemSeat, bot: Bot[View, Move], luck: Luck, hands: int | None
) -> None:
    """Play in one seat until it is lost or `hands` hands are finished."""
    waits_for = "a free seat" if seat.joined_game.is_queued else "other players"
    notice = WaitNotice(f"{client.api.user} is waiting for {waits_for} at {client.url}")
    notice.begin()
    try:
        async for game in seat:
            if game.cards.hole:
                notice.end()
            else:
                notice.begin()
            if hands is not None and len(seat.nets) >= hands:
                break
            move = seat.player.decide(bot, luck)
            if move is not None:
                await seat.make_move(move)
    finally:
        notice.end()


def with_scheme(url: str) -> str:
    """Return the URL of a server with its scheme; the host of `:PORT` is 127.0.0.1.

    Raises ValueError if it is not an HTTP URL, or contains a user, a query or a fragment.

    >>> with_scheme(":8080")
    'http://127.0.0.1:8080'
    """
    address = url if "://" in url else f"http://{'127.0.0.1' * url.startswith(':')}{url}"
    if "@" in address:  # checked first, so that no error text contains a password
        raise ValueError(f"found {redact(address)!r}; allowed: http://HOST:PORT or https://HOST:PORT, without a user")
    try:
        parsed = httpx.URL(address)
    except httpx.InvalidURL as error:
        raise ValueError(f"found {url!r}, {error}; allowed: http://HOST:PORT or https://HOST:PORT") from None
    if parsed.scheme not in {"http", "https"} or not parsed.host or parsed.query or parsed.fragment:
        raise ValueError(f"found {redact(url)!r}; allowed: http://HOST:PORT or https://HOST:PORT")
    return address


def server_address(url: str) -> Address:
    """Return the host and the port of a server's URL. Raises ValueError."""
    address = httpx.URL(with_scheme(url))
    return address.host, address.port or (443 if address.scheme == "https" else 80)


def verify_option(address: str, ssl: SSLContext | None) -> SSLContext | bool:
    """Return the `verify` option of httpx.

    For plain HTTP it is an empty TLS context, because loading the default certificates takes time.
    """
    return ssl or address.startswith("https:") or SSLContext(PROTOCOL_TLS_CLIENT)


def connection_failed(error: httpx.TransportError) -> ConnectionFailed:
    """Describe a transport error of httpx; some of them have no text."""
    if "WRONG_VERSION_NUMBER" in str(error):
        return ConnectionFailed("the server does not speak TLS; use http://")
    return ConnectionFailed(str(error) or type(error).__name__)
