"""Client of a house: plays a game as typed messages, asynchronously (`async with`) or synchronously (`with`)."""

import asyncio
from collections.abc import Callable, Sequence
from ssl import SSLContext
from typing import Any, Final, Self

from croupier.clients.blocking import BlockingProxy, ClientAttribute, blocking
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
from croupier.clients.inbox import Inbox
from croupier.clients.silence import SilenceWatch
from croupier.core.client_session import ClientSession
from croupier.core.codec import printable_bytes
from croupier.core.errors import AddressError, Violation
from croupier.core.logger import SilentLogger
from croupier.core.presentation import Text
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import HUNG_UP, Address, Drop, Effect, Event, Joined, Left, Notify, Settle, Submitted
from croupier.net.addresses import format_address
from croupier.net.endpoint import Endpoint, EndpointLimits
from croupier.rooms import HOUSE_ROOMS

MAX_LAST_RECEIVED_BYTES: Final = 200
"""Maximum number of bytes of the last read that `last_received` shows."""


class GameClient:
    """A connection to a house. Enter it with `async with`, or with `with` for a BlockingGameClient.

    `send` sends a message, `receive` waits for the next one. `legal` are the messages that are allowed now, `nets` the
    result of every finished game in coins. `player` is the session that follows the game, `room` is what is played.
    `hangup` is the error that says so if the house closed the connection first, also if it broke a clause by that; else
    None.

    Without `port` the server is searched at the room's default ports; `address` is set when the context is entered.
    `answer_timeout` is the number of seconds that the house has for an answer. `notify` is called with a text when
    the house has been silent for NOTIFY_AFTER_SECONDS.
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
        notify: Callable[[Text], None] | None = None,
    ) -> None:
        self.nets: list[int] = []
        self.hangup: ConnectionError | None = None
        self.address: Address = (host, room.port if port is None else port)
        self._options = room.options() if options is None else options
        self.player: ClientSession[Any, Any] = room.player(self._options, strict=strict, reply_timeout=answer_timeout)
        self._has_port = port is not None
        self.notify = notify
        self._ssl = ssl
        self.room = room
        self._inbox: Inbox[object] = Inbox()
        self._final_error: Exception | None = None
        self._is_joined = False
        self._is_over = False
        self._codec = FirstAnswer(room.codec(strict, self._options))
        self._has_understood = False
        self._silence_watch: SilenceWatch
        self._identify_task: asyncio.Task[OtherProtocol | None] | None = None

    @property
    def legal(self) -> Sequence[Any]:
        """The messages that may be sent now; while it is the house's turn none but a closing message."""
        return self.player.legal

    @property
    def last_received(self) -> str:
        """The last bytes received from the house, printable; empty if nothing was received."""
        return printable_bytes(self._codec.last_bytes[:MAX_LAST_RECEIVED_BYTES]) if self._codec.last_bytes else ""

    async def __aenter__(self) -> Self:
        if not self._has_port:
            self.address = await locate(self.room, self.address[0], self._ssl)
        self._endpoint = Endpoint(
            self.player,
            lambda: self._codec,
            SilentLogger(),
            observers=[self._on_event],
            limits=EndpointLimits(close_timeout=1.0),
        )
        callbacks = [(IDENTIFY_AFTER_SECONDS, self._start_identify), (NOTIFY_AFTER_SECONDS, self._notify_silence)]
        self._silence_watch = SilenceWatch(self._is_waiting, callbacks)
        try:
            await self._endpoint.connect(HOUSE, self.address, self._ssl)
        except BaseException:
            self._stop()
            raise
        if not self._is_joined:
            self._stop()
            left = self._inbox.take()
            assert isinstance(left, Left), "a failed connection attempt has no other event"
            raise AddressError(f"no house answers at {format_address(self.address)}: {left.reason}")
        return self

    async def __aexit__(self, *error: object) -> None:
        self._stop()
        await self._endpoint.close()

    def __enter__(self) -> "BlockingGameClient":
        self._blocking = BlockingGameClient(self)
        return self._blocking.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._blocking.__exit__(*error)

    async def send(self, message: object) -> None:
        """Send a message. Raises IllegalMove if it is not in `legal`, ConnectionError if the conversation is over."""
        if self._is_over:
            raise self._final_error or ConnectionError("the conversation is over")
        self._endpoint.handle_and_flush(Submitted(message))

    async def receive(self) -> Any:
        """Wait for the next message of the house and return it.

        Raises Violation, which cites the clause, if the house breaks the protocol; ConnectionError if the house has
        disconnected; and OtherProtocol (a ConnectionError) if the server speaks another game's protocol or TLS.
        """
        if self._final_error is not None:
            raise self._final_error
        item = await self._inbox.wait()
        if isinstance(item, Violation | Left | OtherProtocol):
            self._final_error = await self._find_final_error(item)
            raise self._final_error
        return item

    def receive_nowait(self) -> Any:
        """Return the next message of the house if it has arrived already, else None."""
        first = self._inbox.first
        return None if first is None or isinstance(first, Violation | Left | OtherProtocol) else self._inbox.take()

    async def _find_final_error(self, cause: Violation | Left | OtherProtocol) -> Exception:
        """Return the error that ended the conversation."""
        if isinstance(cause, OtherProtocol):
            return cause
        if not self._has_understood and (other := await self._find_other_protocol()) is not None:
            return other
        return cause if isinstance(cause, Violation) else closed_error(cause.reason)

    async def _find_other_protocol(self) -> OtherProtocol | None:
        """Return what else the server speaks: recognised by its first answer, or by a probe if there was none."""
        if self._codec.first_bytes:
            return other_protocol_error(self.room, self.address, self._codec.first_bytes)
        if self._identify_task is None:
            self._identify_task = asyncio.ensure_future(identify(self.room, self.address, self._ssl))
        return await self._identify_task

    def _is_waiting(self) -> bool:
        return not self._is_joined or self.player.deadline is not None

    def _start_identify(self) -> None:
        """Probe a server that has been silent from the beginning."""
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
        """Probe a silent server. One that speaks another protocol will never answer, so `receive` raises at once."""
        other = await identify(self.room, self.address, self._ssl)
        if other is not None and not self._codec.first_bytes:
            self._inbox.put(other)
        return other

    def _on_event(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:
        self._silence_watch.reset(now)
        self._is_joined |= isinstance(event, Joined)
        if isinstance(event, Left):
            if self._is_joined and not self._is_over:
                self.hangup = closed_error(event.reason)
            self._is_over = True
        for effect in effects:
            match effect:
                case Notify(notice):
                    self._inbox.put(notice)
                    self._has_understood |= not isinstance(notice, Violation | Left)
                case Drop():
                    self._is_over = True
                case Settle(net=net):
                    self.nets.append(net)
                case _:
                    pass


class BlockingGameClient(BlockingProxy[GameClient]):
    """The synchronous counterpart of GameClient: every call blocks until it is done."""

    send = blocking(GameClient.send)
    receive = blocking(GameClient.receive)
    legal = ClientAttribute[Sequence[Any]]()
    nets = ClientAttribute[list[int]]()
    player = ClientAttribute[ClientSession[Any, Any]]()
    address = ClientAttribute[Address]()
    last_received = ClientAttribute[str]()


def closed_error(reason: str) -> ConnectionError:
    """Return the error for a house that has left for a reason."""
    return ConnectionError(f"the server closed the connection{'' if reason == HUNG_UP else f': {reason}'}")


def connect(
    room: str,
    host: str = "127.0.0.1",
    port: int | None = None,
    *,
    options: Any = None,
    strict: bool = False,
    ssl: SSLContext | None = None,
) -> GameClient:
    """Connect to the house of a room: `async with connect("kuhn") as game` or `with connect("kuhn") as game`.

    `port` defaults to the room's own; for seven and a half that is 1213, or else 1212 as in its document. `options` are
    the room's client options; `strict` rejects what the protocol only tolerates; `ssl` is the TLS context for a house
    that uses TLS.

    Raises ValueError if the room is unknown. Entering the context raises ConnectionError if no house answers.

    Example, with `croupier serve kuhn` running:
        >>> from croupier.kuhn import Actn, Strt
        >>> with connect("kuhn", port=1212) as game:
        ...     game.send(Strt("P_1"))
        ...     card = game.receive()
        ...     game.send(Actn("BET"))
        ...     answer = game.receive()  # the house folds, or shows its card
        >>> len(game.nets)  # the coins won in each game
        1
    """
    if room not in HOUSE_ROOMS:
        raise ValueError(f"found the room {room!r}; allowed: {', '.join(HOUSE_ROOMS)}")
    return GameClient(HOUSE_ROOMS[room], host, port, options=options, strict=strict, ssl=ssl)
