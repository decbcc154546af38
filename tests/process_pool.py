"""Starts servers of a room quickly, one after another: a process that has imported everything forks for each server.

    python -m tests.process_pool STORE holdem|oldmaid

For every line on standard input a server is started; its process id and its port are written to standard output. The
password hashes are cheap, so that tests can spend their time on games.
"""

import os
import sys

from croupier.app.config import RoomConfig, ServerConfig
from croupier.app.serve import serve
from croupier.net.event_loop import run
from croupier.rooms import oldmaid
from croupier.rooms.holdem import ROOM, Settings
from croupier.rooms.holdem.engine.ranks import load_tables
from tests.quick_hashes import hash_quickly

SETTINGS = Settings(stack=1_000_000)
ROOM_CONFIGS = {
    "holdem": RoomConfig(ROOM, 0, SETTINGS),
    "oldmaid": RoomConfig(oldmaid.ROOM, 0, oldmaid.Settings(players=2)),
}


def child(store: str, room: str) -> None:
    """Run a server until its end."""

    def announce(line: str) -> None:
        sys.stdout.write(f"{os.getpid()} {line.rpartition(':')[2]}\n")
        sys.stdout.flush()

    config = ServerConfig(store=store, log_level="error")
    run(serve([ROOM_CONFIGS[room]], config, announce))


def main(store: str, room: str) -> None:
    """Start a server for every line of input, after the former server has ended."""
    load_tables()
    hash_quickly()
    for _ in sys.stdin:
        if (pid := os.fork()) == 0:
            try:
                child(store, room)
            finally:
                os._exit(1)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
