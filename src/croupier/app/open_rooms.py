"""Opens a room, whatever it is spoken with: a hall or a table behind a switchboard, or a house behind HTTP."""

import asyncio
import secrets
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

from croupier.core.cards import Order
from croupier.core.dealer import Dealer, dealer_factory, derive_server_seed
from croupier.core.hall import Hall
from croupier.core.room import HouseRoom, Room
from croupier.core.session import Address, Observer, Peer, Session, TimedOut, Timeouts
from croupier.logs import Logger, LogLevel
from croupier.net.addresses import listen_error
from croupier.net.client_addresses import parse_trusted_proxies
from croupier.net.endpoint import Endpoint, EndpointLimits
from croupier.net.shared_endpoint import SharedEndpoint
from croupier.observers.counters import RoomCounters
from croupier.recording.promises import Promises
from croupier.recording.recorded_room import RecordedRoom, open_recorder
from croupier.recording.seeds import SeedConfig
from croupier.recording.shared_store import SharedStore

if TYPE_CHECKING:  # what only one room needs is loaded when that room is opened
    from croupier.recording.holdem_journal import HoldemJournal
    from croupier.rooms.holdem.house import House


@dataclass(frozen=True)
class ServerConfig:
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
    """Write every conversation to this file as text, a message a line. {n} in its name makes it a file a connection,
    {room} a file a room; several rooms have one each in any case: talk.txt becomes talk.kuhn.txt."""

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

    trusted_proxies: str = ""
    """Addresses and networks of proxies, separated by commas. Hold'em takes the address of a client from their headers
    Forwarded or X-Forwarded-For, the other rooms with --proxy-protocol."""

    proxy_protocol: bool = False
    """In rooms without HTTP, connections from --trusted-proxies begin with the PROXY protocol, version 1 or 2."""

    tls_cert: Path | None = None
    """Speak TLS, with the certificate chain in this PEM file."""

    tls_key: Path | None = None
    """The private key of the certificate, a PEM file."""

    tls_client_ca: Path | None = None
    """Take only clients that show a certificate of an authority in this PEM file."""

    store: str | None = None
    """Where everything is kept: a path, or the URL of a PostgreSQL database. Without it among this user's data."""

    journal: Literal["durable", "async", "off"] | None = None
    """durable: nobody is told what could still be lost, and tables of hold'em go on when the room is opened again;
    async: games against the house are kept, but nobody waits for that; off: nothing is kept. Without this flag hold'em
    and Old Maid are durable, a house is async, or durable with --accounts. With --deck or --seed, and without --store,
    it is off."""

    accounts: Literal["address", "certificate"] | None = None
    """Keep what clients of a house have, told apart by their address or, with --tls-client-ca, by their certificate.
    Without this flag every connection has a new purse. Hold'em has users, and Old Maid no coins."""

    metrics_port: int | None = None
    """Serve Prometheus metrics and /healthz at this port; 0 picks a free one."""

    metrics_host: str = "127.0.0.1"
    """The address on which the metrics are served."""

    drain_seconds: float = 5.0
    """When told to stop, let running games end for so long. A second signal ends them at once."""

    log_level: LogLevel = "info"
    """How much goes to the log on standard error; debug shows every message."""

    @property
    def limits(self) -> EndpointLimits:
        """What the switchboard of a room allows. Raises ValueError."""
        proxies = parse_trusted_proxies(self.trusted_proxies if self.proxy_protocol else "")
        return EndpointLimits(self.max_connections, self.max_per_address, trusted_proxies=proxies)


@dataclass(frozen=True)
class RoomConfig:
    """A room to open: where, with which settings of its own, and with which decks laid out by hand."""

    room: Room
    port: int
    settings: Any
    deck: Path | None = None
    document_port: int | None = None
    """A house listens there as well, unless something else does."""


class RoomContext(NamedTuple):
    """What a server fits a room out with: its log, its taps, TLS, where it is kept, and the promises of its dealer."""

    log: Logger
    observers: Sequence[Observer]
    tls_context: ssl.SSLContext | None
    shared_store: SharedStore
    promises: Promises | None = None


class OpenRoom(Protocol):
    """A room that is open."""

    @property
    def counts(self) -> RoomCounters:
        """What has happened in it."""
        ...

    @property
    def connection_count(self) -> int:
        """How many are connected now."""
        ...

    @property
    def unavailable_reason(self) -> str | None:
        """Why nothing can be played here now; None if it can."""
        ...

    def halt(self, *, final: bool) -> None:
        """No new games; when `final`, running ones are void, and everybody is seen off."""
        ...

    async def wait_drained(self) -> None:
        """Wait until nothing is played here any more, and after the final halt until nobody is connected."""
        ...


async def open_room(
    room_config: RoomConfig, server_config: ServerConfig, context: RoomContext
) -> tuple[OpenRoom, Sequence[Address]]:
    """Open a room, and say where it listens.

    Raises ValueError on settings that make no sense, OSError on files and addresses.
    """
    opens = _open_house if isinstance(room_config.room, HouseRoom) else ROOM_OPENERS[room_config.room.name]
    return await opens(room_config, server_config, context)


async def _open_house(
    opening: RoomConfig, hosting: ServerConfig, fittings: RoomContext
) -> tuple[OpenRoom, Sequence[Address]]:
    told, taps, context, shelf, promises = fittings
    room = opening.room
    assert isinstance(room, HouseRoom), f"{room.name} has no private tables"
    patience = Timeouts(hosting.idle_seconds, hosting.move_seconds)
    seating = room.house(opening.settings, patience, hosting.strict)
    dealers = _dealers(opening, hosting)
    journal = hosting.journal or (
        "durable" if hosting.accounts else "off" if _is_prearranged(opening, hosting) else "async"
    )
    books = None
    seat: Callable[[Peer, Dealer], Session[Any, Any]] = seating
    if journal != "off":
        books = await open_recorder(
            shelf, room, opening.settings, told, journal=journal, identify_by=hosting.accounts, promises=promises
        )
        if (purses := books.purses) is not None:
            seat = lambda peer, dealer: seating(peer, dealer, purses.purse_of(peer))  # noqa: E731 -- as short as what it does
    board = Endpoint(
        Hall(seat, dealers, patience.shortest),
        partial(room.codec, hosting.strict, opening.settings),
        told,
        taps=taps,
        limits=hosting.limits,
        refusal=room.refusal_messages,
        recorder=books,
    )
    at = (hosting.host, opening.port)
    house = board if books is None else RecordedRoom(board, books)
    try:
        first = await house.listen(*at, context)
    except OSError as error:
        raise listen_error(at, error) from error
    if opening.document_port is None:
        return house, [first]
    also = (hosting.host, opening.document_port)
    try:
        return house, [first, await board.listen(*also, context)]
    except OSError as error:
        told.warning("the port of the protocol's document is not available", reason=str(listen_error(also, error)))
        return house, [first]


async def _open_holdem(
    opening: RoomConfig, hosting: ServerConfig, fittings: RoomContext
) -> tuple[OpenRoom, Sequence[Address]]:
    from croupier.app.http_room import HttpRoom
    from croupier.http.limits import ConnectionLimits
    from croupier.rooms.holdem.engine.ranks import load_tables

    told, taps, context, shelf, promises = fittings
    load_tables()  # rather than at the first showdown, for which all tables would have to wait
    house, clock, journal = await _load_holdem_house(opening, hosting, shelf, told)
    proxies = parse_trusted_proxies(hosting.trusted_proxies)
    reception = ConnectionLimits(
        hosting.max_connections,
        hosting.max_per_address,
        keep_alive_timeout=hosting.idle_seconds,
        trusted_proxies=proxies,
    )
    at = (hosting.host, opening.port)
    try:
        web = HttpRoom(house, told, taps, clock=clock, journal=journal, promises=promises, proxies=proxies)
        await web.open(at, context, reception)
    except BaseException as error:
        if journal is not None:
            await journal.store.close()
        if isinstance(error, OSError):
            raise listen_error(at, error) from error
        raise
    return web, [web.address]


async def _load_holdem_house(
    opening: RoomConfig, hosting: ServerConfig, shelf: SharedStore, log: Logger
) -> tuple["House", Callable[[], float], "HoldemJournal | None"]:
    """The house of hold'em, in memory or as the journal in a store has it, with its clock.

    Raises ValueError on settings that make no sense, or not for what is kept, and OSError on a store that is none.
    """
    from croupier.rooms.holdem.house import House

    time_of_loop = asyncio.get_running_loop().time
    if (hosting.journal or ("off" if _is_prearranged(opening, hosting) else "durable")) == "off":
        secret = _server_seed(opening.room, hosting, 0)
        now = time_of_loop()
        house = House(opening.settings, _dealers(opening, hosting), secret, time.time() - now, now)
        return house, time_of_loop, None
    from croupier.recording.holdem_journal import JournalStart, open_journal

    def build(begun: JournalStart) -> House:
        return House(begun.settings, _resumed_dealers(begun, begun.server_seed), begun.server_seed(0))

    opening.settings.check()
    wanted = JournalStart(opening.settings, hosting.seed, client_seed=hosting.client_seed, decks=_read_decks(opening))
    async with shelf.open_for(opening.room.name) as store:
        await store.watch_accounts()
        house, journal, last = await open_journal(store, wanted, build, log)
    ahead = max(time.time(), last) - time_of_loop()  # time never goes back, whatever the clock on the wall does
    return house, lambda: time_of_loop() + ahead, journal


async def _open_oldmaid(
    opening: RoomConfig, hosting: ServerConfig, fittings: RoomContext
) -> tuple[OpenRoom, Sequence[Address]]:
    from croupier.rooms.oldmaid import TABLE_FULL
    from croupier.rooms.oldmaid.house import House
    from croupier.rooms.oldmaid.wire import Wire

    told, taps, context, shelf, promises = fittings
    settings = opening.settings
    settings.check()
    codec = partial(Wire, "table", strict=hosting.strict, dialect=settings.dialect)
    rest: Any = {"limits": hosting.limits, "refusal": [TABLE_FULL]}
    at = (hosting.host, opening.port)
    if (hosting.journal or ("off" if _is_prearranged(opening, hosting) else "durable")) == "off":
        house = House(settings, _dealers(opening, hosting), idle=hosting.idle_seconds)
        table = SharedEndpoint(house, codec, told, taps=taps, **rest)
        try:
            return table, [await table.listen(*at, context)]
        except OSError as error:
            raise listen_error(at, error) from error
    from croupier.recording.durable_session import DurableTableEndpoint, void_game_effects
    from croupier.recording.oldmaid_journal import open_journal
    from croupier.recording.seeds import Seeds

    wanted = Seeds(hosting.seed, client_seed=hosting.client_seed, decks=_read_decks(opening))
    async with shelf.open_for(opening.room.name) as store:
        seeds, journal, started, void = await open_journal(store, wanted, time.time, told)
        dealers = _resumed_dealers(seeds, partial(seeds.server_seed, opening.room.name))
        house = House(settings, dealers, idle=hosting.idle_seconds, record_entries=True)
        house.restore(started, len(void), asyncio.get_running_loop().time())
        durable = DurableTableEndpoint(house, journal, codec, told, observers=taps, promises=promises, **rest)
        if void:
            told.warning("games were interrupted, and are void", games=[game.number for game in void])
        for game in void:
            durable.observers(TimedOut(), void_game_effects(game, dealers(game.number)), 0.0)
        try:
            return durable, [await durable.listen(*at, context)]
        except OSError as error:
            raise listen_error(at, error) from error


type RoomOpener = Callable[[RoomConfig, ServerConfig, RoomContext], Awaitable[tuple[OpenRoom, Sequence[Address]]]]

ROOM_OPENERS: Final[Mapping[str, RoomOpener]] = {"holdem": _open_holdem, "oldmaid": _open_oldmaid}
"""How the rooms are opened that have no private tables."""


def _is_prearranged(opening: RoomConfig, hosting: ServerConfig) -> bool:
    """Whether what is dealt was chosen beforehand, and no store is named that is to keep it all the same."""
    return hosting.store is None and (opening.deck is not None or hosting.seed is not None)


def _dealers(opening: RoomConfig, hosting: ServerConfig) -> Callable[[int], Dealer]:
    """The dealer of every private table, or of every hand at shared ones. Raises ValueError on a bad deck file."""
    room = opening.room
    seeds = partial(_server_seed, room, hosting)
    shared = not isinstance(room, HouseRoom)
    return dealer_factory(seeds, hosting.client_seed.encode(), _read_decks(opening), shared=shared)


def _resumed_dealers(sown: SeedConfig, seeds: Callable[[int], bytes]) -> Callable[[int], Dealer]:
    """The dealer of every hand at shared tables whose journal began with these seeds and decks."""
    return dealer_factory(seeds, sown.client_seed.encode(), sown.decks, shared=True)


def _read_decks(opening: RoomConfig) -> tuple[Order, ...]:
    """The decks that are laid out by hand. Raises OSError on an unreadable file, ValueError on one that is no deck."""
    if opening.deck is None:
        return ()
    room, file = opening.room, opening.deck
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"found {file}, which is no text in UTF-8") from None
    return room.pack.parse_decks(text, str(file), room.deck_count(opening.settings))


def _server_seed(room: Room, hosting: ServerConfig, table: int) -> bytes:
    return secrets.token_bytes(32) if hosting.seed is None else derive_server_seed(hosting.seed, room.name, table)
