"""Client of Old Maid: listens for its right neighbour, joins a table, and plays one game."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from ssl import SSLContext
from types import TracebackType
from typing import Any, Self

from croupier.clients.blocking import BlockingProxy, ClientAttribute, blocking
from croupier.clients.identify import NOTIFY_AFTER_SECONDS, OtherProtocol, identify, silence_message
from croupier.clients.inbox import Inbox
from croupier.clients.luck import make_luck
from croupier.clients.silence import SilenceWatch
from croupier.clients.waiting import Wait, wait_limit
from croupier.core.bots import Bot
from croupier.core.codec import Codec
from croupier.core.dealer import Luck
from croupier.core.errors import AddressError
from croupier.core.logger import Logger, SilentLogger
from croupier.core.presentation import Text, text
from croupier.core.session import Address, Effect, Event, Joined, Left, Notify, Observer, Received, Session, Submitted
from croupier.net.addresses import connect_error_reason, format_address
from croupier.net.endpoint import Endpoint, EndpointLimits
from croupier.net.outgoing import LocalAddressError, outgoing_addresses
from croupier.rooms.oldmaid import ROOM
from croupier.rooms.oldmaid.player import TABLE, Options, Player
from croupier.rooms.oldmaid.ring.player_events import PlayerEvent, PlayerFinished, PlayerResult
from croupier.rooms.oldmaid.wire import Pick, Wire


@dataclass(frozen=True)
class RingConfig:
    """How to join a table: its address, and where to listen for the right neighbour.

    Without `host`, the player listens on the local address from which it connects to the table. With `port` 0 the
    system picks a port. `strict` rejects what the protocol only tolerates. `ssl` is the TLS context for the table;
    connections between neighbours use no TLS.
    """

    table: Address
    host: str | None = None
    port: int = 0
    strict: bool = False
    ssl: SSLContext | None = None


class RingClient:
    """A player in one game. Enter it with `async with`, or with `with` for a BlockingRingClient.

    Entering the context listens and joins. `receive` returns the next event, `send` picks a card, and `player` is the
    session that follows the game. The player connects to the table from the port on which it listens, because the table
    sends the right neighbour there (oldmaid-3.4). If the system does not allow this, the player sends its port to the
    table (oldmaid-3.5). `wrap_codec` is applied to the codec of each connection,
    `wrap_session` to the session of the game; `clock` is that of the Endpoint.

    Example, with `croupier serve oldmaid --players 2` running:
        >>> async def play_game(nick):
        ...     player: RingClient = join_table(port=9898, options=Options(nick, pause=0, poll_seconds=0.1))
        ...     async with player:
        ...         while not isinstance(await player.receive(), PlayerFinished):
        ...             if player.legal:
        ...                 await player.send(player.legal[0])
        ...     return player.result.outcome
        >>> async def play_both():
        ...     return await asyncio.gather(play_game("ann"), play_game("bob"))
        >>> sorted(asyncio.run(play_both()))
        ['lost', 'out']
    """

    def __init__(
        self,
        config: RingConfig,
        options: Options,
        luck: Luck,
        log: Logger | None = None,
        notify: Callable[[Text], None] | None = None,
        *,
        observers: Sequence[Observer] = (),
        wrap_codec: Callable[[Wire], Codec[Any, Any]] = lambda codec: codec,
        wrap_session: Callable[[Player], Session[Any, Any]] = lambda player: player,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.player = Player(options, luck, strict=config.strict)
        self._config = config
        self._options = options
        self._luck = luck
        self._log = SilentLogger() if log is None else log
        self._observers = observers
        self._wrap_codec = wrap_codec
        self._wrap_session = wrap_session
        self._clock = clock
        self._endpoint: Endpoint
        self._notify = notify
        self._silence_watch: SilenceWatch
        self._events: Inbox[Any] = Inbox()
        self._is_joined = False
        self._has_understood = False
        self._left_reason = "this machine has no route to it"
        self._is_over = False
        self._finished = asyncio.Event()

    @property
    def legal(self) -> Sequence[Pick]:
        """The cards that may be picked now; empty unless the neighbour offers its hand."""
        return self.player.legal

    @property
    def result(self) -> PlayerResult | None:
        """The result of the game; None while it is running."""
        return self.player.result

    async def __aenter__(self) -> Self:
        """Join the table.

        Raises ConnectionError if no table answers, OSError if the listening address cannot be used.
        """
        host = self._config.host
        try:
            hosts = await outgoing_addresses(self._config.table) if host is None else [host]
        except (OSError, UnicodeError) as error:  # UnicodeError: the host name cannot be encoded
            raise self._no_answer_error(connect_error_reason(error)) from error
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
        """Leave. A player whose game has ended stays connected until its neighbours no longer need it."""
        try:
            if error is None and self.result is not None:
                await self._finished.wait()
        finally:
            self._silence_watch.stop()
            await self._endpoint.close()

    def __enter__(self) -> "BlockingRingClient":
        self._blocking = BlockingRingClient(self)
        return self._blocking.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._blocking.__exit__(*error)

    async def find_other_protocol(self) -> OtherProtocol | None:
        """Probe the table if no game has begun; return an error if it does not speak Old Maid."""
        if self.player.seat is not None or self._has_understood:
            return None
        return await identify(ROOM, self._config.table, self._config.ssl)

    def _is_waiting(self) -> bool:
        return self.player.seat is None and not self._is_over

    def _notify_waiting(self) -> None:
        if self._notify is not None and self._is_joined:
            self._notify(
                text(
                    "{place} has not started a game yet; waiting for players (Ctrl-C ends)",
                    place=format_address(self._config.table),
                )
            )
        elif self._notify is not None:
            self._notify(silence_message(self._config.table))

    async def receive(self) -> PlayerEvent:
        """Wait for the next event and return it; the last one is PlayerFinished.

        Raises ConnectionError after that.
        """
        if self._is_over:
            raise ConnectionError("the game is over")
        event: PlayerEvent = await self._events.wait()
        self._is_over = isinstance(event, PlayerFinished)
        return event

    def receive_nowait(self) -> PlayerEvent | None:
        """Return the next event if it has happened already, else None; the last one is left to `receive`."""
        if self._events.first is None or isinstance(self._events.first, PlayerFinished):
            return None
        event: PlayerEvent = self._events.take()
        return event

    async def send(self, pick: Pick) -> None:
        """Pick a card. Raises IllegalMove if it is not in `legal`."""
        self.submit(pick)

    def submit(self, pick: Pick) -> None:
        """Pick a card, in a program that runs on the event loop. Raises IllegalMove if it is not in `legal`."""
        self._endpoint.handle_and_flush(Submitted(pick))

    async def _join(self, host: str, port: int, options: Options) -> None:
        """Listen, and connect to the table: from the listening port, unless the options contain a port to announce."""
        is_same_port = options.port is None
        try:
            listening_address = await self._start_player(host, port, options)
            await self._endpoint.connect(
                TABLE,
                self._config.table,
                self._config.ssl,
                local_address=listening_address if is_same_port else (listening_address[0], 0),
            )
        except LocalAddressError as error:
            await self._endpoint.close()
            if not is_same_port:
                raise self._no_answer_error(str(error)) from error
            self._log.warning(
                "cannot connect from the listening port; sending the port to the table instead",
                port=listening_address[1],
                error=str(error),
            )
            await self._join(*listening_address, replace(options, port=listening_address[1]))
        except BaseException:
            self._endpoint.halt(final=True)
            raise
        else:
            if not self._is_joined:
                await self._endpoint.close()

    async def _start_player(self, host: str, port: int, options: Options) -> Address:
        """Create the player and listen; return the listening address."""
        config = self._config
        self.player = Player(options, self._luck, strict=config.strict)
        self._endpoint = Endpoint(
            self._wrap_session(self.player),
            lambda: self._wrap_codec(Wire("player", strict=config.strict, dialect=options.dialect)),
            self._log,
            observers=[self._on_event, *self._observers],
            limits=EndpointLimits(close_timeout=1.0, connect_timeout=max(1.0, options.retry_seconds)),
            clock=self._clock,
        )
        listening_address = await self._endpoint.listen(host, port)
        self._log.debug("listening", nick=options.nick, address=listening_address)
        return listening_address

    def _no_answer_error(self, reason: str) -> AddressError:
        return AddressError(f"no table answers at {format_address(self._config.table)}: {reason}")

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
                self._events.put(effect.notice)
        if self.player.is_exhausted:
            self._finished.set()


class BlockingRingClient(BlockingProxy[RingClient]):
    """The synchronous counterpart of RingClient: every call blocks until it is done.

    Example, with `croupier serve oldmaid --players 2` running:
        >>> with join_table(port=9898, nick="ann") as ann, join_table(port=9898, nick="bob") as bob:
        ...     players: list[BlockingRingClient] = [ann, bob]
        ...     events = [player.receive() for player in players]
        >>> [event.seat for event in events]
        [0, 1]
    """

    send = blocking(RingClient.send)
    receive = blocking(RingClient.receive)
    legal = ClientAttribute[Sequence[Pick]]()
    player = ClientAttribute[Player]()
    result = ClientAttribute[PlayerResult | None]()


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
    """Return a player for the table at an address, to be used with `async with` or `with`.

    `options` are the player's options; they replace `nick`. `strict` rejects what the protocol only tolerates. `ssl` is
    the TLS context for a table that uses TLS. `luck` is the randomness that decides where a new card goes in the hand.

    Example, with `croupier serve oldmaid --players 2` running:
        >>> import asyncio
        >>> async def sit_down():
        ...     async with join_table(port=9898, nick="ann"), join_table(port=9898, nick="bob") as bob:
        ...         return await bob.receive()
        >>> event = asyncio.run(sit_down())
        >>> [nick for _, nick in event.players]
        ['ann', 'bob']
    """
    player_options = Options(nick=nick) if options is None else options
    position_luck = make_luck() if luck is None else luck
    return RingClient(RingConfig((host, port), strict=strict, ssl=ssl), player_options, position_luck)


@dataclass
class RingTally:
    """The results of one player: how often it finished in each place, how often it lost, and what went wrong.

    `games` is the number of games that were started. `faults` are the reasons why games, or the attempt to join one,
    did not end properly.

    Example:
        >>> tally = RingTally("ann", games=1)
        >>> tally.add_result(PlayerResult("out", place=1))
        >>> tally.places[1], tally.losses
        (1, 0)
    """

    nick: str
    games: int = 0
    losses: int = 0
    places: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def add_result(self, result: PlayerResult) -> None:
        """Add the result of a game."""
        self.losses += result.outcome == "lost"
        if result.place is not None:
            self.places[result.place] += 1
        if result.outcome == "ended":
            self.faults.append(result.reason)


async def play_ring_games(
    connect: Callable[[], RingClient],
    bot: Bot[Any, Any],
    luck: Luck,
    games: int,
    tally: RingTally,
    *,
    wait_seconds: float | None = None,
) -> None:
    """Let a bot play games one after another; the results are added to the tally.

    A game that the table or other players abort is a fault, and the next one is played. If no game starts, the run
    ends. It ends with a fault when the bot has waited for `wait_seconds` for a game to start; without this number the
    bot waits as long as it takes for the first game, and for 30 seconds for each other one.

    Example, with `croupier serve oldmaid --players 2` running:
        >>> from croupier import make_luck
        >>> from croupier.oldmaid import BOT_SPECS
        >>> async def play_game(nick, luck):
        ...     tally = RingTally(nick)
        ...     seat = lambda: join_table(port=9898, options=Options(nick, pause=0, poll_seconds=0.1))
        ...     await play_ring_games(seat, BOT_SPECS["random"].make(), luck, 1, tally)
        ...     return tally.losses
        >>> async def play_both():
        ...     return await asyncio.gather(play_game("ann", make_luck()), play_game("bob", make_luck()))
        >>> sorted(asyncio.run(play_both()))
        [0, 1]
    """
    try:
        for game in range(games):
            async with connect() as ring, Wait("a game to start") as wait:
                wait.begin(wait_limit(wait_seconds, has_played=tally.games > 0))
                await _play_game(ring, bot, luck, game, wait)
            has_started = ring.player.seat is not None
            tally.games += has_started
            if (other_protocol := await ring.find_other_protocol()) is not None:
                raise other_protocol
            if ring.result is not None:
                tally.add_result(ring.result)
            if not has_started:
                return
    except OSError as error:
        tally.faults.append(str(error))


async def _play_game(ring: RingClient, bot: Bot[Any, Any], luck: Luck, game: int, wait: Wait) -> None:
    """Play one game to its end. The wait ends when it starts."""
    event: PlayerEvent | None = None
    while not isinstance(event, PlayerFinished):
        pick = ring.player.decide(bot, luck, game)
        if pick is not None:
            await ring.send(pick)
        event = await ring.receive()
        wait.end()
