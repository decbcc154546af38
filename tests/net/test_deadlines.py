"""A session receives TimedOut after its deadline: never early, and once."""

import asyncio
import time

from croupier.core.session import Closing, Drop, Effect, Event, Received, Send, TimedOut
from croupier.net.endpoint import EndpointLimits
from tests.net.raw_client import RawClient, RecordingSession, Run, opened

SOON = 0.03
NEVER = 3600.0


class TimerSession(RecordingSession):
    """A message with a number sets the deadline that many seconds ahead, `never` removes it; TimedOut sends `ring`.

    `lateness` has the seconds by which each TimedOut was late. The deadline is set again `repeats` times.
    """

    def __init__(self, repeats: int = 0) -> None:
        super().__init__(self._on_event)
        self.lateness: list[float] = []
        self._repeats = repeats

    def _on_event(self, event: Event[str], now: float) -> list[Effect[str]]:
        match event:
            case Received(peer, "never"):
                self.deadline = None
                return [Send(peer, "ok")]
            case Received(peer, "goodbye soon"):
                self.deadline = now + SOON
                return [Send(peer, "ok")]
            case Received(peer, seconds):
                self.deadline = now + float(seconds)
                return [Send(peer, "ok")]
            case TimedOut():
                assert self.deadline is not None
                self.lateness.append(now - self.deadline)
                self.deadline = now + SOON if self._repeats else None
                self._repeats -= 1
                return [Send(peer, "ring") for peer in sorted(self.peers)]
            case Closing():
                self.deadline = None
                return []
            case _:
                return []


def test_messages_at_a_deadline_are_sent(run: Run) -> None:
    async def main() -> None:
        session = TimerSession()
        async with opened(session) as (_, address), RawClient(address) as caller:
            await caller.exchange(f"{SOON}\n".encode(), b"ok\n")
            assert await caller.receive(5) == b"ring\n"
            assert len(session.lateness) == 1
            assert session.lateness[0] >= 0, "TimedOut came too early"

    run(main())


def test_deadline_can_be_moved_earlier(run: Run) -> None:
    async def main() -> None:
        session = TimerSession()
        async with opened(session) as (_, address), RawClient(address) as caller:
            await caller.exchange(f"{NEVER}\n".encode(), b"ok\n")
            await caller.exchange(f"{SOON}\n".encode(), b"ok\n")
            assert await caller.receive(5) == b"ring\n"
            assert session.lateness[0] >= 0, "TimedOut came too early"

    run(main())


def test_postponed_deadline_does_not_fire_at_its_old_time(run: Run) -> None:
    async def main() -> None:
        session = TimerSession()
        async with opened(session) as (_, address), RawClient(address) as caller:
            await caller.exchange(f"{SOON}\n{4 * SOON}\n".encode(), b"ok\nok\n")  # one read, so it has not fired yet
            assert await caller.receive(5) == b"ring\n"
            assert len(session.lateness) == 1
            assert session.lateness[0] >= 0, "TimedOut came at the old time"

    run(main())


def test_cancelled_deadline_does_not_fire(run: Run) -> None:
    async def main() -> None:
        session = TimerSession()
        async with opened(session) as (endpoint, address), RawClient(address) as caller:
            await caller.exchange(f"{SOON}\nnever\n".encode(), b"ok\nok\n")  # one read, so it has not fired yet
            passed = asyncio.Event()
            endpoint.call_later(3 * SOON, passed.set)
            await passed.wait()
            assert session.events_of(TimedOut) == []
            await caller.exchange(f"{SOON}\n".encode(), b"ok\n")
            assert await caller.receive(5) == b"ring\n"

    run(main())


def test_deadline_in_the_past_fires_at_once(run: Run) -> None:
    async def main() -> None:
        session = TimerSession()
        async with opened(session) as (_, address), RawClient(address) as caller:
            await caller.exchange(b"-1\n", b"ok\n")
            assert await caller.receive(5) == b"ring\n"
            assert session.lateness[0] >= 1

    run(main())


def test_deadline_set_again_on_timeout_fires_again(run: Run) -> None:
    async def main() -> None:
        session = TimerSession(repeats=2)
        async with opened(session) as (_, address), RawClient(address) as caller:
            await caller.exchange(f"{SOON}\n".encode(), b"ok\n")
            assert await caller.receive(15) == b"ring\nring\nring\n"
            assert len(session.lateness) == 3
            assert min(session.lateness) >= 0

    run(main())


def test_deadline_that_is_late_because_the_loop_was_blocked_fires_once(run: Run) -> None:
    async def main() -> None:
        session = TimerSession()
        async with opened(session) as (endpoint, address), RawClient(address) as caller:
            await caller.exchange(f"{SOON}\n".encode(), b"ok\n")
            end = time.monotonic() + 3 * SOON
            while time.monotonic() < end:
                pass  # block the loop until well after the deadline
            assert await caller.receive(5) == b"ring\n"
            assert len(session.lateness) == 1
            assert endpoint.counts.messages_sent == 2

    run(main())


def test_drop_on_timeout_ends_the_conversation(run: Run) -> None:
    async def main() -> None:
        def answer(event: Event[str], now: float) -> list[Effect[str]]:
            if type(event) is Received:
                session.deadline = now + SOON
            elif type(event) is TimedOut:
                session.deadline = None
                return [Send(1, "time is up"), Drop(1)]
            return []

        session = RecordingSession(answer)
        async with (
            opened(session, limits=EndpointLimits(close_timeout=0.1)) as (_, address),
            RawClient(address) as caller,
        ):
            await caller.send(b"hello\n")
            assert await caller.read_to_end() == b"time is up\n"

    run(main())
