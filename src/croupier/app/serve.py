"""Puts rooms together and keeps them open: halls, switchboards, taps, metrics, signals."""

import asyncio
import signal
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from croupier.app.open_rooms import OpenRoom, RoomConfig, RoomContext, ServerConfig, open_room
from croupier.core.room import HouseRoom, Room
from croupier.core.session import Observer
from croupier.logs import configure, get_logger
from croupier.net.addresses import format_address, listen_error
from croupier.net.client_addresses import parse_trusted_proxies
from croupier.net.descriptors import EXHAUSTED_ERRNOS, DescriptorMonitor
from croupier.observers.conversation_log import CONNECTION_PLACEHOLDER, ConversationLog
from croupier.observers.deal_file import DealFile, remove_partial_line
from croupier.observers.deal_recorder import DealRecorder
from croupier.observers.line_writer import LineWriter
from croupier.observers.message_trace import MessageTrace
from croupier.observers.private_files import private_opener
from croupier.recording.promises import FileSync, Promises
from croupier.recording.shared_store import SharedStore
from croupier.rooms.holdem import ROOM as HOLDEM

ROOM_PLACEHOLDER = "{room}"
"""What stands for the name of the room in the name of the file of --log."""


def make_tls_context(config: ServerConfig) -> ssl.SSLContext | None:
    """The TLS of a server, None without. Raises ValueError when only half of it is given, and on bad files."""
    if config.tls_cert is None and config.tls_key is None:
        if config.tls_client_ca is not None:
            raise ValueError("found --tls-client-ca without --tls-cert; allowed: both, for a server that speaks TLS")
        return None
    if config.tls_cert is None or config.tls_key is None:
        raise ValueError("found only one of --tls-cert and --tls-key; allowed: both, or neither")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(config.tls_cert, config.tls_key)
    except OSError as error:  # which a bad certificate is, too
        found = f"found no certificate in {config.tls_cert} that fits the key in {config.tls_key}"
        raise ValueError(f"{found} ({error.strerror}); allowed: two PEM files") from None
    if config.tls_client_ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        try:
            context.load_verify_locations(config.tls_client_ca)
        except OSError as error:
            found = f"found no certificate of an authority in {config.tls_client_ca}"
            raise ValueError(f"{found} ({error.strerror}); allowed: a PEM file") from None
    return context


def check_config(config: ServerConfig) -> None:
    """Raise ValueError on settings that make no sense, alone or together."""
    for name in ("idle_seconds", "move_seconds"):
        if (found := getattr(config, name)) is not None and not found > 0:
            raise ValueError(f"found --{name.replace('_', '-')} {found:g}; allowed: more than 0")
    for name in ("max_connections", "max_per_address", "drain_seconds"):
        if not (found := getattr(config, name)) >= 0:
            raise ValueError(f"found --{name.replace('_', '-')} {found:g}; allowed: 0 or more")
    parse_trusted_proxies(config.trusted_proxies)
    if config.proxy_protocol and not config.trusted_proxies:
        raise ValueError("found --proxy-protocol without --trusted-proxies; allowed: both, or neither")
    if config.accounts is not None and config.journal not in {None, "durable"}:
        raise ValueError(f"found --accounts with --journal {config.journal}; allowed: --journal durable")
    if config.accounts == "certificate" and config.tls_client_ca is None:
        raise ValueError("found --accounts certificate without --tls-client-ca; allowed: both")


@asynccontextmanager
async def _serve_metrics(
    hosting: ServerConfig, names: Sequence[str], rooms: dict[str, OpenRoom]
) -> AsyncIterator[str | None]:
    """Metrics and /healthz, while the rooms are open: the URL of the metrics, None without."""
    if hosting.metrics_port is None:
        yield None
        return
    from prometheus_client import REGISTRY, make_asgi_app

    from croupier.app.health import MonitoringApp
    from croupier.http.limits import MONITORING_LIMITS
    from croupier.http.server import HttpServer
    from croupier.observers.counters import RoomCounters
    from croupier.observers.metrics import MetricsCollector

    meter = MetricsCollector(lambda: [(name, room.counts, room.connection_count) for name, room in rooms.items()])
    listener = HttpServer(MonitoringApp(make_asgi_app(), names, rooms), MONITORING_LIMITS, RoomCounters())
    at = (hosting.metrics_host, hosting.metrics_port)
    try:
        address = await listener.listen(*at)
    except OSError as error:
        raise listen_error(at, error) from error
    REGISTRY.register(meter)
    try:
        yield f"http://{format_address(address)}/metrics"
    finally:
        REGISTRY.unregister(meter)
        listener.close()
        await listener.drain(MONITORING_LIMITS.close_timeout)


async def serve(room_configs: Sequence[RoomConfig], config: ServerConfig, announce: Callable[[str], None]) -> None:
    """Open rooms, and keep them open until a signal stops them. `announce` gets a line for each address that is ready.

    Raises ValueError on settings that make no sense and OSError on files and addresses that cannot be used.
    """
    configure(config.log_level)
    check_config(config)
    _raise_file_limit()
    context = make_tls_context(config)
    rooms: dict[str, OpenRoom] = {}
    shelf = SharedStore(config.store)
    async with AsyncExitStack() as stack:
        signals = stack.enter_context(_stop_signal_queue())
        stack.enter_context(_log_loop_errors())
        kept = stack.enter_context(_open_deal_file(config.deals)) if config.deals else None
        names = [opening.room.name for opening in room_configs]
        metrics = await stack.enter_async_context(_serve_metrics(config, names, rooms))
        for opening in room_configs:
            room = opening.room
            told = get_logger(room=room.name)
            taps: list[Observer] = []
            promises = None
            if kept is not None:
                record, disk = kept
                done = room.commands if isinstance(room, HouseRoom) else None
                deals = DealRecorder(room.name, record, room.dealt_cards, room.deck_count(opening.settings), done)
                promises = Promises(deals, disk)
                taps.append(deals)
            if config.log is not None:
                path = conversation_log_path(room, config.log, alone=len(room_configs) == 1)
                minutes = ConversationLog(path, room.message_formatter(opening.settings))
                stack.callback(minutes.close)
                taps.append(minutes)
            if config.log_level == "debug":
                taps.append(MessageTrace(told))
            fittings = RoomContext(told, taps, context, shelf, promises)
            rooms[room.name], addresses = await open_room(opening, config, fittings)
            for address in addresses:
                announce(f"{room.name} is open at {format_address(address)}{' (TLS)' if context else ''}")
        if metrics:
            announce(f"metrics at {metrics}")
        await signals.get()
        await _drain(rooms, signals, config.drain_seconds)


def conversation_log_path(room: Room, file: Path, *, alone: bool) -> Path:
    """The file of a room's conversations: rooms that share a name have their own names before its suffix."""
    name = file.name if alone or ROOM_PLACEHOLDER in file.name else f"{file.stem}.{ROOM_PLACEHOLDER}{file.suffix}"
    if room is HOLDEM:
        name = name.replace(CONNECTION_PLACEHOLDER, "0")  # its connections are no conversations
    return file.with_name(name.replace(ROOM_PLACEHOLDER, room.name))


@contextmanager
def _open_deal_file(path: Path) -> Iterator[tuple[DealFile, FileSync]]:
    """The dealer's record in a file, which ends with a whole line, and the disk below it. Raises OSError."""
    if remove_partial_line(path):
        get_logger().warning("the dealer's record ended in half a line", file=str(path))
    with open(path, "ab", buffering=0, opener=private_opener) as file:
        record, disk = DealFile(LineWriter(file), get_logger()), FileSync(file.fileno(), get_logger())
        try:
            yield record, disk
        finally:
            record.close()
            disk.close()


async def _drain(rooms: dict[str, OpenRoom], signals: asyncio.Queue[str], seconds: float) -> None:
    """No new games; running ones may end until the time is over or a second signal comes (ruling G4)."""
    told = get_logger()
    told.info("closing", connected=sum(room.connection_count for room in rooms.values()), drain_seconds=seconds)
    for room in rooms.values():
        room.halt(final=False)
    ends = {asyncio.ensure_future(_wait_closed(rooms)), asyncio.ensure_future(signals.get())}
    await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for end in ends:
        end.cancel()
    for room in rooms.values():
        room.halt(final=True)
    await _wait_closed(rooms)
    told.info("closed")


async def _wait_closed(rooms: dict[str, OpenRoom]) -> None:
    for room in rooms.values():
        await room.wait_drained()


@contextmanager
def _stop_signal_queue() -> Iterator[asyncio.Queue[str]]:
    """The names of the signals that stop a server, as they come."""
    loop = asyncio.get_running_loop()
    found: asyncio.Queue[str] = asyncio.Queue()
    numbers = _stop_signals()
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


def _stop_signals() -> list[signal.Signals]:
    """The signals that stop a server: SIGHUP where there is one, unless `nohup` has it ignored."""
    numbers = [signal.SIGTERM, signal.SIGINT]
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    return numbers


@contextmanager
def _log_loop_errors() -> Iterator[None]:
    """Log what the loop reports, and that no file descriptors are left, which it may not report.

    The connection on which something has raised is closed by the loop, and the others go on.
    """
    watch = DescriptorMonitor(get_logger())

    def report(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in EXHAUSTED_ERRNOS:
            watch.report_exhausted()
        else:
            get_logger().error("our own fault", told=context["message"], exc_info=error)

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
