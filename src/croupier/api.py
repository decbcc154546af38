"""Functions of the public API that belong to no single room."""

import sys
from collections.abc import Callable
from math import inf
from ssl import SSLContext
from typing import Any

from croupier.clients.luck import make_luck, new_login
from croupier.clients.play import BotTally
from croupier.clients.ring import RingTally
from croupier.core.bots import Bot, find_bot
from croupier.core.room import HouseRoom
from croupier.rooms import ROOMS, find_room
from croupier.strategy.solution import Solution


def solve(room: str, **settings: int) -> Solution:
    """Solve a game exactly: its value, its best play, and a record for every decision.

    `settings` are those of `croupier solve ROOM`: `max_bet` for seven and a half, `decks` for blackjack, and `players`,
    `games` and `seed` for Old Maid. Kuhn poker and Old Maid need the extra `croupier[solve]`.

    Raises ValueError on an unknown room, a room without a solver, or bad settings, and ModuleNotFoundError if a library
    that the solver needs is not installed.

    Example:
        >>> solve("sevenhalf").title
        'Seven and a half'
    """
    found = find_room(room)
    if "solve" not in found.extras:
        solvable = ", ".join(name for name, each in ROOMS.items() if "solve" in each.extras)
        raise ValueError(f"found the room {room!r}; allowed: {solvable}")
    solution: Solution = found.load_extra("solve")(**settings)
    return solution


async def play(
    room: str,
    bot: Bot[Any, Any] | str,
    server: str = "127.0.0.1",
    *,
    games: int | None = 100,
    seed: int | None = None,
    user: str | None = None,
    password: str = "",
    rebuy: bool = True,
    options: Any = None,
    strict: bool = False,
    ssl: SSLContext | None = None,
    answer_timeout: float = 30.0,
    notify: Callable[[str], None] | None = None,
    wait_seconds: float | None = None,
) -> BotTally | RingTally:
    """Let a bot play games at a server, and return what it won.

    Parameters:
        room: The name of a room, a key of `ROOMS`.
        bot: An object with a method `choose(view, legal, luck)`, or a name: `equilibrium:1/6`, `bot.py:Honest`.
        server: `HOST` or `HOST:PORT`; for hold'em the URL of the service. The default port is the room's.
        games: The number of games (hands in hold'em) to play; None plays until cancelled.
        seed: Fixes the bot's random choices; without it they are unpredictable.
        user: The user name in hold'em, the nick in Old Maid; a new one if None. Other rooms have no names.
        password: The password in hold'em. The user is registered if it does not exist.
        rebuy: Whether to connect or join again when the bot has nothing left to play with.
        options: The room's `Options` of a client; the defaults if None.
        strict: Whether to refuse what the protocol only tolerates.
        ssl: A TLS context; without it the connection is not encrypted.
        answer_timeout: Seconds that a house may take for an answer; in hold'em, seconds to retry an unreachable server.
        notify: In games against the house, called with a message when the house has been silent for two seconds.
        wait_seconds: Seconds to wait for other players in hold'em and Old Maid. By default as long as it takes; if
            `games` is given, 30 seconds once the bot has played.

    Returns a `RingTally` in Old Maid and a `BotTally` elsewhere. A protocol violation of the server or a lost
    connection ends the games early and is the `fault` of the tally. Raises ValueError on an unknown room or bot, and
    IllegalMove if the bot chooses a move that is not legal.

    Example, with `croupier serve kuhn` running:
        >>> import asyncio
        >>> tally = asyncio.run(play("kuhn", "equilibrium", "127.0.0.1:1212", games=20))
        >>> len(tally.nets), tally.fault
        (20, None)
    """
    from croupier.net.addresses import parse_address

    found = find_room(room)
    player = find_bot(found.bots, bot)
    luck = make_luck(seed, f"{room} bot")
    if user is None:
        user, password = new_login()
    if isinstance(found, HouseRoom):
        from croupier.clients.game import GameClient
        from croupier.clients.play import play_games

        host, port = parse_address(server)

        def connect() -> GameClient:
            return GameClient(
                found,
                host,
                port,
                options=options,
                strict=strict,
                ssl=ssl,
                answer_timeout=answer_timeout,
                notify=None if notify is None else lambda notice: notify(str(notice)),
            )

        return await play_games(connect, player, luck, games or sys.maxsize, rebuy=rebuy)
    if room == "holdem":
        from croupier.clients.holdem import HoldemClient, play_hands

        async with HoldemClient(server, user, password, ssl=ssl, retry_timeout=answer_timeout) as client:
            return await play_hands(client, player, luck, games, rebuy=rebuy, wait_seconds=wait_seconds)
    from croupier.clients.ring import RingClient, join_table, play_ring_games
    from croupier.rooms.oldmaid import Options

    host, port = parse_address(server)
    tally = RingTally(user)
    own = Options(nick=user) if options is None else options

    def sit() -> RingClient:
        return join_table(host, port or found.port, options=own, strict=strict, ssl=ssl, luck=luck)

    seconds = inf if wait_seconds is None and games is None else wait_seconds
    await play_ring_games(sit, player, luck, games or sys.maxsize, tally, wait_seconds=seconds)
    return tally
