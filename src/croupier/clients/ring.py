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

from croupier.clients.identify import NOTIFY_AFTER_SECONDS, OtherProtocol, identify, silent
from croupier.clients.silence import SilenceWatch
from croupier.core.bots import Mind
from croupier.core.dealer import Fair, Luck
from croupier.core.session import Address, Chose, Effect, Event, Joined, Left, Said, Tell
from croupier.logs import Log, silence
from croupier.net.addresses import unheard, written
from croupier.net.endpoint import Limits, Switchboard, Unmoored, outward
from croupier.rooms.oldmaid import ROOM
from croupier.rooms.oldmaid.player import TABLE, Options, Player
from croupier.rooms.oldmaid.ring.player_events import News, Over, Result
from croupier.rooms.oldmaid.wire import Pick, Wire


@dataclass(frozen=True)
class Way:
    """How to come to a table: its address, and where to await the right neighbour.

    Without a `host` that is where this machine is when it calls the table; `port` 0 is a free one. `strict` refuses
    what the protocol only tolerates. `ssl` is for a table behind TLS; neighbours speak none.
    """

    table: Address
    host: str | None = None
    port: int = 0
    strict: bool = False
    ssl: SSLContext | None = None


class Ring:
    """One game: `async with` listens and joins, `hear` tells what happens, and `say` picks a card.

    `player` is the session behind it all, which follows the game. It calls the table from the port on which it listens,
    for that is where the table sends the right neighbour (oldmaid-3.4). Where the system does not allow that, it tells
    the table its port (oldmaid-3.5).
    """

    def __init__(
        self,
        way: Way,
        options: Options,
        luck: Luck,
        log: Log | None = None,
        notify: Callable[[str], None] | None = None,
    ) -> None:
        self.player = Player(options, luck, strict=way.strict)
        self._way = way
        self._options = options
        self._luck = luck
        self._log = silence() if log is None else log
        self._board: Switchboard
        self._notify = notify
        self._silence: SilenceWatch
        self._news: asyncio.Queue[Any] = asyncio.Queue()
        self._joined = False
        self._understood = False
        self._reason = "this machine has no way to it"
        self._over = False
        self._spent = asyncio.Event()

    @property
    def legal(self) -> Sequence[Pick]:
        """The cards that may be picked now; none while nobody offers any."""
        return self.player.legal

    @property
    def result(self) -> Result | None:
        """How the game has ended; None while it is played."""
        return self.player.result

    async def __aenter__(self) -> Self:
        """Raises ConnectionError when no table answers, and OSError when nobody can listen where it should."""
        host = self._way.host
        try:
            hosts = await outward(self._way.table) if host is None else [host]
        except (OSError, UnicodeError) as error:  # a name that no resolver takes is no OSError
            raise self._unanswered(str(error)) from error
        self._silence = SilenceWatch(self._waiting, [(NOTIFY_AFTER_SECONDS, self._notify_waiting)])
        try:
            for each in hosts:
                await self._come(each, self._way.port, self._options)
                if self._joined:
                    return self
        except BaseException:
            self._silence.stop()
            raise
        self._silence.stop()
        raise self._unanswered(self._reason)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Who leaves in the middle of a game is gone; who has finished it stays as long as others may ask for him."""
        try:
            if error is None and self.result is not None:
                await self._spent.wait()
        finally:
            self._silence.stop()
            await self._go()

    async def other(self) -> OtherProtocol | None:
        """What is spoken at the address of the table, where no game has begun and it is not Old Maid."""
        if self.player.seat is not None or self._understood:
            return None
        return await identify(ROOM, self._way.table, self._way.ssl)

    def _waiting(self) -> bool:
        return self.player.seat is None and not self._over

    def _notify_waiting(self) -> None:
        if self._notify is not None and self._joined:
            self._notify(f"{written(self._way.table)} has not begun a game yet; waiting for players (Ctrl-C ends)")
        elif self._notify is not None:
            self._notify(silent(self._way.table))

    async def hear(self) -> News:
        """What happens next; the last is Over. Raises ConnectionError behind it."""
        if self._over:
            raise ConnectionError("the game is over")
        news: News = await self._news.get()
        self._over = isinstance(news, Over)
        return news

    async def say(self, pick: Pick) -> None:
        """Pick a card. Raises IllegalMove when it is not `legal`."""
        self._board.hear(Chose(pick))

    async def _come(self, host: str, port: int, options: Options) -> None:
        """Listen, and call the table: from the same port, unless the options have one that the table is told."""
        own = await self._open(host, port, options)
        moored = options.port is None
        try:
            await self._board.dial(TABLE, self._way.table, self._way.ssl, local=own if moored else (own[0], 0))
        except Unmoored as error:
            await self._go()
            if not moored:
                raise self._unanswered(str(error)) from error
            self._log.warning("cannot call from where it listens, so it tells its port", port=own[1], error=str(error))
            await self._come(*own, replace(options, port=own[1]))
        except BaseException:
            self._board.halt(final=True)
            raise
        else:
            if not self._joined:
                await self._go()

    async def _open(self, host: str, port: int, options: Options) -> Address:
        """A player who listens: where."""
        way = self._way
        self.player = Player(options, self._luck, strict=way.strict)
        self._board = Switchboard(
            self.player,
            partial(Wire, "player", strict=way.strict, dialect=options.dialect),
            self._log,
            taps=[self._listen],
            limits=Limits(linger=1.0, connect=max(1.0, options.retry_seconds)),
        )
        try:
            own = await self._board.listen(host, port)
        except OSError as error:
            raise unheard((host, port), error) from error
        self._log.debug("listens", nick=options.nick, address=own)
        return own

    async def _go(self) -> None:
        """Hang up on everybody, and listen no more."""
        self._board.halt(final=True)
        await asyncio.sleep(0)  # the port is free then
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * self._board.limits.linger):
                await self._board.empty()

    def _unanswered(self, reason: str) -> ConnectionError:
        return ConnectionError(f"no table answers at {written(self._way.table)}: {reason}")

    def _listen(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:
        self._silence.reset(now)
        if type(event) is Said and event.peer == TABLE:
            self._understood = True
        if isinstance(event, Joined) and event.peer == TABLE:
            self._joined = True
        if not self._joined:
            if isinstance(event, Left) and event.peer == TABLE:
                self._reason = event.reason
            return
        for effect in effects:
            if type(effect) is Tell:
                self._news.put_nowait(effect.news)
        if self.player.spent:
            self._spent.set()


def sit(
    host: str = "127.0.0.1",
    port: int = 9898,
    *,
    nick: str = "croupier",
    options: Options | None = None,
    strict: bool = False,
    ssl: SSLContext | None = None,
    luck: Luck | None = None,
) -> Ring:
    """A seat at the table of an address, to be entered with `async with`.

    `options` are those of the player, and have a nick of their own; `strict` refuses what the protocol only tolerates;
    `ssl` is for a table behind TLS; `luck` decides where in the hand a new card goes.
    """
    own = Options(nick=nick) if options is None else options
    fair = Fair(secrets.token_bytes(32)).luck if luck is None else luck
    return Ring(Way((host, port), strict=strict, ssl=ssl), own, fair)


def advised(reason: str) -> str:
    """Why a game has ended early, and what helps where the table does not take the nick."""
    return (
        f"{reason} (--nick NAME sets another nick)" if "does not let us in" in reason and "nick" in reason else reason
    )


@dataclass
class Tally:
    """What has come of a player's games: how often he was at which place, how often he lost, and what went wrong.

    `games` are those that were begun; `faults` tell why some of them, or the one that was never begun, have not ended.
    """

    nick: str
    games: int = 0
    lost: int = 0
    places: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def note(self, result: Result) -> None:
        """Add the end of a game."""
        self.lost += result.outcome == "lost"
        if result.place is not None:
            self.places[result.place] += 1
        if result.outcome == "ended":
            self.faults.append(result.reason)


async def play(sit: Callable[[], Ring], mind: Mind[Any, Any], luck: Luck, games: int, tally: Tally) -> None:
    """Let a bot play games, one behind the other; what comes of them is noted in the tally.

    A game that the others, or the table, do not finish is a fault, and the next one is played. A player who does not
    even get a seat gives up.
    """
    try:
        for game in range(games):
            async with sit() as ring:
                await _follow(ring, mind, luck, game)
            begun = ring.player.seat is not None
            tally.games += begun
            if (other := await ring.other()) is not None:
                raise other
            if ring.result is not None:
                tally.note(ring.result)
            if not begun:
                return
    except OSError as fault:
        tally.faults.append(str(fault))


async def _follow(ring: Ring, mind: Mind[Any, Any], luck: Luck, game: int) -> None:
    """Play until the game is over."""
    news: News | None = None
    while not isinstance(news, Over):
        pick = ring.player.decide(mind, luck, game)
        if pick is not None:
            await ring.say(pick)
        news = await ring.hear()
