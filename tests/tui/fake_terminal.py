"""A pseudo-terminal that runs croupier, with keys and a screen to check, and houses to play against."""

import codecs
import fcntl
import os
import pty
import select
import signal
import socket
import struct
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from tests.fork_server import fork_croupier
from tests.processes import PATIENCE, Process, Serving, environment
from tests.tui.emulator import Emulator

COLUMNS, ROWS = 100, 40


class Seat:
    """A pseudo-terminal with a running program, and what a person sees of it."""

    def __init__(self, process: Process, terminal: int, columns: int, rows: int) -> None:
        self.process = process
        self._terminal = terminal
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._emulator = Emulator(columns, rows)

    @property
    def lines(self) -> list[str]:
        """The lines of the screen."""
        return self._emulator.lines

    @property
    def text(self) -> str:
        """The text of the screen as one line, with single spaces: it may be wrapped anywhere."""
        return " ".join(" ".join(self.lines).split())

    def press(self, key: str) -> None:
        os.write(self._terminal, key.encode())

    def sees(self, text: str) -> None:
        wanted = " ".join(text.split())
        self._waits_until(lambda: wanted in self.text, f"{text!r} is not on the screen")

    def misses(self, text: str) -> None:
        self._waits_until(lambda: text not in self.text, f"{text!r} is still on the screen")

    def _waits_until(self, is_shown: Callable[[], bool], complaint: str) -> None:
        end = time.monotonic() + PATIENCE
        while not is_shown():
            ready, _, _ = select.select([self._terminal], [], [], max(0.0, end - time.monotonic()))
            screen = "\n".join(self.lines)
            assert ready, f"{complaint}:\n{screen}"
            try:
                data = os.read(self._terminal, 65536)
            except OSError:  # the program has closed the terminal
                data = b""
            assert data, f"{complaint}, and the program has ended:\n{screen}"
            self._emulator.feed(self._decoder.decode(data))

    def plays(self, *steps: tuple[str, str]) -> None:
        """Press keys, and wait for a text after each of them."""
        for keys, text in steps:
            self.press(keys)
            self.sees(text)

    def leaves(self, status: int = 0) -> None:
        """Wait until the program ends with this exit status."""
        assert self.process.wait(PATIENCE) == status

    def resize(self, columns: int, rows: int) -> None:
        """Resize the terminal."""
        self._emulator.resize(columns, rows)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    @property
    def width(self) -> int:
        """The width of the widest line of the screen."""
        return max(map(len, self.lines))


@contextmanager
def sitting(
    room: str,
    port: int,
    *options: str,
    columns: int = COLUMNS,
    encoding: str = "utf-8",
) -> Iterator[Seat]:
    """Run `croupier play` against a house on a port. A terminal with few columns also has few lines."""
    command = ("play", room, f"127.0.0.1:{port}", *options)
    with terminal(*command, columns=columns, encoding=encoding) as seat:
        yield seat


@contextmanager
def terminal(
    *command: str, columns: int = COLUMNS, encoding: str = "utf-8", variables: Mapping[str, str] = {}
) -> Iterator[Seat]:
    """Run a croupier command in a terminal."""
    outer, inner = pty.openpty()
    rows = 24 if columns < COLUMNS else ROWS
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    try:
        found = environment({"TERM": "xterm", "PYTHONIOENCODING": encoding, **variables})
        process = fork_croupier(command, found, (inner, inner, inner), new_session=True)
        os.close(inner)
        try:
            yield Seat(process, outer, columns, rows)
        finally:
            process.kill()
            process.wait()
    finally:
        os.close(outer)


@contextmanager
def seated(
    room: str, *flags: str, options: Sequence[str] = (), columns: int = COLUMNS, encoding: str = "utf-8"
) -> Iterator[Seat]:
    """Run `croupier play` against a new server."""
    with (
        Serving(room, "--port", "0", "--log-level", "error", *flags) as server,
        sitting(room, server.port, *options, columns=columns, encoding=encoding) as seat,
    ):
        yield seat


def deck_file(folder: Path, *decks: str) -> str:
    """Write a deck file, cards top first, and return its path."""
    path = folder / "deck.txt"
    path.write_text("\n\n".join(deck.replace(" ", "\n") for deck in decks) + "\n")
    return str(path)


class Rogue:
    """A house that sends the next answer after each read and then closes, with one list of answers per connection."""

    def __init__(self, *answers: Sequence[bytes]) -> None:
        self.received = b""
        self._answers = answers
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(PATIENCE)
        self.port = self._server.getsockname()[1]

    def serve(self) -> None:
        with self._server:
            for connection_answers in self._answers:
                connection, _ = self._server.accept()
                with connection:
                    connection.settimeout(PATIENCE)
                    for answer in connection_answers:
                        self.received += connection.recv(4096)
                        connection.sendall(answer)
                    connection.shutdown(socket.SHUT_WR)
                    while data := connection.recv(4096):
                        self.received += data


@contextmanager
def rogue(*answers: Sequence[bytes]) -> Iterator[Rogue]:
    """Run a `Rogue` house, and wait at the end until all its clients have closed."""
    house = Rogue(*answers)
    thread = Thread(target=house.serve)
    thread.start()
    try:
        yield house
    finally:
        thread.join(PATIENCE)
    assert not thread.is_alive(), "a client has not closed its connection"
