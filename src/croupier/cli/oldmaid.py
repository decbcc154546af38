"""`croupier play oldmaid`: a person, a bot, or several bots of one process in a ring of Old Maid."""

import asyncio
import json
import secrets
import sys
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from croupier.cli.output import fail, print_error
from croupier.cli.play import ConnectionOptions, list_bots, parse_address
from croupier.core.bots import bot_factory
from croupier.core.dealer import FairDealer, Luck, derive_server_seed
from croupier.core.plural import format_count
from croupier.net.addresses import format_address
from croupier.net.event_loop import run
from croupier.rooms.oldmaid import ROOM, Options
from croupier.rooms.oldmaid.wire import Dialect

if TYPE_CHECKING:  # what has sockets is imported when it is needed: help comes at once
    from croupier.clients.ring import RingConfig, RingTally

PLAYER = Group("Player", sort_key=1)
TABLE = Group("Table", sort_key=2)
BOT = Group("Bot", sort_key=3)


DEFAULT_OPTIONS = Options()


@dataclass(frozen=True)
class PlayerOptions:
    """Who plays, and how he meets his neighbours."""

    nick: str = DEFAULT_OPTIONS.nick
    """The nick, 1 to 64 characters."""

    listen: str | None = None
    """Await the right neighbour at this IP:PORT. [default: the address from which the table is called, a free port]"""

    announce: int | None = DEFAULT_OPTIONS.port
    """Tell the table to send the right neighbour to this port. [default: the one from which the table is called]"""

    pause: float = DEFAULT_OPTIONS.pause
    """The seconds between taking an offer and picking, for peers that take one read for one message; 0: none."""

    poll_seconds: float = DEFAULT_OPTIONS.poll_seconds
    """Who is out asks for the status every so many seconds."""

    retry_seconds: float = DEFAULT_OPTIONS.retry_seconds
    """Who cannot be reached is tried for so many seconds before he counts as gone."""

    dialect: Dialect = DEFAULT_OPTIONS.dialect
    """How the table is expected to list the players."""

    def to_options(self) -> Options:
        """The options of the player. Raises ValueError on what makes no sense."""
        if self.announce is not None and not 0 < self.announce < 65536:
            raise ValueError(f"found --announce {self.announce}; allowed: 1 to 65535")
        if not self.poll_seconds > 0:
            raise ValueError(f"found --poll-seconds {self.poll_seconds:g}; allowed: more than 0")
        for name in ("pause", "retry_seconds"):
            if not (found := getattr(self, name)) >= 0:
                raise ValueError(f"found --{name.replace('_', '-')} {found:g}; allowed: 0 or more")
        return Options(self.nick, self.announce, self.pause, self.poll_seconds, self.retry_seconds, self.dialect)

    def listen_address(self) -> tuple[str | None, int]:
        """Where it listens: the host, None where the table is called from, and the port. Raises ValueError."""
        if self.listen is None:
            return None, 0
        host, colon, port = self.listen.rpartition(":")
        if not colon or self.listen.endswith("]"):
            host, port = self.listen, "0"
        if not port.isdecimal() or int(port) > 65535:
            raise ValueError(f"found --listen {self.listen}; allowed: IP, IP:PORT, :PORT")
        return host.strip("[]") or None, int(port)


@dataclass(frozen=True)
class OldMaidBotOptions:
    """How bots play. Without --bot and --bots, and with a terminal on both ends, a person plays."""

    bot: str | None = None
    """The bot's mind; `croupier play oldmaid --bot help` lists them."""

    bots: int | None = None
    """So many bots play at the same time; their nicks are numbered, and ports that are given count up."""

    games: Annotated[int, Parameter(name=("--games", "-n"))] = 1
    """How many games each of them plays."""

    seed: int | None = None
    """Fixes their luck."""

    json: bool = False
    """Print the summary as JSON."""


def play_oldmaid(
    table: Annotated[str | None, Parameter(name="HOST:PORT", help="The table. [default: this machine]")] = None,
    /,
    *,
    player: Annotated[PlayerOptions, Parameter(name="*", group=PLAYER)] = PlayerOptions(),
    connection: Annotated[ConnectionOptions, Parameter(name="*", group=TABLE)] = ConnectionOptions(),
    bot_options: Annotated[OldMaidBotOptions, Parameter(name="*", group=BOT)] = OldMaidBotOptions(),
) -> int:
    """Play Old Maid."""
    if bot_options.bot == "help":
        return list_bots(ROOM)
    try:
        return _play(table, player, connection, bot_options)
    except (ValueError, OSError) as error:
        return fail(error)


def _play(table: str | None, guest: PlayerOptions, visit: ConnectionOptions, robot: OldMaidBotOptions) -> int:
    """Play; the exit status. Raises ValueError or OSError on what makes that impossible."""
    from croupier.clients.ring import RingClient, RingConfig

    for name in ("games", "bots"):
        if (found := getattr(robot, name)) is not None and found < 1:
            raise ValueError(f"found {found} {name}; allowed: 1 or more")
    options = guest.to_options()
    host, port = parse_address(table, visit)
    way = RingConfig(
        (host, ROOM.port if port is None else port), *guest.listen_address(), visit.strict, visit.ssl_context()
    )
    if robot.bot is None and robot.bots is None and sys.stdin.isatty() and sys.stdout.isatty():
        from croupier.tui.oldmaid import interact

        fate = bot_luck(robot.seed, 1)
        return run(interact(lambda: RingClient(way, options, fate), format_address(way.table)))
    return _play_bots(way, options, robot)


def bot_luck(seed: int | None, number: int) -> Luck:
    """The luck of one of the players, fixed by a number if there is one."""
    return FairDealer(
        secrets.token_bytes(32) if seed is None else derive_server_seed(seed, f"{ROOM.name} bot", number)
    ).luck


def _play_bots(way: "RingConfig", own: Options, robot: OldMaidBotOptions) -> int:
    """Play by bots and print what came of it; the exit status. Raises ValueError on an unknown bot."""
    from croupier.clients.ring import RingClient, RingTally, play_ring_games, with_advice
    from croupier.logs import configure, get_logger

    name = robot.bot or ROOM.default_bot
    mind = bot_factory(ROOM.bots, name)
    nicks = [own.nick] if robot.bots is None else [f"{own.nick}{number}" for number in range(1, robot.bots + 1)]
    tallies = [RingTally(nick) for nick in nicks]
    configure("warning")

    def visitor(number: int, tally: RingTally) -> Coroutine[object, object, None]:
        fate = bot_luck(robot.seed, number)
        here = replace(way, port=way.port and way.port + number - 1)
        options = replace(own, nick=tally.nick, port=own.port and own.port + number - 1)
        told = get_logger(room=ROOM.name, nick=tally.nick)

        def notify(what: str) -> None:
            print_error(f"{f'{tally.nick}: ' * (len(tallies) > 1)}{what}")

        return play_ring_games(lambda: RingClient(here, options, fate, told, notify), mind(), fate, robot.games, tally)

    async def everybody() -> None:
        await asyncio.gather(*(visitor(number, tally) for number, tally in enumerate(tallies, start=1)))

    started = perf_counter()
    interrupted = False
    try:
        run(everybody())
    except KeyboardInterrupt:  # a bot waits as long as it is alone
        interrupted = True
    if robot.json:
        told = summary_json(tallies, name, format_address(way.table))
    else:
        told = summary_text(tallies, name, format_address(way.table), perf_counter() - started)
    sys.stdout.write(f"{told}\n")
    for tally in tallies:
        for fault in tally.faults:
            print_error(f"{f'{tally.nick}: ' * (len(tallies) > 1)}{with_advice(fault)}")
    if interrupted:
        raise KeyboardInterrupt
    return 1 if any(tally.faults for tally in tallies) else 0


def summary_text(tallies: "Sequence[RingTally]", name: str, table: str, seconds: float) -> str:
    """The summary for people."""
    return "\n".join([f"{name} at {table}: {seconds:.1f} s", *map(_player_line, tallies)])


def _player_line(tally: "RingTally") -> str:
    places = "".join(f", place {place}: {count:,}" for place, count in sorted(tally.places.items()))
    return f"{tally.nick}: {format_count(tally.games, 'game')}, {tally.losses:,} lost{places}"


def summary_json(tallies: "Sequence[RingTally]", name: str, table: str) -> str:
    """The summary for programs."""
    players = [
        {
            "nick": tally.nick,
            "games": tally.games,
            "lost": tally.losses,
            "places": {str(place): count for place, count in sorted(tally.places.items())},
            "faults": tally.faults,
        }
        for tally in tallies
    ]
    return json.dumps({"bot": name, "table": table, "players": players})
