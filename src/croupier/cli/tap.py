"""`croupier tap`: listen in on conversations between clients and a house."""

import re
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from cyclopts import Parameter

from croupier.cli.output import fail

UNIT_SECONDS: Final = {"ms": 0.001, "s": 1.0, "": 1.0}
DURATION_PATTERN: Final = re.compile(r"(\d+(?:\.\d+)?) ?(ms|s|)")
DIRECTIONS: Final = {"house": ("house",), "client": ("client",), "both": ("house", "client")}


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
    """Listen in: pass on what clients and a house say to each other, and judge both of them.

    Clients connect to LISTEN instead of the house, and the relay to TARGET for each of them. It ends with Ctrl-C; the
    exit status is 1 if anybody has broken the protocol.

    Parameters
    ----------
    room:
        The game that is played: kuhn, sevenhalf, blackjack, holdem or oldmaid.
    listen:
        Where clients connect: PORT or HOST:PORT; port 0 is a free one.
    target:
        Where the house is: HOST:PORT.
    chop:
        Pass on so many bytes at a time; 0: as they come.
    delay:
        Wait so long before each piece: 50ms, or 1.5s.
    coalesce:
        Hold bytes back until none have come for so long; then they leave in one piece.
    direction:
        Which way --chop, --delay and --coalesce are for.
    cut_after:
        End every connection behind so many messages of both ends together.
    strict:
        Judge without tolerances.
    dialect:
        The dialect that is spoken, where the room has some.
    decks:
        How many decks the house shuffles together, where it may be more than one.
    timeout:
        After so many seconds a silence of the house is a fault.
    transcript:
        Write what is said into this folder, as transcripts.
    pcap:
        Write a capture that Wireshark can open.
    """
    from rich.console import Console
    from rich.text import Text

    from croupier.conformance.proxy.room_options import tapping_options
    from croupier.conformance.tap.connection import TapEvent
    from croupier.conformance.tap.outbox import Delivery
    from croupier.conformance.tap.printer import render_event
    from croupier.conformance.tap.run import TapConfig
    from croupier.conformance.tap.run import run_tap as relayed
    from croupier.core.session import Address
    from croupier.net.addresses import format_address
    from croupier.net.event_loop import run

    console = Console(highlight=False, soft_wrap=True)

    def announce(address: Address) -> None:
        console.print(Text(f"{target} is tapped: {room} at {format_address(address)}", "bold"))

    def told(news: TapEvent) -> None:
        for line in render_event(news):
            console.print(line)

    try:
        tapped = find_room(room)
        for name, found, least in (("chop", chop, 0), ("cut-after", cut_after, 1)):
            if found is not None and found < least:
                raise ValueError(f"found --{name} {found}; allowed: {least} or more")
        if not timeout > 0:
            raise ValueError(f"found --timeout {timeout:g}; allowed: more than 0")
        manner = Delivery(chop, parse_duration("delay", delay), parse_duration("coalesce", coalesce))
        known = {name: str(value) for name, value in (("dialect", dialect), ("decks", decks)) if value is not None}
        tapping = TapConfig(
            room=room,
            listen=parse_host_port(listen, 0),
            target=parse_host_port(target, 1),
            **tapping_options(tapped, parse_options(tapped, known), strict=strict, answer_timeout=timeout),
            head={**known, **({"strict": "yes"} if strict else {})},
            to_house=manner if "house" in DIRECTIONS[direction] else Delivery(),
            to_client=manner if "client" in DIRECTIONS[direction] else Delivery(),
            cut_after=cut_after,
            transcript_folder=transcript,
            capture_file=pcap,
        )
        return 0 if run(relayed(tapping, announce, told)) else 1
    except (ValueError, OSError) as error:
        return fail(error, 2)


def find_house_room(name: str) -> Any:
    """The room of a game against the house. Raises ValueError on any other."""
    from croupier.rooms import HOUSE_ROOMS, ROOMS

    if name not in HOUSE_ROOMS:
        what = f"{name}, whose conversations cannot be relayed" if name in ROOMS else f"the room {name!r}"
        raise ValueError(f"found {what}; allowed: {', '.join(HOUSE_ROOMS)}")
    return HOUSE_ROOMS[name]


def find_room(name: str) -> Any:
    """A room by its name. Raises ValueError."""
    from croupier.rooms import ROOMS

    if name not in ROOMS:
        raise ValueError(f"found the room {name!r}; allowed: {', '.join(ROOMS)}")
    return ROOMS[name]


def parse_host_port(given: str, lowest: int) -> tuple[str, int]:
    """Host and port. Raises ValueError."""
    host, _, port = given.rpartition(":")
    if not (port.isascii() and port.isdecimal() and lowest <= int(port) < 65536):
        raise ValueError(f"found {given!r}; allowed: HOST:PORT, the port {lowest} to 65535")
    return host.strip("[]") or "127.0.0.1", int(port)


def parse_duration(name: str, given: str) -> float:
    """So many seconds. Raises ValueError."""
    found = DURATION_PATTERN.fullmatch(given.strip())
    if found is None:
        raise ValueError(f"found --{name} {given!r}; allowed: a time, as in 50ms or 1.5s")
    return float(found[1]) * UNIT_SECONDS[found[2]]


def parse_options(room: Any, values: dict[str, str]) -> Any:
    """What is known of a client, None if nothing is. Raises ValueError on what the room has no option for."""
    from dataclasses import fields

    from msgspec import ValidationError, convert

    from croupier.rooms import HOUSE_ROOMS

    if not values:
        return None
    kind = room.options if room.name in HOUSE_ROOMS else room.settings
    has = {field.name for field in fields(kind)}
    for name, value in values.items():
        if name not in has:
            raise ValueError(f"found --{name} {value}; allowed: nothing of the kind in {room.title}")
    try:
        return convert(values, kind, strict=False)
    except ValidationError as error:
        raise ValueError(f"found {values}; {error}") from None
