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

from croupier.cli.output import complain, fail
from croupier.cli.play import Visit, address, list_bots
from croupier.core.bots import mind_named
from croupier.core.dealer import Fair, Luck, derive
from croupier.core.plural import counted
from croupier.net.addresses import written
from croupier.net.event_loop import run
from croupier.rooms.oldmaid import ROOM, Options
from croupier.rooms.oldmaid.wire import Dialect

if TYPE_CHECKING:  # what has sockets is imported when it is needed: help comes at once
    from croupier.clients.ring import Tally, Way

PLAYER = Group("Player", sort_key=1)
TABLE = Group("Table", sort_key=2)
BOT = Group("Bot", sort_key=3)


OWN = Options()


@dataclass(frozen=True)
class Guest:
    """Who plays, and how he meets his neighbours."""

    nick: str = OWN.nick
    """The nick, 1 to 64 characters."""

    listen: str | None = None
    """Await the right neighbour at this IP:PORT. [default: the address from which the table is called, a free port]"""

    announce: int | None = OWN.port
    """Tell the table to send the right neighbour to this port. [default: the one from which the table is called]"""

    pause: float = OWN.pause
    """The seconds between taking an offer and picking, for peers that take one read for one message; 0: none."""

    look: float = OWN.look
    """Who is out asks for the status every so many seconds."""

    retry_seconds: float = OWN.retry_seconds
    """Who cannot be reached is tried for so many seconds before he counts as gone."""

    dialect: Dialect = OWN.dialect
    """How the table is expected to list the players."""

    def options(self) -> Options:
        """The options of the player. Raises ValueError on what makes no sense."""
        if self.announce is not None and not 0 < self.announce < 65536:
            raise ValueError(f"found --announce {self.announce}; allowed: 1 to 65535")
        if not self.look > 0:
            raise ValueError(f"found --look {self.look:g}; allowed: more than 0")
        for name in ("pause", "retry_seconds"):
            if not (found := getattr(self, name)) >= 0:
                raise ValueError(f"found --{name.replace('_', '-')} {found:g}; allowed: 0 or more")
        return Options(self.nick, self.announce, self.pause, self.look, self.retry_seconds, self.dialect)

    def place(self) -> tuple[str | None, int]:
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
class Robot:
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


def visit_oldmaid(
    table: Annotated[str | None, Parameter(name="HOST:PORT", help="The table. [default: this machine]")] = None,
    /,
    *,
    guest: Annotated[Guest, Parameter(name="*", group=PLAYER)] = Guest(),
    visit: Annotated[Visit, Parameter(name="*", group=TABLE)] = Visit(),
    robot: Annotated[Robot, Parameter(name="*", group=BOT)] = Robot(),
) -> int:
    """Play Old Maid."""
    if robot.bot == "help":
        return list_bots(ROOM)
    try:
        return _visit(table, guest, visit, robot)
    except (ValueError, OSError) as error:
        return fail(error)


def _visit(table: str | None, guest: Guest, visit: Visit, robot: Robot) -> int:
    """Play; the exit status. Raises ValueError or OSError on what makes that impossible."""
    from croupier.clients.ring import Ring, Way

    for name in ("games", "bots"):
        if (found := getattr(robot, name)) is not None and found < 1:
            raise ValueError(f"found {found} {name}; allowed: 1 or more")
    options = guest.options()
    host, port = address(table, visit)
    way = Way((host, ROOM.port if port is None else port), *guest.place(), visit.strict, visit.context())
    if robot.bot is None and robot.bots is None and sys.stdin.isatty() and sys.stdout.isatty():
        from croupier.tui.oldmaid import person

        fate = luck(robot.seed, 1)
        return run(person(lambda: Ring(way, options, fate), written(way.table)))
    return _let_play(way, options, robot)


def luck(seed: int | None, number: int) -> Luck:
    """The luck of one of the players, fixed by a number if there is one."""
    return Fair(secrets.token_bytes(32) if seed is None else derive(seed, f"{ROOM.name} bot", number)).luck


def _let_play(way: "Way", own: Options, robot: Robot) -> int:
    """Play by bots and print what came of it; the exit status. Raises ValueError on an unknown bot."""
    from croupier.clients.ring import Ring, Tally, advised, play
    from croupier.logs import configure, log

    name = robot.bot or ROOM.style
    mind = mind_named(ROOM.styles, name)
    nicks = [own.nick] if robot.bots is None else [f"{own.nick}{number}" for number in range(1, robot.bots + 1)]
    tallies = [Tally(nick) for nick in nicks]
    configure("warning")

    def visitor(number: int, tally: Tally) -> Coroutine[object, object, None]:
        fate = luck(robot.seed, number)
        here = replace(way, port=way.port and way.port + number - 1)
        options = replace(own, nick=tally.nick, port=own.port and own.port + number - 1)
        told = log(room=ROOM.name, nick=tally.nick)

        def notify(what: str) -> None:
            complain(f"{f'{tally.nick}: ' * (len(tallies) > 1)}{what}")

        return play(lambda: Ring(here, options, fate, told, notify), mind(), fate, robot.games, tally)

    async def everybody() -> None:
        await asyncio.gather(*(visitor(number, tally) for number, tally in enumerate(tallies, start=1)))

    started = perf_counter()
    interrupted = False
    try:
        run(everybody())
    except KeyboardInterrupt:  # a bot waits as long as it is alone
        interrupted = True
    if robot.json:
        told = as_json(tallies, name, written(way.table))
    else:
        told = as_text(tallies, name, written(way.table), perf_counter() - started)
    sys.stdout.write(f"{told}\n")
    for tally in tallies:
        for fault in tally.faults:
            complain(f"{f'{tally.nick}: ' * (len(tallies) > 1)}{advised(fault)}")
    if interrupted:
        raise KeyboardInterrupt
    return 1 if any(tally.faults for tally in tallies) else 0


def as_text(tallies: "Sequence[Tally]", name: str, table: str, seconds: float) -> str:
    """The summary for people."""
    return "\n".join([f"{name} at {table}: {seconds:.1f} s", *map(_told, tallies)])


def _told(tally: "Tally") -> str:
    places = "".join(f", place {place}: {count:,}" for place, count in sorted(tally.places.items()))
    return f"{tally.nick}: {counted(tally.games, 'game')}, {tally.lost:,} lost{places}"


def as_json(tallies: "Sequence[Tally]", name: str, table: str) -> str:
    """The summary for programs."""
    players = [
        {
            "nick": tally.nick,
            "games": tally.games,
            "lost": tally.lost,
            "places": {str(place): count for place, count in sorted(tally.places.items())},
            "faults": tally.faults,
        }
        for tally in tallies
    ]
    return json.dumps({"bot": name, "table": table, "players": players})
