"""Server process: opens the configured rooms, runs them until a signal, then shuts them down.

Also sets up logging, TLS, the dealer's record, conversation logs and the metrics server.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from croupier.app.cluster_node import cluster_node
from croupier.app.config import RoomConfig, ServerConfig, is_divided
from croupier.app.monitoring import export_figures
from croupier.app.open_rooms import open_room
from croupier.app.readiness import Readiness
from croupier.app.room_context import OpenRoom, RoomContext
from croupier.app.server_process import ServerProcess
from croupier.app.tracing import span_observers, tracing
from croupier.app.web_app import admin_token, bind_web_socket, has_web_app, room_entries, serve_web, web_url
from croupier.core.bot_files import BotFile
from croupier.core.room import HouseRoom, Room
from croupier.core.session import Address, Observer
from croupier.logs import configure, get_logger
from croupier.net.addresses import format_address
from croupier.net.descriptors import EXHAUSTED_ERRNOS, DescriptorMonitor, raise_file_limit
from croupier.net.listening_socket import BoundSocket
from croupier.observers.bot_log import BotLog
from croupier.observers.conversation_log import CONNECTION_PLACEHOLDER, ConversationLog
from croupier.observers.deal_file import DealFile, remove_partial_line
from croupier.observers.deal_recorder import DealRecorder
from croupier.observers.line_writer import open_lines
from croupier.observers.message_trace import MessageTrace
from croupier.observers.referee_log import referee_log
from croupier.recording.promises import FileSync, Promises
from croupier.recording.shared_store import SharedStore
from croupier.rooms.holdem import ROOM as HOLDEM

if TYPE_CHECKING:  # imported at run time only by nodes
    from croupier.cluster.node import Node

ROOM_PLACEHOLDER = "{room}"
"""Placeholder for the room's name in the file name given with --log."""


class OpenServer(NamedTuple):
    """A server that is open: the first address of each room by its name, and the URL of the web app if it has one."""

    addresses: Mapping[str, Address]
    web_url: str | None


async def serve(
    room_configs: Sequence[RoomConfig],
    config: ServerConfig,
    announce: Callable[[str], None],
    alongside: Callable[[OpenServer], AbstractAsyncContextManager[object]] = lambda _: nullcontext(),
    process: ServerProcess = ServerProcess(),
) -> None:
    """Open rooms and run them until SIGTERM, SIGINT or SIGHUP, then shut them down.

    `announce` is called with one line for each address that is ready. Then the context of `alongside` is entered; it is
    left when the shutdown starts. The first signal starts the shutdown; running games have `drain_seconds` to finish,
    and a second signal ends them at once. `process` is the part of the server that this process is.

    Raises ValueError if a setting is invalid, OSError if a file or an address cannot be used.
    """
    configure(config.log_level)
    config.check()
    raise_file_limit()
    is_only_room = len(room_configs) == 1
    room_configs, config = process.own_configs(room_configs, config)
    tls_context = config.tls_context()
    rooms: dict[str, OpenRoom] = {}
    node: Node | None = None
    room_addresses: dict[str, Address] = {}
    lines: list[str] = []
    shared_store = SharedStore(config.store)
    async with AsyncExitStack() as stack:
        web_socket, token = await _prepare_web_app(room_configs, config, stack)
        signals = stack.enter_context(process.stop_requests())
        stack.enter_context(_log_loop_errors())
        deal_output = (
            stack.enter_context(_open_deal_file(config.deals, is_shared=process.shares_files)) if config.deals else None
        )
        readiness = Readiness([room_config.room.name for room_config in room_configs], rooms)
        if config.metrics_port is not None:
            stack.enter_context(
                export_figures(readiness, rooms, shared_store, deal_output and deal_output[1].sync_times, lambda: node)
            )
        metrics = await stack.enter_async_context(process.monitored(config, readiness))
        tracer = await stack.enter_async_context(tracing(config.trace_endpoint, shared_store, get_logger()))
        node = await stack.enter_async_context(cluster_node(room_configs, config, rooms, get_logger()))
        for room_config in room_configs:
            name = room_config.room.name
            observers, promises = _room_observers(
                room_config, config, stack, deal_output, process, is_only_room=is_only_room
            )
            context = RoomContext(
                log=get_logger(room=name),
                observers=[*observers, *span_observers(tracer, room_config.room)],
                tls_context=tls_context,
                shared_store=shared_store,
                exits=stack,
                promises=promises,
                counts=process.connection_counts(room_config.room, config.limits),
                first_peer=process.first_peer,
                tracer=tracer,
                node=node if is_divided(room_config, config) else None,
            )
            await process.wait_to_open(room_config.room)
            rooms[name], addresses = await open_room(room_config, config, context)
            room_addresses[name] = addresses[0]
            suffix = "" if tls_context is None else " (TLS)"
            lines += [f"{name} is open at {format_address(address)}{suffix}" for address in addresses]
        if metrics:
            lines.append(f"metrics at {metrics}")
        web, url = None, None
        if web_socket is not None:
            entries = room_entries(config, room_configs, rooms, room_addresses, node)
            web = await stack.enter_async_context(
                serve_web(
                    config,
                    web_socket,
                    entries,
                    shared_store,
                    tls_context=tls_context,
                    token=token,
                    drain=partial(signals.put_nowait, "drain"),
                )
            )
            url = web_url(config, web_socket)
            lines.insert(0, f"web at {url}")
        for line in lines:
            announce(line)
        async with alongside(OpenServer(room_addresses, url)):
            request = await signals.get()
        readiness.is_closing = True
        await process.prepare_to_stop(request, rooms.values())
        if web is not None:
            web.halt()
        await _drain(rooms, signals, config.drain_seconds)


async def _prepare_web_app(
    room_configs: Sequence[RoomConfig], config: ServerConfig, stack: AsyncExitStack
) -> tuple[BoundSocket | None, str | None]:
    """Bind the socket of the web app and read the token of its administration; None for what there is not."""
    if has_web_app(config, room_configs):
        token = admin_token(config)
        return stack.enter_context(await bind_web_socket(config)), token
    if config.admin_token_file is not None:
        raise ValueError("found --admin-token-file without a web app; allowed: both")
    if config.tournament is not None:
        raise ValueError("found --tournament without a web app; allowed: both")
    return None, None


def _room_observers(
    room_config: RoomConfig,
    config: ServerConfig,
    stack: AsyncExitStack,
    deal_output: tuple[DealFile, FileSync] | None,
    process: ServerProcess,
    *,
    is_only_room: bool,
) -> tuple[Sequence[Observer], Promises | None]:
    """Return the observers of a room, and its dealer's promises if they are recorded."""
    room, log = room_config.room, get_logger(room=room_config.room.name)
    observers: list[Observer] = []
    promises = None
    if deal_output is not None:
        deal_file, file_sync = deal_output
        commands = room.commands if isinstance(room, HouseRoom) else None
        deals = DealRecorder(room.name, deal_file, room.dealt_cards, room.deck_count(room_config.settings), commands)
        promises = Promises(deals, file_sync)
        observers.append(deals)
    if config.log is not None:
        path = conversation_log_path(room, config.log, alone=is_only_room)
        formatter = room.message_formatter(room_config.settings)
        conversation_log = ConversationLog(path, formatter, is_shared=process.shares_files)
        stack.callback(conversation_log.close)
        observers.append(conversation_log)
    if config.referee and isinstance(room, HouseRoom):
        observers.append(referee_log(room, room_config.settings, log, strict=config.strict))
    bot = getattr(room_config.settings, "bot", "")
    if BotFile.parse(bot):  # built-in bots do not fail
        observers.append(BotLog(bot, log))
    if config.log_level == "debug":
        observers.append(MessageTrace(log))
    return observers, promises


def conversation_log_path(room: Room, file: Path, *, alone: bool) -> Path:
    """Return the file name of a room's conversation log.

    If several rooms are open and `file` has no {room} placeholder, the room's name is inserted before the suffix:
    talk.txt becomes talk.kuhn.txt.
    """
    name = file.name if alone or ROOM_PLACEHOLDER in file.name else f"{file.stem}.{ROOM_PLACEHOLDER}{file.suffix}"
    if room is HOLDEM:
        name = name.replace(CONNECTION_PLACEHOLDER, "0")  # an HTTP connection is not a conversation
    return file.with_name(name.replace(ROOM_PLACEHOLDER, room.name))


@contextmanager
def _open_deal_file(path: Path, *, is_shared: bool) -> Iterator[tuple[DealFile, FileSync]]:
    """Open the file of the dealer's record for appending, after repairing an incomplete last line. Raises OSError.

    A file that processes share is repaired when the next line is written.
    """
    if not is_shared and remove_partial_line(path):
        get_logger().warning("dealer's record ended in an incomplete line", file=str(path))
    writer = open_lines(path, is_shared=is_shared)
    deal_file, file_sync = DealFile(writer, get_logger()), FileSync(writer.fileno(), get_logger())
    try:
        yield deal_file, file_sync
    finally:
        deal_file.close()
        file_sync.close()
        writer.close()


def prepare_shared_files(room_configs: Sequence[RoomConfig], config: ServerConfig) -> None:
    """Repair the dealer's record and empty the conversation logs, for several processes. Raises OSError."""
    if config.deals is not None:
        with _open_deal_file(config.deals, is_shared=False):
            pass
    if config.log is not None:
        for room_config in room_configs:
            path = conversation_log_path(room_config.room, config.log, alone=len(room_configs) == 1)
            ConversationLog(path).close()


async def _drain(rooms: dict[str, OpenRoom], signals: asyncio.Queue[str], seconds: float) -> None:
    """Shut down: start no new games, wait for the running ones, then close (ruling G4).

    The wait ends after `seconds` or at a second signal.
    """
    log = get_logger()
    log.info("closing", connected=sum(room.connection_count for room in rooms.values()), drain_seconds=seconds)
    for room in rooms.values():
        room.halt(final=False)
    waiters = {asyncio.ensure_future(_wait_closed(rooms)), asyncio.ensure_future(signals.get())}
    await asyncio.wait(waiters, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for waiter in waiters:
        waiter.cancel()
    for room in rooms.values():
        room.halt(final=True)
    await _wait_closed(rooms)
    log.info("closed")


async def _wait_closed(rooms: dict[str, OpenRoom]) -> None:
    for room in rooms.values():
        await room.wait_drained()


@contextmanager
def _log_loop_errors() -> Iterator[None]:
    """Log errors that reach the event loop's exception handler.

    The transport closes the connection whose callback raised; other connections are not affected. Running out of file
    descriptors is reported by a DescriptorMonitor, because asyncio does not report it in every case.
    """
    monitor = DescriptorMonitor(get_logger())

    def report(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in EXHAUSTED_ERRNOS:
            monitor.report_exhausted()
        else:
            get_logger().error("internal error", detail=context["message"], exc_info=error)

    asyncio.get_running_loop().set_exception_handler(report)
    try:
        yield
    finally:
        monitor.close()
