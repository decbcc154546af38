"""`croupier play`: play against a house, in the terminal or with a bot."""

import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from time import perf_counter
from typing import Annotated, Any, Final, NamedTuple

from cyclopts import App, Group, Parameter

from croupier.cli.bot_programs import play_with_programs
from croupier.cli.options import changed_values, check_minimum, check_positive, flag
from croupier.cli.output import error_at, fail, is_interactive, print_error, print_json
from croupier.clients.contestants import parse_player
from croupier.clients.game import GameClient
from croupier.clients.identify import locate
from croupier.clients.luck import make_luck
from croupier.clients.play import BotTally, play_games
from croupier.clients.tls import TlsOptions
from croupier.core.bots import is_bot_error
from croupier.core.plural import format_count
from croupier.core.presentation import Text
from croupier.core.python_files import describe_error
from croupier.core.room import HouseRoom, Room
from croupier.core.session import Address
from croupier.net.addresses import format_address, parse_address
from croupier.net.event_loop import run
from croupier.rooms import HOUSE_ROOMS, ROOMS

app = App(name="play")

ROOM = Group("Room", sort_key=1)
HOUSE = Group("House", sort_key=2)
PERSON = Group("Person", sort_key=3)
BOT = Group("Bot", sort_key=4)


OWN_BOTS: Final = {
    "FILE.py:CLASS[:ARGUMENT]": "your own class with a method choose(view, legal, luck)",
    "'COMMAND -s {host} -p {port}'": "your own program, which speaks the room's protocol",
}
"""The bots that no room has."""


@dataclass(frozen=True)
class ConnectionOptions:
    """The address of the house, and the options of the connection."""

    server: Annotated[str | None, Parameter(name=("--server", "-s"))] = None
    """Host, unless HOST:PORT is given. [default: 127.0.0.1]"""

    port: Annotated[int | None, Parameter(name=("--port", "-p"))] = None
    """Port, unless HOST:PORT is given. [default: the room's port]"""

    strict: bool = False
    """Reject deviations that the protocol tolerates."""

    tls: Annotated[TlsOptions, Parameter(name="*")] = field(default_factory=TlsOptions)


@dataclass(frozen=True)
class PersonOptions:
    """How a person sees the table."""

    plain: bool = False
    """Show lines of text, for screen readers. It is the default with TERM=dumb, and for pipes and files."""

    def is_plain(self) -> bool:
        """Whether the table is shown as lines of text."""
        return self.plain or not is_interactive()


@dataclass(frozen=True)
class BotOptions:
    """How a bot plays. Without --bot a person plays."""

    bot: str | None = None
    """Bot that plays: a built-in one (`croupier play ROOM --bot help` lists them), FILE.py:CLASS, or a command with
    {host} and {port} that speaks the room's protocol."""

    seed: int | None = None
    """Seed for the bot's randomness. [default: random]"""

    json: bool = False
    """Print the summary as JSON."""

    def check_bot_is_named(self) -> None:
        """Raise ValueError if no bot is named, and an option is given that only bots use."""
        given = ", ".join(map(flag, changed_values(self, ignored=("bot", "seed", "answer_seconds"))))
        if self.bot is None and given:
            raise ValueError(f"found {given} without --bot; allowed: --bot NAME (--bot help lists the bots)")

    def check_program(self) -> None:
        """Raise ValueError if an option is given that the program of a command cannot obey."""
        given = ", ".join(map(flag, changed_values(self, ignored=("bot", "bots", "json"))))
        if given:
            raise ValueError(f"found {given} and the command {self.bot!r}; allowed: options of the program")


@dataclass(frozen=True)
class TableBotOptions(BotOptions):
    """How a bot plays at a table, where it waits for other players."""

    wait: float | None = None
    """Seconds to wait for other players before giving up. [default: no limit before the first hand or game; then 30]"""


@dataclass(frozen=True)
class HouseBotOptions(BotOptions):
    """How a bot plays against a house."""

    games: Annotated[int, Parameter(name=("--games", "-n"))] = 1000
    """Number of games to play."""

    no_rebuy: bool = False
    """Stop when the purse is empty. By default the bot reconnects, which gives it a new purse."""

    answer_seconds: float = 30.0
    """Seconds to wait for an answer of the house."""


def server_address(target: str | None, connection: ConnectionOptions) -> tuple[str, int | None]:
    """Return host and port of HOST:PORT or of --server and --port; the port is None if not given. Raises ValueError.

    The port of --port is that of HOST.

    >>> server_address("[::1]:2345", ConnectionOptions())
    ('::1', 2345)
    >>> server_address(None, ConnectionOptions(server="cards.example"))
    ('cards.example', None)
    """
    host, port = parse_address((connection.server or "") if target is None else target)
    port = connection.port if port is None else port
    if port is not None and not 0 < port < 65536:
        raise ValueError(f"found the port {port}; allowed: 1 to 65535")
    return host, port


@app.default
def play_in_chosen_room(
    *room: Annotated[str, Parameter(show=False)],
    server: Annotated[str, Parameter(name=("--server", "-s"))] = "127.0.0.1",
    tls: Annotated[TlsOptions, Parameter(name="*")] = TlsOptions(),
) -> int:
    """Play in a room, in the terminal or with a bot. Without a room: list those of a server, and choose one.

    Parameters
    ----------
    server:
        Host whose rooms are listed, each at its default port.
    """
    from croupier.cli.lobby import play_in_chosen_room

    if room:
        raise ValueError(f"found the room {room[0]!r}; allowed: {', '.join(ROOMS)}, or none to choose one")

    return play_in_chosen_room(server, tls)


def room_command(room: HouseRoom) -> Callable[..., int]:
    """Return the command that plays in a room. It has the options of the room and those of every room."""
    options: Any = room.options

    def play_in_room(
        target: Annotated[
            str | None, Parameter(name="HOST:PORT", help="House to play against. [default: 127.0.0.1, the room's port]")
        ] = None,
        /,
        *,
        connection: Annotated[ConnectionOptions, Parameter(name="*", group=HOUSE)] = ConnectionOptions(),
        person: Annotated[PersonOptions, Parameter(name="*", group=PERSON)] = PersonOptions(),
        bot_options: Annotated[HouseBotOptions, Parameter(name="*", group=BOT)] = HouseBotOptions(),
        room_options: Annotated[options, Parameter(name="*", group=ROOM)] = options(),
    ) -> int:
        check_positive(answer_seconds=bot_options.answer_seconds)
        host, port = server_address(target, connection)
        context = connection.tls.ssl_context()

        async def find_address() -> Address:
            return await locate(room, host, context) if port is None else (host, port)

        def open_game(address: Address, notify: Callable[[Text], None]) -> GameClient:
            return GameClient(
                room,
                *address,
                options=room_options,
                strict=connection.strict,
                ssl=context,
                answer_timeout=bot_options.answer_seconds,
                notify=notify,
            )

        name = bot_options.bot or room_options.bot()
        if name is None:
            bot_options.check_bot_is_named()
            return run(play_yourself(room, find_address, open_game, plain=person.is_plain()))
        return play_bot(room, find_address, open_game, bot_options, name)

    return play_in_room


type OpenGame = Callable[[Address, Callable[[Text], None]], GameClient]
"""Returns a client for the house at an address. Its notices go to the second argument."""


async def play_yourself(
    room: HouseRoom, find_address: Callable[[], Coroutine[Any, Any, Address]], open_game: OpenGame, *, plain: bool
) -> int:
    """Let a person play in the terminal and return the exit status."""
    from croupier.tui.interaction import interact
    from croupier.tui.seats import HouseSeat

    address = await find_address()

    def open_seat(notify: Callable[[Text], None]) -> HouseSeat:
        return HouseSeat(open_game(address, notify))

    return await interact(room.load_extra("presenter")(), open_seat, format_address(address), plain=plain)


class SummaryNouns(NamedTuple):
    """The nouns, singular, for the counts of a summary."""

    game: str = "game"
    coin: str = "coin"
    connection: str = "connection"


def play_bot(
    room: HouseRoom,
    find_address: Callable[[], Coroutine[Any, Any, Address]],
    open_game: OpenGame,
    bot_options: HouseBotOptions,
    name: str,
) -> int:
    """Play with a bot, print a summary, and return the exit status. Raises ValueError on an unknown bot."""
    if name == "help":
        return list_bots(room)
    check_minimum(1, games=bot_options.games)
    contestant = parse_player(room, name)
    if contestant.kind == "command":
        bot_options.check_program()
        host, port = run(find_address())
        command = contestant.command({"host": host, "port": port})
        return play_with_programs(name, [command], format_address((host, port)), as_json=bot_options.json)
    bot = contestant.make()
    house, tally = "the house", BotTally()

    async def play() -> None:
        nonlocal house
        address = await find_address()
        house = format_address(address)
        await play_games(
            lambda: open_game(address, print_error),
            bot,
            make_luck(bot_options.seed, f"{room.name} bot"),
            bot_options.games,
            rebuy=not bot_options.no_rebuy,
            tally=tally,
        )

    return run_bots(play(), lambda seconds: print_summary(tally, name, house, seconds, as_json=bot_options.json))


def run_bots(play: Coroutine[Any, Any, object], report: Callable[[float], int]) -> int:
    """Run bots until they have played or are interrupted; `report` their results, and return its exit status.

    The argument of `report` is the number of seconds that they took. An exception that a bot raises, and an illegal
    move, end the run.
    """
    started = perf_counter()
    try:
        run(play)
    except KeyboardInterrupt:  # a bot may be waiting for other players
        report(perf_counter() - started)
        raise
    except (Exception, SystemExit) as error:
        if not is_bot_error(error):
            raise
        report(perf_counter() - started)
        return fail(f"the bot has failed: {describe_error(error)}")
    return report(perf_counter() - started)


def list_bots(room: Room) -> int:
    """Print the bots of a room and return the exit status."""
    for name, bot in room.bots.items():
        examples = f": {', '.join(f'{name}:{example}' for example in bot.examples)}" if bot.examples else ""
        sys.stdout.write(f"{name:<12} {bot.description}{examples}\n")
    for form, description in OWN_BOTS.items():
        sys.stdout.write(f"{form}  {description}\n")
    return 0


def print_summary(
    tally: BotTally, name: str, house: str, seconds: float, nouns: SummaryNouns = SummaryNouns(), *, as_json: bool
) -> int:
    """Print a summary, and the fault that ended the run early; return the exit status."""
    if as_json:
        print_json(summary_record(tally, name, house, nouns))
    else:
        sys.stdout.write(f"{summary_text(tally, name, house, seconds, nouns)}\n")
    if tally.fault is not None:
        return fail(error_at(house, tally.fault, tally.fault_text))
    return 0


def summary_text(tally: BotTally, name: str, house: str, seconds: float, nouns: SummaryNouns) -> str:
    """Return the summary as text."""
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


def summary_record(tally: BotTally, name: str, house: str, nouns: SummaryNouns) -> dict[str, object]:
    """Return the summary as a record for JSON."""
    games = len(tally.nets)
    game, coin, connection = nouns
    interval = [tally.mean - tally.margin_of_error, tally.mean + tally.margin_of_error] if games > 1 else None
    return {
        "bot": name,
        "house": house,
        f"{game}s": games,
        f"{coin}s": sum(tally.nets),
        f"{coin}s_per_{game}": tally.mean if games else None,
        "interval_95": interval,
        f"{connection}s": tally.connections,
        "fault": tally.fault_text,
    }


def __getattr__(name: str) -> Callable[..., int]:
    """Return the command of a house room by the room's name, made on first use: a start imports one room only."""
    if name in HOUSE_ROOMS:
        return room_command(HOUSE_ROOMS[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


app.command(f"{__name__}:kuhn", name="kuhn", help="Play Kuhn poker.")
app.command(f"{__name__}:sevenhalf", name="sevenhalf", help="Play seven and a half.")
app.command(f"{__name__}:blackjack", name="blackjack", help="Play blackjack.")
app.command("croupier.cli.holdem:play_holdem", name="holdem", help="Play no-limit hold'em.")
app.command("croupier.cli.oldmaid:play_oldmaid", name="oldmaid", help="Play Old Maid.")
