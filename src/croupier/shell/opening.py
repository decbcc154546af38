"""Opens a room, whatever it is spoken with: a hall or a table behind a switchboard, or a house behind HTTP."""

import asyncio
import secrets
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from croupier.core.cards import Order
from croupier.core.dealer import Dealer, dealers, derive
from croupier.core.hall import Hall
from croupier.core.room import HouseRoom, Room
from croupier.core.talk import Address, Patience, Tap
from croupier.shell.logs import Level, Log
from croupier.shell.shared import Shared
from croupier.shell.switchboard import Limits, Switchboard
from croupier.taps.meter import Counts

if TYPE_CHECKING:  # what only one room needs is loaded when that room is opened
    from croupier.rooms.holdem.house import House
    from croupier.shell.journal import Journal


@dataclass(frozen=True)
class Hosting:
    """What can be set about every room alike."""

    host: str = "127.0.0.1"
    """The address to listen on; 0.0.0.0 and :: mean all of this machine's."""

    seed: int | None = None
    """Deal reproducibly: every server seed derives from this number. Without it they are random."""

    client_seed: str = ""
    """A word of the players' choice that goes into every deal."""

    deals: Path | None = None
    """Append the dealer's record to this file: promises, hands and seeds, for `croupier verify`."""

    log: Path | None = None
    """Write every conversation to this file as text, a message a line; {n} in its name makes it a file a connection."""

    strict: bool = False
    """Refuse what the protocol only tolerates."""

    idle_seconds: float = 500.0
    """Drop a client from which no message has come for so long."""

    move_seconds: float | None = None
    """Drop a client that takes longer than this over one decision. Without it only the idle limit counts."""

    max_connections: int = 20_000
    """Clients of one room at the same time; 0: no limit."""

    max_per_address: int = 2_000
    """Clients of one room from one address at the same time; 0: no limit."""

    tls_cert: Path | None = None
    """Speak TLS, with the certificate chain in this PEM file."""

    tls_key: Path | None = None
    """The private key of the certificate, a PEM file."""

    store: str | None = None
    """Where hold'em is kept: a path, or the URL of a PostgreSQL database. Without it among this user's data."""

    journal: Literal["durable", "off"] | None = None
    """durable: nobody is told what could still be lost, and tables of hold'em go on when the room is opened again; off:
    they end with it. Without this flag durable, but off where --deck or --seed make a rehearsal of it."""

    metrics_port: int | None = None
    """Serve Prometheus metrics at this port of the same address; 0 picks a free one."""

    drain_seconds: float = 5.0
    """When told to stop, let running games end for so long. A second signal ends them at once."""

    log_level: Level = "info"
    """How much goes to the log on standard error; debug shows every message."""


@dataclass(frozen=True)
class Opening:
    """A room to open: where, with which settings of its own, and with which decks laid out by hand."""

    room: Room
    port: int
    settings: Any
    deck: Path | None = None


class Open(Protocol):
    """A room that is open."""

    @property
    def counts(self) -> Counts:
        """What has happened in it."""
        ...

    @property
    def connected(self) -> int:
        """How many are connected now."""
        ...

    def halt(self, *, final: bool) -> None:
        """No new games; when `final`, running ones are void, and everybody is seen off."""
        ...

    async def empty(self) -> None:
        """Wait until nothing is played here any more, and after the final halt until nobody is connected."""
        ...


async def open_room(
    opening: Opening, hosting: Hosting, told: Log, taps: Sequence[Tap], context: ssl.SSLContext | None
) -> tuple[Open, Address]:
    """Open a room, and say where. Raises ValueError on settings that make no sense, OSError on files and addresses."""
    opens = _open_house if isinstance(opening.room, HouseRoom) else OPENS[opening.room.name]
    return await opens(opening, hosting, told, taps, context)


async def _open_house(
    opening: Opening, hosting: Hosting, told: Log, taps: Sequence[Tap], context: ssl.SSLContext | None
) -> tuple[Open, Address]:
    room = opening.room
    assert isinstance(room, HouseRoom), f"{room.name} has no private tables"
    patience = Patience(hosting.idle_seconds, hosting.move_seconds)
    seating = room.house(opening.settings, patience, hosting.strict)
    board = Switchboard(
        Hall(seating, _dealers(opening, hosting), patience.glance),
        partial(room.codec, hosting.strict, opening.settings),
        told,
        taps=taps,
        limits=Limits(hosting.max_connections, hosting.max_per_address),
        refusal=room.refusal,
    )
    try:
        return board, await board.listen(hosting.host, opening.port, context)
    except OSError as error:
        raise unheard((hosting.host, opening.port), error) from error


async def _open_holdem(
    opening: Opening, hosting: Hosting, told: Log, taps: Sequence[Tap], context: ssl.SSLContext | None
) -> tuple[Open, Address]:
    from croupier.rooms.holdem.ranks import load
    from croupier.shell.listening import Reception
    from croupier.shell.web import Web

    load()  # rather than at the first showdown, for which all tables would have to wait
    house, clock, journal = await _house_of_holdem(opening, hosting)
    reception = Reception(hosting.max_connections, hosting.max_per_address, idle=hosting.idle_seconds)
    at = (hosting.host, opening.port)
    try:
        web = await Web(house, told, taps, clock=clock, journal=journal).open(at, context, reception)
    except BaseException as error:
        if journal is not None:
            await journal.store.close()
        if isinstance(error, OSError):
            raise unheard(at, error) from error
        raise
    return web, web.address


async def _house_of_holdem(opening: Opening, hosting: Hosting) -> tuple["House", Callable[[], float], "Journal | None"]:
    """The house of hold'em, in memory or as the journal in a store has it, with its clock.

    Raises ValueError on settings that make no sense, or not for what is kept, and OSError on a store that is none.
    """
    from croupier.rooms.holdem.house import House

    time_of_loop = asyncio.get_running_loop().time
    rehearsal = opening.deck is not None or hosting.seed is not None
    if (hosting.journal or ("off" if rehearsal else "durable")) == "off":
        secret = _server_seed(opening.room, hosting, 0)
        epoch = time.time() - time_of_loop()
        return House(opening.settings, _dealers(opening, hosting), secret, epoch), time_of_loop, None
    from croupier.shell.journal import Begun, reopen
    from croupier.store.records import StoreError
    from croupier.store.store import open_store

    def build(begun: Begun) -> House:
        return House(begun.settings, _dealers(opening, hosting, begun.server_seed), begun.server_seed(0))

    opening.settings.check()
    wanted = Begun(opening.settings, hosting.seed, client_seed=hosting.client_seed)
    try:
        store = await open_store(hosting.store)
        try:
            await store.claim(opening.room.name)
            house, journal, last = await reopen(store, wanted, build)
        except BaseException:
            await store.close()
            raise
    except StoreError as error:
        raise OSError(f"{error} (--store names another store, --journal off does without)") from error
    ahead = max(time.time(), last) - time_of_loop()  # time never goes back, whatever the clock on the wall does
    return house, lambda: time_of_loop() + ahead, journal


async def _open_oldmaid(
    opening: Opening, hosting: Hosting, told: Log, taps: Sequence[Tap], context: ssl.SSLContext | None
) -> tuple[Open, Address]:
    from croupier.rooms.oldmaid import FULL
    from croupier.rooms.oldmaid.house import House
    from croupier.rooms.oldmaid.wire import Wire

    settings = opening.settings
    house = House(settings, _dealers(opening, hosting), idle=hosting.idle_seconds)
    table = Shared(
        house,
        partial(Wire, "table", strict=hosting.strict, dialect=settings.dialect),
        told,
        taps=taps,
        limits=Limits(hosting.max_connections, hosting.max_per_address),
        refusal=[FULL],
    )
    at = (hosting.host, opening.port)
    try:
        return table, await table.listen(*at, context)
    except OSError as error:
        raise unheard(at, error) from error


type Opens = Callable[[Opening, Hosting, Log, Sequence[Tap], ssl.SSLContext | None], Awaitable[tuple[Open, Address]]]

OPENS: Final[Mapping[str, Opens]] = {"holdem": _open_holdem, "oldmaid": _open_oldmaid}
"""How the rooms are opened that have no private tables."""


def written(address: Address) -> str:
    """An address as host:port."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def unheard(address: Address, error: OSError) -> OSError:
    """What is told of an address that cannot be had."""
    return OSError(f"cannot listen on {written(address)}: {error.strerror or error}")


def _dealers(
    opening: Opening, hosting: Hosting, seeds: Callable[[int], bytes] | None = None
) -> Callable[[int], Dealer]:
    """The dealer of every private table, or of every hand at shared ones. Raises OSError on an unreadable deck file."""
    room = opening.room
    decks: Sequence[Order] = ()
    if opening.deck is not None:
        decks = room.pack.decks(opening.deck.read_text(), str(opening.deck), room.decks(opening.settings))
    shared = not isinstance(room, HouseRoom)
    return dealers(seeds or partial(_server_seed, room, hosting), hosting.client_seed.encode(), decks, shared=shared)


def _server_seed(room: Room, hosting: Hosting, table: int) -> bytes:
    return secrets.token_bytes(32) if hosting.seed is None else derive(hosting.seed, room.name, table)
