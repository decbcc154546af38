"""A session sets its alarm, and hears it ring: not before its time, and once."""

import asyncio
import time

from croupier.core.session import Closing, Drop, Effect, Event, Received, Send, TimedOut
from croupier.net.endpoint import EndpointLimits
from tests.net.raw_client import Caller, Notes, Run, opened

SOON = 0.03
NEVER = 3600.0


class Clock(Notes):
    """Sets its alarm so many seconds ahead when told a number, cancels it when told `never`, says `ring` when it rings.

    `rang` is how late it was each time. `again` sets the alarm anew that many times.
    """

    def __init__(self, again: int = 0) -> None:
        super().__init__(self._answer_in_time)
        self.rang: list[float] = []
        self._again = again

    def _answer_in_time(self, event: Event[str], now: float) -> list[Effect[str]]:
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
                self.rang.append(now - self.deadline)
                self.deadline = now + SOON if self._again else None
                self._again -= 1
                return [Send(peer, "ring") for peer in sorted(self.here)]
            case Closing():
                self.deadline = None
                return []
            case _:
                return []


def test_an_alarm_rings_and_what_is_said_then_is_sent(run: Run) -> None:
    async def main() -> None:
        session = Clock()
        async with opened(session) as (_, address), Caller(address) as caller:
            await caller.ask(f"{SOON}\n".encode(), b"ok\n")
            assert await caller.hear(5) == b"ring\n"
            assert len(session.rang) == 1
            assert session.rang[0] >= 0, "it rang too early"

    run(main())


def test_an_alarm_can_be_set_earlier(run: Run) -> None:
    async def main() -> None:
        session = Clock()
        async with opened(session) as (_, address), Caller(address) as caller:
            await caller.ask(f"{NEVER}\n".encode(), b"ok\n")
            await caller.ask(f"{SOON}\n".encode(), b"ok\n")
            assert await caller.hear(5) == b"ring\n"
            assert session.rang[0] >= 0, "it rang too early"

    run(main())


def test_an_alarm_that_was_put_off_does_not_ring_at_its_old_time(run: Run) -> None:
    async def main() -> None:
        session = Clock()
        async with opened(session) as (_, address), Caller(address) as caller:
            await caller.ask(f"{SOON}\n".encode(), b"ok\n")
            await caller.ask(f"{4 * SOON}\n".encode(), b"ok\n")
            assert await caller.hear(5) == b"ring\n"
            assert len(session.rang) == 1
            assert session.rang[0] >= 0, "it rang at its old time"

    run(main())


def test_an_alarm_that_was_cancelled_does_not_ring(run: Run) -> None:
    async def main() -> None:
        session = Clock()
        async with opened(session) as (board, address), Caller(address) as caller:
            await caller.ask(f"{SOON}\n".encode(), b"ok\n")
            await caller.ask(b"never\n", b"ok\n")
            passed = asyncio.Event()
            board.call_later(3 * SOON, passed.set)
            await passed.wait()
            assert session.told(TimedOut) == []
            await caller.ask(f"{SOON}\n".encode(), b"ok\n")
            assert await caller.hear(5) == b"ring\n"

    run(main())


def test_an_alarm_in_the_past_rings_at_once(run: Run) -> None:
    async def main() -> None:
        session = Clock()
        async with opened(session) as (_, address), Caller(address) as caller:
            await caller.ask(b"-1\n", b"ok\n")
            assert await caller.hear(5) == b"ring\n"
            assert session.rang[0] >= 1

    run(main())


def test_an_alarm_that_is_set_anew_when_it_rings_rings_again(run: Run) -> None:
    async def main() -> None:
        session = Clock(again=2)
        async with opened(session) as (_, address), Caller(address) as caller:
            await caller.ask(f"{SOON}\n".encode(), b"ok\n")
            assert await caller.hear(15) == b"ring\nring\nring\n"
            assert len(session.rang) == 3
            assert min(session.rang) >= 0

    run(main())


def test_an_alarm_late_because_the_loop_was_busy_still_rings_once(run: Run) -> None:
    async def main() -> None:
        session = Clock()
        async with opened(session) as (board, address), Caller(address) as caller:
            await caller.ask(f"{SOON}\n".encode(), b"ok\n")
            end = time.monotonic() + 3 * SOON
            while time.monotonic() < end:
                pass  # nobody else gets a turn, until the time is well over
            assert await caller.hear(5) == b"ring\n"
            assert len(session.rang) == 1
            assert board.counts.messages_sent == 2

    run(main())


def test_a_drop_when_the_alarm_rings_ends_the_conversation(run: Run) -> None:
    async def main() -> None:
        def answer(event: Event[str], now: float) -> list[Effect[str]]:
            if type(event) is Received:
                session.deadline = now + SOON
            elif type(event) is TimedOut:
                session.deadline = None
                return [Send(1, "time is up"), Drop(1)]
            return []

        session = Notes(answer)
        async with opened(session, limits=EndpointLimits(close_timeout=0.1)) as (_, address), Caller(address) as caller:
            await caller.say(b"hello\n")
            assert await caller.rest() == b"time is up\n"

    run(main())
