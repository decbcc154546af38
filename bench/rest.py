"""Benchmark: hold'em over HTTP, for clients that poll a game and for bots that play as fast as possible.

Polling: many connections repeatedly request one game with six players on the flop, each waiting for the answer. A bare
ASGI application on the same uvicorn (bench/bare.py) takes turns on the same core and sends exactly the same bytes. The
public sends no credentials, players send theirs, and both also poll with the ETag of the current state. The load
compares every byte of every answer, except the date.

Playing: each bot has one connection, requests the game as a player, and checks or calls at its turn. The load checks
every answer: the game, the chips, the hole cards, and that no card occurs twice. The same is measured with a journal on
disk: at many tables, whose acts share commits, and at one table, where every act waits for the disk. The ratio at one
table shows mainly how long a commit takes, so it has no target. What a commit of one fact takes on this disk is
measured beside it.
"""

import argparse
import json
import socket
import sqlite3
import sys
import tempfile
from base64 import b64encode
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Any, Final

from croupier.net.event_loop import run
from croupier.store.sqlite_file import CONNECTION_PRAGMAS
from croupier.store.store import upgrade_store
from harness import HERE, BenchError, Cores, Load, Result, Server, fail, pick_cores, run_load, running, verdict
from servers import MANY_CONNECTIONS, doubt, summarize

CROUPIER: Final = [sys.executable, "-m", "croupier", "serve", "holdem", "--port", "0", "--log-level", "error"]
IN_MEMORY: Final = ("--journal", "off")
NO_TURN_TIMEOUT: Final = [*CROUPIER, "--turn-seconds", "86400"]
"""A server without turn timeouts in practice, so that the polled game does not change."""

STACK: Final = 1_000_000_000
"""Enough chips that no bot loses them all."""

BARE: Final = [sys.executable, str(HERE / "bare.py")]
NAMES: Final = ("ann", "bob", "cyd", "dan", "eve", "fay")
POLLING: Final = 32
RATIO_TARGET: Final = 0.8
AUTHENTICATION_TARGET: Final = 0.05
JOURNAL_TARGET: Final = 0.8
WARM_UP_SECONDS: Final = 1.0
COMMITS: Final = 1000
"""The number of commits that are timed."""

FACT_BYTES: Final = 120
RESPONSE: Final = "response"
"""The file with the response of the bare application."""

WIDTHS: Final = (12, 16, 8, 16, 16, 13, 19)


@dataclass(frozen=True)
class Scenario:
    """Bots per table, number of tables, target in hands per second, and figures of the published Go server."""

    bots: int
    tables: int = 1
    target: float | None = None
    go: str = ""  # figures measured elsewhere


SCENARIOS: Final = (
    Scenario(2, target=600, go="585, on an idle machine, before it crashed"),
    Scenario(6, target=100, go="25 to 58"),
)
TABLES: Final = 64
"""The default number of tables with two bots each in the last scenario."""


@dataclass(frozen=True)
class Question:
    """A kind of request: by players or by the public, with or without the current ETag (If-None-Match)."""

    title: str
    by_player: bool
    has_etag: bool
    target: float | None = None


PUBLIC: Final = Question("public", by_player=False, has_etag=False, target=RATIO_TARGET)
PLAYERS: Final = Question("players", by_player=True, has_etag=False, target=RATIO_TARGET)
QUESTIONS: Final = (
    PUBLIC,
    PLAYERS,
    Question("public, 304", by_player=False, has_etag=True),
    Question("players, 304", by_player=True, has_etag=True),
)


@dataclass(frozen=True)
class Setting:
    """Where each measurement runs, for how long, and how often."""

    cores: Cores
    seconds: float
    rounds: int
    folder: Path


@dataclass(frozen=True)
class Player:
    """A player at the table; `credentials` as in Basic authorization."""

    guid: str
    credentials: str


@dataclass(frozen=True)
class Table:
    """A game of a running server, and its players."""

    server: Server
    guid: str
    players: Sequence[Player]

    @property
    def path(self) -> str:
        """The path of the game."""
        return f"/games/{self.guid}"

    def look(self, player: Player) -> Any:
        """Request the game as a player."""
        return ask(self.server, "GET", self.path, player.credentials, status=200)


def ask(server: Server, method: str, path: str, credentials: str, *, status: int, body: object = None) -> Any:
    """Send a request and return the JSON of the response. Raises BenchError on another status than `status`."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, {"Authorization": f"Basic {credentials}"})
        response = connection.getresponse()
        data = response.read()
    finally:
        connection.close()
    if response.status != status:
        raise BenchError(f"{method} {path}: found {response.status} {data[:200]!r}; allowed: {status}")
    return json.loads(data) if data else None


def sit_down(server: Server, count: int, number: int = 0) -> Table:
    """Register `count` users who join a game: the existing first game, or one that the first user creates."""
    players: list[Player] = []
    path = "/games/"
    for name in NAMES[:count]:
        credentials = b64encode(f"{name}{number}:secret".encode()).decode()
        ask(server, "POST", "/users/", credentials, status=201)
        guid = ask(server, "POST", path, credentials, status=201) if number and not players else None
        game = ask(server, "GET", "/games/", credentials, status=200)[-1]["gameID"]
        path = f"/games/{game}/players/"
        players.append(Player(guid or ask(server, "POST", path, credentials, status=201), credentials))
    return Table(server, game, players)


def play_to_the_flop(table: Table) -> None:
    """Check and call until the flop of a hand with all players; late players are dealt in to the second hand."""
    while True:
        game = table.look(table.players[0])
        if len(game["table"]) == len(table.players) and game["cards"]["flop"]:
            return
        turn = game["turn"]
        (player,) = (player for player in table.players if player.guid == turn["playerID"])
        act = {"action": 1, "betAmount": turn["bet_to_player"] - turn["bet_so_far"]}
        ask(table.server, "POST", f"{table.path}/players/{player.guid}/acts/", player.credentials, status=201, body=act)


def exchange(table: Table, player: Player | None, etag: bytes = b"") -> tuple[bytes, bytes]:
    """Request the game, and return the bytes of the request and of the response."""
    lines = [f"GET {table.path} HTTP/1.1".encode(), b"Host: localhost"]
    if player is not None:
        lines.append(f"Authorization: Basic {player.credentials}".encode())
    if etag:
        lines.append(b"If-None-Match: " + etag)
    request = b"\r\n".join((*lines, b"", b""))
    with socket.create_connection(("127.0.0.1", table.server.port), timeout=30) as connection:
        connection.sendall(request)
        with connection.makefile("rb") as stream:
            head = b"".join(iter(stream.readline, b"\r\n")) + b"\r\n"
            response = head + stream.read(int(header(head, "content-length") or 0))
    return request, response


def header(response: bytes, name: str) -> bytes:
    """Return the value of a header, b"" if it is missing."""
    for line in response.partition(b"\r\n\r\n")[0].split(b"\r\n"):
        key, _, value = line.partition(b": ")
        if key == name.encode():
            return value
    return b""


def write_script(table: Table, question: Question, folder: Path) -> list[Path]:
    """Make and check one exchange per player, or one of the public, and write them to files for the load."""
    files = []
    for number, player in enumerate(table.players if question.by_player else [None]):
        request, response = exchange(table, player)
        game = json.loads(response.partition(b"\r\n\r\n")[2])
        cards = game["cards"]
        if (game["gameID"], len(cards["hole"]), len(cards["flop"])) != (table.guid, 2 * question.by_player, 3):
            raise BenchError(f"found the game {game}; allowed: {table.guid} with the flop and the viewer's hole cards")
        if question.has_etag:
            request, response = exchange(table, player, header(response, "etag"))
            if not (response.startswith(b"HTTP/1.1 304 ") and response.endswith(b"\r\n\r\n")):
                raise BenchError(f"found {response!r}; allowed: 304 without a body")
        files.append(folder / f"exchange{number}")
        files[-1].write_bytes(request + response)
    (folder / RESPONSE).write_bytes(response)  # the last one; all have the same length
    return files


def poll(setting: Setting, question: Question, table: Table) -> tuple[Result, Result]:
    """Measure the bare application and croupier with the same exchange."""

    def measure(server: Server, files: Sequence[Path]) -> Result:
        script = ",".join(map(str, files))
        return run_load(
            server, Load("http", POLLING, 0, setting.seconds, WARM_UP_SECONDS, script=script), setting.cores.load
        )

    files = write_script(table, question, setting.folder)
    ours = measure(table.server, files)
    with running([*BARE, str(setting.folder / RESPONSE)], setting.cores.server) as bare:
        return measure(bare, files[-1:]), ours


def compare_polling(setting: Setting) -> None:
    """Print the results of polling, one line per kind of request, and the cost of authentication."""
    print(
        f"One game with {len(NAMES)} players, polled by {POLLING} connections: medians of {setting.rounds} rounds of"
        f" {setting.seconds:g} s, bare/croupier; a ratio is the median of the pairs'.\n"
        "Round trips in µs; CPU is the server's, in µs a request; cores is the share that server+load used of theirs.\n"
    )
    results: dict[Question, list[tuple[Result, Result]]] = {question: [] for question in QUESTIONS}
    for _ in range(setting.rounds):
        with running([*NO_TURN_TIMEOUT, *IN_MEMORY], setting.cores.server) as server:
            table = sit_down(server, len(NAMES))
            play_to_the_flop(table)
            for question, pairs in results.items():
                pairs.append(poll(setting, question, table))
    print(table_line("asked by", ("bare req/s", "croupier req/s", "ratio", "p50", "p99", "CPU", "cores")) + "  target")
    for question, pairs in results.items():
        print(polling_line(question, pairs, apart=setting.cores.apart))
    bare, ours = (
        median(known.cpu_us_a_message / public.cpu_us_a_message - 1 for public, known in zip(*rounds, strict=True))
        for rounds in zip(*(zip(*results[question], strict=True) for question in (PUBLIC, PLAYERS)), strict=True)
    )
    print(
        f"\nCredentials take {ours:+.1%} of a request's CPU, of which {bare:+.1%} are the header's, which the bare"
        f" application reads, too; target at most {AUTHENTICATION_TARGET:.0%}: {verdict(ours <= AUTHENTICATION_TARGET)}"
    )


def table_line(title: str, cells: Sequence[str]) -> str:
    """Align the cells of one line of the table."""
    return f"{title:<12}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, WIDTHS, strict=True))


def polling_line(question: Question, pairs: Sequence[tuple[Result, Result]], *, apart: bool) -> str:
    """Render one line of the table."""
    rows = bare, ours = [summarize(results) for results in zip(*pairs, strict=True)]
    ratio = median(after.messages_per_s / before.messages_per_s for before, after in pairs)
    cells = (
        f"{bare.messages_per_s:,.0f}",
        f"{ours.messages_per_s:,.0f}",
        f"{ratio:.3f}",
        f"{bare.p50_us:,.0f}/{ours.p50_us:,.0f}",
        f"{bare.p99_us:,.0f}/{ours.p99_us:,.0f}",
        f"{bare.cpu_us:.1f}/{ours.cpu_us:.1f}",
        "/".join(f"{row.server_share:.0%}+{row.load_share:.0%}" for row in rows),
    )
    target = "none" if question.target is None else f"{question.target} {verdict(ratio >= question.target)}"
    return table_line(question.title, cells) + f"  {target}{doubt(MANY_CONNECTIONS, rows) if apart else ''}"


def play(setting: Setting, scenario: Scenario, journal: Sequence[str]) -> Result:
    """Let the bots of a scenario play at a new server."""
    with running([*NO_TURN_TIMEOUT, *journal, "--stack", str(STACK)], setting.cores.server) as server:
        return play_at(setting, [sit_down(server, scenario.bots, number) for number in range(scenario.tables)])


def play_at(setting: Setting, tables: Sequence[Table]) -> Result:
    """Let bots play at the tables of a server."""
    script = setting.folder / "players"
    players = [(table, player) for table in tables for player in table.players]
    lines = [f"{table.guid} {player.guid} {player.credentials} {STACK}\n" for table, player in players]
    script.write_text("".join(lines))
    load = Load("holdem", len(players), 0, setting.seconds, WARM_UP_SECONDS, script=str(script))
    seen = run_load(tables[0].server, load, setting.cores.load)
    if not seen.hands:
        raise BenchError(f"{len(players)} bots played no hand to its end in {seen.seconds:g} s")
    return seen


def commit_times_us(folder: Path) -> tuple[float, float]:
    """Return the median and the 99th percentile of commits of one fact to a journal in this folder, in µs."""
    path = str(folder / "commits")
    if not Path(path).exists():
        run(upgrade_store(path))
    times = []
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(f"{CONNECTION_PRAGMAS}; DELETE FROM journal")
        for seq in range(COMMITS):
            started = perf_counter()
            connection.execute("INSERT INTO journal VALUES ('holdem', 'house', ?, ?, 0)", (seq, b"x" * FACT_BYTES))
            times.append((perf_counter() - started) * 1e6)
    return median(times), quantiles(times, n=100)[98]


def compare_playing(setting: Setting, scenarios: Sequence[Scenario]) -> None:
    """Print the hands per second of the bots."""
    print(f"\nBots that poll and check or call, each on one connection: medians of {setting.rounds} rounds.")
    for scenario in scenarios:
        commits = [commit_times_us(setting.folder) for _ in range(setting.rounds)]
        commit_us, commit_p99_us = (median(found) for found in zip(*commits, strict=True))
        pairs = [
            (
                play(setting, scenario, IN_MEMORY),
                play(
                    setting, scenario, ("--store", str(setting.folder / f"{scenario.tables}-{scenario.bots}-{number}"))
                ),
            )
            for number in range(setting.rounds)
        ]
        results = [in_memory for in_memory, _ in pairs]
        kept = median(after.hands / after.seconds / (before.hands / before.seconds) for before, after in pairs)
        row = summarize(results)
        hands = median(seen.hands / seen.seconds for seen in results)
        cpu_ms, kept_ms = (
            median(seen.server_cpu_s * 1e3 / seen.hands for seen in found) for found in zip(*pairs, strict=True)
        )
        kept_acts = median(seen.acts / seen.messages for _, seen in pairs)
        acts = median(seen.acts / seen.messages for seen in results)
        wanted = f"; target {scenario.target:g}: {verdict(hands >= scenario.target)}" if scenario.target else ""
        kept_wanted = f"; target {JOURNAL_TARGET}: {verdict(kept >= JOURNAL_TARGET)}" if scenario.tables > 1 else ""
        print(
            f"  {scenario.bots} bots at {'a table' if scenario.tables == 1 else f'each of {scenario.tables} tables'}:"
            f" {hands:,.0f} hands/s{wanted}\n"
            f"    {cpu_ms:.2f} ms of the server's CPU a hand; cores {row.server_share:.0%}+{row.load_share:.0%}\n"
            f"    {row.messages_per_s:,.0f} requests/s, {acts:.0%} of them acts; CPU {row.cpu_us:.1f} µs a request,"
            f" p50 {row.p50_us:,.0f} µs, p99 {row.p99_us:,.0f} µs\n"
            + (f"    the published Go server, measured elsewhere: {scenario.go}\n" if scenario.go else "")
            + f"    {kept:.2f} of the hands with a journal on disk, each act durable before its answer{kept_wanted}\n"
            f"    a commit of one fact takes {commit_us:,.0f} µs on this disk, p99 {commit_p99_us:,.0f} µs\n"
            f"    {kept_ms:.2f} ms of the server's CPU a hand there, and {kept_acts:.0%} of the requests are acts",
            flush=True,
        )


def main() -> int:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=3.0, help="length of one measured window")
    parser.add_argument("--rounds", type=int, default=3, help="number of measurements")
    parser.add_argument(
        "--tables", type=int, nargs="+", default=[TABLES], help="number of tables in the last scenarios"
    )
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as folder:
            setting = Setting(pick_cores(), options.seconds, options.rounds, Path(folder))
            compare_polling(setting)
            compare_playing(setting, [*SCENARIOS, *(Scenario(2, tables=tables) for tables in options.tables)])
    except BenchError as error:
        return fail(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
