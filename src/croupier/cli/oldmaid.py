"""`croupier play oldmaid`: play Old Maid in the terminal, or with one or several bots."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from croupier.cli.bot_programs import play_with_programs
from croupier.cli.options import check_minimum, check_positive
from croupier.cli.output import print_error, print_json
from croupier.cli.play import (
    PERSON,
    ConnectionOptions,
    PersonOptions,
    TableBotOptions,
    list_bots,
    run_bots,
    server_address,
)
from croupier.clients.contestants import parse_player
from croupier.clients.luck import make_luck
from croupier.core.plural import format_count
from croupier.core.presentation import Text
from croupier.net.addresses import format_address
from croupier.net.event_loop import run
from croupier.rooms.oldmaid import ROOM, Options

if TYPE_CHECKING:  # the network client is imported on demand, which keeps --help fast
    from croupier.clients.ring import RingConfig, RingTally

PLAYER = Group("Player", sort_key=1)
TABLE = Group("Table", sort_key=2)
BOT = Group("Bot", sort_key=4)


@dataclass(frozen=True)
class PlayerOptions(Options):
    """The player, and how it reaches its neighbours."""

    port: Annotated[int | None, Parameter(name="--announce")] = None
    """Port that the table announces to the right neighbour. [default: the one of --listen]"""

    listen: str | None = None
    """IP:PORT on which to wait for the right neighbour. [default: that of the table connection, a free port]"""

    def check(self) -> None:
        """Raise ValueError if an option is out of range."""
        if self.port is not None and not 0 < self.port < 65536:
            raise ValueError(f"found --announce {self.port}; allowed: 1 to 65535")
        check_positive(poll_seconds=self.poll_seconds)
        check_minimum(0, pause=self.pause, retry_seconds=self.retry_seconds)

    def listen_address(self) -> tuple[str | None, int]:
        """Return host and port to listen on; the host is None for that of the table connection. Raises ValueError."""
        if self.listen is None:
            return None, 0
        host, colon, port = self.listen.rpartition(":")
        if not colon or self.listen.endswith("]"):
            host, port = self.listen, "0"
        if not port.isdecimal() or int(port) > 65535:
            raise ValueError(f"found --listen {self.listen}; allowed: IP, IP:PORT, :PORT")
        return host.strip("[]") or None, int(port)


@dataclass(frozen=True)
class OldMaidBotOptions(TableBotOptions):
    """How bots play. Without --bot and --bots, and if standard input and output are terminals, a person plays."""

    bots: int | None = None
    """Number of bots to run in parallel. Their nicks are numbered; --listen and --announce ports count up."""

    games: Annotated[int, Parameter(name=("--games", "-n"))] = 1
    """Number of games each bot plays."""


def play_oldmaid(
    table: Annotated[
        str | None, Parameter(name="HOST:PORT", help="Table server. [default: 127.0.0.1, the room's port]")
    ] = None,
    /,
    *,
    player: Annotated[PlayerOptions, Parameter(name="*", group=PLAYER)] = PlayerOptions(),
    connection: Annotated[ConnectionOptions, Parameter(name="*", group=TABLE)] = ConnectionOptions(),
    person: Annotated[PersonOptions, Parameter(name="*", group=PERSON)] = PersonOptions(),
    bot_options: Annotated[OldMaidBotOptions, Parameter(name="*", group=BOT)] = OldMaidBotOptions(),
) -> int:
    """Play Old Maid."""
    if bot_options.bot == "help":
        return list_bots(ROOM)
    from croupier.clients.ring import RingClient, RingConfig

    check_minimum(1, games=bot_options.games, bots=bot_options.bots, wait=bot_options.wait)
    player.check()
    host, port = server_address(table, connection)
    ring_config = RingConfig(
        (host, ROOM.port if port is None else port),
        *player.listen_address(),
        connection.strict,
        connection.tls.ssl_context(),
    )
    if bot_options.bot is None and bot_options.bots is None:
        bot_options.check_bot_is_named()
        from croupier.tui.interaction import interact
        from croupier.tui.ring_seat import RingSeat

        luck = make_luck(bot_options.seed, f"{ROOM.name} bot")

        def open_seat(notify: Callable[[Text], None]) -> RingSeat:
            return RingSeat(RingClient(ring_config, player, luck, notify=notify))

        place = format_address(ring_config.table)
        return run(interact(ROOM.load_extra("presenter")(), open_seat, place, plain=person.is_plain()))
    return _play_bots(ring_config, player, bot_options)


def _play_bots(ring_config: "RingConfig", base_options: Options, bot_options: OldMaidBotOptions) -> int:
    """Play with bots, print a summary, and return the exit status. Raises ValueError on an unknown bot."""
    from croupier.clients.ring import RingClient, RingTally, play_ring_games
    from croupier.logs import configure, get_logger

    name = bot_options.bot or ROOM.default_bot
    contestant = parse_player(ROOM, name)
    nicks = (
        [base_options.nick]
        if bot_options.bots is None
        else [f"{base_options.nick}{number}" for number in range(1, bot_options.bots + 1)]
    )
    if contestant.kind == "command":
        bot_options.check_program()
        host, port = ring_config.table
        commands = [contestant.command({"host": host, "port": port, "nick": nick}) for nick in nicks]
        return play_with_programs(name, commands, format_address(ring_config.table), as_json=bot_options.json)
    tallies = [RingTally(nick) for nick in nicks]
    configure("warning")

    def complain(tally: RingTally, message: Text | str) -> None:
        """Print an error of a bot, with its nick if there are several."""
        print_error(f"{tally.nick}: {message}" if len(tallies) > 1 else message)

    def play(number: int, tally: RingTally) -> Coroutine[object, object, None]:
        luck = make_luck(bot_options.seed, f"{ROOM.name} bot", number)
        numbered_config = replace(ring_config, port=ring_config.port and ring_config.port + number - 1)
        options = replace(base_options, nick=tally.nick, port=base_options.port and base_options.port + number - 1)
        log = get_logger(room=ROOM.name, nick=tally.nick)

        return play_ring_games(
            lambda: RingClient(numbered_config, options, luck, log, partial(complain, tally)),
            contestant.make(),
            luck,
            bot_options.games,
            tally,
            wait_seconds=bot_options.wait,
        )

    async def play_all() -> None:
        await asyncio.gather(*(play(number, tally) for number, tally in enumerate(tallies, start=1)))

    def report(seconds: float) -> int:
        table = format_address(ring_config.table)
        if bot_options.json:
            print_json(summary_record(tallies, name, table))
        else:
            sys.stdout.write(f"{summary_text(tallies, name, table, seconds)}\n")
        for tally in tallies:
            for fault in tally.faults:
                complain(tally, fault)
        return 1 if any(tally.faults for tally in tallies) else 0

    return run_bots(play_all(), report)


def summary_text(tallies: "Sequence[RingTally]", name: str, table: str, seconds: float) -> str:
    """Return the summary as text."""
    return "\n".join([f"{name} at {table}: {seconds:.1f} s", *map(_player_line, tallies)])


def _player_line(tally: "RingTally") -> str:
    places = "".join(f", place {place}: {count:,}" for place, count in sorted(tally.places.items()))
    return f"{tally.nick}: {format_count(tally.games, 'game')}, {tally.losses:,} lost{places}"


def summary_record(tallies: "Sequence[RingTally]", name: str, table: str) -> dict[str, object]:
    """Return the summary as a record for JSON."""
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
    return {"bot": name, "table": table, "players": players}
