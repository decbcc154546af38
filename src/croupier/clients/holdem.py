"""Clients of a hold'em server, with and without an event loop, and a function that lets a bot play at it."""

from collections.abc import AsyncGenerator, Callable, Iterator
from ssl import SSLContext

from croupier.clients.blocking import BlockingProxy, blocking
from croupier.clients.game_watcher import GameWatcher
from croupier.clients.holdem_api import Exchange, HoldemApi, JoinedGame, Refusal
from croupier.clients.holdem_seat import BlockingHoldemSeat, HoldemSeat
from croupier.clients.http_exchange import HttpExchange
from croupier.clients.play import BotTally
from croupier.clients.waiting import LOGGER, Wait, wait_limit
from croupier.core.bots import Bot
from croupier.core.dealer import Luck
from croupier.core.errors import Violation
from croupier.rooms.holdem.engine.legal import Move
from croupier.rooms.holdem.table.views import View
from croupier.rooms.holdem.wire import Dialect, Game, Guid

__all__ = ["HoldemClient", "HoldemSeat", "JoinedGame", "Refusal", "play_hands"]


class HoldemClient(HoldemApi):
    """A user of a hold'em server: `HoldemClient("http://127.0.0.1:8080", "ann", "secret")`.

    Use it as an async context manager. Methods raise Refusal if the server refuses the request, Violation if the server
    breaks the protocol, and ConnectionError if the server cannot be reached for `retry_timeout` seconds.

    Without `dialect`, the client recognises the server's dialect by its answers. `ssl` is the TLS context for a server
    with a private certificate; `exchange` replaces the network, for tests. Raises ValueError if the URL or the user
    name is invalid.

    Example, with `croupier serve holdem` running:
        >>> import asyncio
        >>> async def open_game():
        ...     async with HoldemClient("http://127.0.0.1:8080", "ann", "secret") as client:
        ...         guid = await client.register()
        ...         joined = await client.create_game()
        ...         return joined.game in [game.game_id for game in await client.list_games()]
        >>> asyncio.run(open_game())
        True
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
        exchange: Exchange | None = None,
    ) -> None:
        self.url = url
        super().__init__(exchange or HttpExchange(url, ssl), user, password, retry_timeout, dialect)

    async def watch(self, game: Guid) -> AsyncGenerator[Game]:
        """Yield a game now and after every change, without end."""
        async with GameWatcher(self, game) as watcher:
            while True:
                yield await watcher.next_game()

    def sit(self, game: Guid | None = None) -> HoldemSeat:
        """Return a seat to be used as an async context manager: in this game, or in any game with a free seat."""
        return HoldemSeat(self, game)


class BlockingHoldemClient(BlockingProxy[HoldemClient]):
    """The synchronous counterpart of HoldemClient, with the same methods; use it as a context manager.

    Every call blocks until it is done.

    Example, with `croupier serve holdem` running:
        >>> with BlockingHoldemClient("http://127.0.0.1:8080", "bob", "secret") as client:
        ...     guid = client.register()
        ...     joined = client.create_game()
        ...     game = client.get_game(joined.game)
        >>> [player.handle for player in game.table]
        ['bob']
    """

    register = blocking(HoldemClient.register)
    list_games = blocking(HoldemClient.list_games)
    get_game = blocking(HoldemClient.get_game)
    create_game = blocking(HoldemClient.create_game)
    join = blocking(HoldemClient.join)
    act = blocking(HoldemClient.act)
    leave = blocking(HoldemClient.leave)

    def __init__(
        self,
        url: str,
        user: str,
        password: str,
        *,
        ssl: SSLContext | None = None,
        retry_timeout: float = 30.0,
        dialect: Dialect | None = None,
        exchange: Exchange | None = None,
    ) -> None:
        super().__init__(
            HoldemClient(url, user, password, ssl=ssl, retry_timeout=retry_timeout, dialect=dialect, exchange=exchange)
        )

    def watch(self, game: Guid) -> Iterator[Game]:
        """See `HoldemClient.watch`."""
        return self._iterate(self._client.watch(game))

    def sit(self, game: Guid | None = None) -> BlockingHoldemSeat:
        """Return a seat to be used as a context manager: in this game, or in any game with a free seat."""
        return BlockingHoldemSeat(self._client.sit(game), self._thread)


async def play_hands(
    client: HoldemClient,
    bot: Bot[View, Move],
    luck: Luck,
    hands: int | None = None,
    *,
    rebuy: bool | None = None,
    pause_seconds: float = 0.0,
    game: Guid | None = None,
    tally: BotTally | None = None,
    wait_seconds: float | None = None,
    notify: Callable[[str], object] = LOGGER.warning,
) -> BotTally:
    """Let a bot play `hands` hands, or without this number as long as it can.

    The bot registers and takes a seat in `game`, or in any game with a free seat. If it loses the seat, because it has
    no chips or was too slow, it joins again if `rebuy` is true; by default `rebuy` is true if `hands` is given. The
    bot waits `pause_seconds` before each move.

    When the bot has not been dealt in for `wait_seconds`, a TimeoutError ends the run. Without this number it waits as
    long as it takes, but with `hands` it waits for 30 seconds when it has played and all others have left. `notify` is
    called with a notice after five seconds of waiting; by default the logger `croupier` logs it as a warning.

    Returns the tally. Its `fault` is the error that ended the run early, its `connections` the number of seats taken.
    Pass a `tally` to keep the results if the call is cancelled. Raises IllegalMove if the bot chooses a move that is
    not allowed.

    Example, with `croupier serve holdem` running:
        >>> import asyncio
        >>> from croupier import make_luck
        >>> from croupier.holdem import CallerBot
        >>> async def play_three_hands(user):
        ...     async with HoldemClient("http://127.0.0.1:8080", user, "secret") as client:
        ...         return await play_hands(client, CallerBot(), make_luck(), 3)
        >>> async def play_both():
        ...     return await asyncio.gather(play_three_hands("ann"), play_three_hands("bob"))
        >>> [len(tally.nets) for tally in asyncio.run(play_both())]
        [3, 3]
    """
    tally = BotTally() if tally is None else tally
    rebuy = hands is not None if rebuy is None else rebuy
    try:
        await client.register()
        while hands is None or len(tally.nets) < hands:
            hands_before = len(tally.nets)
            async with client.sit(game) as seat:
                tally.connections += 1
                what = "a free seat" if seat.joined_game.is_queued else "other players"
                notice = f"{client.user} is waiting for {what} at {client.url}"
                try:
                    async with Wait(what, notice, notify) as wait:
                        wait.begin(wait_limit(wait_seconds, has_played=False))
                        async for seen in seat:
                            hands_played = hands_before + len(seat.nets)
                            if hands is not None and hands_played >= hands:
                                break
                            has_been_left = hands is not None and hands_played > 0 and len(seen.table) < 2
                            _update_wait(wait, seen, wait_limit(wait_seconds, has_played=has_been_left))
                            await _make_move(client, seat, bot, luck, pause_seconds)
                finally:
                    tally.nets += seat.nets
            if not rebuy:
                break
            if len(tally.nets) == hands_before:
                raise ConnectionError("the bot lost its seat before it finished a hand")
    except (Violation, Refusal, ConnectionError, TimeoutError) as fault:
        tally.fault = fault
    return tally


def _update_wait(wait: Wait, game: Game, limit: float) -> None:
    """Begin or end the wait: a player who is alone at the table, or has no cards, is not dealt in."""
    if len(game.table) < 2 or not game.cards.hole:
        wait.begin(limit)
    else:
        wait.end()


async def _make_move(
    client: HoldemClient, seat: HoldemSeat, bot: Bot[View, Move], luck: Luck, pause_seconds: float
) -> None:
    """Make the move that the bot chooses, if it has to act."""
    move = seat.player.decide(bot, luck)
    if move is not None:
        if pause_seconds:
            await client.exchange.wait(pause_seconds)
        await seat.make_move(move)
