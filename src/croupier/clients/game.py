"""The library's client: a game as typed messages, with `async with` or, for programs without a loop, with `with`."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from ssl import SSLContext
from threading import Thread
from types import TracebackType
from typing import Any, Final, Self

from croupier.clients.identify import (
    IDENTIFY_AFTER_SECONDS,
    NOTIFY_AFTER_SECONDS,
    FirstAnswer,
    OtherProtocol,
    identify,
    locate,
    other_protocol_error,
    silence_message,
)
from croupier.clients.silence import SilenceWatch
from croupier.core.codec import printable_bytes
from croupier.core.errors import Violation
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom, RoomClient
from croupier.core.session import Address, Drop, Effect, Event, Joined, Left, Notify, Settle, Submitted
from croupier.logs import silent_logger
from croupier.net.addresses import format_address
from croupier.net.endpoint import Endpoint, EndpointLimits
from croupier.net.event_loop import loop_factory
from croupier.rooms import HOUSE_ROOMS

MAX_LAST_RECEIVED_BYTES: Final = 200
"""How much of the last words is shown."""


class GameClient:
    """A conversation with a house.

    `say` sends a message, `hear` waits for the next one. `legal` is what may be said now, `settled` what every finished
    game has brought, in coins, and `player` the session behind it all, which follows the game.

    Without a `port` it is the room's own; entering the conversation sets `address`. `patience` is how many seconds the
    house may take for an answer; `notify` gets a sentence when the house has been silent for two of them.
    """

    def __init__(
        self,
        room: HouseRoom,
        host: str,
        port: int | None = None,
        *,
        options: Any = None,
        strict: bool = False,
        ssl: SSLContext | None = None,
        answer_timeout: float = 30.0,
        notify: Callable[[str], None] | None = None,
    ) -> None:
        self.nets: list[int] = []
        self.address: Address = (host, room.port if port is None else port)
        self._options = room.options() if options is None else options
        self.player: RoomClient[Any] = room.player(self._options, strict, answer_timeout)
        self._has_port = port is not None
        self.notify = notify
        self._strict = strict
        self._ssl = ssl
        self._room = room
        self._inbox: asyncio.Queue[object] = asyncio.Queue()
        self._final_error: Exception | None = None
        self._is_joined = False
        self._is_over = False
        self._codec = FirstAnswer(room.codec(strict, self._options))
        self._has_understood = False
        self._silence_watch: SilenceWatch
        self._identify_task: asyncio.Task[OtherProtocol | None] | None = None

    @property
    def legal(self) -> Sequence[Any]:
        """The messages that may be said now; none while the house has to speak."""
        return self.player.legal

    @property
    def last_received(self) -> str:
        """The last bytes that the house has sent, for people; empty when there were none."""
        return printable_bytes(self._codec.last_bytes[:MAX_LAST_RECEIVED_BYTES]) if self._codec.last_bytes else ""

    async def __aenter__(self) -> Self:
        if not self._has_port:
            self.address = await locate(self._room, self.address[0], self._ssl)
        self._endpoint = Endpoint(
            self.player,
            lambda: self._codec,
            silent_logger(),
            taps=[self._on_event],
            limits=EndpointLimits(close_timeout=1.0),
        )
        due = [(IDENTIFY_AFTER_SECONDS, self._start_identify), (NOTIFY_AFTER_SECONDS, self._notify_silence)]
        self._silence_watch = SilenceWatch(self._is_waiting, due)
        try:
            await self._endpoint.connect(HOUSE, self.address, self._ssl)
        except BaseException:
            self._stop()
            raise
        if not self._is_joined:
            self._stop()
            left = self._inbox.get_nowait()
            assert isinstance(left, Left), "a call that fails tells nothing else"
            raise ConnectionError(f"no house answers at {format_address(self.address)}: {left.reason}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        self._endpoint.halt(final=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * self._endpoint.limits.close_timeout):
                await self._endpoint.wait_drained()

    async def send(self, message: object) -> None:
        """Send a message. Raises IllegalMove when it is not `legal`, ConnectionError when the conversation is over."""
        if self._is_over:
            raise self._final_error or ConnectionError("the conversation is over")
        self._endpoint.handle_and_flush(Submitted(message))

    async def receive(self) -> Any:
        """The next message of the house.

        Raises Violation, which names the clause, when the house breaks the protocol, ConnectionError when it is gone,
        and OtherProtocol, which is one, when the server speaks another game or TLS.
        """
        if self._final_error is not None:
            raise self._final_error
        news = await self._inbox.get()
        if isinstance(news, Violation | Left | OtherProtocol):
            self._final_error = await self._find_final_error(news)
            raise self._final_error
        return news

    async def _find_final_error(self, news: Violation | Left | OtherProtocol) -> Exception:
        """Why the conversation is over."""
        if isinstance(news, OtherProtocol):
            return news
        if not self._has_understood and (other := await self._find_other_protocol()) is not None:
            return other
        return news if isinstance(news, Violation) else ConnectionError(f"the house is gone: {news.reason}")

    async def _find_other_protocol(self) -> OtherProtocol | None:
        """What else is spoken here: judged by the first answer, or where there is none by asking."""
        if self._codec.first_bytes:
            return other_protocol_error(self._room, self.address, self._codec.first_bytes)
        if self._identify_task is None:
            self._identify_task = asyncio.ensure_future(identify(self._room, self.address, self._ssl))
        return await self._identify_task

    def _is_waiting(self) -> bool:
        return not self._is_joined or self.player.deadline is not None

    def _start_identify(self) -> None:
        """Ask a server that is silent from the beginning what it speaks."""
        if self._is_joined and not self._codec.first_bytes and self._identify_task is None:
            self._identify_task = asyncio.ensure_future(self._identify_silent_server())

    def _notify_silence(self) -> None:
        if self.notify is not None:
            self.notify(silence_message(self.address))

    def _stop(self) -> None:
        self._silence_watch.stop()
        if self._identify_task is not None:
            self._identify_task.cancel()

    async def _identify_silent_server(self) -> OtherProtocol | None:
        """Ask a silent server what it speaks; unless that is our game, it will never answer us."""
        other = await identify(self._room, self.address, self._ssl)
        if other is not None and not self._codec.first_bytes:
            self._inbox.put_nowait(other)
        return other

    def _on_event(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:
        self._silence_watch.reset(now)
        self._is_joined |= isinstance(event, Joined)
        self._is_over |= isinstance(event, Left)
        for effect in effects:
            match effect:
                case Notify(news):
                    self._inbox.put_nowait(news)
                    self._has_understood |= not isinstance(news, Violation | Left)
                case Drop():
                    self._is_over = True
                case Settle(net=net):
                    self.nets.append(net)
                case _:
                    pass


class BlockingGameClient:
    """A `Game` for programs without an event loop: the same, but every call returns when it is done."""

    def __init__(self, game: GameClient) -> None:
        self._game = game
        self._loop = loop_factory()()
        self._thread = Thread(target=self._loop.run_forever, daemon=True, name="croupier-client")

    @property
    def legal(self) -> Sequence[Any]:
        """As in Game."""
        return self._game.legal

    @property
    def nets(self) -> list[int]:
        """As in Game."""
        return self._game.nets

    @property
    def player(self) -> RoomClient[Any]:
        """As in Game."""
        return self._game.player

    @property
    def address(self) -> Address:
        """As in Game."""
        return self._game.address

    @property
    def last_received(self) -> str:
        """As in Game."""
        return self._game.last_received

    def send(self, message: object) -> None:
        """As in Game."""
        self._run(self._game.send(message))

    def receive(self) -> Any:
        """As in Game."""
        return self._run(self._game.receive())

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._run(self._game.__aenter__())
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._run(self._game.__aexit__(kind, error, trace))
        finally:
            self._stop()

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class GameConnector:
    """What `connect` returns: enter it with `async with` for a Game, or with `with` for a BlockingGame."""

    def __init__(self, game: GameClient) -> None:
        self._game = game
        self._blocking: BlockingGameClient | None = None

    async def __aenter__(self) -> GameClient:
        return await self._game.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._game.__aexit__(kind, error, trace)

    def __enter__(self) -> BlockingGameClient:
        self._blocking = BlockingGameClient(self._game)
        return self._blocking.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._blocking is not None:
            self._blocking.__exit__(kind, error, trace)


def connect(
    room: str,
    host: str = "127.0.0.1",
    port: int | None = None,
    *,
    options: Any = None,
    strict: bool = False,
    ssl: SSLContext | None = None,
) -> GameConnector:
    """A conversation with the house of a room, to be entered with `async with` or `with`.

    `port` is the room's own unless given: for seven and a half 1213, or else the 1212 of its document. `options` are
    the room's for a client; `strict` refuses what the protocol only tolerates; `ssl` is for a house behind TLS.
    Entering raises ConnectionError when nobody answers.
    """
    if room not in HOUSE_ROOMS:
        raise ValueError(f"found the room {room!r}; allowed: {', '.join(HOUSE_ROOMS)}")
    return GameConnector(GameClient(HOUSE_ROOMS[room], host, port, options=options, strict=strict, ssl=ssl))
