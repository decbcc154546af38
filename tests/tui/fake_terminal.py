"""A person's terminal, with real keys and what is on the screen, and houses to sit down at."""

import fcntl
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from tests.processes import COMMAND, PATIENCE, Serving, environment

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLUMNS = 100
SIZELESS = {"COLUMNS": "", "LINES": ""}
"""The environment of a terminal that has to be asked for its size."""


class Seat:
    """A person's terminal. `screen` is all that has been shown since the last key."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int) -> None:
        self.process = process
        self.screen = ""
        self._terminal = terminal

    def press(self, key: str) -> None:
        self.screen = ""
        os.write(self._terminal, key.encode())

    def sees(self, text: str) -> None:
        end = time.monotonic() + PATIENCE
        while text not in self.screen:
            ready, _, _ = select.select([self._terminal], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"{text!r} is not on the screen:\n{self.screen}"
            assert time.monotonic() < end, f"{text!r} is never on the screen:\n{self.screen}"
            try:
                data = os.read(self._terminal, 65536)
            except OSError:  # the other end is closed
                data = b""
            assert data, f"{text!r} was never on the screen:\n{self.screen}"
            self.screen += ANSI.sub("", data.decode(errors="replace"))

    def plays(self, *steps: tuple[str, str]) -> None:
        """Keys, and what is seen behind each of them."""
        for keys, text in steps:
            self.press(keys)
            self.sees(text)

    def leaves(self, status: int = 0) -> None:
        """The program ends by itself."""
        assert self.process.wait(PATIENCE) == status

    def resize(self, columns: int, lines: int) -> None:
        """The window has another size. It has to have none in its environment: `variables=SIZELESS`."""
        self.screen = ""
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    @property
    def width(self) -> int:
        """The widest line of the screen."""
        return max(map(len, re.split(r"[\r\n]+", self.screen)))


@contextmanager
def sitting(
    room: str,
    port: int,
    *options: str,
    columns: int = COLUMNS,
    encoding: str = "utf-8",
    variables: Mapping[str, str] = {},
) -> Iterator[Seat]:
    """A person at a house. The window is small if its columns are few."""
    command = ("play", room, f"127.0.0.1:{port}", *options)
    with before(*command, columns=columns, encoding=encoding, variables=variables) as seat:
        yield seat


@contextmanager
def before(
    *command: str, columns: int = COLUMNS, encoding: str = "utf-8", variables: Mapping[str, str] = {}
) -> Iterator[Seat]:
    """A person before a terminal in which a command of croupier runs."""
    outer, inner = pty.openpty()
    size = {"TERM": "xterm", "COLUMNS": str(columns), "LINES": "24" if columns < COLUMNS else "40"}
    try:
        with subprocess.Popen(
            [*COMMAND, *command],
            stdin=inner,
            stdout=inner,
            stderr=inner,
            env=environment({**size, "PYTHONIOENCODING": encoding, **variables}),
            start_new_session=True,
        ) as process:
            os.close(inner)
            try:
                yield Seat(process, outer)
            finally:
                process.kill() if process.poll() is None else None
    finally:
        os.close(outer)


@contextmanager
def seated(
    room: str, *flags: str, options: Sequence[str] = (), columns: int = COLUMNS, encoding: str = "utf-8"
) -> Iterator[Seat]:
    """A person at a house of ours."""
    with (
        Serving(room, "--port", "0", "--log-level", "error", *flags) as server,
        sitting(room, server.port, *options, columns=columns, encoding=encoding) as seat,
    ):
        yield seat


def laid(folder: Path, *decks: str) -> str:
    """The file of decks laid out by hand, each with its cards top first."""
    path = folder / "deck.txt"
    path.write_text("\n\n".join(deck.replace(" ", "\n") for deck in decks) + "\n")
    return str(path)


class Rogue:
    """A house that answers whatever it hears with the next of its answers and then closes; one list a connection."""

    def __init__(self, *talks: Sequence[bytes]) -> None:
        self.heard = b""
        self._talks = talks
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(PATIENCE)
        self.port = self._server.getsockname()[1]

    def serve(self) -> None:
        with self._server:
            for answers in self._talks:
                line, _ = self._server.accept()
                with line:
                    line.settimeout(PATIENCE)
                    for answer in answers:
                        self.heard += line.recv(4096)
                        line.sendall(answer)
                    line.shutdown(socket.SHUT_WR)
                    while data := line.recv(4096):
                        self.heard += data


@contextmanager
def rogue(*talks: Sequence[bytes]) -> Iterator[Rogue]:
    """Such a house; when this ends it has heard everything."""
    house = Rogue(*talks)
    thread = Thread(target=house.serve)
    thread.start()
    try:
        yield house
    finally:
        thread.join(PATIENCE)
    assert not thread.is_alive(), "somebody has not closed"
