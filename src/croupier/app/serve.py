"""Puts rooms together and keeps them open: halls, switchboards, taps, metrics, signals."""

import asyncio
import signal
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from croupier.app.open_rooms import Fittings, Hosting, Open, Opening, open_room
from croupier.core.room import HouseRoom, Room
from croupier.core.session import Tap
from croupier.logs import configure, log
from croupier.net.addresses import unheard, written
from croupier.net.client_addresses import trusted_proxies
from croupier.net.descriptors import EXHAUSTED, DescriptorWatch
from croupier.observers.conversation_log import CONNECTION, Minutes
from croupier.observers.deal_file import Record, mend
from croupier.observers.deal_recorder import Deals
from croupier.observers.line_writer import Lines
from croupier.observers.message_trace import Trace
from croupier.observers.private_files import private
from croupier.recording.promises import Disk, Promises
from croupier.recording.shared_store import Shelf
from croupier.rooms.holdem import ROOM as HOLDEM

ROOM = "{room}"
"""What stands for the name of the room in the name of the file of --log."""


def tls(hosting: Hosting) -> ssl.SSLContext | None:
    """The TLS of a server, None without. Raises ValueError when only half of it is given, and on bad files."""
    if hosting.tls_cert is None and hosting.tls_key is None:
        if hosting.tls_client_ca is not None:
            raise ValueError("found --tls-client-ca without --tls-cert; allowed: both, for a server that speaks TLS")
        return None
    if hosting.tls_cert is None or hosting.tls_key is None:
        raise ValueError("found only one of --tls-cert and --tls-key; allowed: both, or neither")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(hosting.tls_cert, hosting.tls_key)
    except OSError as error:  # which a bad certificate is, too
        found = f"found no certificate in {hosting.tls_cert} that fits the key in {hosting.tls_key}"
        raise ValueError(f"{found} ({error.strerror}); allowed: two PEM files") from None
    if hosting.tls_client_ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        try:
            context.load_verify_locations(hosting.tls_client_ca)
        except OSError as error:
            found = f"found no certificate of an authority in {hosting.tls_client_ca}"
            raise ValueError(f"{found} ({error.strerror}); allowed: a PEM file") from None
    return context


def check(hosting: Hosting) -> None:
    """Raise ValueError on settings that make no sense, alone or together."""
    for name in ("idle_seconds", "move_seconds"):
        if (found := getattr(hosting, name)) is not None and not found > 0:
            raise ValueError(f"found --{name.replace('_', '-')} {found:g}; allowed: more than 0")
    for name in ("max_connections", "max_per_address", "drain_seconds"):
        if not (found := getattr(hosting, name)) >= 0:
            raise ValueError(f"found --{name.replace('_', '-')} {found:g}; allowed: 0 or more")
    trusted_proxies(hosting.trusted_proxies)
    if hosting.proxy_protocol and not hosting.trusted_proxies:
        raise ValueError("found --proxy-protocol without --trusted-proxies; allowed: both, or neither")
    if hosting.accounts is not None and hosting.journal not in {None, "durable"}:
        raise ValueError(f"found --accounts with --journal {hosting.journal}; allowed: --journal durable")
    if hosting.accounts == "certificate" and hosting.tls_client_ca is None:
        raise ValueError("found --accounts certificate without --tls-client-ca; allowed: both")


@asynccontextmanager
async def _scraped(hosting: Hosting, names: Sequence[str], rooms: dict[str, Open]) -> AsyncIterator[str | None]:
    """Metrics and /healthz, while the rooms are open: the URL of the metrics, None without."""
    if hosting.metrics_port is None:
        yield None
        return
    from prometheus_client import REGISTRY, make_asgi_app

    from croupier.app.health import Monitoring
    from croupier.http.limits import MONITORING
    from croupier.http.server import Listener
    from croupier.observers.counters import Counts
    from croupier.observers.metrics import Meter

    meter = Meter(lambda: [(name, room.counts, room.connected) for name, room in rooms.items()])
    listener = Listener(Monitoring(make_asgi_app(), names, rooms), MONITORING, Counts())
    at = (hosting.metrics_host, hosting.metrics_port)
    try:
        address = await listener.listen(*at)
    except OSError as error:
        raise unheard(at, error) from error
    REGISTRY.register(meter)
    try:
        yield f"http://{written(address)}/metrics"
    finally:
        REGISTRY.unregister(meter)
        listener.close()
        await listener.empty(MONITORING.linger)


async def serve(openings: Sequence[Opening], hosting: Hosting, announce: Callable[[str], None]) -> None:
    """Open rooms, and keep them open until a signal stops them. `announce` gets a line for each address that is ready.

    Raises ValueError on settings that make no sense and OSError on files and addresses that cannot be used.
    """
    configure(hosting.log_level)
    check(hosting)
    _raise_file_limit()
    context = tls(hosting)
    rooms: dict[str, Open] = {}
    shelf = Shelf(hosting.store)
    async with AsyncExitStack() as stack:
        signals = stack.enter_context(_signals())
        stack.enter_context(_faults_logged())
        kept = stack.enter_context(_recorded(hosting.deals)) if hosting.deals else None
        names = [opening.room.name for opening in openings]
        metrics = await stack.enter_async_context(_scraped(hosting, names, rooms))
        for opening in openings:
            room = opening.room
            told = log(room=room.name)
            taps: list[Tap] = []
            promises = None
            if kept is not None:
                record, disk = kept
                done = room.done if isinstance(room, HouseRoom) else None
                deals = Deals(room.name, record, room.dealt, room.decks(opening.settings), done)
                promises = Promises(deals, disk)
                taps.append(deals)
            if hosting.log is not None:
                path = minutes_of(room, hosting.log, alone=len(openings) == 1)
                minutes = Minutes(path, room.spelt(opening.settings))
                stack.callback(minutes.close)
                taps.append(minutes)
            if hosting.log_level == "debug":
                taps.append(Trace(told))
            fittings = Fittings(told, taps, context, shelf, promises)
            rooms[room.name], addresses = await open_room(opening, hosting, fittings)
            for address in addresses:
                announce(f"{room.name} is open at {written(address)}{' (TLS)' if context else ''}")
        if metrics:
            announce(f"metrics at {metrics}")
        await signals.get()
        await _drain(rooms, signals, hosting.drain_seconds)


def minutes_of(room: Room, file: Path, *, alone: bool) -> Path:
    """The file of a room's conversations: rooms that share a name have their own names before its suffix."""
    name = file.name if alone or ROOM in file.name else f"{file.stem}.{ROOM}{file.suffix}"
    if room is HOLDEM:
        name = name.replace(CONNECTION, "0")  # its connections are no conversations
    return file.with_name(name.replace(ROOM, room.name))


@contextmanager
def _recorded(path: Path) -> Iterator[tuple[Record, Disk]]:
    """The dealer's record in a file, which ends with a whole line, and the disk below it. Raises OSError."""
    if mend(path):
        log().warning("the dealer's record ended in half a line", file=str(path))
    with open(path, "ab", buffering=0, opener=private) as file:
        record, disk = Record(Lines(file), log()), Disk(file.fileno(), log())
        try:
            yield record, disk
        finally:
            record.close()
            disk.close()


async def _drain(rooms: dict[str, Open], signals: asyncio.Queue[str], seconds: float) -> None:
    """No new games; running ones may end until the time is over or a second signal comes (ruling G4)."""
    told = log()
    told.info("closing", connected=sum(room.connected for room in rooms.values()), drain_seconds=seconds)
    for room in rooms.values():
        room.halt(final=False)
    ends = {asyncio.ensure_future(_empty(rooms)), asyncio.ensure_future(signals.get())}
    await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for end in ends:
        end.cancel()
    for room in rooms.values():
        room.halt(final=True)
    await _empty(rooms)
    told.info("closed")


async def _empty(rooms: dict[str, Open]) -> None:
    for room in rooms.values():
        await room.empty()


@contextmanager
def _signals() -> Iterator[asyncio.Queue[str]]:
    """The names of the signals that stop a server, as they come."""
    loop = asyncio.get_running_loop()
    found: asyncio.Queue[str] = asyncio.Queue()
    numbers = _stopping()
    for number in numbers:
        try:
            loop.add_signal_handler(number, found.put_nowait, number.name)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda got, _: loop.call_soon_threadsafe(found.put_nowait, signal.Signals(got).name))
    try:
        yield found
    finally:
        for number in numbers:
            with suppress(NotImplementedError):
                loop.remove_signal_handler(number)


def _stopping() -> list[signal.Signals]:
    """The signals that stop a server: SIGHUP where there is one, unless `nohup` has it ignored."""
    numbers = [signal.SIGTERM, signal.SIGINT]
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    return numbers


@contextmanager
def _faults_logged() -> Iterator[None]:
    """Log what the loop reports, and that no file descriptors are left, which it may not report.

    The connection on which something has raised is closed by the loop, and the others go on.
    """
    watch = DescriptorWatch(log())

    def report(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in EXHAUSTED:
            watch.exhausted()
        else:
            log().error("our own fault", told=context["message"], exc_info=error)

    asyncio.get_running_loop().set_exception_handler(report)
    try:
        yield
    finally:
        watch.close()


def _raise_file_limit() -> None:
    """As many connections as the system allows."""
    if sys.platform == "win32":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
