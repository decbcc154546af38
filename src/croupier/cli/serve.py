"""`croupier serve`: open one room, or all of them."""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from itertools import count
from pathlib import Path
from typing import Annotated

from cyclopts import App, Group, Parameter

from croupier.app.open_rooms import RoomConfig, ServerConfig
from croupier.app.serve import serve
from croupier.cli.output import fail
from croupier.core.room import Room
from croupier.net.event_loop import run
from croupier.rooms import ROOMS

COMMAND_TOKENS: ContextVar[tuple[str, ...]] = ContextVar("TOKENS")
"""The command line as it was given, from `serve` on."""

app = App(name="serve", help="Open rooms: every one there is, or the one that is named.")

ROOM = Group("Room", sort_key=1)
EVERY_ROOM = Group("Every room", sort_key=2)

type ServerConfigFlags = Annotated[ServerConfig, Parameter(name="*", group=EVERY_ROOM)]


def open_rooms(room_configs: list[RoomConfig], server_config: ServerConfig) -> int:
    """Serve until a signal comes; the exit status."""
    try:
        run(serve(room_configs, server_config, lambda line: print(line, flush=True)))
    except (ValueError, OSError) as error:
        return fail(error)
    return 0


def port_help(room: Room) -> str:
    """What the help says of the port of a room."""
    told = "The port; 0 picks a free one. When all rooms open, the next that no other has."
    if room.document_port is None:
        return told
    return f"{told} Opened alone and without this flag, the room also listens at {room.document_port}."


def room_command(room: Room) -> Callable[..., int]:
    """The command that opens a room. Its flags are its settings', and those of every room."""
    settings = room.settings

    def open_room(
        *,
        port: Annotated[
            int | None,
            Parameter(name=("--port", "-p"), group=ROOM, help=port_help(room), show_default=lambda _: str(room.port)),
        ] = None,
        deck: Annotated[
            Path | None,
            Parameter(group=ROOM, help="Deal from this file: one card a line, top first; a blank line between decks."),
        ] = None,
        house: Annotated[settings, Parameter(name="*", group=ROOM)] = settings(),  # type: ignore[valid-type]  # a value, different for each room
        hosting: ServerConfigFlags = ServerConfig(),
    ) -> int:
        if port is None:
            return open_rooms([RoomConfig(room, room.port, house, deck, room.document_port)], hosting)
        return open_rooms([RoomConfig(room, port, house, deck)], hosting)

    return open_room


for each in ROOMS.values():
    app.command(room_command(each), name=each.name, help=f"Open the room of {each.title}.")


@app.default
def open_all_rooms(
    *room: Annotated[str, Parameter(show=False)], server_config: ServerConfigFlags = ServerConfig()
) -> int:
    """Open every room, each on its own port.

    What belongs to one room is set in the file of --config or by variables, as for that room alone.
    """
    from croupier.cli import app as root

    if room:
        return fail(f"found the room {room[0]!r}; allowed: {', '.join(ROOMS)}, or none for all", 2)
    found = [
        (each, root.parse_args(["serve", each.name, *COMMAND_TOKENS.get()[1:]])[1].arguments) for each in ROOMS.values()
    ]
    ports = assign_ports([each.port for each, _ in found], [given.get("port") for _, given in found])
    openings = [
        RoomConfig(each, port, given.get("house", each.settings()), given.get("deck"))
        for (each, given), port in zip(found, ports, strict=True)
    ]
    return open_rooms(openings, server_config)


def assign_ports(default_ports: Sequence[int], chosen_ports: Sequence[int | None]) -> list[int]:
    """A port for each room: the one that was given, or else its own, or the next that no other room has (G1)."""
    ports = [port for port in chosen_ports if port is not None]
    found = []
    for port, chosen in zip(default_ports, chosen_ports, strict=True):
        found.append(next(free for free in count(port) if free not in ports) if chosen is None else chosen)
        ports.append(found[-1])
    return found
