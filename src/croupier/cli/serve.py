"""`croupier serve`: serve one room, or all of them."""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from itertools import count
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Group, Parameter

from croupier.app.config import RoomConfig, ServerConfig
from croupier.app.serve import serve
from croupier.cli.output import print_now
from croupier.clients.contestants import parse_player
from croupier.core.room import HouseRoom, Room
from croupier.net.event_loop import run
from croupier.rooms import ROOMS

PARSE_ARGUMENTS: ContextVar[Callable[[str], Mapping[str, Any]]] = ContextVar("PARSE_ARGUMENTS")
"""Returns the arguments of this process by their names, parsed as those of `serve ROOM`."""

COMMAND_LINE: ContextVar[Sequence[str]] = ContextVar("COMMAND_LINE")
"""The arguments of this process."""

app = App(name="serve")

ROOM = Group("Room", sort_key=1)
EVERY_ROOM = Group("Every room", sort_key=2)

type ServerConfigFlags = Annotated[ServerConfig, Parameter(name="*", group=EVERY_ROOM)]


def open_rooms(room_configs: list[RoomConfig], server_config: ServerConfig) -> int:
    """Serve until a signal stops the server, and return the exit status. Raises ValueError if a bot cannot play."""
    check_bots(room_configs, server_config)
    if server_config.workers == 1:
        run(serve(room_configs, server_config, print_now))
        return 0
    from croupier.app.supervisor import supervise
    from croupier.app.worker import WorkerSetup, run_worker

    if (setup := WorkerSetup.of_environment()) is not None:
        run(run_worker(setup, room_configs, server_config))
        return 0
    server_config.tls_context()  # a wrong file is an error of the command line, not of the workers
    return run(supervise(worker_command(), room_configs, server_config, print_now))


def check_bots(room_configs: Sequence[RoomConfig], server_config: ServerConfig) -> None:
    """Raise ValueError if a bot does not exist, or cannot play with people in the web app."""
    for each in room_configs:
        for bot in each.bots:
            if parse_player(each.room, bot).kind == "command" and server_config.tls_cert is not None:
                raise ValueError(f"found the bot {bot!r}, a command, and --tls-cert; allowed: a bot of ours with TLS")


def worker_command() -> list[str]:
    """Return the command of a worker: the one that this process runs.

    Modules are not looked up in the current folder, unless this process does that as well.
    """
    options = ["-P"] if getattr(sys.modules["__main__"], "__spec__", None) is None else []
    return [sys.executable, *options, "-m", "croupier", *COMMAND_LINE.get()]


def port_help(room: Room) -> str:
    """Return the help text of a room's --port."""
    text = "Port to listen on; 0: any free port. With all rooms, the default is the next port that no other room has."
    if room.document_port is None:
        return text
    return f"{text} Served alone and without this flag, the room listens on {room.document_port} as well."


def room_command(room: Room) -> Callable[..., int]:
    """Return the command that serves a room. It has the settings of the room and those of every room."""
    settings = room.settings

    def open_room(
        *,
        port: Annotated[
            int | None,
            Parameter(name=("--port", "-p"), group=ROOM, help=port_help(room), show_default=lambda _: str(room.port)),
        ] = None,
        deck: Annotated[
            Path | None,
            Parameter(
                group=ROOM, help="Deal from this file: one card per line, top first, decks separated by blank lines."
            ),
        ] = None,
        bot: Annotated[
            list[str] | None,
            Parameter(
                group=ROOM,
                parse=not isinstance(room, HouseRoom),
                help="Bot that joins people who are alone at a table in the web app: a built-in one, FILE.py:CLASS, or "
                "a command with {host} and {port}. May be repeated.",
            ),
        ] = None,
        room_settings: Annotated[settings, Parameter(name="*", group=ROOM)] = settings(),  # type: ignore[valid-type]  # a different class for each room
        server_config: ServerConfigFlags = ServerConfig(),
    ) -> int:
        return open_rooms([room_config(room, port, deck, room_settings, bot or ())], server_config)

    return open_room


def room_config(room: Room, port: int | None, deck: Path | None, settings: Any, bots: Sequence[str] = ()) -> RoomConfig:
    """The configuration of a room that is served alone."""
    if port is None:
        return RoomConfig(room, room.port, settings, deck, room.document_port, tuple(bots))
    if not 0 <= port < 65536:
        raise ValueError(f"found --port {port}; allowed: 0 to 65535")
    return RoomConfig(room, port, settings, deck, bots=tuple(bots))


for each in ROOMS.values():
    app.command(room_command(each), name=each.name, help=f"Serve {each.title_in_sentence}.")


@app.default
def open_all_rooms(
    *room: Annotated[str, Parameter(show=False)], server_config: ServerConfigFlags = ServerConfig()
) -> int:
    """Serve every room, each on its own port.

    Settings of single rooms come from the --config file and from environment variables.
    """
    if room:
        raise ValueError(f"found the room {room[0]!r}; allowed: {', '.join(ROOMS)}, or none for all")
    rooms = [(each, PARSE_ARGUMENTS.get()(each.name)) for each in ROOMS.values()]
    ports = assign_ports([each.port for each, _ in rooms], [given.get("port") for _, given in rooms])
    room_configs = [
        room_config(each, port, given.get("deck"), given.get("room_settings", each.settings()), given.get("bot") or ())
        for (each, given), port in zip(rooms, ports, strict=True)
    ]
    return open_rooms(room_configs, server_config)


def assign_ports(default_ports: Sequence[int], chosen_ports: Sequence[int | None]) -> list[int]:
    """Return a port for each room: the chosen one, else the first port from its default on that is not taken (G1).

    >>> assign_ports([2000, 2000, 3000], [None, None, 2001])
    [2000, 2002, 2001]
    """
    taken = [port for port in chosen_ports if port is not None]
    ports = []
    for default, chosen in zip(default_ports, chosen_ports, strict=True):
        ports.append(next(port for port in count(default) if port not in taken) if chosen is None else chosen)
        taken.append(ports[-1])
    return ports
