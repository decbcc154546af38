"""Starts servers of a room quickly, one after another: a process that has loaded everything, and forks for each.

    python -m tests.process_pool STORE holdem|oldmaid

For every line on standard input a server is started; its process id and its port are told on standard output. Its
passwords are quick to check, so that there is time to play.
"""

import os
import sys

from croupier.app.open_rooms import RoomConfig, ServerConfig
from croupier.app.serve import serve
from croupier.http.auth import Authenticator
from croupier.net.event_loop import run
from croupier.rooms import oldmaid
from croupier.rooms.holdem import ROOM, Settings
from croupier.rooms.holdem.engine.ranks import load_tables
from tests.http.service_fixture import QUICK

SETTINGS = Settings(stack=1_000_000)
OPENINGS = {
    "holdem": RoomConfig(ROOM, 0, SETTINGS),
    "oldmaid": RoomConfig(oldmaid.ROOM, 0, oldmaid.Settings(players=2)),
}


def child(store: str, room: str) -> None:
    """Serve until the end."""

    def announce(line: str) -> None:
        sys.stdout.write(f"{os.getpid()} {line.rpartition(':')[2]}\n")
        sys.stdout.flush()

    hosting = ServerConfig(store=store, log_level="error")
    run(serve([OPENINGS[room]], hosting, announce))


def main(store: str, room: str) -> None:
    """Start a server for every line, when the one before has ended."""
    load_tables()
    Authenticator.__init__.__kwdefaults__["hasher"] = QUICK  # type: ignore[index]  # it has defaults
    for _ in sys.stdin:
        if (pid := os.fork()) == 0:
            try:
                child(store, room)
            finally:
                os._exit(1)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
