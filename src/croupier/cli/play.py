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

from croupier.cli.output import fail, print_error
from croupier.clients.game import GameClient
from croupier.clients.identify import locate
from croupier.clients.play import BotTally, play_games
from croupier.core.bots import bot_factory
from croupier.core.dealer import FairDealer, Luck, derive_server_seed
from croupier.core.plural import format_count
from croupier.core.room import HouseRoom, Room
from croupier.core.session import Address
from croupier.net.addresses import format_address
from croupier.net.event_loop import run
from croupier.rooms import HOUSE_ROOMS
from croupier.rooms.holdem import ROOM as HOLDEM
from croupier.rooms.oldmaid import ROOM as OLDMAID

app = App(name="play", help="Play in a room, yourself or by a bot.")

ROOM = Group("Room", sort_key=1)
HOUSE = Group("House", sort_key=2)
BOT = Group("Bot", sort_key=3)


@dataclass(frozen=True)
class ConnectionOptions:
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

    def ssl_context(self) -> ssl.SSLContext | None:
        """The TLS of the client. Raises OSError when the authority, or our certificate, cannot be read."""
        if not self.tls and self.tls_ca is None and self.tls_cert is None:
            return None
        context = ssl.create_default_context(cafile=self.tls_ca)
        if self.tls_cert is not None:
            context.load_cert_chain(self.tls_cert, self.tls_key)
        return context


@dataclass(frozen=True)
class BotOptions:
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


def parse_address(given: str | None, connection: ConnectionOptions) -> tuple[str, int | None]:
    """Host and port from HOST:PORT or its parts; None where no port is given. Raises ValueError."""
    host, port = connection.server or "127.0.0.1", connection.port
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


def room_command(room: HouseRoom) -> Callable[..., int]:
    """The command that plays in a room. Its flags are its options, and those of every room."""
    options: Any = room.options

    def visit_room(
        target: Annotated[str | None, Parameter(name="HOST:PORT", help="The house. [default: this machine]")] = None,
        /,
        *,
        visit: Annotated[ConnectionOptions, Parameter(name="*", group=HOUSE)] = ConnectionOptions(),
        robot: Annotated[BotOptions, Parameter(name="*", group=BOT)] = BotOptions(),
        own: Annotated[options, Parameter(name="*", group=ROOM)] = options(),
    ) -> int:
        try:
            if not robot.answer_seconds > 0:
                raise ValueError(f"found --answer-seconds {robot.answer_seconds:g}; allowed: more than 0")
            host, port = parse_address(target, visit)
            context = visit.ssl_context()

            async def find() -> Address:
                return await locate(room, host, context) if port is None else (host, port)

            def sit(at: Address) -> GameClient:
                seconds = robot.answer_seconds
                return GameClient(
                    room, *at, options=own, strict=visit.strict, ssl=context, answer_timeout=seconds, notify=print_error
                )

            name = robot.bot or own.bot()
            if name is None and sys.stdin.isatty() and sys.stdout.isatty():
                return run(play_yourself(room, find, sit))
            return play_bot(room, find, sit, robot, name or room.default_bot)
        except (ValueError, OSError) as error:
            return fail(error)

    return visit_room


async def play_yourself(
    room: HouseRoom, find_address: Callable[[], Awaitable[Address]], open_game: Callable[[Address], GameClient]
) -> int:
    """Let a person play; the exit status."""
    from croupier.tui.interaction import interact

    at = await find_address()
    return await interact(room, lambda: open_game(at), format_address(at))


class SummaryNouns(NamedTuple):
    """What a room calls what is counted in a summary."""

    game: str = "game"
    coin: str = "coin"
    connection: str = "connection"


def play_bot(
    room: HouseRoom,
    find_address: Callable[[], Awaitable[Address]],
    open_game: Callable[[Address], GameClient],
    bot_options: BotOptions,
    name: str,
) -> int:
    """Play by a bot and print what came of it; the exit status. Raises ValueError on an unknown bot."""
    if name == "help":
        return list_bots(room)
    if bot_options.games < 1:
        raise ValueError(f"found {bot_options.games} games; allowed: 1 or more")
    mind = bot_factory(room.bots, name)()
    house, tally, started = "the house", BotTally(), perf_counter()

    async def let_play() -> None:
        nonlocal house
        at = await find_address()
        house = format_address(at)
        await play_games(
            lambda: open_game(at),
            mind,
            bot_luck(room, bot_options.seed),
            bot_options.games,
            rebuy=not bot_options.no_rebuy,
            tally=tally,
        )

    interrupted = False
    try:
        run(let_play())
    except KeyboardInterrupt:
        interrupted = True
    status = print_summary(tally, name, house, None if bot_options.json else perf_counter() - started)
    if interrupted:
        raise KeyboardInterrupt
    return status


def list_bots(room: Room) -> int:
    """Print the minds of a room; the exit status."""
    for style, way in room.bots.items():
        examples = f": {', '.join(f'{style}:{example}' for example in way.examples)}" if way.examples else ""
        sys.stdout.write(f"{style:<12} {way.description}{examples}\n")
    return 0


def bot_luck(room: Room, seed: int | None) -> Luck:
    """The luck of a bot, fixed by a number if there is one."""
    return FairDealer(secrets.token_bytes(32) if seed is None else derive_server_seed(seed, f"{room.name} bot", 1)).luck


def print_summary(
    tally: BotTally, name: str, house: str, seconds: float | None, nouns: SummaryNouns = SummaryNouns()
) -> int:
    """Print a summary, for people if it tells the seconds, and what has ended it early; the exit status."""
    report = (
        summary_json(tally, name, house, nouns) if seconds is None else summary_text(tally, name, house, seconds, nouns)
    )
    sys.stdout.write(f"{report}\n")
    if tally.fault is not None:
        return fail(tally.fault if house in str(tally.fault) else f"{house} ended it: {tally.fault_text}")
    return 0


def summary_text(tally: BotTally, name: str, house: str, seconds: float, nouns: SummaryNouns = SummaryNouns()) -> str:
    """The summary for people."""
    games = len(tally.nets)
    game, coin, connection = nouns
    if not games:
        return f"{name} against {house}: no {game} was finished"
    lines = [
        f"{name} against {house}: {format_count(games, game)} in {seconds:.1f} s, {connection}s: {tally.connections:,}",
        f"won {sum(tally.nets):+,} {coin}s, {tally.mean:+.4f} a {game}",
    ]
    if games > 1:
        low, high = tally.mean - tally.margin_of_error, tally.mean + tally.margin_of_error
        lines[1] += f" (95 % interval {low:+.4f} to {high:+.4f})"
    return "\n".join(lines)


def summary_json(tally: BotTally, name: str, house: str, nouns: SummaryNouns = SummaryNouns()) -> str:
    """The summary for programs."""
    games = len(tally.nets)
    game, coin, connection = nouns
    return json.dumps(
        {
            "bot": name,
            "house": house,
            f"{game}s": games,
            f"{coin}s": sum(tally.nets),
            f"{coin}s_per_{game}": tally.mean if games else None,
            "interval_95": [tally.mean - tally.margin_of_error, tally.mean + tally.margin_of_error]
            if games > 1
            else None,
            f"{connection}s": tally.connections,
            "fault": tally.fault_text,
        }
    )


for each in HOUSE_ROOMS.values():
    app.command(room_command(each), name=each.name, help=f"Play {each.title}.")
app.command("croupier.cli.holdem:play_holdem", name=HOLDEM.name, help=f"Play {HOLDEM.title}.")
app.command("croupier.cli.oldmaid:play_oldmaid", name=OLDMAID.name, help=f"Play {OLDMAID.title}.")


@app.default
def print_help() -> int:
    """Say which rooms there are."""
    app.help_print()
    return 0
