"""A fault of the session costs at most one connection, and is reported."""

from contextlib import suppress

from croupier.core.session import Drop, Effect, Event, Joined, Left, Received, Send, TimedOut
from croupier.net.endpoint import EndpointLimits
from tests.net.raw_client import RawClient, RecordingSession, Run, opened


class RecordingLogger:
    """Records log entries."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, str, dict[str, object]]] = []

    def debug(self, event: str, **facts: object) -> None:
        self.entries.append(("debug", event, facts))

    def info(self, event: str, **facts: object) -> None:
        self.entries.append(("info", event, facts))

    def warning(self, event: str, **facts: object) -> None:
        self.entries.append(("warning", event, facts))

    def error(self, event: str, **facts: object) -> None:
        self.entries.append(("error", event, facts))


def test_message_to_an_unknown_peer_is_counted_and_logged(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession(
            lambda event, _: [Send(77, "lost"), Send(event.peer, "heard")] if type(event) is Received else [],
        )
        log = RecordingLogger()
        async with opened(session, log=log) as (endpoint, address), RawClient(address) as caller:
            await caller.exchange(b"one\n", b"heard\n")
            assert endpoint.counts.undeliverable == 1
            assert endpoint.counts.messages_sent == 1
            assert [entry for entry in log.entries if entry[0] == "error"] == [
                ("error", "the recipient is not connected", {"peer": 77, "message": "lost"})
            ]

    run(main())


def test_message_to_a_peer_that_has_left_is_undeliverable(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession(lambda event, _: [Send(event.peer, "farewell")] if type(event) is Left else [])
        async with opened(session) as (endpoint, address):
            async with RawClient(address):
                await session.wait_for(Joined)
            await session.wait_for(Left)
            assert endpoint.counts.undeliverable == 1

    run(main())


def test_message_to_a_dropped_peer_is_undeliverable(run: Run) -> None:
    """Left comes only when the peer has closed its side; until then the session may still send messages to it."""

    async def main() -> None:
        def answer(event: Event[str], now: float) -> list[Effect[str]]:
            match event:
                case Received(peer, "bye"):
                    return [Drop(peer)]
                case Received(peer, message):
                    return [Send(1, message), Send(peer, message)]
                case _:
                    return []

        session = RecordingSession(answer)
        async with (
            opened(session, log=(log := RecordingLogger())) as (endpoint, address),
            RawClient(address) as one,
            RawClient(address) as two,
        ):
            await session.wait_for(Joined, 2)
            await one.send(b"bye\n")
            assert await one.read_to_end() == b""
            await two.exchange(b"hello\n", b"hello\n")
            await two.exchange(b"still here\n", b"still here\n")
            assert endpoint.counts.undeliverable == 2
            assert [entry[1] for entry in log.entries if entry[0] == "error"] == ["the recipient is not connected"] * 2

    run(main())


def raise_on_boom(event: Event[str], now: float) -> list[Effect[str]]:
    """Echoes messages, but raises on `boom`."""
    match event:
        case Received(_, "boom"):
            raise RuntimeError("boom")
        case Received(peer, message):
            return [Send(peer, message)]
        case _:
            return []


def test_session_that_raises_costs_only_the_connection_concerned(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession(raise_on_boom)
        async with opened(session) as (endpoint, address), RawClient(address) as one, RawClient(address) as two:
            await one.exchange(b"one\n", b"one\n")
            await two.exchange(b"two\n", b"two\n")
            await one.send(b"boom\n")
            (left,) = await session.wait_for(Left)
            assert left.peer == 1
            assert [str(fault) for fault in run.faults] == ["boom"]
            run.faults.clear()
            await two.exchange(b"still here\n", b"still here\n")
            assert [*endpoint.connections] == [2]

    run(main())


def test_messages_to_others_before_the_session_raised_are_sent(run: Run) -> None:
    async def main() -> None:
        def answer(event: Event[str], now: float) -> list[Effect[str]]:
            match event:
                case Received(_, "boom"):
                    raise RuntimeError("boom")
                case Received(_, message):
                    return [Send(2, message)]
                case _:
                    return []

        session = RecordingSession(answer)
        async with opened(session) as (_, address), RawClient(address) as one, RawClient(address) as two:
            await session.wait_for(Joined, 2)
            await one.send(b"news\nboom\n")
            assert await two.receive(5) == b"news\n"
            run.faults.clear()

    run(main())


def test_session_that_raises_on_joined_closes_the_connection(run: Run) -> None:
    async def main() -> None:
        def answer(event: Event[str], now: float) -> list[Effect[str]]:
            if type(event) is Joined:
                raise RuntimeError("boom")
            return []

        session = RecordingSession(answer)
        async with (
            opened(session, limits=EndpointLimits(close_timeout=0.1)) as (endpoint, address),
            RawClient(address) as one,
        ):
            with suppress(ConnectionError):  # the connection may end normally or with a reset
                assert await one.read_to_end() == b""
            assert [str(fault) for fault in run.faults] == ["boom"]
            run.faults.clear()
            await endpoint.wait_drained()

    run(main())


def test_session_that_raises_on_left_does_not_keep_the_room_open(run: Run) -> None:
    async def main() -> None:
        def answer(event: Event[str], now: float) -> list[Effect[str]]:
            if type(event) is Left:
                raise RuntimeError("boom")
            return []

        session = RecordingSession(answer)
        async with opened(session) as (_, address), RawClient(address) as one:
            await session.wait_for(Joined)
            one.reset()
            await session.wait_for(Left)
        assert [str(fault) for fault in run.faults] == ["boom"]
        run.faults.clear()

    run(main())


def test_session_that_raises_on_timeout_keeps_connections_and_later_deadlines(run: Run) -> None:
    async def main() -> None:
        def answer(event: Event[str], now: float) -> list[Effect[str]]:
            match event:
                case Received(peer, message):
                    session.deadline = now
                    return [Send(peer, message)]
                case TimedOut():
                    session.deadline = None
                    if len(session.events_of(TimedOut)) == 1:
                        raise RuntimeError("boom")
                    return [Send(1, "ring")]
                case _:
                    return []

        session = RecordingSession(answer)
        async with opened(session) as (_, address), RawClient(address) as one:
            await one.exchange(b"one\n", b"one\n")
            await session.wait_for(TimedOut)
            await one.exchange(b"two\n", b"two\n")
            assert await one.receive(5) == b"ring\n"
            assert [str(fault) for fault in run.faults] == ["boom"]
            run.faults.clear()

    run(main())
