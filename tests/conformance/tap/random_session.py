"""A hold'em transcript harness whose traffic is also followed by the tap's checker."""

from collections.abc import Iterator
from io import StringIO

from croupier.conformance.conversation import Fault
from croupier.conformance.tap.connection import BytesRelayed, TappedConnection
from croupier.conformance.tap.follow_holdem import HoldemConnection
from croupier.conformance.tap.judge_exchange import ExchangeChecker
from croupier.conformance.tap.table_transcripts import HoldemTranscriptWriter
from croupier.core.http_transcript import TranscriptRequest, TranscriptResponse
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.transcript import Transcript
from croupier.web.holdem_conversation import HOST, sent_request
from tests.rooms.holdem.transcript_harness import InProcessDriver


class FollowedHarness(InProcessDriver):
    """A harness that follows all traffic. Concurrent requests use separate connections."""

    def __init__(self, transcript: Transcript, chop: int = 0) -> None:
        super().__init__(transcript, chop)
        self.checker = ExchangeChecker(transcript.head.get("dialect", "readme"))
        self.connections: list[TappedConnection] = []
        self.faults: list[Fault] = []
        self.body = StringIO()
        self.writer = HoldemTranscriptWriter(self.body)
        self._free: list[TappedConnection] = []
        self._size = chop

    def found(self, side: int) -> set[str]:
        """The clauses that one end has violated."""
        return {fault.verdict.violation.clause for fault in self.faults if fault.verdict.party == side}

    @property
    def hands(self) -> int:
        """The number of followed hands."""
        return sum(connection.conversation.games for connection in self.connections)

    def feed(self, connection: TappedConnection, side: int, data: bytes) -> None:
        """Process bytes of one end."""
        conversation = connection.conversation
        for piece in pieces(data, self._size):
            conversation.on_data(side, piece, self._loop.time())
            relayed = BytesRelayed(connection, self._loop.time(), side, piece, conversation.lines, conversation.faults)
            self.writer.add_entries(connection, relayed.entries)
            self.faults += conversation.faults
            conversation.forget()

    async def _exchange(self, user: str, transcript_request: TranscriptRequest) -> TranscriptResponse:
        connection = (
            self._free.pop() if self._free else TappedConnection(len(self.connections) + 1, None, self._opened(), 0.0)
        )
        if connection not in self.connections:
            self.connections.append(connection)
        self.feed(connection, CLIENT, sent_request(user, transcript_request).encode(HOST))
        response = await super()._exchange(user, transcript_request)
        self.feed(connection, HOUSE, response.data)
        self._free.append(connection)
        return response

    def _opened(self) -> HoldemConnection:
        return HoldemConnection(self.checker)


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    """Cut bytes into pieces of this size; 0 keeps them whole."""
    step = size or max(1, len(data))
    yield from (data[at : at + step] for at in range(0, len(data), step))
