"""A seat in a ring of Old Maid: it listens for its right neighbour, joins a table, and plays one game to its end."""

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from ssl import SSLContext
from types import TracebackType
from typing import Any, Self

from croupier.clients.identify import NOTIFY_AFTER_SECONDS, OtherProtocol, identify, silence_message
from croupier.clients.silence import SilenceWatch
from croupier.core.bots import Bot
from croupier.core.dealer import FairDealer, Luck
from croupier.core.session import Address, Effect, Event, Joined, Left, Notify, Received, Submitted
from croupier.logs import Logger, silent_logger
from croupier.net.addresses import format_address, listen_error
from croupier.net.endpoint import Endpoint, EndpointLimits, LocalAddressError, outgoing_addresses
from croupier.rooms.oldmaid import ROOM
from croupier.rooms.oldmaid.player import TABLE, Options, Player
from croupier.rooms.oldmaid.ring.player_events import PlayerEvent, PlayerFinished, PlayerResult
from croupier.rooms.oldmaid.wire import Pick, Wire


@dataclass(frozen=True)
class RingConfig:
    """How to come to a table: its address, and where to await the right neighbour.

    Without a `host` that is where this machine is when it calls the table; `port` 0 is a free one. `strict` refuses
    what the protocol only tolerates. `ssl` is for a table behind TLS; neighbours speak none.
    """

    table: Address
    host: str | None = None
    port: int = 0
    strict: bool = False
    ssl: SSLContext | None = None


class RingClient:
    """One game: `async with` listens and joins, `hear` tells what happens, and `say` picks a card.

    `player` is the session behind it all, which follows the game. It calls the table from the port on which it listens,
    for that is where the table sends the right neighbour (oldmaid-3.4). Where the system does not allow that, it tells
    the table its port (oldmaid-3.5).
    """

    def __init__(
        self,
        config: RingConfig,
        options: Options,
        luck: Luck,
        log: Logger | None = None,
        notify: Callable[[str], None] | None = None,
    ) -> None:
        self.player = Player(options, luck, strict=config.strict)
        self._config = config
        self._options = options
        self._luck = luck
        self._log = silent_logger() if log is None else log
        self._endpoint: Endpoint
        self._notify = notify
        self._silence_watch: SilenceWatch
        self._events: asyncio.Queue[Any] = asyncio.Queue()
        self._is_joined = False
        self._has_understood = False
        self._left_reason = "this machine has no way to it"
        self._is_over = False
        self._finished = asyncio.Event()

    @property
    def legal(self) -> Sequence[Pick]:
        """The cards that may be picked now; none while nobody offers any."""
        return self.player.legal

    @property
    def result(self) -> PlayerResult | None:
        """How the game has ended; None while it is played."""
        return self.player.result

    async def __aenter__(self) -> Self:
        """Raises ConnectionError when no table answers, and OSError when nobody can listen where it should."""
        host = self._config.host
        try:
            hosts = await outgoing_addresses(self._config.table) if host is None else [host]
        except (OSError, UnicodeError) as error:  # a name that no resolver takes is no OSError
            raise self._no_answer_error(str(error)) from error
        self._silence_watch = SilenceWatch(self._is_waiting, [(NOTIFY_AFTER_SECONDS, self._notify_waiting)])
        try:
            for each in hosts:
                await self._join(each, self._config.port, self._options)
                if self._is_joined:
                    return self
        except BaseException:
            self._silence_watch.stop()
            raise
        self._silence_watch.stop()
        raise self._no_answer_error(self._left_reason)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Who leaves in the middle of a game is gone; who has finished it stays as long as others may ask for him."""
        try:
            if error is None and self.result is not None:
                await self._finished.wait()
        finally:
            self._silence_watch.stop()
            await self._close()

    async def find_other_protocol(self) -> OtherProtocol | None:
        """What is spoken at the address of the table, where no game has begun and it is not Old Maid."""
        if self.player.seat is not None or self._has_understood:
            return None
        return await identify(ROOM, self._config.table, self._config.ssl)

    def _is_waiting(self) -> bool:
        return self.player.seat is None and not self._is_over

    def _notify_waiting(self) -> None:
        if self._notify is not None and self._is_joined:
            self._notify(
                f"{format_address(self._config.table)} has not begun a game yet; waiting for players (Ctrl-C ends)"
            )
        elif self._notify is not None:
            self._notify(silence_message(self._config.table))

    async def receive(self) -> PlayerEvent:
        """What happens next; the last is Over. Raises ConnectionError behind it."""
        if self._is_over:
            raise ConnectionError("the game is over")
        news: PlayerEvent = await self._events.get()
        self._is_over = isinstance(news, PlayerFinished)
        return news

    async def send(self, pick: Pick) -> None:
        """Pick a card. Raises IllegalMove when it is not `legal`."""
        self._endpoint.handle_and_flush(Submitted(pick))

    async def _join(self, host: str, port: int, options: Options) -> None:
        """Listen, and call the table: from the same port, unless the options have one that the table is told."""
        own = await self._start_player(host, port, options)
        moored = options.port is None
        try:
            await self._endpoint.connect(
                TABLE, self._config.table, self._config.ssl, local_address=own if moored else (own[0], 0)
            )
        except LocalAddressError as error:
            await self._close()
            if not moored:
                raise self._no_answer_error(str(error)) from error
            self._log.warning("cannot call from where it listens, so it tells its port", port=own[1], error=str(error))
            await self._join(*own, replace(options, port=own[1]))
        except BaseException:
            self._endpoint.halt(final=True)
            raise
        else:
            if not self._is_joined:
                await self._close()

    async def _start_player(self, host: str, port: int, options: Options) -> Address:
        """A player who listens: where."""
        way = self._config
        self.player = Player(options, self._luck, strict=way.strict)
        self._endpoint = Endpoint(
            self.player,
            partial(Wire, "player", strict=way.strict, dialect=options.dialect),
            self._log,
            taps=[self._on_event],
            limits=EndpointLimits(close_timeout=1.0, connect_timeout=max(1.0, options.retry_seconds)),
        )
        try:
            own = await self._endpoint.listen(host, port)
        except OSError as error:
            raise listen_error((host, port), error) from error
        self._log.debug("listens", nick=options.nick, address=own)
        return own

    async def _close(self) -> None:
        """Hang up on everybody, and listen no more."""
        self._endpoint.halt(final=True)
        await asyncio.sleep(0)  # the port is free then
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * self._endpoint.limits.close_timeout):
                await self._endpoint.wait_drained()

    def _no_answer_error(self, reason: str) -> ConnectionError:
        return ConnectionError(f"no table answers at {format_address(self._config.table)}: {reason}")

    def _on_event(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:
        self._silence_watch.reset(now)
        if type(event) is Received and event.peer == TABLE:
            self._has_understood = True
        if isinstance(event, Joined) and event.peer == TABLE:
            self._is_joined = True
        if not self._is_joined:
            if isinstance(event, Left) and event.peer == TABLE:
                self._left_reason = event.reason
            return
        for effect in effects:
            if type(effect) is Notify:
                self._events.put_nowait(effect.notice)
        if self.player.is_exhausted:
            self._finished.set()


def join_table(
    host: str = "127.0.0.1",
    port: int = 9898,
    *,
    nick: str = "croupier",
    options: Options | None = None,
    strict: bool = False,
    ssl: SSLContext | None = None,
    luck: Luck | None = None,
) -> RingClient:
    """A seat at the table of an address, to be entered with `async with`.

    `options` are those of the player, and have a nick of their own; `strict` refuses what the protocol only tolerates;
    `ssl` is for a table behind TLS; `luck` decides where in the hand a new card goes.
    """
    own = Options(nick=nick) if options is None else options
    fair = FairDealer(secrets.token_bytes(32)).luck if luck is None else luck
    return RingClient(RingConfig((host, port), strict=strict, ssl=ssl), own, fair)


def with_advice(reason: str) -> str:
    """Why a game has ended early, and what helps where the table does not take the nick."""
    return (
        f"{reason} (--nick NAME sets another nick)" if "does not let us in" in reason and "nick" in reason else reason
    )


@dataclass
class RingTally:
    """What has come of a player's games: how often he was at which place, how often he lost, and what went wrong.

    `games` are those that were begun; `faults` tell why some of them, or the one that was never begun, have not ended.
    """

    nick: str
    games: int = 0
    losses: int = 0
    places: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def add_result(self, result: PlayerResult) -> None:
        """Add the end of a game."""
        self.losses += result.outcome == "lost"
        if result.place is not None:
            self.places[result.place] += 1
        if result.outcome == "ended":
            self.faults.append(result.reason)


async def play_ring_games(
    connect: Callable[[], RingClient], bot: Bot[Any, Any], luck: Luck, games: int, tally: RingTally
) -> None:
    """Let a bot play games, one behind the other; what comes of them is noted in the tally.

    A game that the others, or the table, do not finish is a fault, and the next one is played. A player who does not
    even get a seat gives up.
    """
    try:
        for game in range(games):
            async with connect() as ring:
                await _play_game(ring, bot, luck, game)
            begun = ring.player.seat is not None
            tally.games += begun
            if (other := await ring.find_other_protocol()) is not None:
                raise other
            if ring.result is not None:
                tally.add_result(ring.result)
            if not begun:
                return
    except OSError as fault:
        tally.faults.append(str(fault))


async def _play_game(ring: RingClient, mind: Bot[Any, Any], luck: Luck, game: int) -> None:
    """Play until the game is over."""
    news: PlayerEvent | None = None
    while not isinstance(news, PlayerFinished):
        pick = ring.player.decide(mind, luck, game)
        if pick is not None:
            await ring.send(pick)
        news = await ring.receive()
