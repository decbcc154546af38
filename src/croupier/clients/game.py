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
    explain,
    identify,
    locate,
    silent,
)
from croupier.clients.silence import SilenceWatch
from croupier.core.codec import text
from croupier.core.errors import Violation
from croupier.core.referee import HOUSE
from croupier.core.room import Client, HouseRoom
from croupier.core.session import Address, Chose, Drop, Effect, Event, Joined, Left, Settle, Tell
from croupier.logs import silence
from croupier.net.addresses import written
from croupier.net.endpoint import Limits, Switchboard
from croupier.net.event_loop import factory
from croupier.rooms import HOUSES

MAX_SHOWN_BYTES: Final = 200
"""How much of the last words is shown."""


class Game:
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
        patience: float = 30.0,
        notify: Callable[[str], None] | None = None,
    ) -> None:
        self.settled: list[int] = []
        self.address: Address = (host, room.port if port is None else port)
        self._options = room.options() if options is None else options
        self.player: Client[Any] = room.player(self._options, strict, patience)
        self._located = port is not None
        self.notify = notify
        self._strict = strict
        self._ssl = ssl
        self._room = room
        self._news: asyncio.Queue[object] = asyncio.Queue()
        self._end: Exception | None = None
        self._joined = False
        self._over = False
        self._wire = FirstAnswer(room.codec(strict, self._options))
        self._understood = False
        self._silence: SilenceWatch
        self._identified: asyncio.Task[OtherProtocol | None] | None = None

    @property
    def legal(self) -> Sequence[Any]:
        """The messages that may be said now; none while the house has to speak."""
        return self.player.legal

    @property
    def last_words(self) -> str:
        """The last bytes that the house has sent, for people; empty when there were none."""
        return text(self._wire.last[:MAX_SHOWN_BYTES]) if self._wire.last else ""

    async def __aenter__(self) -> Self:
        if not self._located:
            self.address = await locate(self._room, self.address[0], self._ssl)
        self._board = Switchboard(
            self.player, lambda: self._wire, silence(), taps=[self._listen], limits=Limits(linger=1.0)
        )
        due = [(IDENTIFY_AFTER_SECONDS, self._identify), (NOTIFY_AFTER_SECONDS, self._notify_silence)]
        self._silence = SilenceWatch(self._waiting, due)
        try:
            await self._board.dial(HOUSE, self.address, self._ssl)
        except BaseException:
            self._stop()
            raise
        if not self._joined:
            self._stop()
            left = self._news.get_nowait()
            assert isinstance(left, Left), "a call that fails tells nothing else"
            raise ConnectionError(f"no house answers at {written(self.address)}: {left.reason}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
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

        Raises Violation, which names the clause, when the house breaks the protocol, ConnectionError when it is gone,
        and OtherProtocol, which is one, when the server speaks another game or TLS.
        """
        if self._end is not None:
            raise self._end
        news = await self._news.get()
        if isinstance(news, Violation | Left | OtherProtocol):
            self._end = await self._ended(news)
            raise self._end
        return news

    async def _ended(self, news: Violation | Left | OtherProtocol) -> Exception:
        """Why the conversation is over."""
        if isinstance(news, OtherProtocol):
            return news
        if not self._understood and (other := await self._other()) is not None:
            return other
        return news if isinstance(news, Violation) else ConnectionError(f"the house is gone: {news.reason}")

    async def _other(self) -> OtherProtocol | None:
        """What else is spoken here: judged by the first answer, or where there is none by asking."""
        if self._wire.first:
            return explain(self._room, self.address, self._wire.first)
        if self._identified is None:
            self._identified = asyncio.ensure_future(identify(self._room, self.address, self._ssl))
        return await self._identified

    def _waiting(self) -> bool:
        return not self._joined or self.player.alarm is not None

    def _identify(self) -> None:
        """Ask a server that is silent from the beginning what it speaks."""
        if self._joined and not self._wire.first and self._identified is None:
            self._identified = asyncio.ensure_future(self._ask())

    def _notify_silence(self) -> None:
        if self.notify is not None:
            self.notify(silent(self.address))

    def _stop(self) -> None:
        self._silence.stop()
        if self._identified is not None:
            self._identified.cancel()

    async def _ask(self) -> OtherProtocol | None:
        """Ask a silent server what it speaks; unless that is our game, it will never answer us."""
        other = await identify(self._room, self.address, self._ssl)
        if other is not None and not self._wire.first:
            self._news.put_nowait(other)
        return other

    def _listen(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:
        self._silence.reset(now)
        self._joined |= isinstance(event, Joined)
        self._over |= isinstance(event, Left)
        for effect in effects:
            match effect:
                case Tell(news):
                    self._news.put_nowait(news)
                    self._understood |= not isinstance(news, Violation | Left)
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

    @property
    def address(self) -> Address:
        """As in Game."""
        return self._game.address

    @property
    def last_words(self) -> str:
        """As in Game."""
        return self._game.last_words

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

    `port` is the room's own unless given: for seven and a half 1213, or else the 1212 of its document. `options` are
    the room's for a client; `strict` refuses what the protocol only tolerates; `ssl` is for a house behind TLS.
    Entering raises ConnectionError when nobody answers.
    """
    if room not in HOUSES:
        raise ValueError(f"found the room {room!r}; allowed: {', '.join(HOUSES)}")
    return Connection(Game(HOUSES[room], host, port, options=options, strict=strict, ssl=ssl))
