"""The library's client: a game as typed messages, with `async with` or, for programs without a loop, with `with`."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from ssl import SSLContext
from threading import Thread
from types import TracebackType
from typing import Any, Self

from croupier.core.errors import Violation
from croupier.core.judge import HOUSE
from croupier.core.room import Client, HouseRoom
from croupier.core.talk import Chose, Drop, Effect, Event, Joined, Left, Settle, Tell
from croupier.rooms import HOUSES
from croupier.shell.logs import silence
from croupier.shell.loop import factory
from croupier.shell.switchboard import Limits, Switchboard


class Game:
    """A conversation with a house.

    `say` sends a message, `hear` waits for the next one. `legal` is what may be said now, `settled` what every finished
    game has brought, in coins, and `player` the session behind it all, which follows the game.
    """

    def __init__(
        self,
        room: HouseRoom,
        host: str,
        port: int,
        *,
        options: Any = None,
        strict: bool = False,
        ssl: SSLContext | None = None,
    ) -> None:
        self.settled: list[int] = []
        self._options = room.options() if options is None else options
        self.player: Client[Any] = room.player(self._options, strict)
        self._address = (host, port)
        self._strict = strict
        self._ssl = ssl
        self._room = room
        self._news: asyncio.Queue[object] = asyncio.Queue()
        self._end: Exception | None = None
        self._joined = False
        self._over = False

    @property
    def legal(self) -> Sequence[Any]:
        """The messages that may be said now; none while the house has to speak."""
        return self.player.legal

    async def __aenter__(self) -> Self:
        self._board = Switchboard(
            self.player,
            lambda: self._room.codec(self._strict, self._options),
            silence(),
            taps=[self._listen],
            limits=Limits(linger=1.0),
        )
        await self._board.dial(HOUSE, self._address, self._ssl)
        if not self._joined:
            host, port = self._address
            left = self._news.get_nowait()
            assert isinstance(left, Left), "a call that fails tells nothing else"
            raise ConnectionError(f"no house answers at {host}:{port}: {left.reason}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._board.halt(final=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * self._board.limits.linger):
                await self._board.empty()

    async def say(self, message: object) -> None:
        """Send a message. Raises IllegalMove when it is not `legal`, ConnectionError when the conversation is over."""
        if self._over:
            raise self._end or ConnectionError("the conversation is over")
        self._board.hear(Chose(message))

    async def hear(self) -> Any:
        """The next message of the house.

        Raises Violation, which names the clause, when the house breaks the protocol, and ConnectionError when it is
        gone.
        """
        if self._end is not None:
            raise self._end
        news = await self._news.get()
        match news:
            case Violation():
                self._end = news
                raise news
            case Left(reason=reason):
                self._end = ConnectionError(f"the house is gone: {reason}")
                raise self._end
            case _:
                return news

    def _listen(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- a Tap
        self._joined |= isinstance(event, Joined)
        self._over |= isinstance(event, Left)
        for effect in effects:
            match effect:
                case Tell(news):
                    self._news.put_nowait(news)
                case Drop():
                    self._over = True
                case Settle(net=net):
                    self.settled.append(net)
                case _:
                    pass


class BlockingGame:
    """A `Game` for programs without an event loop: the same, but every call returns when it is done."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._loop = factory()()
        self._thread = Thread(target=self._loop.run_forever, daemon=True, name="croupier-client")

    @property
    def legal(self) -> Sequence[Any]:
        """As in Game."""
        return self._game.legal

    @property
    def settled(self) -> list[int]:
        """As in Game."""
        return self._game.settled

    @property
    def player(self) -> Client[Any]:
        """As in Game."""
        return self._game.player

    def say(self, message: object) -> None:
        """As in Game."""
        self._do(self._game.say(message))

    def hear(self) -> Any:
        """As in Game."""
        return self._do(self._game.hear())

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._do(self._game.__aenter__())
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._do(self._game.__aexit__(kind, error, trace))
        finally:
            self._stop()

    def _do(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Connection:
    """What `connect` returns: enter it with `async with` for a Game, or with `with` for a BlockingGame."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._blocking: BlockingGame | None = None

    async def __aenter__(self) -> Game:
        return await self._game.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._game.__aexit__(kind, error, trace)

    def __enter__(self) -> BlockingGame:
        self._blocking = BlockingGame(self._game)
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
) -> Connection:
    """A conversation with the house of a room, to be entered with `async with` or `with`.

    `port` is the room's own unless given; `options` are the room's for a client; `strict` refuses what the protocol
    only tolerates; `ssl` is for a house behind TLS. Entering raises ConnectionError when nobody answers.
    """
    if room not in HOUSES:
        raise ValueError(f"found the room {room!r}; allowed: {', '.join(HOUSES)}")
    address = (host, port if port is not None else HOUSES[room].port)
    return Connection(Game(HOUSES[room], *address, options=options, strict=strict, ssl=ssl))
