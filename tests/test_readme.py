"""Runs every command and snippet of the README and of the pages about bots and the library."""

import re
import shlex
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from croupier.rooms import ROOMS
from tests.processes import COMMAND, FREE_PORTS, PATIENCE, ROOT, Background, Serving, environment

BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

NC = f"""#!{sys.executable}
# A minimal netcat for the README: sends standard input, closes that direction, prints what it receives.
import socket, sys
with socket.create_connection((sys.argv[-2], int(sys.argv[-1]))) as connection:
    connection.sendall(sys.stdin.buffer.read())
    connection.shutdown(socket.SHUT_WR)
    while data := connection.recv(4096):
        sys.stdout.buffer.write(data)
"""


class Reader:
    """Runs the commands and snippets of a page, in order, in an empty folder."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.commands: list[str] = []
        self._folder = folder
        self._stack = stack
        self._server: Serving | None = None
        self._ports: dict[str, int] = {}
        tools = folder / "tools"
        tools.mkdir()
        (tools / "nc").write_text(NC)
        (tools / "croupier").write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
        for tool in tools.iterdir():
            tool.chmod(0o755)
        self._path = f"{tools}:/usr/bin:/bin"

    def environment(self) -> dict[str, str]:
        open_now = self._server.ports if self._server else {}
        play = {f"CROUPIER_PLAY_{room.upper()}_PORT": str(port) for room, port in open_now.items() if room in ROOMS}
        return environment(
            {"PATH": self._path, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "200", **FREE_PORTS, **play}
        )

    def localize(self, text: str) -> str:
        """Return a text with 127.0.0.1 and free ports in place of its addresses."""
        text = text.replace("0.0.0.0", "127.0.0.1")
        text = re.sub(r"(--(?:metrics-)?port) \d+", r"\1 0", text)
        return re.sub(r"(127\.0\.0\.1[: ]|, )(121\d|8000|8080|9898)\b", self._port, text)

    def _port(self, match: re.Match[str]) -> str:
        return f"{match[1]}{self._ports.get(match[2], 0)}"

    def console(self, block: str) -> None:
        for entry in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = entry.partition("\n")
            self.command(command.partition("#")[0].strip(), expected)

    def command(self, command: str, expected: str) -> None:
        self.commands.append(command)
        if command.startswith("make "):
            assert (
                subprocess.run(
                    ["make", "-n", *command.split()[1:]], cwd=ROOT, capture_output=True, check=False
                ).returncode
                == 0
            )
        elif command.startswith("croupier serve"):
            self.serve(command, expected)
        elif command.startswith("croupier play holdem") and not expected:  # the opponent, in a terminal of its own
            words = shlex.split(self.localize(command))[1:]
            self._stack.enter_context(Background(*words, variables=self.environment(), cwd=self._folder))
        elif command == "croupier demo":
            flags = ("--free-ports", "--no-browser")
            demo = Serving(*flags, command=(*COMMAND, "demo"), ready=len(ROOMS) + 2, cwd=self._folder)
            with demo:
                assert demo.stop() == 0
        else:
            done = subprocess.run(
                ["sh", "-c", self.localize(command)],
                cwd=self._folder,
                env=self.environment(),
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                stdin=subprocess.DEVNULL,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            if expected:
                self.compare(expected, done.stdout)

    def serve(self, command: str, expected: str) -> None:
        if self._server is not None:
            assert self._server.stop() == 0
        words = shlex.split(self.localize(command))[2:]
        variables = self.environment()
        if words[0].startswith("--"):  # all rooms, and the web app
            variables["CROUPIER_SERVE_WEB_PORT"] = "0"
        server = Serving(*words, ready=len(expected.splitlines()), variables=variables, cwd=self._folder)
        self._server = self._stack.enter_context(server)
        named = re.findall(r"^(\w+) is open at .*:(\d+)$", expected, re.MULTILINE)
        self._ports = {port: server.ports[room] for room, port in named}
        ports = re.compile(r":\d+\b")
        self.compare(ports.sub(":PORT", self.localize(expected)), ports.sub(":PORT", "\n".join(server.lines)))

    def python(self, block: str) -> str:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", self.localize(block)],
            cwd=self._folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def compare(self, expected: str, found: str) -> None:
        pattern = re.escape(self.localize(expected).strip()).replace(re.escape("..."), ".*")
        assert re.fullmatch(pattern, found.strip(), re.DOTALL), f"found {found!r}; the page says {expected!r}"


@pytest.fixture
def reader(tmp_path: Path) -> ExitStack:
    with ExitStack() as stack:
        yield Reader(tmp_path, stack)


@pytest.mark.extended
def test_every_command_and_snippet_of_the_readme_works(reader: Reader) -> None:
    for kind, block in BLOCK.findall((ROOT / "README.md").read_text()):
        if kind == "console":
            reader.console(block)
        else:
            assert reader.python(block)
            assert len(block.strip().splitlines()) < 15, "a snippet of the README is short"
    assert len(reader.commands) >= 10


TUTORIAL = (ROOT / "docs" / "bots.md").read_text()
STEP = re.compile(r"^```(console|python|text)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r"\bas\s+`(\w+\.py)`[^`]*\Z")


@pytest.mark.extended
@pytest.mark.parametrize("number", range(20))
def test_every_example_of_the_tutorial_works_as_printed(reader: Reader, tmp_path: Path, number: int) -> None:
    saved = []
    for step in STEP.finditer(TUTORIAL):
        kind, block, output = step.groups()
        if kind == "console":
            reader.console(block)
        elif file := SAVED.search(TUTORIAL, 0, step.start()):
            (tmp_path / file[1]).write_text(block)
            saved.append(file[1])
        else:
            assert kind == "python", f"a reader cannot run this: {block}"
            assert output is not None, block
            reader.compare(output, reader.python(block))
    assert saved == ["bot.py", "cards.py", "careful.py"]
    assert len(reader.commands) == 11
    page = (tmp_path / "tournament" / "results.html").read_text()
    assert re.search("<h1>equilibrium wins most: .* coins a hand", page)
    assert "bot.py:Honest" in page


@pytest.mark.extended
def test_the_snippets_about_the_library_work(reader: Reader) -> None:
    snippets = [block for kind, block in BLOCK.findall((ROOT / "docs" / "library.md").read_text()) if kind == "python"]
    ranks, hands = snippets
    assert reader.python(ranks).split() == ["1", "straight", "flush", "0.8195", "0.1805", "-1/18"]
    won = [*map(int, reader.python(hands).split())]
    assert (len(won), sum(won)) == (6, 0)
    assert any(won)


@pytest.mark.extended
def test_the_commands_about_the_arena_print_what_the_page_shows(reader: Reader, tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    for kind, block in BLOCK.findall((ROOT / "docs" / "arena.md").read_text()):
        if kind == "console":
            reader.console(block)
        else:
            mine.write_text(f"{mine.read_text() if mine.exists() else ''}{block}\n")
    assert len(reader.commands) == 4


def test_make_serve_opens_the_rooms() -> None:
    free = FREE_PORTS | {"CROUPIER_SERVE_WEB_PORT": "0"}
    with Serving(command=["make", "serve"], cwd=ROOT, variables=free, ready=1 + len(ROOMS)) as server:
        url, *rooms = server.lines
        assert url == f"web at http://127.0.0.1:{server.ports['web']}"
        assert rooms == [f"{room} is open at 127.0.0.1:{server.ports[room]}" for room in ROOMS]
