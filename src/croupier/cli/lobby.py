"""`croupier play` without a room: lists the rooms of a server, and plays in the one that is chosen."""

from collections.abc import Iterator, Sequence

from croupier.cli.options import changed_options
from croupier.cli.output import fail, print_line
from croupier.clients.lobby import OpenRoom, find_open_rooms
from croupier.clients.tls import TlsOptions
from croupier.core.plural import format_count
from croupier.net.addresses import format_address, parse_address
from croupier.net.event_loop import run
from croupier.tui.plain import input_lines


def play_in_chosen_room(host: str, tls: TlsOptions) -> int:
    """List the rooms of a server, ask for one, and play in it; return the exit status."""
    from croupier.cli import app

    server, (host, port) = host, parse_address(host)
    if port is not None:
        raise ValueError(f"found --server {server}; allowed: HOST (croupier play ROOM HOST:PORT plays in one room)")
    rooms = run(find_open_rooms(host, tls.ssl_context()))
    if not rooms:
        return fail(f"no room answers at {host}; `croupier serve` opens all rooms")
    print_line(f"Rooms at {host}:")
    for number, room in enumerate(rooms, start=1):
        print_line(f"{number}  {room_line(room)}")
    chosen = _choose(rooms)
    if chosen is None:
        return 0
    status: int = app(["play", chosen.room.name, *_arguments(chosen, tls)], result_action="return_value")
    return status


def room_line(found: OpenRoom) -> str:
    """Return a room as text: its title, its port, and its tables with their players."""
    line = f"{found.room.title} (port {found.address[1]})"
    if found.tables is None:
        return line
    tables = [f"{', '.join(table.players)}" for table in found.tables if table.players]
    return f"{line}: {format_count(len(found.tables), 'table')}{'; players: ' * bool(tables)}{' | '.join(tables)}"


def _choose(rooms: Sequence[OpenRoom]) -> OpenRoom | None:
    """Ask for the number or the name of a room until there is one; None if the person leaves."""
    by_answer = {str(number): room for number, room in enumerate(rooms, start=1)}
    by_answer |= {room.room.name: room for room in rooms}
    print_line(f"Type 1 to {len(rooms)} and Enter to sit down, or q and Enter.")
    for line in input_lines(read_bytes=1):
        answer = "q" if line is None else line.strip().casefold()
        if answer == "q":
            return None
        if answer in by_answer:
            return by_answer[answer]
        print_line(f"found {answer[:20]!r}; allowed: 1 to {len(rooms)}, q")
    return None


def _arguments(chosen: OpenRoom, tls: TlsOptions) -> Iterator[str]:
    """Yield the arguments that lead to a room."""
    address = format_address(chosen.address)
    if chosen.room.name != "holdem":
        yield from (address, *changed_options(tls))
    elif tls.ssl_context() is None:
        yield f"http://{address}"
    else:
        yield f"https://{address}"
        if tls.tls_ca is not None:
            yield from ("--tls-ca", str(tls.tls_ca))
