"""What the programs share that is not the protocol: their options, and sockets with a buffer."""

import os
import random
import socket
import sys
import threading
import time
from typing import NoReturn

HANG_SECONDS = 600.0


class Disconnected(Exception):
    """The other end has disconnected, or must be disconnected."""


class HungUp(Disconnected):
    """The other end has disconnected without a goodbye."""


class Options:
    """`--habit NAME --games N --seed N` after the first `words` of the command line, which are in `words`."""

    def __init__(self, words: int) -> None:
        self.words, flags = sys.argv[1 : words + 1], sys.argv[words + 1 :]
        given = dict(zip(flags[::2], flags[1::2], strict=True))
        self.habit = given.get("--habit", "honest")
        self.games = int(given.get("--games", 12))
        self.rng = random.Random(int(given["--seed"]) if "--seed" in given else None)
        if self.habit in {"never-listens", "never-connects"}:
            time.sleep(HANG_SECONDS)
        if self.habit == "ends-at-once":
            sys.exit("I cannot find my configuration")


class Peer:
    """One end of a connection, with the habit of its program."""

    def __init__(self, connection: socket.socket, options: Options) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connection = connection
        self.habit = options.habit
        self.rng = options.rng
        self.unread = b""

    def read_exactly(self, length: int) -> bytes:
        while len(self.unread) < length:
            data = self.connection.recv(4096)
            if not data:
                self.on_end()
            self.unread += data[:length] if self.habit == "one-read" else data
            if self.habit == "ends-in-a-message" and len(self.unread) < length:
                self.connection.close()  # a busy machine takes its time to end a process
                os._exit(5)
        found, self.unread = self.unread[:length], self.unread[length:]
        return found

    def on_end(self) -> NoReturn:
        """Handle the end of the connection."""
        raise HungUp


class ClientPeer(Peer):
    """A client, which connects at once and exits after the house has disconnected."""

    def __init__(self, options: Options) -> None:
        host, port = options.words
        super().__init__(socket.create_connection((host, int(port))), options)
        if self.habit == "silent":
            self.connection.recv(1)
            time.sleep(HANG_SECONDS)

    def read_once(self) -> bytes:
        """Return what one read brings."""
        data = self.connection.recv(1024)
        if not data:
            self.on_end()
        return data

    def on_end(self) -> NoReturn:
        if self.habit == "clings":
            time.sleep(HANG_SECONDS)
        if self.habit == "crashes-at-the-end":
            os.abort()
        self.leave()

    def leave(self, status: object = 0) -> NoReturn:
        """Disconnect and exit."""
        self.connection.close()
        sys.exit(status)


class TablePeer(Peer):
    """A server's end of a connection."""

    def run(self) -> None:
        """Hold one conversation. Raises Disconnected at its end."""
        raise NotImplementedError


def serve(table: type[TablePeer]) -> None:
    """Serve every client in a thread of its own."""
    options = Options(1)
    with socket.create_server(("127.0.0.1", int(options.words[0])), backlog=128) as listening:
        while True:
            connection, _ = listening.accept()
            if options.habit == "waits-for-the-first-message":
                connection.recv(1, socket.MSG_PEEK)
            threading.Thread(target=_converse, args=(table, connection, options), daemon=True).start()


def _converse(table: type[TablePeer], connection: socket.socket, options: Options) -> None:
    """Hold one conversation, and disconnect."""
    with connection:
        try:
            table(connection, options).run()
        except (Disconnected, OSError) as error:
            if options.habit == "ends-at-hang-up" and type(error) is not Disconnected:
                os._exit(3)
            if options.habit == "ends-at-reset" and type(error) is ConnectionResetError:
                os._exit(4)
            if options.habit == "never-closes":
                time.sleep(HANG_SECONDS)
    if options.habit == "serves-once":
        os._exit(0)
