"""`croupier load`: put a server under load, and measure how long its answers take."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from time import monotonic, time
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import App, Group, Parameter

from croupier.cli.options import check_minimum, check_positive
from croupier.cli.output import print_error, print_json, print_line
from croupier.clients.contestants import Contestant, parse_contestant
from croupier.clients.server_url import room_address
from croupier.clients.tls import TlsOptions
from croupier.core.room import HouseRoom, Room
from croupier.load.plan import HoldemOptions, Load, OldMaidOptions, Plan
from croupier.net.outgoing import check_server
from croupier.net.stop_signals import interrupted_once
from croupier.rooms import HOUSE_ROOMS, ROOMS

if TYPE_CHECKING:
    from rich.console import Console

    from croupier.load.measurement import Figures

app = App(name="load")

ROOM = Group("Room", sort_key=1)
PLAYERS = Group("Players", sort_key=2)

CHEAP_BOTS: Final = {"kuhn": "random", "sevenhalf": "book", "blackjack": "book", "holdem": "caller", "oldmaid": "first"}
"""The bots that play by default: those that need little processor time."""

PLAIN_INTERVAL_SECONDS: Final = 5.0
"""The time between two lines of progress where standard error is no terminal."""

TOO_BUSY_STATUS: Final = 2


@dataclass(frozen=True)
class LoadOptions(Load):
    """The load, the bot, and how the result is written."""

    total_rate: float | None = None
    """Open loop, with this many acts per second of all players together."""

    bot: str | None = None
    """Bot that plays: a built-in one (`croupier play ROOM --bot help` lists them), or FILE.py:CLASS. [default: a cheap
    one]"""

    out: Path | None = None
    """File for the histograms: a log in format V2 of HdrHistogram."""

    json: bool = False
    """Print the result as JSON."""

    tls: Annotated[TlsOptions, Parameter(name="*")] = field(default_factory=TlsOptions)

    def to_plan(self, room: Room, server: str, options: Any, table_players: int) -> Plan:
        """The plan of the load. Raises ValueError if an option is out of range."""
        check_minimum(1, players=self.players, games=self.games, processes=self.processes)
        check_positive(seconds=self.seconds, rate=self.rate, total_rate=self.total_rate)
        check_positive(answer_seconds=self.answer_seconds)
        check_minimum(0, ramp_seconds=self.ramp_seconds, warmup_seconds=self.warmup_seconds)
        if self.rate is not None and self.total_rate is not None:
            raise ValueError("found --rate and --total-rate; allowed: one of them")
        crews = -(-self.players // table_players)
        if self.processes > crews:
            raise ValueError(
                f"found --processes {self.processes}; allowed: 1 to {crews}, as players of a table share one"
            )
        load = {each.name: getattr(self, each.name) for each in fields(Load)}
        if self.total_rate is not None:
            load["rate"] = self.total_rate / self.players
        return Plan(
            room_name=room.name,
            server=server,
            bot=self._contestant(room),
            options=options,
            tls=self.tls,
            table_players=table_players,
            **load,
        )

    def _contestant(self, room: Room) -> Contestant:
        contestant = parse_contestant(room, self.bot or CHEAP_BOTS[room.name])
        if contestant.is_program:
            raise ValueError(f"found the bot {self.bot!r}, a program; allowed: {', '.join(room.bots)}, FILE.py:CLASS")
        return contestant


type TablePlayers = Annotated[int, Parameter(group=PLAYERS, help="Players of a table; they share one process.")]
type Players = Annotated[LoadOptions, Parameter(name="*", group=PLAYERS)]


def room_command(room: HouseRoom) -> Callable[..., int]:
    """Return the command that puts a house under load. It has the options of the room's clients."""
    options: Any = room.options

    def load_house(
        server: Annotated[str, Parameter(name="HOST:PORT", help="House to put under load.")],
        /,
        *,
        load: Players = LoadOptions(),
        room_options: Annotated[options, Parameter(name="*", group=ROOM)] = options(),
    ) -> int:
        return run_load(lambda: load.to_plan(room, server, room_options, 1), load)

    return load_house


def load_holdem(
    server: Annotated[str, Parameter(name="URL", help="Server: http://HOST:PORT, https://HOST:PORT or HOST:PORT.")],
    /,
    *,
    load: Players = LoadOptions(),
    table_players: TablePlayers = 6,
    room_options: Annotated[HoldemOptions, Parameter(name="*", group=ROOM)] = HoldemOptions(),
) -> int:
    """Put a server of no-limit hold'em under load, if its operator agrees. An act is a bet or a fold."""
    check_minimum(2, table_players=table_players)
    return run_load(lambda: load.to_plan(ROOMS["holdem"], server, room_options, table_players), load)


def load_oldmaid(
    server: Annotated[str, Parameter(name="HOST:PORT", help="Table server to put under load.")],
    /,
    *,
    load: Players = LoadOptions(),
    table_players: TablePlayers = 4,
    room_options: Annotated[OldMaidOptions, Parameter(name="*", group=ROOM)] = OldMaidOptions(),
) -> int:
    """Put a table of Old Maid under load, if its operator agrees. An act is a request to the table."""
    check_minimum(2, table_players=table_players)
    return run_load(lambda: load.to_plan(ROOMS["oldmaid"], server, room_options, table_players), load)


def run_load(make_plan: Callable[[], Plan], options: LoadOptions) -> int:
    """Run a load, print its result, and return the exit status: 1 after errors, 2 if the generator was too busy.

    Ctrl-C ends it early, with the result so far. Raises ConnectionError if there is no server.
    """
    from croupier.load.processes import LoadProcesses
    from croupier.load.report import is_too_busy

    plan, started = make_plan(), time()
    address, _ = room_address(plan.room, plan.server)
    check_server(address, plan.answer_seconds)
    with LoadProcesses(plan) as processes, interrupted_once(processes.stop), show_progress() as show:
        for figures in processes.play():
            show(figures)
    result = processes.figures
    _print_result(plan, result, options, started)
    if processes.is_stopped:
        return 130
    if is_too_busy(result):
        return TOO_BUSY_STATUS
    return 1 if result.error_count or not result.answered else 0


def _print_result(plan: Plan, result: "Figures", options: LoadOptions, started: float) -> None:
    from croupier.load.report import summary, to_json, write_log

    if options.json:
        print_json(to_json(plan, result))
    else:
        for line in summary(plan, result):
            print_line(line)
    if options.out is not None:
        with options.out.open("w", encoding="utf-8") as file:
            write_log(file, plan, result, started)


@contextmanager
def show_progress(console: "Console | None" = None) -> Iterator["Callable[[Figures], None]"]:
    """Show the figures so far: as a line that changes if standard error is a terminal, else in lines."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn

    from croupier.load.report import headline

    console = console or Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False))
    shown_at = monotonic()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("the players arrive")

        def show(figures: "Figures") -> None:
            nonlocal shown_at
            if console.is_terminal:
                progress.update(task, description=headline(figures))
            elif monotonic() >= shown_at + PLAIN_INTERVAL_SECONDS:
                shown_at = monotonic()
                print_error(headline(figures))

        yield show


for each in HOUSE_ROOMS.values():
    app.command(
        room_command(each),
        name=each.name,
        help=f"Put a house of {each.title_in_sentence} under load. Ask its operator.",
    )
app.command(load_holdem, name="holdem")
app.command(load_oldmaid, name="oldmaid")
