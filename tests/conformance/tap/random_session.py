"""A stage for papers about hold'em on which every byte of both ends is overheard."""

from collections.abc import Iterator
from io import StringIO

from croupier.conformance.conversation import Fault
from croupier.conformance.proxy.follow_exchange import ExchangeChecker
from croupier.conformance.proxy.follow_holdem import HoldemConnection
from croupier.conformance.proxy.transcript_writer import HoldemTranscriptWriter
from croupier.conformance.tap.connection import TappedConnection
from croupier.core.http_transcript import TranscriptRequest, TranscriptResponse
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.transcript import Transcript
from tests.rooms.holdem.transcript_harness import InProcessDriver, request_headers


def request(user: str, ask: TranscriptRequest) -> bytes:
    """The bytes of a request."""
    headers = request_headers(user, ask)
    if ask.body:
        headers["content-length"] = str(len(ask.body))
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{ask.method} {ask.path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + ask.body


def answer(heard: TranscriptResponse) -> bytes:
    """The bytes of an answer."""
    headers = heard.headers if "content-length" in heard.headers else {**heard.headers, "transfer-encoding": "chunked"}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    body = heard.body
    if "content-length" not in heard.headers and heard.status != 304:
        body = (b"%x\r\n%s\r\n" % (len(body), body) if body else b"") + b"0\r\n\r\n"
    return f"HTTP/1.1 {heard.status} Told\r\n{head}\r\n".encode("latin-1") + body


class Overheard(InProcessDriver):
    """See `InProcessDriver`. Requests that are answered at the same time are on connections of their own."""

    def __init__(self, paper: Transcript, chop: int = 0) -> None:
        super().__init__(paper, chop)
        self.exchanges = ExchangeChecker(paper.head.get("dialect", "readme"))
        self.passages: list[TappedConnection] = []
        self.faults: list[Fault] = []
        self.body = StringIO()
        self.papers = HoldemTranscriptWriter(self.body)
        self._free: list[TappedConnection] = []
        self._size = chop

    def found(self, side: int) -> set[str]:
        """The clauses that one end has broken."""
        return {fault.verdict.violation.clause for fault in self.faults if fault.verdict.end == side}

    @property
    def hands(self) -> int:
        """How many hands were followed."""
        return sum(passage.conversation.games for passage in self.passages)

    def feed(self, passage: TappedConnection, side: int, data: bytes) -> None:
        """One end has sent bytes."""
        conversation = passage.conversation
        for piece in pieces(data, self._size):
            conversation.on_data(side, piece, self._loop.time())
            self.papers.add_lines(passage, [*conversation.lines], [*conversation.faults])
            self.faults += conversation.faults
            conversation.forget()

    async def _exchange(self, user: str, ask: TranscriptRequest) -> TranscriptResponse:
        passage = (
            self._free.pop() if self._free else TappedConnection(len(self.passages) + 1, None, self._opened(), 0.0)
        )
        if passage not in self.passages:
            self.passages.append(passage)
        self.feed(passage, CLIENT, request(user, ask))
        heard = await super()._exchange(user, ask)
        self.feed(passage, HOUSE, answer(heard))
        self._free.append(passage)
        return heard

    def _opened(self) -> HoldemConnection:
        return HoldemConnection(self.exchanges)


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    """Bytes, so many at a time; 0 is whole."""
    step = size or max(1, len(data))
    yield from (data[at : at + step] for at in range(0, len(data), step))
