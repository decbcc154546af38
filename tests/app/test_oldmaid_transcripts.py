"""Paper runs through real sockets: the table of Old Maid, its codec and the switchboard say what is on the paper."""

import asyncio
import re
import socket
import time
from collections.abc import Callable, Mapping
from functools import partial

import pytest

from croupier.core.json_transcript import play_json_transcript
from croupier.core.session import Peer
from croupier.core.transcript import Transcript, is_strict, parse_transcript
from croupier.rooms.oldmaid import TABLE_FULL
from croupier.rooms.oldmaid.wire import Wire
from tests.app.socket_harness import Opened, Socketed
from tests.net.raw_client import LOOPS, PATIENCE
from tests.rooms.oldmaid.tables import TABLE_PAPERS, house, settings

TIMELESS = [
    paper
    for paper in TABLE_PAPERS
    if "from" not in paper.head and {line.kind for line in paper.lines}.isdisjoint({"pass", "halted"})
]
papers = pytest.mark.parametrize("paper", TIMELESS, ids=lambda paper: paper.name)


class Tabled(Socketed):
    """A stage for a table behind a real socket. Where its peers come from is told as the paper has it."""

    def __init__(self, paper: Transcript, loop_factory: Callable[[], asyncio.AbstractEventLoop], chop: int = 0) -> None:
        self._chop = chop
        self._context = None
        self._peers = {}
        self._heard = {}
        self._facts = []
        self._ports: dict[Peer, int] = {}
        self._said = 0
        self._room = Opened(
            partial(house, paper),
            loop_factory,
            codec=partial(Wire, "table", strict=is_strict(paper), dialect=settings(paper).dialect),
            refusal=[TABLE_FULL],
        )

    def send(self, peer: str, data: bytes) -> None:
        for number, port in self._ports.items():
            data = data.replace(b'"port": %d' % (40_000 + number), b'"port": %d' % port)
        super().send(peer, data)
        self._said += len(data)
        end = time.monotonic() + PATIENCE
        while self._room.board.counts.bytes_received < self._said:  # who speaks first is heard first
            assert time.monotonic() < end, f"{peer} is not heard"
            time.sleep(0)

    def receive(self, peer: str, expected: re.Pattern[bytes]) -> Mapping[str, bytes]:
        message = super().receive(peer, expected)["message"].replace(b'["127.0.0.1",', b'["192.0.2.1",')
        for number, port in self._ports.items():
            message = message.replace(b",%d]" % port, b",%d]" % (40_000 + number))
        return {"message": message}

    def _line(self, name: str) -> tuple[Peer, socket.socket]:
        known = name in self._peers
        number, connection = super()._line(name)
        if not known:
            self._ports[number] = connection.getsockname()[1]
        return number, connection


@pytest.mark.parametrize("chop", [0, 1], ids=["whole", "byte-by-byte"])
@papers
def test_the_table_says_what_is_on_the_paper_through_a_socket(paper: Transcript, chop: int) -> None:
    with Tabled(paper, LOOPS.get("uvloop", asyncio.new_event_loop), chop) as stage:
        play_json_transcript(paper, stage)


@papers
def test_the_table_says_it_on_plain_asyncio(paper: Transcript) -> None:
    with Tabled(paper, asyncio.new_event_loop) as stage:
        play_json_transcript(paper, stage)


def test_a_paper_that_is_wrong_is_found_out_through_a_socket() -> None:
    paper = parse_transcript('title: Wrong\nclause: oldmaid-4.6\np> {"cmd": "draw"}\np< {"result": "ok"}\n', "wrong")
    with pytest.raises(AssertionError), Tabled(paper, asyncio.new_event_loop) as stage:
        play_json_transcript(paper, stage)
