"""How fast the houses play, and what an idle connection costs, each beside a bare uvloop echo in the same run.

The echo and a house take turns on the same core, while the load plays from another. A message is a frame the client
sent and got its answer to. The echo answers one a flight. The documents give a fold of Kuhn poker and an ANTE of seven
and a half no reply, so these travel in one flight with the frame behind them; so do STRT and DRAW of seven and a half,
for nothing else is allowed behind STRT, and PLY and BET of blackjack, for the client knows what it has and bets always
the same. All of them count: a flight of two messages. So both ratios are printed, messages and flights; and in a table
of their own those of clients that wait for every answer, to which the target applies.

The echo moves as many bytes as the house: a flight of its client's is as long as the mean of what that room's client
sends in a flight and is told for it, (sent + received) / 2. This is measured first, in a short run, and printed.

Nothing is kept of these games. With --journal a house that keeps them is measured beside the same house that does not,
in the place of the echo: as a house does by itself (async), so that nobody is told what could be lost (durable), or
with every game settled in the ledger (accounts).
"""

import argparse
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from harness import (
    HERE,
    BenchError,
    Cores,
    Load,
    Result,
    allow_open_files,
    fail,
    pick_cores,
    run_load,
    running,
    verdict,
)

ECHO = [sys.executable, str(HERE / "echo.py")]
CROUPIER = [sys.executable, "-m", "croupier", "serve"]
COMMON = ["--port", "0", "--max-connections", "20000", "--max-per-address", "20000", "--log-level", "error"]
JOURNALS: Mapping[str, Sequence[str]] = {
    "off": ["--journal", "off"],
    "async": ["--journal", "async"],
    "durable": ["--journal", "durable"],
    "accounts": ["--accounts", "address"],
}
RICH = "1000000000"
ROOMS: Mapping[str, Sequence[str]] = {"kuhn": ["--coins", RICH], "sevenhalf": [], "blackjack": ["--money", RICH]}
"""The rooms and what they are opened with, so that no client runs out of money."""

SPEAK_AHEAD = ("sevenhalf", "blackjack")
"""The rooms whose clients say in one flight what the answer leaves no choice about."""

RATIO_TARGET = 0.6
RATIO_TARGET_AT = (100, 1000)
ASYNC_TARGET = 0.7
IDLE_TARGET_KIB = 4.0
PLAYING_BESIDE_IDLE = 100
BUSY = 0.90
MANY = 100
WIDTHS = (13, 17, 8, 9, 17, 19, 13, 19)


@dataclass(frozen=True)
class Contestant:
    """A server under test, and what the load speaks with it."""

    name: str
    command: Sequence[str]
    speak: str
    size: int = 8
    ahead: int = 1


@dataclass(frozen=True)
class Setting:
    """Where each measurement runs, and for how long."""

    cores: Cores
    seconds: float


@dataclass(frozen=True)
class Row:
    """The medians of one contestant's rounds."""

    messages_per_s: float
    p50_us: float
    p99_us: float
    cpu_us: float
    server_share: float
    load_share: float


def summarize(results: Sequence[Result]) -> Row:
    """Take the median of each figure."""
    return Row(
        messages_per_s=median(result.messages_per_s for result in results),
        p50_us=median(result.p50_us for result in results),
        p99_us=median(result.p99_us for result in results),
        cpu_us=median(result.cpu_us_a_message for result in results),
        server_share=median(result.server_cpu_share for result in results),
        load_share=median(result.load_cpu_share for result in results),
    )


def measure(contestant: Contestant, setting: Setting, connections: int, idle: int = 0) -> Result:
    """Start a fresh server, measure it once and end it."""
    warmup = 1.0 + (connections + idle) / 10_000
    load = Load(contestant.speak, connections, idle, setting.seconds, warmup, contestant.size, contestant.ahead)
    with running(contestant.command, setting.cores.server) as server:
        return run_load(server, load, setting.cores.load)


def house(room: str, command: Sequence[str] = (), journal: str = "off", store: str = "") -> Contestant:
    """Our house for a room, or another one that a command starts."""
    ours = [*CROUPIER, room, *ROOMS[room], *COMMON, *JOURNALS[journal], *(["--store", store] if store else [])]
    name = journal if store else "croupier"
    return Contestant("other" if command else name, command or ours, room)


def echo_beside(other: Contestant, setting: Setting, connections: int = 10) -> Contestant:
    """The echo that moves as many bytes a flight as the load and another contestant do."""
    load = Load(other.speak, connections, seconds=min(0.5, setting.seconds), warmup=0.2, ahead=other.ahead)
    with running(other.command, setting.cores.server) as server:
        seen = run_load(server, load, setting.cores.load)
    return Contestant("echo", ECHO, "echo", round(seen.bytes_a_flight))


def compare_speed(echo: Contestant, room: Contestant, setting: Setting, counts: Sequence[int], rounds: int) -> None:
    """Print the table of rates, round trips and CPU time, one line for every number of connections."""
    patient = "" if room.ahead else ", clients that wait for every answer"
    print(
        f"\n{room.speak}{patient}: medians of {rounds} rounds of {setting.seconds:g} s, echo/{room.name};"
        f" a ratio is the median of the pairs'. The echo's flights are {echo.size} bytes long."
    )
    print(
        "Round trips in µs; CPU is the server's, in µs a message; cores is the share that server+load used of theirs.\n"
    )
    heads = ("echo msg/s", f"{room.name} msg/s", "ratio", "flights", "p50", "p99", "CPU", "cores")
    print(table_line("conns", heads) + "  target")
    for connections in counts:
        pairs = [(measure(echo, setting, connections), measure(room, setting, connections)) for _ in range(rounds)]
        waits = not room.ahead or room.speak not in SPEAK_AHEAD  # the target is for clients that wait, as Kuhn's does
        target = RATIO_TARGET if waits and connections in RATIO_TARGET_AT else None
        print(speed_line(connections, pairs, target, apart=setting.cores.apart), flush=True)


def compare_journal(room: str, journal: str, setting: Setting, counts: Sequence[int], rounds: int) -> None:
    """Print the table of a house that keeps its games, beside the same one that does not."""
    print(
        f"\n{room}, --journal {journal} beside off: medians of {rounds} rounds of {setting.seconds:g} s;"
        " a ratio is the median of the pairs'. CPU is the server's, in µs a message.\n"
    )
    heads = ("off msg/s", f"{journal} msg/s", "ratio", "flights", "p50", "p99", "CPU", "cores")
    print(table_line("conns", heads) + "  target")
    with tempfile.TemporaryDirectory() as folder:
        plain, kept = house(room), house(room, journal=journal, store=f"{folder}/store.sqlite")
        for connections in counts:
            pairs = [(measure(plain, setting, connections), measure(kept, setting, connections)) for _ in range(rounds)]
            target = ASYNC_TARGET if journal == "async" and connections in RATIO_TARGET_AT else None
            print(speed_line(connections, pairs, target, apart=setting.cores.apart), flush=True)


def table_line(connections: str, cells: Sequence[str]) -> str:
    """Align the cells of one line of the table."""
    return f"{connections:>6}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, WIDTHS, strict=True))


def speed_line(connections: int, pairs: Sequence[tuple[Result, Result]], target: float | None, *, apart: bool) -> str:
    """Render one line of the table."""
    echo, room = (summarize(results) for results in zip(*pairs, strict=True))
    messages = median(after.messages_per_s / before.messages_per_s for before, after in pairs)
    flights = median(after.flights_per_s / before.flights_per_s for before, after in pairs)
    cells = (
        f"{echo.messages_per_s:,.0f}",
        f"{room.messages_per_s:,.0f}",
        f"{messages:.3f}",
        f"{flights:.3f}",
        f"{echo.p50_us:,.0f}/{room.p50_us:,.0f}",
        f"{echo.p99_us:,.0f}/{room.p99_us:,.0f}",
        f"{echo.cpu_us:.2f}/{room.cpu_us:.2f}",
        "/".join(f"{row.server_share:.0%}+{row.load_share:.0%}" for row in (echo, room)),
    )
    told = "none" if target is None else f"{target} {verdict(messages >= target)}"
    suspicion = doubt(connections, (echo, room)) if apart else ""
    return table_line(f"{connections:,}", cells) + f"  {told}{suspicion}"


def doubt(connections: int, rows: Sequence[Row]) -> str:
    """Say if something other than the server limited a rate: many closed loops keep its core full."""
    if connections >= MANY and any(row.server_share < BUSY for row in rows):
        return "; the load was the limit, or other work disturbed it"
    return ""


def idle_kib(contestant: Contestant, cores: Cores, idle: int) -> float:
    """Give the growth of the server's memory for each idle connection, in KiB."""
    with running(contestant.command, cores.server) as server:
        run_load(server, Load(contestant.speak, connections=10, seconds=0.5, warmup=0.2), cores.load)
        before = server.memory_bytes()
        # The warm-up leaves time to accept them all, and for a server's periodic work to begin.
        held = run_load(server, Load(contestant.speak, connections=0, idle=idle, seconds=0.2, warmup=3.0), cores.load)
    if held.open_files < idle:
        raise BenchError(f"{contestant.name} accepted only {held.open_files} of {idle} idle connections")
    return (held.memory_bytes - before) / idle / 1024


def compare_idle(echo: Contestant, room: Contestant, setting: Setting, idle: int) -> None:
    """Print what an idle connection costs, and the rate while many are held."""
    print(f"\n{idle:,} idle connections (PSS growth, without the kernel's socket buffers):")
    echo_kib, room_kib = (idle_kib(contestant, setting.cores, idle) for contestant in (echo, room))
    extra = room_kib - echo_kib
    target = f"target at most {IDLE_TARGET_KIB:g} KiB above the echo's: {verdict(extra <= IDLE_TARGET_KIB)}"
    print(f"  echo {echo_kib:.2f} KiB each, {room.name} {room_kib:.2f} KiB each, difference {extra:+.2f} KiB; {target}")
    for contestant in (echo, room):
        seen = measure(contestant, setting, PLAYING_BESIDE_IDLE, idle)
        print(
            f"  {PLAYING_BESIDE_IDLE} playing beside them, {contestant.name}: {seen.messages_per_s:,.0f} msg/s,"
            f" p50 {seen.p50_us:,.0f} µs, p99 {seen.p99_us:,.0f} µs, max {seen.max_us:,.0f} µs,"
            f" CPU {seen.cpu_us_a_message:.2f} µs a message"
        )


def parse_counts(text: str) -> list[int]:
    """Read `1,100,1000`."""
    counts = [int(part) for part in text.split(",")]
    if min(counts) < 1:
        raise ValueError(text)
    return counts


def main() -> int:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=f"of {', '.join(ROOMS)}; all of them if none is named")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of one measured window")
    parser.add_argument(
        "--rounds", type=int, default=3, help="pairs of echo and server for every number of connections"
    )
    parser.add_argument("--connections", type=parse_counts, default=[1, 100, 1000, 10_000], metavar="N,N,…")
    parser.add_argument("--idle", type=int, default=10_000, help="idle connections to hold; 0 leaves that part out")
    parser.add_argument(
        "--command", type=shlex.split, default=(), help="another server of the one ROOM, instead of ours"
    )
    parser.add_argument(
        "--journal",
        choices=[*JOURNALS],
        default="off",
        help="measure a house that keeps its games beside one that does not",
    )
    options = parser.parse_args()
    rooms = options.rooms or list(ROOMS)
    if unknown := [room for room in rooms if room not in ROOMS]:
        parser.error(f"found the room {unknown[0]}; allowed: {', '.join(ROOMS)}")
    if options.command and len(rooms) != 1:
        parser.error("--command needs exactly one ROOM, which is what it serves")
    try:
        allow_open_files(max(*options.connections, options.idle + PLAYING_BESIDE_IDLE))
        setting = Setting(pick_cores(), options.seconds)
        for name in rooms:
            if options.journal != "off":
                compare_journal(name, options.journal, setting, options.connections, options.rounds)
                continue
            room = house(name, options.command)
            echo = echo_beside(room, setting)
            compare_speed(echo, room, setting, options.connections, options.rounds)
            if name in SPEAK_AHEAD:
                patient = replace(room, ahead=0)
                counts = [count for count in options.connections if count in RATIO_TARGET_AT]
                compare_speed(echo_beside(patient, setting), patient, setting, counts, options.rounds)
            if options.idle:
                compare_idle(echo, room, setting, options.idle)
    except BenchError as error:
        return fail(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
