"""Benchmark: message rate of the houses and cost of an idle connection, compared with a bare uvloop echo.

Echo and house take turns on one core, the load runs on another. A message is a frame that the client sent and that was
answered; the echo answers one per flight. A fold in Kuhn poker and an ANTE in seven and a half have no reply in the
documents, so they travel in one flight with the next frame. So do STRT and DRAW in seven and a half, because only DRAW
is allowed after STRT, and PLY and BET in blackjack, because the client always bets the same. These flights count as two
messages. Therefore ratios are printed for messages and for flights. A separate table has clients that wait for every
answer; the targets apply to it: one for the ratio of the rates, and one for the processor time of a message above the
echo's.

The echo moves as many bytes as the house: its flights are as long as the mean of the room's flights and replies,
(sent + received) / 2, which is measured first in a short run and printed.

These games are not recorded. With --journal, a house that records its games is compared with the same house without a
journal instead of the echo: written in the background (async, the default of a house), before the answer is sent
(durable), or with every game settled in the ledger (accounts).
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
"""The rooms and their flags, chosen so that no client runs out of money."""

PIPELINING_ROOMS = ("sevenhalf", "blackjack")
"""The rooms whose clients send messages ahead if no answer can change them."""

RATIO_TARGET = 0.6
MORE_CPU_TARGET_US = 1.7
TARGETS_AT = (100, 1000)
"""The numbers of connections to which the targets apply."""

ASYNC_TARGET = 0.7
IDLE_TARGET_KIB = 4.0
PLAYING_BESIDE_IDLE = 100
MIN_SERVER_SHARE = 0.90
MANY_CONNECTIONS = 100
WIDTHS = (13, 17, 8, 9, 17, 19, 13, 19)


@dataclass(frozen=True)
class Contestant:
    """A server under test, and the protocol that the load uses with it."""

    name: str
    command: Sequence[str]
    speak: str
    size: int = 8
    ahead: int = 1


@dataclass(frozen=True)
class Setting:
    """The cores and the duration of a measurement."""

    cores: Cores
    seconds: float


@dataclass(frozen=True)
class Row:
    """The medians over the rounds of one contestant."""

    messages_per_s: float
    p50_us: float
    p99_us: float
    cpu_us: float
    server_share: float
    load_share: float


def summarize(results: Sequence[Result]) -> Row:
    """Return the median of each figure."""
    return Row(
        messages_per_s=median(result.messages_per_s for result in results),
        p50_us=median(result.p50_us for result in results),
        p99_us=median(result.p99_us for result in results),
        cpu_us=median(result.cpu_us_a_message for result in results),
        server_share=median(result.server_cpu_share for result in results),
        load_share=median(result.load_cpu_share for result in results),
    )


def measure(contestant: Contestant, setting: Setting, connections: int, idle: int = 0) -> Result:
    """Measure a new server once."""
    warmup = 1.0 + (connections + idle) / 10_000
    load = Load(contestant.speak, connections, idle, setting.seconds, warmup, contestant.size, contestant.ahead)
    with running(contestant.command, setting.cores.server) as server:
        return run_load(server, load, setting.cores.load)


def house(room: str, command: Sequence[str] = (), journal: str = "off", store: str = "") -> Contestant:
    """Return croupier's house for a room, or the server that `command` starts."""
    ours = [*CROUPIER, room, *ROOMS[room], *COMMON, *JOURNALS[journal], *(["--store", store] if store else [])]
    name = journal if store else "croupier"
    return Contestant("other" if command else name, command or ours, room)


def echo_beside(other: Contestant, setting: Setting, connections: int = 10) -> Contestant:
    """Return the echo whose flights are as long as those between the load and another contestant."""
    load = Load(other.speak, connections, seconds=min(0.5, setting.seconds), warmup=0.2, ahead=other.ahead)
    with running(other.command, setting.cores.server) as server:
        seen = run_load(server, load, setting.cores.load)
    return Contestant("echo", ECHO, "echo", round(seen.bytes_a_flight))


def compare_speed(echo: Contestant, room: Contestant, setting: Setting, counts: Sequence[int], rounds: int) -> None:
    """Print the table of rates, round trips and CPU time, one line per number of connections."""
    description = "" if room.ahead else ", clients that wait for every answer"
    print(
        f"\n{room.speak}{description}: medians of {rounds} rounds of {setting.seconds:g} s, echo/{room.name};"
        f" a ratio is the median of the pairs'. The echo's flights are {echo.size} bytes long."
    )
    print(
        "Round trips in µs; CPU is the server's, in µs a message; cores is the share that server+load used of theirs.\n"
    )
    heads = ("echo msg/s", f"{room.name} msg/s", "ratio", "flights", "p50", "p99", "CPU", "cores")
    print(table_line("conns", heads) + "  targets")
    for connections in counts:
        pairs = [(measure(echo, setting, connections), measure(room, setting, connections)) for _ in range(rounds)]
        waits = (
            not room.ahead or room.speak not in PIPELINING_ROOMS
        )  # the target is for clients that wait, as Kuhn's does
        has_targets = waits and connections in TARGETS_AT
        targets = speed_targets(pairs, RATIO_TARGET, MORE_CPU_TARGET_US) if has_targets else "none"
        print(speed_line(connections, pairs, targets, apart=setting.cores.apart), flush=True)


def compare_journal(room: str, journal: str, setting: Setting, counts: Sequence[int], rounds: int) -> None:
    """Print the table of a house with a journal, compared with the same house without."""
    print(
        f"\n{room}, --journal {journal} beside off: medians of {rounds} rounds of {setting.seconds:g} s;"
        " a ratio is the median of the pairs'. CPU is the server's, in µs a message.\n"
    )
    heads = ("off msg/s", f"{journal} msg/s", "ratio", "flights", "p50", "p99", "CPU", "cores")
    print(table_line("conns", heads) + "  targets")
    with tempfile.TemporaryDirectory() as folder:
        plain, journaling = house(room), house(room, journal=journal, store=f"{folder}/store.sqlite")
        for connections in counts:
            pairs = [
                (measure(plain, setting, connections), measure(journaling, setting, connections)) for _ in range(rounds)
            ]
            has_target = journal == "async" and connections in TARGETS_AT
            target = speed_targets(pairs, ASYNC_TARGET) if has_target else "none"
            print(speed_line(connections, pairs, target, apart=setting.cores.apart), flush=True)


def table_line(connections: str, cells: Sequence[str]) -> str:
    """Align the cells of one line of the table."""
    return f"{connections:>6}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, WIDTHS, strict=True))


def message_ratio(pairs: Sequence[tuple[Result, Result]]) -> float:
    """Return the median of the pairs' ratios of messages per second."""
    return median(after.messages_per_s / before.messages_per_s for before, after in pairs)


def speed_targets(pairs: Sequence[tuple[Result, Result]], ratio: float, more_cpu_us: float | None = None) -> str:
    """Render the targets, and whether they are met: the ratio, and the processor time of a message above the echo's."""
    text = f"{ratio} {verdict(message_ratio(pairs) >= ratio)}"
    if more_cpu_us is None:
        return text
    more = median(after.cpu_us_a_message - before.cpu_us_a_message for before, after in pairs)
    return f"{text}; CPU {more:+.2f}, at most {more_cpu_us:+g} µs: {verdict(more <= more_cpu_us)}"


def speed_line(connections: int, pairs: Sequence[tuple[Result, Result]], targets: str, *, apart: bool) -> str:
    """Render one line of the table."""
    echo, room = (summarize(results) for results in zip(*pairs, strict=True))
    flights = median(after.flights_per_s / before.flights_per_s for before, after in pairs)
    cells = (
        f"{echo.messages_per_s:,.0f}",
        f"{room.messages_per_s:,.0f}",
        f"{message_ratio(pairs):.3f}",
        f"{flights:.3f}",
        f"{echo.p50_us:,.0f}/{room.p50_us:,.0f}",
        f"{echo.p99_us:,.0f}/{room.p99_us:,.0f}",
        f"{echo.cpu_us:.2f}/{room.cpu_us:.2f}",
        "/".join(f"{row.server_share:.0%}+{row.load_share:.0%}" for row in (echo, room)),
    )
    warning = doubt(connections, (echo, room)) if apart else ""
    return table_line(f"{connections:,}", cells) + f"  {targets}{warning}"


def doubt(connections: int, rows: Sequence[Row]) -> str:
    """Return a warning if the server's core was not busy with many connections, else ""."""
    if connections >= MANY_CONNECTIONS and any(row.server_share < MIN_SERVER_SHARE for row in rows):
        return "; the load was the limit, or other work disturbed it"
    return ""


def idle_kib(contestant: Contestant, cores: Cores, idle: int) -> float:
    """Return the growth of the server's memory per idle connection, in KiB."""
    with running(contestant.command, cores.server) as server:
        run_load(server, Load(contestant.speak, connections=10, seconds=0.5, warmup=0.2), cores.load)
        before = server.memory_bytes()
        # The warm-up leaves time to accept all connections, and for periodic work of the server to start.
        held = run_load(server, Load(contestant.speak, connections=0, idle=idle, seconds=0.2, warmup=3.0), cores.load)
    if held.open_files < idle:
        raise BenchError(f"{contestant.name} accepted only {held.open_files} of {idle} idle connections")
    return (held.memory_bytes - before) / idle / 1024


def compare_idle(echo: Contestant, room: Contestant, setting: Setting, idle: int) -> None:
    """Print the cost of an idle connection, and the rate of busy connections beside many idle ones."""
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
    """Parse a list such as `1,100,1000`. Raises ValueError."""
    counts = [int(part) for part in text.split(",")]
    if min(counts) < 1:
        raise ValueError(text)
    return counts


def main() -> int:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=f"one of {', '.join(ROOMS)}; default: all")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of one measured window")
    parser.add_argument(
        "--rounds", type=int, default=3, help="pairs of echo and server for every number of connections"
    )
    parser.add_argument("--connections", type=parse_counts, default=[1, 100, 1000, 10_000], metavar="N,N,…")
    parser.add_argument("--idle", type=int, default=10_000, help="number of idle connections; 0: skip this part")
    parser.add_argument("--command", type=shlex.split, default=(), help="command of another server for the one ROOM")
    parser.add_argument(
        "--journal",
        choices=[*JOURNALS],
        default="off",
        help="compare a house with this journal with one without",
    )
    options = parser.parse_args()
    rooms = options.rooms or list(ROOMS)
    if unknown := [room for room in rooms if room not in ROOMS]:
        parser.error(f"found the room {unknown[0]}; allowed: {', '.join(ROOMS)}")
    if options.command and len(rooms) != 1:
        parser.error("--command needs exactly one ROOM")
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
            if name in PIPELINING_ROOMS:
                waiting_room = replace(room, ahead=0)
                counts = [count for count in options.connections if count in TARGETS_AT]
                compare_speed(echo_beside(waiting_room, setting), waiting_room, setting, counts, options.rounds)
            if options.idle:
                compare_idle(echo, room, setting, options.idle)
    except BenchError as error:
        return fail(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
