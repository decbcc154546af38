"""A room has only so many places, in all and for each address; who finds none is told goodbye."""

from contextlib import suppress

import pytest

from croupier.core.session import Joined, Left
from croupier.logs import silent_logger
from croupier.net.endpoint import Connection, Endpoint, EndpointLimits
from tests.net.raw_client import Caller, Notes, Run, Wire, Words, kuhn, opened

FULL = {"connections": EndpointLimits(max_connections=2), "per_address": EndpointLimits(max_connections_per_address=2)}
full = pytest.mark.parametrize(("reason", "limits"), FULL.items(), ids=FULL.keys())


@full
def test_who_finds_no_place_is_told_goodbye_and_the_end(run: Run, reason: str, limits: EndpointLimits) -> None:
    async def main() -> None:
        async with opened(**kuhn(), limits=limits) as (board, address), Caller(address) as one, Caller(address) as two:
            await one.ask(b"ACTN BET", b"FAIL W_A")
            await two.ask(b"ACTN BET", b"FAIL W_A")
            async with Caller(address) as three:
                assert await three.rest() == b"DISC"
            assert board.counts.refused == {reason: 1}
            assert board.counts.connections == 2
            await one.ask(b"ACTN BET", b"FAIL W_A")

    run(main())


@full
def test_a_place_is_free_again_when_somebody_has_left(run: Run, reason: str, limits: EndpointLimits) -> None:
    async def main() -> None:
        session = Notes()
        async with opened(session, limits=limits, refusal=["full"]) as (board, address), Caller(address) as one:
            await one.ask(b"here\n", b"here\n")
            for round_ in range(1, 4):
                async with Caller(address) as two, Caller(address) as three:
                    await two.ask(b"here too\n", b"here too\n")
                    assert await three.rest() == b"full\n"
                    two.hang_up()
                    await session.hears(Left, round_)
            assert board.counts.refused == {reason: 3}

    run(main())


def test_what_a_refused_client_says_is_heard_by_nobody(run: Run) -> None:
    async def main() -> None:
        session = Notes()
        async with opened(session, limits=EndpointLimits(max_connections=1), refusal=["full"]) as (board, address):
            async with Caller(address) as one, Caller(address) as two:
                await one.ask(b"here\n", b"here\n")
                await two.say(b"let me in\n" * 10_000)
                assert await two.rest() == b"full\n"
                two.hang_up()
                await one.ask(b"still here\n", b"still here\n")
            await session.hears(Left)
            assert [type(event).__name__ for event in session.events] == ["Joined", "Said", "Said", "Left"]
            assert board.counts.messages_received == 2

    run(main())


def test_zero_means_no_limit(run: Run) -> None:
    async def main() -> None:
        board = Endpoint(
            Notes(), Words, silent_logger(), limits=EndpointLimits(max_connections=0, max_connections_per_address=0)
        )
        lines = [Connection(board) for _ in range(3_000)]
        for line in lines:
            line.connection_made(Wire())
        assert len(board.connections) == 3_000
        assert not board.counts.refused

    run(main())


def test_every_address_has_places_of_its_own(run: Run) -> None:
    async def main() -> None:
        board = Endpoint(
            Notes(), Words, silent_logger(), limits=EndpointLimits(max_connections_per_address=1), refusal=["full"]
        )
        wires = [Wire(host) for host in ("192.0.2.1", "192.0.2.2", "192.0.2.1", "2001:db8::1")]
        for wire in wires:
            Connection(board).connection_made(wire)
        assert [wire.writes for wire in wires] == [[], [], [b"full\n"], []]
        assert [wire.ended for wire in wires] == [False, False, True, False]

    run(main())


def test_a_room_that_closes_refuses_who_comes_in_at_the_last_moment(run: Run) -> None:
    async def main() -> None:
        session = Notes()
        board = Endpoint(session, Words, silent_logger(), refusal=["closing"])
        board.halt(final=False)
        wire = Wire()
        line = Connection(board)
        line.connection_made(wire)  # accepted before the room was told to close, made after it
        assert wire.writes == [b"closing\n"]
        assert wire.ended
        assert session.told(Joined) == []
        assert board.counts.refused == {"closing": 1}
        line.connection_lost(None)
        await board.wait_drained()

    run(main())


def test_a_refused_client_that_never_closes_is_cut_off(run: Run) -> None:
    async def main() -> None:
        limits = EndpointLimits(max_connections=1, close_timeout=0.05)
        async with opened(Notes(), limits=limits) as (board, address), Caller(address) as one, Caller(address) as two:
            await one.ask(b"here\n", b"here\n")
            assert await two.rest() == b""
            board.halt(final=True)
            assert await one.rest() == b""
            one.hang_up()
            await board.wait_drained()  # though `two` holds its end

    run(main())


def test_a_flood_of_those_who_find_no_place_is_not_waited_for(run: Run) -> None:
    """Refused clients that do not close are seen off politely, but only so many at a time."""

    async def main() -> None:
        limits = EndpointLimits(max_connections=1, max_lingering_connections=1, close_timeout=30.0)
        async with opened(Notes(), limits=limits, refusal=["full"]) as (board, address), Caller(address) as one:
            await one.ask(b"here\n", b"here\n")
            async with Caller(address) as polite, Caller(address) as flood:
                assert await polite.rest() == b"full\n"
                with suppress(ConnectionError):
                    assert await flood.rest() == b""
            assert board.counts.refused == {"connections": 2}

    run(main())
