"""A room opened in a thread of its own, and the stage that plays a transcript to it through real sockets."""

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

from croupier.core.room import HouseRoom
from croupier.core.session import Address, Drop, Effect, Event, Joined, Left, Peer, Settle
from croupier.core.transcript import Transcript, TranscriptLine, house_settings, is_strict, make_hall
from croupier.logs import silent_logger
from croupier.net.endpoint import Endpoint, EndpointLimits
from tests.net.raw_client import PATIENCE


class Opened:
    """A switchboard on a loop in its own thread. `facts` holds what its tap heard: joined, settled, dropped, left."""

    def __init__(
        self,
        make: Callable[[], Any],
        loop_factory: Callable[[], asyncio.AbstractEventLoop],
        context: ssl.SSLContext | None = None,
        **options: Any,
    ) -> None:
        self.facts: queue.Queue[tuple[str, Peer, str]] = queue.Queue()
        self.faults: list[object] = []
        self._make = make
        self._context = context
        self._options = {"log": silent_logger(), "limits": EndpointLimits(close_timeout=1.0)} | options
        self._loop = loop_factory()
        self._loop.set_exception_handler(lambda _, told: self.faults.append(told))
        self._thread = Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.address: Address = self._do(self._open())
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._do(self._close())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
        assert self.faults == []

    def halt(self, *, final: bool) -> None:
        async def halt() -> None:
            self.board.halt(final=final)

        self._do(halt())

    async def _open(self) -> Address:
        self.board = Endpoint(self._make(), observers=[self._tap], **self._options)
        return await self.board.listen("127.0.0.1", 0, self._context)

    async def _close(self) -> None:
        self.board.halt(final=True)
        async with asyncio.timeout(PATIENCE):
            await self.board.wait_drained()

    def _do(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    def _tap(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:
        if isinstance(event, Joined):
            self.facts.put(("joined", event.peer, ""))
        for effect in effects:
            match effect:
                case Settle(peer, _, _, net):
                    self.facts.put(("settled", peer, f"{net:+d}"))
                case Drop(peer):
                    self.facts.put(("dropped", peer, ""))
                case _:
                    pass
        if isinstance(event, Left):
            self.facts.put(("left", event.peer, ""))


def hurry(transcript: Transcript) -> float:
    """How many times faster than on paper time passes, so that the limit that the transcript is about is short."""
    if "move" in transcript.head:
        return float(transcript.head["move"]) / 1.5
    waits = any(line.kind == "pass" for line in transcript.lines)
    return float(transcript.head.get("idle", 500)) / 1.5 if waits else 1.0


class Socketed:
    """A stage for a house behind a real socket; what its peers say is sent `chop` bytes at a time (0: whole)."""

    def __init__(
        self,
        room: HouseRoom,
        transcript: Transcript,
        loop_factory: Callable[[], asyncio.AbstractEventLoop],
        chop: int = 0,
        tls: tuple[ssl.SSLContext, ssl.SSLContext] | None = None,
    ) -> None:
        own = house_settings(room, transcript)
        self._hurry = hurry(transcript)
        self._limit = float(transcript.head.get("move", transcript.head.get("idle", 500)))
        self._chop = chop
        self._context = tls[1] if tls else None
        self._peers: dict[str, tuple[Peer, socket.socket]] = {}
        self._heard: dict[str, bytes] = {}
        self._facts: list[tuple[str, Peer, str]] = []
        self._room = Opened(
            lambda: make_hall(room, transcript, self._hurry),
            loop_factory,
            tls[0] if tls else None,
            codec=lambda: room.codec(is_strict(transcript), own),
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
        _, connection = self._line(peer)
        size = self._chop or len(data) or 1
        for start in range(0, len(data), size):
            connection.sendall(data[start : start + size])

    def receive(self, peer: str, expected: re.Pattern[bytes]) -> Mapping[str, bytes]:
        while not (match := expected.match(self._heard.get(peer, b""))):
            assert self._read(peer), f"{peer} hears {self._heard[peer]!r}, not {expected.pattern!r}"
        self._heard[peer] = self._heard[peer][match.end() :]
        return match.groupdict()

    def perform(self, line: TranscriptLine) -> None:
        match line.kind:
            case "pass":
                # Twice the limit is as good as any longer time.
                time.sleep(min(float(line.text), 2 * self._limit) / self._hurry)
            case "halted":
                self._room.halt(final=bool(line.text))
            case "left":
                self._line(line.peer)[1].close()
                self._fact(line.kind, self._line(line.peer)[0], "")
            case "dropped":
                self._fact(line.kind, self._line(line.peer)[0], "")
                while self._read(line.peer):
                    pass
            case _:
                self._fact(line.kind, self._line(line.peer)[0], line.text)

    def finish(self) -> None:
        """Everybody still there stops talking, hears the end and nothing before it; only forfeits may come of it."""
        before = [*self._facts, *self._waiting()]
        assert not before, f"also happened: {before}"
        for name, (_, connection) in self._peers.items():
            if connection.fileno() >= 0:
                with suppress(OSError):  # it may have been cut off
                    connection.shutdown(socket.SHUT_WR) if self._context is None else connection.unwrap()  # type: ignore[attr-defined]
                while self._context is None and self._read(name):
                    pass
                connection.close()
            assert not self._heard[name], f"{name} also hears {self._heard[name]!r}"

    def _line(self, name: str) -> tuple[Peer, socket.socket]:
        if name not in self._peers:
            connection = socket.create_connection(self._room.address, timeout=PATIENCE)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._context is not None:
                connection = self._context.wrap_socket(connection, server_hostname="127.0.0.1")
            number = len(self._peers) + 1
            self._peers[name] = number, connection
            self._heard[name] = b""
            self._fact("joined", number, "")
        return self._peers[name]

    def _read(self, name: str) -> bytes:
        """What comes next, empty at the end."""
        data = self._line(name)[1].recv(1 << 16)
        self._heard[name] += data
        return data

    def _fact(self, *wanted: object) -> None:
        """Wait until this has happened."""
        while True:
            for fact in self._facts:
                if fact == wanted or (fact[:2], "?") == (wanted[:2], wanted[2]):
                    self._facts.remove(fact)
                    return
            try:
                self._facts.append(self._room.facts.get(timeout=PATIENCE))
            except queue.Empty:
                raise AssertionError(f"what happened is {self._facts}, not {wanted}") from None

    def _waiting(self) -> list[tuple[str, Peer, str]]:
        """What else has happened; that a dropped peer has left is no news."""
        found = []
        with suppress(queue.Empty):
            while True:
                found.append(self._room.facts.get_nowait())
        return [fact for fact in found if fact[0] != "left"]
