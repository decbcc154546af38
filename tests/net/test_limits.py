"""Connections are limited in total and per address; a refused client gets the refusal messages."""

from contextlib import suppress

import pytest

from croupier.core.logger import SilentLogger
from croupier.core.session import Joined, Left
from croupier.net.endpoint import Connection, Endpoint, EndpointLimits
from tests.net.raw_client import MemoryTransport, RawClient, RecordingSession, Run, WordCodec, kuhn, opened

FULL = {"connections": EndpointLimits(max_connections=2), "per_address": EndpointLimits(max_connections_per_address=2)}
full = pytest.mark.parametrize(("reason", "limits"), FULL.items(), ids=FULL.keys())


@full
def test_client_over_the_limit_gets_the_refusal_and_is_disconnected(
    run: Run, reason: str, limits: EndpointLimits
) -> None:
    async def main() -> None:
        async with (
            opened(**kuhn(), limits=limits) as (endpoint, address),
            RawClient(address) as one,
            RawClient(address) as two,
        ):
            await one.exchange(b"ACTN BET", b"FAIL W_A")
            await two.exchange(b"ACTN BET", b"FAIL W_A")
            async with RawClient(address) as three:
                assert await three.read_to_end() == b"DISC"
            assert endpoint.counts.refused == {reason: 1}
            assert endpoint.counts.connections == 2
            await one.exchange(b"ACTN BET", b"FAIL W_A")

    run(main())


@full
def test_place_is_free_again_after_a_client_has_left(run: Run, reason: str, limits: EndpointLimits) -> None:
    async def main() -> None:
        session = RecordingSession()
        async with opened(session, limits=limits, refusal=["full"]) as (endpoint, address), RawClient(address) as one:
            await one.exchange(b"here\n", b"here\n")
            for round_ in range(1, 4):
                async with RawClient(address) as two, RawClient(address) as three:
                    await two.exchange(b"here too\n", b"here too\n")
                    assert await three.read_to_end() == b"full\n"
                    two.close()
                    await session.wait_for(Left, round_)
            assert endpoint.counts.refused == {reason: 3}

    run(main())


def test_messages_of_a_refused_client_are_ignored(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession()
        async with opened(session, limits=EndpointLimits(max_connections=1), refusal=["full"]) as (endpoint, address):
            async with RawClient(address) as one, RawClient(address) as two:
                await one.exchange(b"here\n", b"here\n")
                await two.send(b"let me in\n" * 10_000)
                assert await two.read_to_end() == b"full\n"
                two.close()
                await one.exchange(b"still here\n", b"still here\n")
            await session.wait_for(Left)
            assert [type(event).__name__ for event in session.events] == ["Joined", "Received", "Received", "Left"]
            assert endpoint.counts.messages_received == 2

    run(main())


def test_zero_means_no_limit(run: Run) -> None:
    async def main() -> None:
        endpoint = Endpoint(
            RecordingSession(),
            WordCodec,
            SilentLogger(),
            limits=EndpointLimits(max_connections=0, max_connections_per_address=0),
        )
        connections = [Connection(endpoint) for _ in range(3_000)]
        for connection in connections:
            connection.connection_made(MemoryTransport())
        assert len(endpoint.connections) == 3_000
        assert not endpoint.counts.refused

    run(main())


def test_each_address_has_its_own_limit(run: Run) -> None:
    async def main() -> None:
        endpoint = Endpoint(
            RecordingSession(),
            WordCodec,
            SilentLogger(),
            limits=EndpointLimits(max_connections_per_address=1),
            refusal=["full"],
        )
        transports = [MemoryTransport(host) for host in ("192.0.2.1", "192.0.2.2", "192.0.2.1", "2001:db8::1")]
        for transport in transports:
            Connection(endpoint).connection_made(transport)
        assert [transport.writes for transport in transports] == [[], [], [b"full\n"], []]
        assert [transport.ended for transport in transports] == [False, False, True, False]

    run(main())


def test_closing_room_refuses_a_connection_that_was_just_accepted(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession()
        endpoint = Endpoint(session, WordCodec, SilentLogger(), refusal=["closing"])
        endpoint.halt(final=False)
        transport = MemoryTransport()
        connection = Connection(endpoint)
        connection.connection_made(transport)  # accepted before the endpoint halted, made after it
        assert transport.writes == [b"closing\n"]
        assert transport.ended
        assert session.events_of(Joined) == []
        assert endpoint.counts.refused == {"closing": 1}
        connection.connection_lost(None)
        await endpoint.wait_drained()

    run(main())


def test_refused_client_that_never_closes_is_disconnected(run: Run) -> None:
    async def main() -> None:
        limits = EndpointLimits(max_connections=1, close_timeout=0.05)
        async with (
            opened(RecordingSession(), limits=limits) as (endpoint, address),
            RawClient(address) as one,
            RawClient(address) as two,
        ):
            await one.exchange(b"here\n", b"here\n")
            assert await two.read_to_end() == b""
            endpoint.halt(final=True)
            assert await one.read_to_end() == b""
            one.close()
            await endpoint.wait_drained()  # although `two` keeps its side open

    run(main())


def test_flood_of_refused_clients_is_disconnected_at_once(run: Run) -> None:
    """Only `max_lingering_connections` refused clients get time to close; the others are disconnected at once."""

    async def main() -> None:
        limits = EndpointLimits(max_connections=1, max_lingering_connections=1, close_timeout=30.0)
        async with (
            opened(RecordingSession(), limits=limits, refusal=["full"]) as (endpoint, address),
            RawClient(address) as one,
        ):
            await one.exchange(b"here\n", b"here\n")
            async with RawClient(address) as polite, RawClient(address) as flood:
                assert await polite.read_to_end() == b"full\n"
                with suppress(ConnectionError):
                    assert await flood.read_to_end() == b""
            assert endpoint.counts.refused == {"connections": 2}

    run(main())
