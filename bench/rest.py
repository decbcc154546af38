"""How fast hold'em is served over HTTP: to those who poll a game, and to bots that play as fast as they can.

Polling: many connections ask for one game, at which six players sit and the flop lies, over and over, each waiting for
the answer. Beside it, on the same core in turns, a bare ASGI application on the same uvicorn (bench/bare.py) says the
very same bytes, headers and all. The public asks without credentials, players with theirs, and both also with the
ETag of what they know. The load compares every byte of every answer, but for the date.

Playing: each bot has one connection, asks for the game as a player, and when it is his turn checks or calls. The load
checks all of every answer: that it is the game, the chips, the hole cards, and that no card is there twice. What a
journal on disk leaves of the hands is measured there, where every act waits for the disk and nothing else goes on, and
at many tables, whose acts share the disk's time.
"""

import argparse
import json
import socket
import sys
import tempfile
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Any, Final

from harness import HERE, BenchError, Cores, Load, Result, Server, fail, pick_cores, run_load, running, verdict
from servers import MANY, doubt, summarize

CROUPIER: Final = [sys.executable, "-m", "croupier", "serve", "holdem", "--port", "0", "--log-level", "error"]
IN_MEMORY: Final = ("--journal", "off")
PATIENT: Final = [*CROUPIER, "--turn-seconds", "86400"]
"""A server at which a game that is polled stays as it is, and nobody loses his turn while others sit down."""

STACK: Final = 1_000_000_000
"""So many chips that no bot loses them all."""

BARE: Final = [sys.executable, str(HERE / "bare.py")]
NAMES: Final = ("ann", "bob", "cyd", "dan", "eve", "fay")
POLLING: Final = 32
RATIO_TARGET: Final = 0.8
AUTHENTICATION_TARGET: Final = 0.05
KEPT_TARGET: Final = 0.8
WARM_UP_S: Final = 1.0
RESPONSE: Final = "response"
"""The file with what the bare application says."""

WIDTHS: Final = (12, 16, 8, 16, 16, 13, 19)


@dataclass(frozen=True)
class Course:
    """How many bots play at each table, the hands a second that are wanted, and those of the published Go server."""

    bots: int
    tables: int = 1
    target: float | None = None
    go: str = ""  # figures measured elsewhere


COURSES: Final = (
    Course(2, target=600, go="585, on an idle machine, before it crashed"),
    Course(6, target=100, go="25 to 58"),
)
TABLES: Final = 64
"""At so many tables two bots each play in the last course, unless told otherwise."""


@dataclass(frozen=True)
class Question:
    """What is polled: by players or by the public, and whether they have the answer already (If-None-Match)."""

    title: str
    known: bool  # who asks
    fresh: bool  # what he has
    target: float | None = None


PUBLIC: Final = Question("public", known=False, fresh=False, target=RATIO_TARGET)
PLAYERS: Final = Question("players", known=True, fresh=False, target=RATIO_TARGET)
QUESTIONS: Final = (
    PUBLIC,
    PLAYERS,
    Question("public, 304", known=False, fresh=True),
    Question("players, 304", known=True, fresh=True),
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
    """One who sits at the table; `credentials` as in Basic authorization."""

    guid: str
    credentials: str


@dataclass(frozen=True)
class Table:
    """A game of a running server, and who plays there."""

    server: Server
    guid: str
    players: Sequence[Player]

    @property
    def path(self) -> str:
        """Where the game is to be seen."""
        return f"/games/{self.guid}"

    def look(self, player: Player) -> Any:
        """The game as a player sees it."""
        return ask(self.server, "GET", self.path, player.credentials, status=200)


def ask(server: Server, method: str, path: str, credentials: str, *, status: int, body: object = None) -> Any:
    """Send a request and give the JSON of the answer. Raises BenchError if it has another status."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, {"Authorization": f"Basic {credentials}"})
        response = connection.getresponse()
        told = response.read()
    finally:
        connection.close()
    if response.status != status:
        raise BenchError(f"{method} {path}: found {response.status} {told[:200]!r}; allowed: {status}")
    return json.loads(told) if told else None


def sit_down(server: Server, count: int, number: int = 0) -> Table:
    """Enrol so many users, who join the first game, which there always is, or one that the first of them makes."""
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
    """Check and call until all have cards and the flop lies: those who came late are dealt in to the second hand."""
    while True:
        game = table.look(table.players[0])
        if len(game["table"]) == len(table.players) and game["cards"]["flop"]:
            return
        turn = game["turn"]
        (player,) = (player for player in table.players if player.guid == turn["playerID"])
        act = {"action": 1, "betAmount": turn["bet_to_player"] - turn["bet_so_far"]}
        ask(table.server, "POST", f"{table.path}/players/{player.guid}/acts/", player.credentials, status=201, body=act)


def exchange(table: Table, player: Player | None, etag: bytes = b"") -> tuple[bytes, bytes]:
    """Ask for the game, and give the bytes of the request and of the response."""
    asked = [f"GET {table.path} HTTP/1.1".encode(), b"Host: localhost"]
    if player is not None:
        asked.append(f"Authorization: Basic {player.credentials}".encode())
    if etag:
        asked.append(b"If-None-Match: " + etag)
    request = b"\r\n".join((*asked, b"", b""))
    with socket.create_connection(("127.0.0.1", table.server.port), timeout=30) as connection:
        connection.sendall(request)
        with connection.makefile("rb") as stream:
            head = b"".join(iter(stream.readline, b"\r\n")) + b"\r\n"
            response = head + stream.read(int(header(head, "content-length") or 0))
    return request, response


def header(response: bytes, name: str) -> bytes:
    """The value of a header, nothing if it is not there."""
    for line in response.partition(b"\r\n\r\n")[0].split(b"\r\n"):
        key, _, value = line.partition(b": ")
        if key == name.encode():
            return value
    return b""


def write_script(table: Table, question: Question, folder: Path) -> list[Path]:
    """Ask each in turn, see that it is the game with the cards that he may see, and keep what was said in files."""
    files = []
    for number, player in enumerate(table.players if question.known else [None]):
        request, response = exchange(table, player)
        game = json.loads(response.partition(b"\r\n\r\n")[2])
        cards = game["cards"]
        if (game["gameID"], len(cards["hole"]), len(cards["flop"])) != (table.guid, 2 * question.known, 3):
            raise BenchError(f"found the game {game}; allowed: {table.guid} with the flop and the viewer's hole cards")
        if question.fresh:
            request, response = exchange(table, player, header(response, "etag"))
            if not (response.startswith(b"HTTP/1.1 304 ") and response.endswith(b"\r\n\r\n")):
                raise BenchError(f"found {response!r}; allowed: 304 without a body")
        files.append(folder / f"exchange{number}")
        files[-1].write_bytes(request + response)
    (folder / RESPONSE).write_bytes(response)  # that of the last; all are of the same length
    return files


def poll(setting: Setting, question: Question, table: Table) -> tuple[Result, Result]:
    """Measure the bare application and ours, with the same answer to the same question."""

    def measure(server: Server, files: Sequence[Path]) -> Result:
        script = ",".join(map(str, files))
        return run_load(server, Load("http", POLLING, 0, setting.seconds, WARM_UP_S, script=script), setting.cores.load)

    files = write_script(table, question, setting.folder)
    ours = measure(table.server, files)
    with running([*BARE, str(setting.folder / RESPONSE)], setting.cores.server) as bare:
        return measure(bare, files[-1:]), ours


def compare_polling(setting: Setting) -> None:
    """Print what polling comes to, a line for each question, and what authentication costs."""
    print(
        f"One game with {len(NAMES)} players, polled by {POLLING} connections: medians of {setting.rounds} rounds of"
        f" {setting.seconds:g} s, bare/croupier; a ratio is the median of the pairs'.\n"
        "Round trips in µs; CPU is the server's, in µs a request; cores is the share that server+load used of theirs.\n"
    )
    found: dict[Question, list[tuple[Result, Result]]] = {question: [] for question in QUESTIONS}
    for _ in range(setting.rounds):
        with running([*PATIENT, *IN_MEMORY], setting.cores.server) as server:
            table = sit_down(server, len(NAMES))
            play_to_the_flop(table)
            for question, pairs in found.items():
                pairs.append(poll(setting, question, table))
    print(table_line("asked by", ("bare req/s", "croupier req/s", "ratio", "p50", "p99", "CPU", "cores")) + "  target")
    for question, pairs in found.items():
        print(polling_line(question, pairs, apart=setting.cores.apart))
    bare, ours = (
        median(known.cpu_us_a_message / public.cpu_us_a_message - 1 for public, known in zip(*rounds, strict=True))
        for rounds in zip(*(zip(*found[question], strict=True) for question in (PUBLIC, PLAYERS)), strict=True)
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
    told = "none" if question.target is None else f"{question.target} {verdict(ratio >= question.target)}"
    return table_line(question.title, cells) + f"  {told}{doubt(MANY, rows) if apart else ''}"


def play(setting: Setting, course: Course, journal: Sequence[str]) -> Result:
    """Let so many bots play, at a server of their own."""
    with running([*PATIENT, *journal, "--stack", str(STACK)], setting.cores.server) as server:
        tables = [sit_down(server, course.bots, number) for number in range(course.tables)]
        script = setting.folder / "players"
        players = [(table, player) for table in tables for player in table.players]
        lines = [f"{table.guid} {player.guid} {player.credentials} {STACK}\n" for table, player in players]
        script.write_text("".join(lines))
        load = Load("holdem", len(players), 0, setting.seconds, WARM_UP_S, script=str(script))
        seen = run_load(server, load, setting.cores.load)
    if not seen.hands:
        raise BenchError(f"{len(players)} bots played no hand to its end in {seen.seconds:g} s")
    return seen


def compare_playing(setting: Setting, courses: Sequence[Course]) -> None:
    """Print how many hands the bots play."""
    print(f"\nBots that poll and check or call, each on one connection: medians of {setting.rounds} rounds.")
    for course in courses:
        pairs = [
            (
                play(setting, course, IN_MEMORY),
                play(setting, course, ("--store", str(setting.folder / f"{course.tables}-{course.bots}-{number}"))),
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
        wanted = f"; target {course.target:g}: {verdict(hands >= course.target)}" if course.target else ""
        print(
            f"  {course.bots} bots at {'a table' if course.tables == 1 else f'each of {course.tables} tables'}:"
            f" {hands:,.0f} hands/s{wanted}\n"
            f"    {cpu_ms:.2f} ms of the server's CPU a hand; cores {row.server_share:.0%}+{row.load_share:.0%}\n"
            f"    {row.messages_per_s:,.0f} requests/s, {acts:.0%} of them acts; CPU {row.cpu_us:.1f} µs a request,"
            f" p50 {row.p50_us:,.0f} µs, p99 {row.p99_us:,.0f} µs\n"
            + (f"    the published Go server, measured elsewhere: {course.go}\n" if course.go else "")
            + f"    {kept:.2f} of the hands with a journal on disk, each act durable before it is answered; target"
            f" {KEPT_TARGET}: {verdict(kept >= KEPT_TARGET)}\n"
            f"    {kept_ms:.2f} ms of the server's CPU a hand there, and {kept_acts:.0%} of the requests are acts",
            flush=True,
        )


def main() -> int:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=3.0, help="length of one measured window")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured")
    parser.add_argument("--tables", type=int, nargs="+", default=[TABLES], help="how many tables in the last courses")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as folder:
            setting = Setting(pick_cores(), options.seconds, options.rounds, Path(folder))
            compare_polling(setting)
            compare_playing(setting, [*COURSES, *(Course(2, tables=tables) for tables in options.tables)])
    except BenchError as error:
        return fail(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
