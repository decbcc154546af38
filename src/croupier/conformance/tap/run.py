"""Listens in on every conversation between clients and a house, tells it, and keeps it."""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from msgspec import Struct

from croupier.conformance.stop_signals import interrupted
from croupier.conformance.tap.connection import Closed, Dialogue, Ended, Heard, News, Opened, Passage
from croupier.conformance.tap.folder import Keeping, Scribe
from croupier.conformance.tap.outbox import Manner
from croupier.conformance.tap.pcap import Capture
from croupier.conformance.tap.relay import Relay, switchboard
from croupier.core.referee import HOUSE
from croupier.core.session import Address
from croupier.net.addresses import unheard

CLOSING = 2.0
"""So many seconds are given to connections that are closed when the tap ends."""


class Tapping(Struct, frozen=True, kw_only=True):
    """What is tapped, and how.

    `dialogue` opens a conversation of the room in which nothing was said yet, `scribe` writes them down; connections
    may belong `together`. The room's own `listener` hears the news first, and `reworded` is what a client is told
    instead of what the house says. `head` is set above every transcript. `transcripts` is the folder in which they are
    kept, `capture` the file for Wireshark.
    """

    room: str
    listen: Address
    target: Address
    dialogue: Callable[[], Dialogue]
    scribe: Callable[[IO[str]], Scribe]
    together: bool = False
    listener: Callable[[News], None] | None = None
    reworded: Callable[[Passage, bytes], bytes] = lambda _, data: data
    head: Mapping[str, str] = {}
    to_house: Manner = Manner()
    to_client: Manner = Manner()
    cut_after: int | None = None
    transcripts: Path | None = None
    capture: Path | None = None


async def tap(tapping: Tapping, announce: Callable[[Address], None], told: Callable[[News], None]) -> bool:
    """Relay until SIGINT or SIGTERM: whether nobody has broken the protocol.

    `announce` is told where it listens, `told` all that happens. Raises OSError on addresses and files that cannot be
    used.
    """
    broken = False
    failed: list[OSError] = []

    def hear(news: News) -> None:
        nonlocal broken
        broken |= bool(news.passage.conversation.faults)
        try:
            for listener in listeners:
                listener(news)
        except OSError as error:  # what cannot be kept must not spoil the conversation that is going on
            failed.append(error)
            end.set()
        news.passage.conversation.forget()

    with ExitStack() as stack, interrupted() as end:
        listeners = [told] if tapping.listener is None else [tapping.listener, told]
        if tapping.transcripts is not None:
            keeping = Keeping(
                tapping.transcripts, tapping.room, tapping.scribe, tapping.head, together=tapping.together
            )
            listeners.append(stack.enter_context(keeping))
        if tapping.capture is not None:
            file = stack.enter_context(tapping.capture.open("wb"))
            capture = Capture(file, time.time() - asyncio.get_running_loop().time())
            listeners.append(lambda news: _captured(capture, tapping.target, news))
        relay = Relay(
            tapping.target,
            tapping.dialogue,
            hear,
            to_house=tapping.to_house,
            to_client=tapping.to_client,
            cut_after=tapping.cut_after,
            reworded=tapping.reworded,
        )
        board = switchboard(relay, linger=CLOSING / 2, half_closed=True)
        try:
            announce(await board.listen(*tapping.listen))
        except OSError as error:
            raise unheard(tapping.listen, error) from error
        await end.wait()
        board.halt(final=True)
        await board.empty()
    if failed:
        raise failed[0]
    return not broken


def _captured(capture: Capture, target: Address, news: News) -> None:
    passage = news.passage
    match news:
        case Opened(at=at):
            capture.opened(passage.number, passage.address, target, at)
        case Heard(at=at, side=side, data=data):
            capture.said(passage.number, side, data, at)
        case Closed(at=at, side=side) if passage.reached or side != HOUSE:
            capture.closed(passage.number, side, at)
        case Ended():
            capture.ended(passage.number)
        case _:
            pass
