"""What is our own fault costs one connection at most, and is told."""

from contextlib import suppress

from croupier.core.session import Drop, Effect, Event, Joined, Left, Received, Send, TimedOut
from croupier.net.endpoint import EndpointLimits
from tests.net.raw_client import Caller, Notes, Run, opened


class Book:
    """A log that keeps what it is told."""

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


def test_a_word_to_nobody_is_counted_and_told_and_the_others_hear_theirs(run: Run) -> None:
    async def main() -> None:
        session = Notes(
            lambda event, _: [Send(77, "lost"), Send(event.peer, "heard")] if type(event) is Received else [],
        )
        book = Book()
        async with opened(session, log=book) as (board, address), Caller(address) as caller:
            await caller.ask(b"one\n", b"heard\n")
            assert board.counts.undeliverable == 1
            assert board.counts.messages_sent == 1
            assert [entry for entry in book.entries if entry[0] == "error"] == [
                ("error", "nobody hears this", {"peer": 77, "message": "lost"})
            ]

    run(main())


def test_a_word_to_somebody_who_has_just_left_is_undeliverable(run: Run) -> None:
    async def main() -> None:
        session = Notes(lambda event, _: [Send(event.peer, "farewell")] if type(event) is Left else [])
        async with opened(session) as (board, address):
            async with Caller(address):
                await session.hears(Joined)
            await session.hears(Left)
            assert board.counts.undeliverable == 1

    run(main())


def test_a_word_to_somebody_who_was_dropped_is_undeliverable_and_costs_nobody_else(run: Run) -> None:
    """Left comes only when the peer has closed its side; until then a session may well speak of it."""

    async def main() -> None:
        def answer(event: Event[str], now: float) -> list[Effect[str]]:
            match event:
                case Received(peer, "bye"):
                    return [Drop(peer)]
                case Received(peer, message):
                    return [Send(1, message), Send(peer, message)]
                case _:
                    return []

        session = Notes(answer)
        async with (
            opened(session, log=(book := Book())) as (board, address),
            Caller(address) as one,
            Caller(address) as two,
        ):
            await session.hears(Joined, 2)
            await one.say(b"bye\n")
            assert await one.rest() == b""
            await two.ask(b"hello\n", b"hello\n")
            await two.ask(b"still here\n", b"still here\n")
            assert board.counts.undeliverable == 2
            assert [entry[1] for entry in book.entries if entry[0] == "error"] == ["nobody hears this"] * 2

    run(main())


def failing(event: Event[str], now: float) -> list[Effect[str]]:
    """Cannot hear the word `boom`."""
    match event:
        case Received(_, "boom"):
            raise RuntimeError("boom")
        case Received(peer, message):
            return [Send(peer, message)]
        case _:
            return []


def test_a_session_that_raises_closes_the_connection_it_happened_on_and_no_other(run: Run) -> None:
    async def main() -> None:
        session = Notes(failing)
        async with opened(session) as (board, address), Caller(address) as one, Caller(address) as two:
            await one.ask(b"one\n", b"one\n")
            await two.ask(b"two\n", b"two\n")
            await one.say(b"boom\n")
            (left,) = await session.hears(Left)
            assert left.peer == 1
            assert [str(fault) for fault in run.faults] == ["boom"]
            run.faults.clear()
            await two.ask(b"still here\n", b"still here\n")
            assert [*board.connections] == [2]

    run(main())


def test_what_was_said_to_others_before_the_session_raised_is_sent(run: Run) -> None:
    async def main() -> None:
        def answer(event: Event[str], now: float) -> list[Effect[str]]:
            match event:
                case Received(_, "boom"):
                    raise RuntimeError("boom")
                case Received(_, message):
                    return [Send(2, message)]
                case _:
                    return []

        session = Notes(answer)
        async with opened(session) as (_, address), Caller(address) as one, Caller(address) as two:
            await session.hears(Joined, 2)
            await one.say(b"news\nboom\n")
            assert await two.hear(5) == b"news\n"
            run.faults.clear()

    run(main())


def test_a_session_that_raises_on_joined_does_not_keep_the_connection(run: Run) -> None:
    async def main() -> None:
        def answer(event: Event[str], now: float) -> list[Effect[str]]:
            if type(event) is Joined:
                raise RuntimeError("boom")
            return []

        session = Notes(answer)
        async with (
            opened(session, limits=EndpointLimits(close_timeout=0.1)) as (board, address),
            Caller(address) as one,
        ):
            with suppress(ConnectionError):  # the end may come in peace or as a reset
                assert await one.rest() == b""
            assert [str(fault) for fault in run.faults] == ["boom"]
            run.faults.clear()
            await board.wait_drained()

    run(main())


def test_a_session_that_raises_on_left_does_not_keep_the_room_open(run: Run) -> None:
    async def main() -> None:
        def answer(event: Event[str], now: float) -> list[Effect[str]]:
            if type(event) is Left:
                raise RuntimeError("boom")
            return []

        session = Notes(answer)
        async with opened(session) as (_, address), Caller(address) as one:
            await session.hears(Joined)
            one.reset()
            await session.hears(Left)
        assert [str(fault) for fault in run.faults] == ["boom"]
        run.faults.clear()

    run(main())


def test_a_session_that_raises_when_its_alarm_rings_closes_nothing_and_hears_the_next_alarm(run: Run) -> None:
    async def main() -> None:
        def answer(event: Event[str], now: float) -> list[Effect[str]]:
            match event:
                case Received(peer, message):
                    session.deadline = now
                    return [Send(peer, message)]
                case TimedOut():
                    session.deadline = None
                    if len(session.told(TimedOut)) == 1:
                        raise RuntimeError("boom")
                    return [Send(1, "ring")]
                case _:
                    return []

        session = Notes(answer)
        async with opened(session) as (_, address), Caller(address) as one:
            await one.ask(b"one\n", b"one\n")
            await session.hears(TimedOut)
            await one.ask(b"two\n", b"two\n")
            assert await one.hear(5) == b"ring\n"
            assert [str(fault) for fault in run.faults] == ["boom"]
            run.faults.clear()

    run(main())
