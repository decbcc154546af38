"""Listens in on every conversation between clients and a house, tells it, and keeps it."""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from msgspec import Struct

from croupier.conformance.stop_signals import stop_on_signals
from croupier.conformance.tap.connection import (
    BytesRelayed,
    ConnectionEnded,
    ConnectionOpened,
    ConversationMonitor,
    SideClosed,
    TapEvent,
    TappedConnection,
)
from croupier.conformance.tap.folder import TranscriptFolder, TranscriptWriter
from croupier.conformance.tap.outbox import Delivery
from croupier.conformance.tap.pcap import Capture
from croupier.conformance.tap.relay import Relay, relay_endpoint
from croupier.core.referee import HOUSE
from croupier.core.session import Address
from croupier.net.addresses import listen_error

CLOSE_TIMEOUT_SECONDS = 2.0
"""So many seconds are given to connections that are closed when the tap ends."""


class TapConfig(Struct, frozen=True, kw_only=True):
    """What is tapped, and how.

    `dialogue` opens a conversation of the room in which nothing was said yet, `scribe` writes them down; connections
    may belong `together`. The room's own `listener` hears the news first, and `reworded` is what a client is told
    instead of what the house says. `head` is set above every transcript. `transcripts` is the folder in which they are
    kept, `capture` the file for Wireshark.
    """

    room: str
    listen: Address
    target: Address
    new_monitor: Callable[[], ConversationMonitor]
    new_writer: Callable[[IO[str]], TranscriptWriter]
    is_merged: bool = False
    listener: Callable[[TapEvent], None] | None = None
    rewrite: Callable[[TappedConnection, bytes], bytes] = lambda _, data: data
    head: Mapping[str, str] = {}
    to_house: Delivery = Delivery()
    to_client: Delivery = Delivery()
    cut_after: int | None = None
    transcript_folder: Path | None = None
    capture_file: Path | None = None


async def run_tap(config: TapConfig, announce: Callable[[Address], None], on_event: Callable[[TapEvent], None]) -> bool:
    """Relay until SIGINT or SIGTERM: whether nobody has broken the protocol.

    `announce` is told where it listens, `told` all that happens. Raises OSError on addresses and files that cannot be
    used.
    """
    broken = False
    failed: list[OSError] = []

    def hear(news: TapEvent) -> None:
        nonlocal broken
        broken |= bool(news.connection.conversation.faults)
        try:
            for listener in listeners:
                listener(news)
        except OSError as error:  # what cannot be kept must not spoil the conversation that is going on
            failed.append(error)
            end.set()
        news.connection.conversation.forget()

    with ExitStack() as stack, stop_on_signals() as end:
        listeners = [on_event] if config.listener is None else [config.listener, on_event]
        if config.transcript_folder is not None:
            keeping = TranscriptFolder(
                config.transcript_folder, config.room, config.new_writer, config.head, is_merged=config.is_merged
            )
            listeners.append(stack.enter_context(keeping))
        if config.capture_file is not None:
            file = stack.enter_context(config.capture_file.open("wb"))
            capture = Capture(file, time.time() - asyncio.get_running_loop().time())
            listeners.append(lambda news: _captured(capture, config.target, news))
        relay = Relay(
            config.target,
            config.new_monitor,
            hear,
            to_house=config.to_house,
            to_client=config.to_client,
            cut_after=config.cut_after,
            rewrite=config.rewrite,
        )
        board = relay_endpoint(relay, close_timeout=CLOSE_TIMEOUT_SECONDS / 2, half_closed=True)
        try:
            announce(await board.listen(*config.listen))
        except OSError as error:
            raise listen_error(config.listen, error) from error
        await end.wait()
        board.halt(final=True)
        await board.wait_drained()
    if failed:
        raise failed[0]
    return not broken


def _captured(capture: Capture, target: Address, news: TapEvent) -> None:
    passage = news.connection
    match news:
        case ConnectionOpened(at=at):
            capture.add_connection(passage.number, passage.address, target, at)
        case BytesRelayed(at=at, side=side, data=data):
            capture.add_data(passage.number, side, data, at)
        case SideClosed(at=at, side=side) if passage.has_reached_target or side != HOUSE:
            capture.add_close(passage.number, side, at)
        case ConnectionEnded():
            capture.finish_connection(passage.number)
        case _:
            pass
