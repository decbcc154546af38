"""A server in a thread of its own, and the harness that plays a transcript against it over real sockets."""

import asyncio
import queue
import re
import socket
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Thread
from typing import Any, Self

from croupier.core.logger import SilentLogger
from croupier.core.room import HouseRoom
from croupier.core.session import Address, Drop, Effect, Event, Joined, Left, Peer, Settle
from croupier.core.transcript import Transcript, TranscriptLine, house_settings, is_strict, make_hall
from croupier.net.endpoint import Endpoint, EndpointLimits
from tests.net.raw_client import TIMEOUT_SECONDS


class ServerThread:
    """An endpoint on an event loop in its own thread. `observed` has the joined, settled, dropped and left events."""

    def __init__(
        self,
        make_session: Callable[[], Any],
        loop_factory: Callable[[], asyncio.AbstractEventLoop],
        context: ssl.SSLContext | None = None,
        **options: Any,
    ) -> None:
        self.observed: queue.Queue[tuple[str, Peer, str]] = queue.Queue()
        self.faults: list[object] = []
        self._ahead = 0.0
        self._make_session = make_session
        self._context = context
        self._options = {"log": SilentLogger(), "limits": EndpointLimits(close_timeout=1.0)} | options
        self._loop = loop_factory()
        self._loop.set_exception_handler(lambda _, context: self.faults.append(context))
        self._thread = Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.address: Address = self._run(self._open())
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._run(self._close())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
        assert self.faults == []

    def pass_time(self, seconds: float) -> None:
        """Set the clock of the endpoint forward, and let it process its deadline."""

        async def pass_time() -> None:
            self._ahead += seconds
            self.endpoint.process_deadline()

        self._run(pass_time())

    def halt(self, *, final: bool) -> None:
        async def halt() -> None:
            self.endpoint.halt(final=final)

        self._run(halt())

    async def _open(self) -> Address:
        self.endpoint = Endpoint(
            self._make_session(),
            observers=[self._observe],
            clock=lambda: self._loop.time() + self._ahead,
            **self._options,
        )
        return await self.endpoint.listen("127.0.0.1", 0, self._context)

    async def _close(self) -> None:
        self.endpoint.halt(final=True)
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await self.endpoint.wait_drained()

    def _run(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(TIMEOUT_SECONDS)

    def _observe(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:
        if isinstance(event, Joined):
            self.observed.put(("joined", event.peer, ""))
        for effect in effects:
            match effect:
                case Settle(peer, _, _, net):
                    self.observed.put(("settled", peer, f"{net:+d}"))
                case Drop(peer):
                    self.observed.put(("dropped", peer, ""))
                case _:
                    pass
        if isinstance(event, Left):
            self.observed.put(("left", event.peer, ""))


class SocketHarness:
    """Plays a transcript to a house over a real socket, sending `chunk_size` bytes at a time (0: whole messages).

    Where time passes, the clock of the endpoint is set forward, unless the harness `really_sleeps`.
    """

    def __init__(
        self,
        room: HouseRoom,
        transcript: Transcript,
        loop_factory: Callable[[], asyncio.AbstractEventLoop],
        chunk_size: int = 0,
        tls: tuple[ssl.SSLContext, ssl.SSLContext] | None = None,
        *,
        really_sleeps: bool = False,
    ) -> None:
        settings = house_settings(room, transcript)
        self._really_sleeps = really_sleeps
        self._sent_bytes = 0
        self._chunk_size = chunk_size
        self._context = tls[1] if tls else None
        self._peers: dict[str, tuple[Peer, socket.socket]] = {}
        self._received: dict[str, bytes] = {}
        self._unmatched: list[tuple[str, Peer, str]] = []
        self._room = ServerThread(
            lambda: make_hall(room, transcript),
            loop_factory,
            tls[0] if tls else None,
            codec_factory=lambda: room.codec(is_strict(transcript), settings),
            refusal=room.refusal_messages,
        )

    def __enter__(self) -> Self:
        self._room.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        for _, connection in self._peers.values():
            connection.close()
        self._room.__exit__(*error)

    def send(self, peer: str, data: bytes) -> None:
        _, connection = self._connection(peer)
        self._sent_bytes += len(data)
        size = self._chunk_size or len(data) or 1
        for start in range(0, len(data), size):
            connection.sendall(data[start : start + size])

    def receive(self, peer: str, expected: re.Pattern[bytes]) -> Mapping[str, bytes]:
        while not (match := expected.match(self._received.get(peer, b""))):
            assert self._read(peer), f"{peer} receives {self._received[peer]!r}, not {expected.pattern!r}"
        self._received[peer] = self._received[peer][match.end() :]
        return match.groupdict()

    def perform(self, line: TranscriptLine) -> None:
        match line.kind:
            case "pass":
                if self._really_sleeps:
                    time.sleep(float(line.text))
                else:
                    self._wait_until_received()
                    self._room.pass_time(float(line.text))
            case "halted":
                self._room.halt(final=bool(line.text))
            case "left":
                self._connection(line.peer)[1].close()
                self._expect(line.kind, self._connection(line.peer)[0], "")
            case "dropped":
                self._expect(line.kind, self._connection(line.peer)[0], "")
                while self._read(line.peer):
                    pass
            case _:
                self._expect(line.kind, self._connection(line.peer)[0], line.text)

    def finish(self) -> None:
        """Half-close all connections and assert that nothing else is received and nothing but forfeits happens."""
        leftover = [*self._unmatched, *self._unexpected()]
        assert not leftover, f"also happened: {leftover}"
        for name, (_, connection) in self._peers.items():
            if connection.fileno() >= 0:
                with suppress(OSError):  # it may have been cut off
                    connection.shutdown(socket.SHUT_WR) if self._context is None else connection.unwrap()  # type: ignore[attr-defined]
                while self._context is None and self._read(name):
                    pass
                connection.close()
            assert not self._received[name], f"{name} also receives {self._received[name]!r}"

    def _wait_until_received(self) -> None:
        """Wait until the endpoint has received everything that was sent."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while self._room.endpoint.counts.bytes_received < self._sent_bytes:
            assert time.monotonic() < end, "a message was not received"
            time.sleep(0)

    def _connection(self, name: str) -> tuple[Peer, socket.socket]:
        if name not in self._peers:
            connection = socket.create_connection(self._room.address, timeout=TIMEOUT_SECONDS)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._context is not None:
                connection = self._context.wrap_socket(connection, server_hostname="127.0.0.1")
            peer_number = len(self._peers) + 1
            self._peers[name] = peer_number, connection
            self._received[name] = b""
            self._expect("joined", peer_number, "")
        return self._peers[name]

    def _read(self, name: str) -> bytes:
        """Read and keep the next data; return b"" at the end."""
        data = self._connection(name)[1].recv(1 << 16)
        self._received[name] += data
        return data

    def _expect(self, *wanted: object) -> None:
        """Wait until this event was observed."""
        while True:
            for fact in self._unmatched:
                if fact == wanted or (fact[:2], "?") == (wanted[:2], wanted[2]):
                    self._unmatched.remove(fact)
                    return
            try:
                self._unmatched.append(self._room.observed.get(timeout=TIMEOUT_SECONDS))
            except queue.Empty:
                raise AssertionError(f"observed {self._unmatched}, not {wanted}") from None

    def _unexpected(self) -> list[tuple[str, Peer, str]]:
        """The observed events that no line of the transcript expects; `left` follows from `dropped`."""
        observed = []
        with suppress(queue.Empty):
            while True:
                observed.append(self._room.observed.get_nowait())
        return [fact for fact in observed if fact[0] != "left"]
