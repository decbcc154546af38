"""The library's client of hold'em: a table over HTTP, and a bot that sits down at it."""

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
"""How many seconds a server may take; an answer that it holds back until there is news may take longer."""


class OpenStream[Pieces]:
    """An answer that goes on: one state of a game a line, of which only the newest matters."""

    def __init__(self, response: httpx.Response, chunks: Pieces) -> None:
        self.response = response
        self.chunks = chunks
        self.lines = NdjsonReader()

    def final_response(self) -> ApiResponse | ConnectionFailed:
        """How it ended: refused from the start, or broken off."""
        if self.response.status_code == HTTPStatus.OK:
            return ConnectionFailed("the stream has ended")
        return ApiResponse(self.response.status_code, self.response.headers, b"")


class HoldemClient:
    """A user of a hold'em server: `Client("http://127.0.0.1:8080", "ann", "secret")`, to be entered with `async with`.

    Everything raises Refusal when the server refuses, Violation when it does not speak the document, ConnectionError
    when it is gone for longer than `patience` (in seconds). Without a `dialect` the answers of the server show which
    one it speaks. `ssl` is for a server with a certificate of its own; `transport` takes the place of the network.
    Raises ValueError on an address or a name that cannot be one.
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

    async def register(self) -> Guid:
        """Become a user, unless we are one: our GUID, "" where the server does not tell it again."""
        return await self.run(self.api.register())

    async def list_games(self) -> list[Game]:
        """All games, with our cards in those in which we have some."""
        return await self.run(self.api.list_games())

    async def get_game(self, game: Guid) -> Game:
        """One game, with our cards if we have some."""
        return await self.run(self.api.get_game(game))

    async def watch(self, game: Guid) -> AsyncIterator[Game]:
        """One game, now and whenever it has changed; without end."""
        lookout = GameWatcher(self.api, game)
        try:
            while True:
                yield await self.run(lookout.next_game())
        finally:
            await self.close_stream(lookout)

    async def create_game(self) -> JoinedGame:
        """Make a game and join it."""
        return await self.run(self.api.create_game())

    async def join(self, game: Guid | None = None) -> JoinedGame:
        """Join a game, or any that has a free seat."""
        return await self.run(self.api.join(game))

    async def act(self, act: Act) -> str:
        """Bet or fold: why an invalid bet was a fold, "" if it was none. `Table.say` does not let one pass."""
        return await self.run(self.api.act(act))

    async def leave(self, joined_game: JoinedGame) -> None:
        """Leave a game, and what we have bet in it."""
        await self.run(self.api.leave(joined_game))

    def sit(self, game: Guid | None = None) -> "HoldemSeat":
        """A table to be entered with `async with`: that of a game, or of any that has a free seat."""
        return HoldemSeat(self, game)

    async def run[T](self, flow: RequestFlow[T]) -> T:
        """Run an errand."""
        reply: ApiResponse | ConnectionFailed | None = None
        try:
            while True:
                match flow.send(reply):
                    case Delay(seconds):
                        await asyncio.sleep(seconds)
                        reply = None
                    case ApiRequest() as ask:
                        reply = await self._request(ask)
                    case ApiStream(owner, ask, fresh):
                        reply = await self._read_stream(owner, ask, fresh=fresh)
        except StopIteration as end:
            done: T = end.value
            return done

    async def close_stream(self, owner: object) -> None:
        """End the answer that an owner follows, if any."""
        following = self._streams.pop(owner, None)
        if following is not None:
            await following.response.aclose()

    async def _request(self, ask: ApiRequest) -> ApiResponse | ConnectionFailed:
        asked = self._http.stream(ask.method, ask.path, content=ask.body or None, headers=dict(ask.headers))
        try:
            async with asked as response:
                body = ResponseBody(response)
                async for piece in response.aiter_bytes():
                    body.add(piece)
        except httpx.TransportError as error:
            return connection_failed(error)
        return ApiResponse(response.status_code, response.headers, body.to_bytes())

    async def _read_stream(self, owner: object, ask: ApiRequest, *, fresh: bool) -> ApiResponse | ConnectionFailed:
        if fresh:
            await self.close_stream(owner)
        try:
            if owner not in self._streams:
                request = self._http.build_request(ask.method, ask.path, headers=dict(ask.headers))
                response = await self._http.send(request, stream=True)
                self._streams[owner] = OpenStream(response, response.aiter_bytes())
            following = self._streams[owner]
            if following.response.status_code == HTTPStatus.OK:
                check_not_compressed(following.response)
                async for piece in following.chunks:
                    if line := following.lines.newest_line(piece):
                        return ApiResponse(HTTPStatus.OK, following.response.headers, line)
            end: ApiResponse | ConnectionFailed = following.final_response()
        except httpx.TransportError as error:
            end = connection_failed(error)
        await self.close_stream(owner)
        return end


class HoldemSeat:
    """A seat at a table, for a person or a program: `async for game in table` is what is to be seen while we have it.

    `player` follows the game: its `view` is what the last Game means for us, and its `legal` what may be said now.
    `settled` has what every finished hand brought. Leaving the block leaves the game.
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
        """Which game it is, and who we are there."""
        return self._session.joined_game

    @property
    def player(self) -> Player:
        """The session that follows the game."""
        return self._session.player

    @property
    def nets(self) -> list[int]:
        """What every finished hand has brought, in chips."""
        return self._session.nets

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Game:
        game = await self._client.run(self._session.next_game())
        if game is None:
            raise StopAsyncIteration
        return game

    async def make_move(self, move: Move | Act) -> str:
        """FOLD, or bet so many chips: "" if it is done, else why it was a fold or came to nothing.

        Raises IllegalMove on what is not in `player.legal`, and sends nothing then.
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
    """Let a bot play a number of hands, or without one as long as it can.

    It enrols, and sits down in a game, or in any with a free seat. When it has lost its seat, because it is broke or
    out of time, it joins again if it may `rebuy`, and ends otherwise; if that is not given, it joins again as long as
    there are `hands` to be played. A bot that is not dealt in goes on waiting; the logger `croupier` warns of it. What
    ends it early is the `fault` of the tally; its `connections` are the seats it has had. A tally of one's own survives
    when this is cancelled. Raises IllegalMove when the mind wants to do what is not allowed.
    """
    tally = BotTally() if tally is None else tally
    rebuy = hands is not None if rebuy is None else rebuy
    try:
        await client.register()
        while hands is None or len(tally.nets) < hands:
            before = len(tally.nets)
            async with client.sit(game) as table:
                tally.connections += 1
                try:
                    await _play_seat(client, table, bot, luck, None if hands is None else hands - before)
                finally:
                    tally.nets += table.nets
            if not rebuy:
                break
            if len(tally.nets) == before:
                raise ConnectionError("the server does not let it stay for a single hand")
    except (Violation, Refusal, ConnectionError) as fault:
        tally.fault = fault
    return tally


async def _play_seat(
    client: HoldemClient, table: HoldemSeat, mind: Bot[View, Move], luck: Luck, hands: int | None
) -> None:
    """Play in one seat, until it is lost or these hands are over."""
    waited_for = "a free seat" if table.joined_game.is_queued else "somebody to play with"
    notice = WaitNotice(f"{client.api.user} is not dealt in: it waits for {waited_for} at {client.url}")
    notice.begin()
    try:
        async for seen in table:
            if seen.cards.hole:
                notice.end()
            else:
                notice.begin()
            if hands is not None and len(table.nets) >= hands:
                break
            act = table.player.decide(mind, luck)
            if act is not None:
                await table.make_move(act)
    finally:
        notice.end()


def with_scheme(url: str) -> str:
    """The address of a server with its scheme: `127.0.0.1:8080`, or `:8080`, is `http://127.0.0.1:8080`.

    Raises ValueError.
    """
    address = url if "://" in url else f"http://{'127.0.0.1' * url.startswith(':')}{url}"
    if "@" in address:  # the error must not show a password, wherever it would be taken to end
        raise ValueError(f"found {redact(address)!r}; allowed: http://HOST:PORT or https://HOST:PORT, without a user")
    try:
        parsed = httpx.URL(address)
    except httpx.InvalidURL as error:
        raise ValueError(f"found {url!r}, {error}; allowed: http://HOST:PORT or https://HOST:PORT") from None
    if parsed.scheme not in {"http", "https"} or not parsed.host or parsed.query or parsed.fragment:
        raise ValueError(f"found {redact(url)!r}; allowed: http://HOST:PORT or https://HOST:PORT")
    return address


def server_address(url: str) -> Address:
    """The host and the port of a server. Raises ValueError."""
    address = httpx.URL(with_scheme(url))
    return address.host, address.port or (443 if address.scheme == "https" else 80)


def verify_option(address: str, ssl: SSLContext | None) -> SSLContext | bool:
    """Whom to trust: who is given, else whom httpx trusts; nobody without TLS, for to read that list takes time."""
    return ssl or address.startswith("https:") or SSLContext(PROTOCOL_TLS_CLIENT)


def connection_failed(error: httpx.TransportError) -> ConnectionFailed:
    """What went wrong, in words: some errors have none of their own."""
    if "WRONG_VERSION_NUMBER" in str(error):
        return ConnectionFailed("the server does not speak TLS; use http://")
    return ConnectionFailed(str(error) or type(error).__name__)
