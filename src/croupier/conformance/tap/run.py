"""Runs a tap: relays all conversations between clients and a house, and reports and records them."""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct

from croupier.conformance.channel.delivery import Delivery
from croupier.conformance.tap.connection import (
    BytesRelayed,
    ConnectionEnded,
    ConnectionOpened,
    SideClosed,
    TapEvent,
)
from croupier.conformance.tap.pcap import Capture
from croupier.conformance.tap.relay import Relay, relay_endpoint
from croupier.conformance.tap.transcript import Follower, TranscriptFolder
from croupier.core.referee import HOUSE
from croupier.core.session import Address
from croupier.net.stop_signals import stop_signal_event

CLOSE_TIMEOUT_SECONDS = 2.0
"""How long connections may take to close when the tap ends."""


class TapConfig(Struct, frozen=True, kw_only=True):
    """The configuration of a tap.

    `head` is written at the top of every transcript. `transcript_folder` is where transcripts are kept, `capture_file`
    the pcap file.
    """

    room: str
    listen: Address
    target: Address
    follower: Follower
    head: Mapping[str, str] = {}
    to_house: Delivery = Delivery()
    to_client: Delivery = Delivery()
    cut_after: int | None = None
    transcript_folder: Path | None = None
    capture_file: Path | None = None


async def run_tap(config: TapConfig, announce: Callable[[Address], None], on_event: Callable[[TapEvent], None]) -> bool:
    """Relay until SIGINT or SIGTERM; return whether nothing has broken the protocol.

    `announce` receives the address on which the tap listens, `on_event` all events. Raises OSError on addresses and
    files that cannot be used.
    """
    broken = False
    failed: list[OSError] = []

    def dispatch(event: TapEvent) -> None:
        nonlocal broken
        broken |= bool(event.connection.conversation.faults)
        try:
            for listener in listeners:
                listener(event)
        except OSError as error:  # a full disk must not disturb the conversation
            failed.append(error)
            stop.set()
        event.connection.conversation.forget()

    with ExitStack() as stack, stop_signal_event() as stop:
        listeners = [on_event]
        if config.transcript_folder is not None:
            folder = TranscriptFolder(config.transcript_folder, config.room, config.follower, config.head)
            listeners.append(stack.enter_context(folder))
        if config.capture_file is not None:
            file = stack.enter_context(config.capture_file.open("wb"))
            capture = Capture(file, time.time() - asyncio.get_running_loop().time())
            listeners.append(lambda event: _capture_event(capture, config.target, event))
        relay = Relay(
            config.target,
            config.follower.new_monitor,
            dispatch,
            to_house=config.to_house,
            to_client=config.to_client,
            cut_after=config.cut_after,
        )
        endpoint = relay_endpoint(relay, CLOSE_TIMEOUT_SECONDS / 2)
        announce(await endpoint.listen(*config.listen))
        await stop.wait()
        endpoint.halt(final=True)
        await endpoint.wait_drained()
    if failed:
        raise failed[0]
    return not broken


def _capture_event(capture: Capture, target: Address, event: TapEvent) -> None:
    connection = event.connection
    match event:
        case ConnectionOpened(at=at):
            capture.add_connection(connection.number, connection.address, target, at)
        case BytesRelayed(at=at, side=side, data=data):
            capture.add_data(connection.number, side, data, at)
        case SideClosed(at=at, side=side) if connection.has_reached_target or side != HOUSE:
            capture.add_close(connection.number, side, at)
        case ConnectionEnded():
            capture.finish_connection(connection.number)
        case _:
            pass
