"""Puts rooms together and keeps them open: halls, switchboards, taps, metrics, signals."""

import asyncio
import secrets
import signal
import ssl
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from prometheus_client import REGISTRY, start_http_server

from croupier.core.dealer import dealers, derive
from croupier.core.hall import Hall
from croupier.core.room import Room
from croupier.core.talk import Address, Patience, Tap
from croupier.shell.logs import Level, configure, log
from croupier.shell.switchboard import Limits, Switchboard
from croupier.taps.deals import Deals
from croupier.taps.meter import Meter
from croupier.taps.minutes import Minutes
from croupier.taps.trace import Trace


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


def tls(hosting: Hosting) -> ssl.SSLContext | None:
    """The TLS of a server, None without. Raises ValueError when only half of it is given, and on bad files."""
    if hosting.tls_cert is None and hosting.tls_key is None:
        return None
    if hosting.tls_cert is None or hosting.tls_key is None:
        raise ValueError("found only one of --tls-cert and --tls-key; allowed: both, or neither")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(hosting.tls_cert, hosting.tls_key)
    except OSError as error:  # which a bad certificate is, too
        found = f"found no certificate in {hosting.tls_cert} that fits the key in {hosting.tls_key}"
        raise ValueError(f"{found} ({error.strerror}); allowed: two PEM files") from None
    return context


def check(hosting: Hosting) -> None:
    """Raise ValueError on numbers that make no sense."""
    for name in ("idle_seconds", "move_seconds"):
        if (found := getattr(hosting, name)) is not None and not found > 0:
            raise ValueError(f"found --{name.replace('_', '-')} {found:g}; allowed: more than 0")
    for name in ("max_connections", "max_per_address", "drain_seconds"):
        if not (found := getattr(hosting, name)) >= 0:
            raise ValueError(f"found --{name.replace('_', '-')} {found:g}; allowed: 0 or more")


def hall(opening: Opening, hosting: Hosting) -> Hall[Any, Any]:
    """The hall of a room. Raises ValueError on settings that make no sense, OSError on an unreadable deck file."""
    room, seed = opening.room, hosting.seed
    copies = room.decks(opening.settings)
    decks = room.pack.decks(opening.deck.read_text(), str(opening.deck), copies) if opening.deck else ()

    def server_seed(table: int) -> bytes:
        return secrets.token_bytes(32) if seed is None else derive(seed, room.name, table)

    patience = Patience(hosting.idle_seconds, hosting.move_seconds)
    seating = room.house(opening.settings, patience, hosting.strict)
    return Hall(seating, dealers(server_seed, hosting.client_seed.encode(), decks), patience.glance)


@contextmanager
def _scraped(hosting: Hosting, boards: dict[str, Switchboard]) -> Iterator[str | None]:
    """Metrics, while the rooms are open: their URL, None without."""
    if hosting.metrics_port is None:
        yield None
        return
    meter = Meter(lambda: [(name, board.counts, len(board.lines)) for name, board in boards.items()])
    try:
        server, thread = start_http_server(hosting.metrics_port, hosting.host)
    except OSError as error:
        raise _unheard((hosting.host, hosting.metrics_port), error) from error
    REGISTRY.register(meter)
    try:
        yield f"http://{written((hosting.host, server.server_port))}/metrics"
    finally:
        REGISTRY.unregister(meter)
        server.shutdown()
        server.server_close()
        thread.join()


def written(address: Address) -> str:
    """An address as host:port."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def serve(openings: Sequence[Opening], hosting: Hosting, announce: Callable[[str], None]) -> None:
    """Open rooms, and keep them open until SIGTERM or SIGINT. `announce` is told one line for each room that is ready.

    Raises ValueError on settings that make no sense and OSError on files and addresses that cannot be used.
    """
    configure(hosting.log_level)
    check(hosting)
    _raise_file_limit()
    context = tls(hosting)
    boards: dict[str, Switchboard] = {}
    asyncio.get_running_loop().set_exception_handler(_our_fault)
    with ExitStack() as stack, _signals() as signals:
        file = stack.enter_context(hosting.deals.open("ab")) if hosting.deals else None
        limits = Limits(hosting.max_connections, hosting.max_per_address)
        metrics = stack.enter_context(_scraped(hosting, boards))
        for opening in openings:
            room = opening.room
            told = log(room=room.name)
            taps: list[Tap] = []
            if file is not None:
                taps.append(Deals(room.name, file, room.dealt, room.decks(opening.settings)))
            if hosting.log is not None:
                path = hosting.log.with_name(hosting.log.name.replace("{room}", room.name))
                minutes = Minutes(path, told)
                stack.callback(minutes.close)
                taps.append(minutes)
            if hosting.log_level == "debug":
                taps.append(Trace(told))
            board = Switchboard(
                hall(opening, hosting),
                partial(room.codec, hosting.strict, opening.settings),
                told,
                taps=taps,
                limits=limits,
                refusal=room.refusal,
            )
            boards[room.name] = board
            address = await _listen(board, hosting.host, opening.port, context)
            announce(f"{room.name} is open at {written(address)}{' (TLS)' if context else ''}")
        if metrics:
            announce(f"metrics at {metrics}")
        await signals.get()
        await _drain(boards, signals, hosting.drain_seconds)


async def _listen(board: Switchboard, host: str, port: int, context: ssl.SSLContext | None) -> Address:
    try:
        return await board.listen(host, port, context)
    except OSError as error:
        raise _unheard((host, port), error) from error


def _unheard(address: Address, error: OSError) -> OSError:
    return OSError(f"cannot listen on {written(address)}: {error.strerror or error}")


async def _drain(boards: dict[str, Switchboard], signals: asyncio.Queue[str], seconds: float) -> None:
    """No new games; running ones may end until the time is over or a second signal comes (ruling G4)."""
    told = log()
    told.info("closing", connected=sum(len(board.lines) for board in boards.values()), drain_seconds=seconds)
    for board in boards.values():
        board.halt(final=False)
    empty: asyncio.Future[Any] = asyncio.gather(*(board.empty() for board in boards.values()))
    again: asyncio.Future[Any] = asyncio.ensure_future(signals.get())
    await asyncio.wait({empty, again}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    again.cancel()
    for board in boards.values():
        board.halt(final=True)
    await empty
    told.info("closed")


@contextmanager
def _signals() -> Iterator[asyncio.Queue[str]]:
    """The names of SIGTERM and SIGINT as they come."""
    loop = asyncio.get_running_loop()
    found: asyncio.Queue[str] = asyncio.Queue()
    for number in (signal.SIGTERM, signal.SIGINT):
        try:
            loop.add_signal_handler(number, found.put_nowait, number.name)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda got, _: loop.call_soon_threadsafe(found.put_nowait, signal.Signals(got).name))
    try:
        yield found
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            with suppress(NotImplementedError):
                loop.remove_signal_handler(number)


def _our_fault(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:  # noqa: ARG001 -- as asyncio calls it
    """Something raised that never should: the connection it happened on is closed by the loop, the others go on."""
    error = context.get("exception")
    log().error("our own fault", told=context["message"], exc_info=error)


def _raise_file_limit() -> None:
    """As many connections as the system allows."""
    if sys.platform == "win32":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
