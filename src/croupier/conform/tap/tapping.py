"""Listens in on every conversation between clients and a house, tells it, and keeps it."""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from msgspec import Struct

from croupier.conform.conversation import Conversation
from croupier.conform.interrupt import interrupted
from croupier.conform.tap.passage import Closed, Ended, Heard, News, Opened, Passage
from croupier.conform.tap.pcap import Capture
from croupier.conform.tap.relay import Relay, switchboard
from croupier.conform.tap.script import script
from croupier.conform.tap.way import Manner
from croupier.core.judge import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.talk import Address
from croupier.shell.opening import unheard

CLOSING = 2.0
"""So many seconds are given to connections that are closed when the tap ends."""


class Tapping(Struct, frozen=True, kw_only=True):
    """What is tapped, and how.

    `own` and `known` are what is known of the client's options, as a value and as lines of a transcript. `transcripts`
    is the folder in which every connection is kept as a transcript; `capture` is the file for Wireshark.
    """

    room: HouseRoom
    listen: Address
    target: Address
    own: Any = None
    known: Mapping[str, str] = {}
    strict: bool = False
    patience: float = 5.0
    to_house: Manner = Manner()
    to_client: Manner = Manner()
    cut_after: int | None = None
    transcripts: Path | None = None
    capture: Path | None = None

    def conversation(self) -> Conversation:
        """A conversation of this room, in which nothing was said yet."""
        return Conversation(self.room, self.own, strict=self.strict, patience=self.patience)


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

    with ExitStack() as stack, interrupted() as end:
        listeners = [told]
        if tapping.transcripts is not None:
            tapping.transcripts.mkdir(parents=True, exist_ok=True)
            listeners.append(_transcripts(tapping, tapping.transcripts))
        if tapping.capture is not None:
            file = stack.enter_context(tapping.capture.open("wb"))
            capture = Capture(file, time.time() - asyncio.get_running_loop().time())
            listeners.append(lambda news: _captured(capture, tapping.target, news))
        relay = Relay(
            tapping.target,
            tapping.conversation,
            hear,
            to_house=tapping.to_house,
            to_client=tapping.to_client,
            cut_after=tapping.cut_after,
        )
        board = switchboard(relay, linger=CLOSING / 2)
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


def _transcripts(tapping: Tapping, folder: Path) -> Callable[[News], None]:
    """What writes a connection down when it has ended, as `ROOM-NUMBER.txt`."""

    def write(news: News) -> None:
        if isinstance(news, Ended):
            passage = news.passage
            (folder / f"{tapping.room.name}-{passage.number:04}.txt").write_text(transcript(tapping, passage))

    return write


def transcript(tapping: Tapping, passage: Passage) -> str:
    """A connection as a transcript."""
    title = f"Connection {passage.number}{f' ({passage.note})' if passage.note else ''}"
    head = {**tapping.known, **({"strict": "yes"} if tapping.strict else {})}
    return script(tapping.conversation(), passage.conversation, passage.closed, title, head)


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
