"""`croupier play`: a person at the terminal, or a bot."""

import json
import secrets
import ssl
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, NamedTuple

from cyclopts import App, Group, Parameter

from croupier.cli.output import complain, fail
from croupier.clients.game import Game
from croupier.clients.identify import locate
from croupier.clients.play import Tally, play
from croupier.core.bots import mind_named
from croupier.core.dealer import Fair, Luck, derive
from croupier.core.plural import counted
from croupier.core.room import HouseRoom, Room
from croupier.core.session import Address
from croupier.net.addresses import written
from croupier.net.event_loop import run
from croupier.rooms import HOUSES
from croupier.rooms.holdem import ROOM as HOLDEM
from croupier.rooms.oldmaid import ROOM as OLDMAID

app = App(name="play", help="Play in a room, yourself or by a bot.")

ROOM = Group("Room", sort_key=1)
HOUSE = Group("House", sort_key=2)
BOT = Group("Bot", sort_key=3)


@dataclass(frozen=True)
class Visit:
    """Which house to play against, and how to speak to it."""

    server: Annotated[str | None, Parameter(name=("--server", "-s"))] = None
    """The host, when no HOST:PORT is given. [default: 127.0.0.1]"""

    port: Annotated[int | None, Parameter(name=("--port", "-p"))] = None
    """The port. [default: the room's own]"""

    strict: bool = False
    """Refuse what the protocol only tolerates."""

    tls: bool = False
    """Speak TLS, and trust whom this machine trusts."""

    tls_ca: Path | None = None
    """Speak TLS, and trust the authority in this PEM file."""

    tls_cert: Path | None = None
    """Speak TLS, and show the certificate chain in this PEM file."""

    tls_key: Path | None = None
    """The private key of that certificate, a PEM file. [default: the same file]"""

    def context(self) -> ssl.SSLContext | None:
        """The TLS of the client. Raises OSError when the authority, or our certificate, cannot be read."""
        if not self.tls and self.tls_ca is None and self.tls_cert is None:
            return None
        context = ssl.create_default_context(cafile=self.tls_ca)
        if self.tls_cert is not None:
            context.load_cert_chain(self.tls_cert, self.tls_key)
        return context


@dataclass(frozen=True)
class Robot:
    """How a bot plays. Without --bot, and with a terminal on both ends, a person plays."""

    bot: str | None = None
    """The bot's mind; `croupier play ROOM --bot help` lists them."""

    games: Annotated[int, Parameter(name=("--games", "-n"))] = 1000
    """How many games it plays."""

    seed: int | None = None
    """Fixes its luck."""

    no_rebuy: bool = False
    """End when the purse is empty. Without this flag the bot plays on with a new one."""

    answer_seconds: float = 30.0
    """End when the house owes an answer for longer than this."""

    json: bool = False
    """Print the summary as JSON."""


def address(given: str | None, visit: Visit) -> tuple[str, int | None]:
    """Host and port from HOST:PORT or its parts; None where no port is given. Raises ValueError."""
    host, port = visit.server or "127.0.0.1", visit.port
    if given is not None:
        host, colon, number = given.rpartition(":")
        if not colon or given.endswith("]"):
            host = given
        elif number.isdecimal():
            port = int(number)
        else:
            raise ValueError(f"found {given!r}; allowed: HOST or HOST:PORT")
        host = host.strip("[]") or "127.0.0.1"
    if port is not None and not 0 < port < 65536:
        raise ValueError(f"found the port {port}; allowed: 1 to 65535")
    return host, port


def command(room: HouseRoom) -> Callable[..., int]:
    """The command that plays in a room. Its flags are its options, and those of every room."""
    options: Any = room.options

    def visit_room(
        target: Annotated[str | None, Parameter(name="HOST:PORT", help="The house. [default: this machine]")] = None,
        /,
        *,
        visit: Annotated[Visit, Parameter(name="*", group=HOUSE)] = Visit(),
        robot: Annotated[Robot, Parameter(name="*", group=BOT)] = Robot(),
        own: Annotated[options, Parameter(name="*", group=ROOM)] = options(),
    ) -> int:
        try:
            if not robot.answer_seconds > 0:
                raise ValueError(f"found --answer-seconds {robot.answer_seconds:g}; allowed: more than 0")
            host, port = address(target, visit)
            context = visit.context()

            async def find() -> Address:
                return await locate(room, host, context) if port is None else (host, port)

            def sit(at: Address) -> Game:
                seconds = robot.answer_seconds
                return Game(room, *at, options=own, strict=visit.strict, ssl=context, patience=seconds, notify=complain)

            name = robot.bot or own.bot()
            if name is None and sys.stdin.isatty() and sys.stdout.isatty():
                return run(sit_down(room, find, sit))
            return bot(room, find, sit, robot, name or room.style)
        except (ValueError, OSError) as error:
            return fail(error)

    return visit_room


async def sit_down(room: HouseRoom, find: Callable[[], Awaitable[Address]], sit: Callable[[Address], Game]) -> int:
    """Let a person play; the exit status."""
    from croupier.tui.interaction import person

    at = await find()
    return await person(room, lambda: sit(at), written(at))


class Words(NamedTuple):
    """What a room calls what is counted in a summary."""

    game: str = "game"
    coin: str = "coin"
    connection: str = "connection"


def bot(
    room: HouseRoom,
    find: Callable[[], Awaitable[Address]],
    sit: Callable[[Address], Game],
    robot: Robot,
    name: str,
) -> int:
    """Play by a bot and print what came of it; the exit status. Raises ValueError on an unknown bot."""
    if name == "help":
        return list_bots(room)
    if robot.games < 1:
        raise ValueError(f"found {robot.games} games; allowed: 1 or more")
    mind = mind_named(room.styles, name)()
    house, tally, started = "the house", Tally(), perf_counter()

    async def let_play() -> None:
        nonlocal house
        at = await find()
        house = written(at)
        await play(lambda: sit(at), mind, luck(room, robot.seed), robot.games, rebuy=not robot.no_rebuy, tally=tally)

    interrupted = False
    try:
        run(let_play())
    except KeyboardInterrupt:
        interrupted = True
    status = sum_up(tally, name, house, None if robot.json else perf_counter() - started)
    if interrupted:
        raise KeyboardInterrupt
    return status


def list_bots(room: Room) -> int:
    """Print the minds of a room; the exit status."""
    for style, way in room.styles.items():
        examples = f": {', '.join(f'{style}:{example}' for example in way.examples)}" if way.examples else ""
        sys.stdout.write(f"{style:<12} {way.told}{examples}\n")
    return 0


def luck(room: Room, seed: int | None) -> Luck:
    """The luck of a bot, fixed by a number if there is one."""
    return Fair(secrets.token_bytes(32) if seed is None else derive(seed, f"{room.name} bot", 1)).luck


def sum_up(tally: Tally, name: str, house: str, seconds: float | None, words: Words = Words()) -> int:
    """Print a summary, for people if it tells the seconds, and what has ended it early; the exit status."""
    report = as_json(tally, name, house, words) if seconds is None else as_text(tally, name, house, seconds, words)
    sys.stdout.write(f"{report}\n")
    if tally.fault is not None:
        return fail(tally.fault if house in str(tally.fault) else f"{house} ended it: {tally.why}")
    return 0


def as_text(tally: Tally, name: str, house: str, seconds: float, words: Words = Words()) -> str:
    """The summary for people."""
    games = len(tally.nets)
    game, coin, connection = words
    if not games:
        return f"{name} against {house}: no {game} was finished"
    lines = [
        f"{name} against {house}: {counted(games, game)} in {seconds:.1f} s, {connection}s: {tally.connections:,}",
        f"won {sum(tally.nets):+,} {coin}s, {tally.mean:+.4f} a {game}",
    ]
    if games > 1:
        low, high = tally.mean - tally.error, tally.mean + tally.error
        lines[1] += f" (95 % interval {low:+.4f} to {high:+.4f})"
    return "\n".join(lines)


def as_json(tally: Tally, name: str, house: str, words: Words = Words()) -> str:
    """The summary for programs."""
    games = len(tally.nets)
    game, coin, connection = words
    return json.dumps(
        {
            "bot": name,
            "house": house,
            f"{game}s": games,
            f"{coin}s": sum(tally.nets),
            f"{coin}s_per_{game}": tally.mean if games else None,
            "interval_95": [tally.mean - tally.error, tally.mean + tally.error] if games > 1 else None,
            f"{connection}s": tally.connections,
            "fault": tally.why,
        }
    )


for each in HOUSES.values():
    app.command(command(each), name=each.name, help=f"Play {each.title}.")
app.command("croupier.cli.holdem:visit_holdem", name=HOLDEM.name, help=f"Play {HOLDEM.title}.")
app.command("croupier.cli.oldmaid:visit_oldmaid", name=OLDMAID.name, help=f"Play {OLDMAID.title}.")


@app.default
def nothing() -> int:
    """Say which rooms there are."""
    app.help_print()
    return 0
