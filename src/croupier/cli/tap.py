"""`croupier tap`: relay connections between clients and a house, and check both sides."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from croupier.cli.options import build_options, check_minimum, check_positive, parse_duration
from croupier.cli.output import fail

if TYPE_CHECKING:
    from croupier.core.room import Room
    from croupier.core.session import Address


def tap(
    room: str,
    listen: str,
    target: str,
    /,
    *,
    chop: int = 0,
    delay: str = "0",
    coalesce: str = "0",
    direction: Literal["house", "client", "both"] = "both",
    cut_after: int | None = None,
    strict: bool = False,
    dialect: str | None = None,
    decks: int | None = None,
    timeout: float = 5.0,
    transcript: Annotated[Path | None, Parameter(name="--transcript")] = None,
    pcap: Path | None = None,
) -> int:
    """Relay connections between clients and a house, and check that both sides follow the protocol.

    Clients connect to LISTEN; the relay opens a connection to TARGET for each of them. Stop it with Ctrl-C. Exit
    status: 1 if a client or the house broke the protocol.

    Parameters
    ----------
    room:
        Room: kuhn, sevenhalf, blackjack, holdem or oldmaid.
    listen:
        Address for clients: PORT or HOST:PORT; port 0: any free port.
    target:
        Address of the house: HOST:PORT; in hold'em also its URL, http://HOST:PORT.
    chop:
        Forward at most this number of bytes at a time; 0: as received.
    delay:
        Delay before forwarding each piece, for example 50ms or 1.5s.
    coalesce:
        Collect bytes until none have arrived for this time, then forward them in one piece.
    direction:
        Bytes to which --chop, --delay and --coalesce apply: those to the house, to the client, or both.
    cut_after:
        Cut every connection after this number of messages, both sides counted together.
    strict:
        Report deviations that the protocol tolerates.
    dialect:
        Protocol dialect, in rooms that have several.
    decks:
        Number of decks the house shuffles together, in rooms where it varies.
    timeout:
        Seconds of silence after which a due answer of the house counts as missing.
    transcript:
        Folder to write transcripts to.
    pcap:
        Capture file to write, in a format that Wireshark opens.
    """
    from rich.console import Console
    from rich.text import Text

    from croupier.conformance.channel.delivery import Delivery
    from croupier.conformance.tap.connection import TapEvent
    from croupier.conformance.tap.pcap import Capture
    from croupier.conformance.tap.printer import RepeatedFaults, render_event
    from croupier.conformance.tap.room_options import room_follower
    from croupier.conformance.tap.run import run_tap
    from croupier.conformance.tap.transcript import TranscriptFolder
    from croupier.core.room import HouseRoom
    from croupier.core.session import Address
    from croupier.net.addresses import format_address
    from croupier.net.event_loop import run
    from croupier.rooms import find_room

    console = Console(highlight=False, soft_wrap=True)
    repeated = RepeatedFaults()

    def announce(address: Address) -> None:
        console.print(Text(f"{target} is tapped: {room} at {format_address(address)}", "bold"))

    def print_event(event: TapEvent) -> None:
        for line in render_event(event, repeated.is_new if follower.is_merged else lambda _: True):
            console.print(line)

    try:
        room_spec = find_room(room)
        check_minimum(0, chop=chop)
        check_minimum(1, cut_after=cut_after)
        check_positive(timeout=timeout)
        delivery = Delivery(chop, parse_duration("delay", delay), parse_duration("coalesce", coalesce))
        known = {"dialect": dialect, "decks": decks}
        kind = room_spec.options if isinstance(room_spec, HouseRoom) else room_spec.settings
        options = build_options([kind], known, room_spec)
        head = {name: str(value) for name, value in known.items() if value is not None}
        head |= {"strict": "yes"} if strict else {}
        follower = room_follower(room_spec, options, strict=strict, answer_timeout=timeout)
        address, house = parse_host_port(listen, 0), parse_target(room_spec, target)
        with ExitStack() as stack:
            listeners: list[Callable[[TapEvent], None]] = [print_event]
            if transcript is not None:
                listeners.append(stack.enter_context(TranscriptFolder(transcript, room, follower, head)))
            if pcap is not None:
                listeners.append(Capture(stack.enter_context(pcap.open("wb")), house))
            tapping = run_tap(
                address,
                house,
                follower.new_monitor,
                listeners,
                announce,
                to_house=Delivery() if direction == "client" else delivery,
                to_client=Delivery() if direction == "house" else delivery,
                cut_after=cut_after,
            )
            is_right = run(tapping)
    except (ValueError, OSError) as error:
        return fail(error, 2)
    for line in repeated.render():
        console.print(line)
    return 0 if is_right else 1


def parse_target(room: "Room", given: str) -> "Address":
    """Parse the address of the house. Raises ValueError."""
    from croupier.clients.server_url import room_address

    if "://" not in given:
        return parse_host_port(given, 1)
    address, is_https = room_address(room, given)
    if is_https:
        raise ValueError(f"found {given!r}; allowed: http://HOST:PORT, because the relay does not speak TLS")
    return address


def parse_host_port(given: str, lowest: int) -> tuple[str, int]:
    """Parse HOST:PORT or PORT; the port is at least `lowest`. Raises ValueError.

    >>> parse_host_port("2345", 1)
    ('127.0.0.1', 2345)
    """
    host, _, port = given.rpartition(":")
    if not (port.isascii() and port.isdecimal() and lowest <= int(port) < 65536):
        raise ValueError(f"found {given!r}; allowed: HOST:PORT, the port {lowest} to 65535")
    return host.strip("[]") or "127.0.0.1", int(port)
