"""What the programs share that is not the protocol: options, luck, and connections with a buffer and a deadline."""

import asyncio
import contextlib
import itertools
import random
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence

DRAIN_SECONDS = 0.5


class Disconnected(Exception):
    """The other side has disconnected."""


class OutOfTime(Exception):
    """The deadline has passed before the bytes had arrived."""


class Farewell(Exception):
    """The house has said goodbye or disconnected."""


class HouseAtFault(Exception):
    """The house has sent what no house may send."""


class Options:
    """The options of a program as attributes: `--choice NAME=VALUE` sets one of `defaults`, in its type."""

    def __init__(self, defaults: dict[str, object], arguments: Sequence[str]) -> None:
        self.__dict__.update(defaults)
        if arguments[::2] != ["--choice"] * (len(arguments) // 2) or len(arguments) % 2:
            sys.exit(f"found {' '.join(arguments)}; allowed: --choice NAME=VALUE")
        for name, _, value in (choice.partition("=") for choice in arguments[1::2]):
            if name not in defaults:
                sys.exit(f"found {name}; allowed: {', '.join(defaults)}")
            self.__dict__[name] = type(defaults[name])(value)


TABLE_NUMBERS = itertools.count()
"""Every table has a seed of its own: the cards of a connection are not those of the one before."""


def client_luck(seed: int) -> random.Random:
    return random.Random(seed if seed >= 0 else None)


def table_luck(seed: int) -> random.Random:
    return random.Random(f"{seed} {next(TABLE_NUMBERS)}" if seed >= 0 else None)


def mixed_case(text: str) -> str:
    """Return the text in letters of alternating case."""
    return "".join(letter.lower() if place % 2 else letter.upper() for place, letter in enumerate(text))


LETTER_CASES = {"upper": str.upper, "lower": str.lower, "mixed": mixed_case}


def pieces_of(messages: Sequence[bytes], pieces: str) -> list[bytes]:
    """Return what is passed to each `send`: a `flight` of messages, a `message`, or a `byte`."""
    whole = b"".join(messages)
    if pieces == "flight":
        return [whole]
    return [*messages] if pieces == "message" else [whole[at : at + 1] for at in range(len(whole))]


class AsyncEnd:
    """An end of a connection with asyncio streams."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, options: Options, rng: random.Random
    ) -> None:
        self.reader = reader
        self.writer = writer
        self.options = options
        self.rng = rng

    async def send(self, *messages: bytes) -> None:
        """Send messages, after the usual pause and in the usual pieces."""
        await asyncio.sleep(self.options.pause)
        for piece in pieces_of(messages, self.options.pieces):
            self.writer.write(piece)
            await self.writer.drain()


class Stream:
    """A blocking socket with a buffer. `deadline` is a monotonic time or None."""

    def __init__(self, connection: socket.socket, pieces: str = "flight", pause: float = 0.0) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connection = connection
        self.deadline: float | None = None
        self._pieces = pieces
        self._pause = pause
        self._unread = b""

    def read(self, length: int) -> bytes:
        """Return exactly `length` bytes."""
        while len(self._unread) < length:
            seconds = None if self.deadline is None else self.deadline - time.monotonic()
            if seconds is not None and seconds <= 0:
                raise OutOfTime
            self.connection.settimeout(seconds)
            try:
                data = self.connection.recv(4096)
            except TimeoutError:
                raise OutOfTime from None
            except OSError:
                raise Disconnected from None
            if not data:
                raise Disconnected
            self._unread += data
        found, self._unread = self._unread[:length], self._unread[length:]
        return found

    def send(self, *messages: bytes) -> None:
        """Send messages, after the usual pause and in the usual pieces."""
        time.sleep(self._pause)
        self.connection.settimeout(None)
        try:
            for piece in pieces_of(messages, self._pieces):
                self.connection.sendall(piece)
        except OSError:
            raise Disconnected from None

    def close(self, how: str) -> None:
        """Close the connection: `drain` reads what still arrives, `plain` does not."""
        if how == "drain":
            with contextlib.suppress(OSError):
                self.connection.shutdown(socket.SHUT_WR)
                end = time.monotonic() + DRAIN_SECONDS
                while (seconds := end - time.monotonic()) > 0:
                    self.connection.settimeout(seconds)
                    if not self.connection.recv(4096):
                        break
        self.connection.close()


def serve_in_threads(converse: Callable[[Stream, Options], None], defaults: dict[str, object]) -> None:
    """Accept connections for ever, with the port and the options of the command line; each has a thread of its own."""
    port, *arguments = sys.argv[1:]
    options = Options(defaults, arguments)
    with socket.create_server(("127.0.0.1", int(port)), backlog=128) as listening:
        print(f"listening on {listening.getsockname()[1]}", flush=True)
        while True:
            connection, _ = listening.accept()
            stream = Stream(connection, options.pieces, options.pause)
            threading.Thread(target=converse, args=(stream, options), daemon=True).start()
