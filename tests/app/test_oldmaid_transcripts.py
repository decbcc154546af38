"""Old Maid transcripts over real sockets: table, codec and endpoint together."""

import asyncio
import re
import socket
from collections.abc import Callable, Mapping
from functools import partial

import pytest

from croupier.core.session import Peer
from croupier.core.transcript import Transcript, is_strict, parse_transcript
from croupier.replay.transcript_table import make_table, table_settings
from croupier.rooms.oldmaid import TABLE_FULL
from croupier.rooms.oldmaid.wire import Wire
from tests.app.socket_harness import ServerThread, SocketHarness
from tests.net.raw_client import LOOPS
from tests.rooms.oldmaid.tables import TABLE_TRANSCRIPTS
from tests.sampling import extended
from tests.transcript_drivers import play_json_transcript

TRANSCRIPTS = [
    transcript
    for transcript in TABLE_TRANSCRIPTS
    if "from" not in transcript.head and {line.kind for line in transcript.lines}.isdisjoint({"pass", "halted"})
]
transcripts = pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda transcript: transcript.name)


class TableHarness(SocketHarness):
    """Plays a transcript to a table over a real socket, with the addresses in the transcript for those of the peers."""

    def __init__(
        self, transcript: Transcript, loop_factory: Callable[[], asyncio.AbstractEventLoop], chunk_size: int = 0
    ) -> None:
        self._chunk_size = chunk_size
        self._context = None
        self._peers = {}
        self._received = {}
        self._unmatched = []
        self._ports: dict[Peer, int] = {}
        self._sent_bytes = 0
        self._room = ServerThread(
            partial(make_table, transcript),
            loop_factory,
            codec_factory=partial(
                Wire, "table", strict=is_strict(transcript), dialect=table_settings(transcript).dialect
            ),
            refusal=[TABLE_FULL],
        )

    def send(self, peer: str, data: bytes) -> None:
        real = {b'"port": %d' % (40_000 + number): b'"port": %d' % port for number, port in self._ports.items()}
        super().send(peer, re.sub(rb'"port": \d+', lambda port: real.get(port[0], port[0]), data))
        self._wait_until_received()  # keep the order of messages on different connections

    def receive(self, peer: str, expected: re.Pattern[bytes]) -> Mapping[str, bytes]:
        message = super().receive(peer, expected)["message"].replace(b'["127.0.0.1",', b'["192.0.2.1",')
        written = {b",%d]" % port: b",%d]" % (40_000 + number) for number, port in self._ports.items()}
        return {"message": re.sub(rb",\d+\]", lambda port: written.get(port[0], port[0]), message)}

    def _connection(self, name: str) -> tuple[Peer, socket.socket]:
        is_known = name in self._peers
        number, connection = super()._connection(name)
        if not is_known:
            self._ports[number] = connection.getsockname()[1]
        return number, connection


@pytest.mark.parametrize("chunk_size", extended([0, 1], 2), ids=["whole", "byte-by-byte"])
@transcripts
def test_table_follows_the_transcript_over_a_socket(transcript: Transcript, chunk_size: int) -> None:
    with TableHarness(transcript, LOOPS.get("uvloop", asyncio.new_event_loop), chunk_size) as harness:
        play_json_transcript(transcript, harness)


@transcripts
@pytest.mark.extended
def test_table_follows_the_transcript_on_asyncio(transcript: Transcript) -> None:
    with TableHarness(transcript, asyncio.new_event_loop) as harness:
        play_json_transcript(transcript, harness)


def test_wrong_transcript_fails() -> None:
    transcript = parse_transcript(
        'title: Wrong\nclause: oldmaid-4.6\np> {"cmd": "draw"}\np< {"result": "ok"}\n', "wrong"
    )
    with pytest.raises(AssertionError), TableHarness(transcript, asyncio.new_event_loop) as harness:
        play_json_transcript(transcript, harness)
