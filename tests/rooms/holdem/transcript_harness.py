"""Drivers that replay hold'em transcripts: against the service in this process, and over sockets."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Sequence
from pathlib import Path
from threading import Timer
from typing import Self

from croupier.core.http_transcript import TranscriptRequest, TranscriptResponse
from croupier.core.transcript import Transcript, TranscriptLine, parse_transcript
from croupier.http.auth import QUICK_HASHER, Authenticator
from croupier.http.holdem_app import HoldemApp
from croupier.web.holdem_conversation import HOST, HoldemConversation, make_house, sent_request

ROOT = Path(__file__).parents[3]
TRANSCRIPTS = [
    parse_transcript(path.read_text(), path.stem) for path in sorted((ROOT / "transcripts" / "holdem").glob("*.txt"))
]

RESPONSE_TIMEOUT_SECONDS = 60.0
"""Real time to wait for a response."""


class InProcessDriver(HoldemConversation):
    """Replays transcripts against the service in this process, without sockets, with a simulated clock.

    Request bodies arrive `chop` bytes at a time, without Content-Length; 0 sends them whole.
    """

    def __init__(self, transcript: Transcript, chop: int = 0) -> None:
        super().__init__(transcript)
        self._chop = chop

    def _finish(self, task: asyncio.Task[TranscriptResponse]) -> TranscriptResponse:
        watchdog = Timer(RESPONSE_TIMEOUT_SECONDS, self._loop.call_soon_threadsafe, (task.cancel,))
        watchdog.start()
        try:
            return super()._finish(task)
        except asyncio.CancelledError:
            raise AssertionError("no response arrives") from None
        finally:
            watchdog.cancel()

    def _pieces(self, user: str, request: TranscriptRequest) -> Sequence[bytes]:
        if not self._chop or not request.body:
            return super()._pieces(user, request)
        chunks = (request.body[at : at + self._chop] for at in range(0, len(request.body), self._chop))
        headers = (*request.headers, ("transfer-encoding", "chunked"))
        head = sent_request(user, request._replace(headers=headers, body=b"")).encode(HOST)
        return [head, *(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks), b"0\r\n\r\n"]


class SocketDriver:
    """Replays transcripts over sockets, one per user. Requests are sent `chop` bytes at a time (0: whole).

    The clock of the service stands still, so this driver can only replay transcripts in which no time passes.
    """

    def __init__(self, transcript: Transcript, chop: int = 0) -> None:
        self._chop = chop
        self._loop = asyncio.new_event_loop()
        hosted_house = make_house(transcript)
        authenticator = Authenticator(clock=lambda: 0.0, hasher=QUICK_HASHER)
        self._service = HoldemApp(hosted_house, authenticator, clock=lambda: 0.0)
        self._loop.run_until_complete(self._service.listen("127.0.0.1", 0))
        self._connections: dict[str, tuple[asyncio.StreamReader, asyncio.StreamWriter]] = {}
        self._responses: defaultdict[str, deque[TranscriptResponse]] = defaultdict(deque)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run_until_complete(self._close())
        self._loop.close()

    async def _close(self) -> None:
        for _, writer in self._connections.values():
            writer.close()
        await self._service.stop()
        self._service.authenticator.close()

    def send(self, user: str, request: TranscriptRequest) -> None:
        """Send a request, and wait for its response."""
        response = asyncio.wait_for(self._exchange(user, request), RESPONSE_TIMEOUT_SECONDS)
        self._responses[user].append(self._loop.run_until_complete(response))

    def receive(self, user: str) -> TranscriptResponse:
        """Return the user's first response that has not been received yet."""
        return self._responses[user].popleft()

    def perform(self, line: TranscriptLine) -> None:
        """Raise AssertionError: this driver only sends requests."""
        raise AssertionError(f"{line.kind} needs the in-process driver")

    def finish(self) -> None:
        """Check that every response has been received."""
        assert not any(self._responses.values())

    async def _exchange(self, user: str, request: TranscriptRequest) -> TranscriptResponse:
        if user not in self._connections:
            self._connections[user] = await asyncio.open_connection(*self._service.address)
        reader, writer = self._connections[user]
        data = sent_request(user, request).encode(HOST)
        size = self._chop or len(data)
        for at in range(0, len(data), size):
            writer.write(data[at : at + size])
            await asyncio.sleep(0)
        status = int((await reader.readline()).split()[1])
        received: dict[str, str] = {}
        while line := (await reader.readline()).strip():
            name, _, value = line.decode().partition(": ")
            received[name.lower()] = value
        body = b""
        if request.method == "HEAD" or status == 304:
            pass
        elif received.get("transfer-encoding") == "chunked":
            while length := int(await reader.readline(), 16):
                body += (await reader.readexactly(length + 2))[:-2]
            await reader.readline()
        else:
            body = await reader.readexactly(int(received["content-length"]))
        if received.get("connection") == "close":
            del self._connections[user]
            writer.close()
        return TranscriptResponse(status, received, body)
