"""Old Maid client: where it listens, how it joins a table, and what it reports."""

import asyncio
import socket
import ssl
from typing import Any

import pytest
import trustme

from croupier.clients.ring import RingClient, RingConfig, RingTally, join_table, play_ring_games
from croupier.core.bots import RandomBot
from croupier.core.errors import IllegalMove
from croupier.core.session import Address, Joined
from croupier.net import endpoint, outgoing
from croupier.net.outgoing import LocalAddressError
from croupier.rooms.oldmaid.player import Options
from croupier.rooms.oldmaid.ring.player_events import (
    OfferReceived,
    PlayerEvent,
    PlayerFinished,
    PlayerResult,
    SeatTaken,
)
from croupier.rooms.oldmaid.wire import Pick
from tests.clients.oldmaid_fixtures import (
    OpenTable,
    fast_options,
    luck,
    make_client,
    open_table,
    play_with_bot,
    play_with_bots,
)
from tests.net.raw_client import TIMEOUT_SECONDS, Run
from tests.net.test_local_port import HOSTS
from tests.ports import closed_port


async def play_to_the_end(ring: RingClient, number: int = 0) -> list[PlayerEvent]:
    """Let a bot play; return all events."""
    events: list[PlayerEvent] = []
    async with asyncio.timeout(2 * TIMEOUT_SECONDS):
        while not (events and isinstance(events[-1], PlayerFinished)):
            pick = ring.player.decide(RandomBot(), luck(number))
            if pick is not None:
                await ring.send(pick)
            events.append(await ring.receive())
    return events


@pytest.mark.parametrize("host", HOSTS)
def test_players_are_listed_at_their_listening_port(run: Run, host: str) -> None:
    async def main() -> None:
        async with open_table(3, host, strict=True) as table, make_client(table, "cyd", strict=True) as ring:
            tallies, events = await asyncio.gather(
                play_with_bots(table, "ann", "bob", strict=True), play_to_the_end(ring)
            )
            assert [tally.faults for tally in tallies] == [[], []]
            (seat_taken,) = [each for each in events if isinstance(each, SeatTaken)]
            assert {address[0] for address, _ in seat_taken.players} == {host}
            assert len({address for address, _ in seat_taken.players}) == 3

    run(main())


def test_table_address_can_be_a_host_name(run: Run) -> None:
    async def main() -> None:
        async with open_table(2) as table:
            tallies = [RingTally("ann"), RingTally("bob")]
            config = RingConfig(("localhost", table.address[1]))
            await asyncio.gather(
                *(
                    play_ring_games(
                        lambda nick=tally.nick: RingClient(config, fast_options(nick), luck(1)),
                        RandomBot(),
                        luck(1),
                        1,
                        tally,
                    )  # type: ignore[misc]
                    for tally in tallies
                )
            )
            assert [tally.games for tally in tallies] == [1, 1]

    run(main())


def test_player_listens_on_the_given_address(run: Run) -> None:
    async def main() -> None:
        port = closed_port()
        async with open_table(2) as table, make_client(table, "ann", host="127.0.0.1", port=port) as ring:
            tallies, events = await asyncio.gather(play_with_bots(table, "bob"), play_to_the_end(ring))
            assert tallies[0].faults == []
            (seat_taken,) = [each for each in events if isinstance(each, SeatTaken)]
            assert (("127.0.0.1", port), "ann") in seat_taken.players

    run(main())


class WarningLog:
    """A logger that keeps its warnings."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def debug(self, event: str, **facts: object) -> None: ...
    def info(self, event: str, **facts: object) -> None: ...
    def error(self, event: str, **facts: object) -> None: ...

    def warning(self, event: str, **facts: object) -> None:
        self.warnings.append(event)


@pytest.fixture
def no_local_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a system that does not allow connections from a listening port."""
    connected = outgoing.connect_from

    async def refuse(local: Address, *arguments: Any) -> socket.socket:
        if local[1]:
            raise LocalAddressError("not from here")
        return await connected(local, *arguments)

    monkeypatch.setattr(endpoint, "connect_from", refuse)


def test_port_is_sent_if_it_cannot_be_used_for_the_connection(run: Run, no_local_address: None) -> None:
    async def main() -> None:
        log = WarningLog()
        port = closed_port()
        async with open_table(2) as table:
            config = RingConfig(table.address, port=port)
            async with RingClient(config, fast_options("ann"), luck(1), log) as ring:
                tallies, events = await asyncio.gather(play_with_bots(table, "bob"), play_to_the_end(ring))
                assert tallies[0].faults == []
                (seat_taken,) = [each for each in events if isinstance(each, SeatTaken)]
                assert (("127.0.0.1", port), "ann") in seat_taken.players
        assert log.warnings == ["cannot connect from the listening port; sending the port to the table instead"]

    run(main())


def test_strict_table_rejects_a_sent_port(run: Run, no_local_address: None) -> None:
    async def main() -> None:
        async with open_table(2, strict=True) as table, make_client(table, "ann") as ring:
            (over,) = await play_to_the_end(ring)
            assert isinstance(over, PlayerFinished)
            assert "oldmaid-3.5" in over.result.reason

    run(main())


def test_announced_port_may_differ_from_the_listening_port(run: Run) -> None:
    async def main() -> None:
        port = closed_port()
        async with open_table(2) as table:
            config = RingConfig(table.address, port=port)
            async with RingClient(config, fast_options("ann", port=port), luck(1)) as ring:
                (tally,), events = await asyncio.gather(play_with_bots(table, "bob"), play_to_the_end(ring))
                (seat_taken,) = [each for each in events if isinstance(each, SeatTaken)]
                assert (("127.0.0.1", port), "ann") in seat_taken.players
                assert tally.faults == []

    run(main())


@pytest.mark.parametrize("announced", [None, 4001])
def test_port_is_free_after_a_failed_connection(run: Run, announced: int | None) -> None:
    async def main() -> None:
        port, nowhere = closed_port(), closed_port()
        ring = RingClient(RingConfig(("127.0.0.1", nowhere), port=port), fast_options("ann", port=announced), luck(1))
        with pytest.raises(ConnectionError, match=f"no table answers at 127.0.0.1:{nowhere}: .*refused|failed"):
            await ring.__aenter__()
        socket.create_server(("127.0.0.1", port)).close()

    run(main())


def test_unreachable_table_is_a_connection_error(run: Run) -> None:
    async def main() -> None:
        for name in ("nowhere.invalid", "x" * 64 + ".invalid"):
            with pytest.raises(ConnectionError, match="no table answers at "):
                await RingClient(RingConfig((name, 9898)), fast_options("ann"), luck(1)).__aenter__()
        with pytest.raises(ConnectionError, match="no table answers at "):
            await RingClient(RingConfig(("192.0.2.1", 9898), "::1"), fast_options("ann"), luck(1)).__aenter__()

    run(main())


def test_port_in_use_is_an_error(run: Run) -> None:
    async def main() -> None:
        async with open_table(2) as table:
            _, port = table.address
            with pytest.raises(OSError, match=rf"cannot listen on 127\.0\.0\.1:{port}: "):
                await make_client(table, "ann", port=port).__aenter__()

    run(main())


def test_port_is_free_after_a_cancelled_connection(run: Run) -> None:
    async def main() -> None:
        port = closed_port()
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            context = ssl.create_default_context()  # the server never completes the handshake
            ring = RingClient(RingConfig(silent.getsockname(), port=port, ssl=context), fast_options("ann"), luck(1))
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await ring.__aenter__()
            await asyncio.sleep(0)
            socket.create_server(("127.0.0.1", port)).close()

    run(main())


def test_refused_join_ends_with_the_reason(run: Run) -> None:
    async def main() -> None:
        async with open_table(3) as table, make_client(table, "ann"):
            tally = RingTally("ann")
            while table.endpoint.connection_count < 1:
                await asyncio.sleep(0)
            await play_ring_games(lambda: make_client(table, "ann", 2), RandomBot(), luck(2), 5, tally)
            assert (tally.games, len(tally.faults)) == (0, 1)
            assert "oldmaid-3.8" in tally.faults[0]

    run(main())


def test_receive_after_the_end_raises(run: Run) -> None:
    async def main() -> None:
        async with open_table(2) as table, make_client(table, "ann") as ring:
            assert ring.result is None
            (tally,), events = await asyncio.gather(play_with_bots(table, "bob"), play_to_the_end(ring))
            assert isinstance(events[-1], PlayerFinished)
            assert ring.result == events[-1].result
            assert {ring.result.outcome, "lost" if tally.losses else "out"} == {"lost", "out"}
            with pytest.raises(ConnectionError, match="the game is over"):
                await ring.receive()

    run(main())


def test_only_offered_cards_can_be_picked(run: Run) -> None:
    async def main() -> None:
        async with open_table(2) as table, make_client(table, "ann") as ring:
            assert ring.legal == ()
            with pytest.raises(IllegalMove):
                await ring.send(Pick(0))
            playing = asyncio.ensure_future(play_with_bots(table, "bob"))
            while not isinstance(event := await ring.receive(), OfferReceived):
                pass
            assert ring.legal == tuple(map(Pick, range(event.num_cards)))
            with pytest.raises(IllegalMove):
                await ring.send(Pick(event.num_cards))
            await play_to_the_end(ring)
            await playing

    run(main())


def test_leaving_during_a_game_disconnects_the_player(run: Run) -> None:
    async def main() -> None:
        async with open_table(3, stuck_seconds=0.5) as table:

            async def leave() -> None:
                async with make_client(table, "cyd", 9) as ring:
                    while not isinstance(await ring.receive(), SeatTaken):
                        pass

            tallies, _ = await asyncio.gather(play_with_bots(table, "ann", "bob"), leave())
            (game,) = table.games
            assert [game.nicks[seat] for seat in game.departed_seats][:1] == ["cyd"]
            assert [tally.games for tally in tallies] == [1, 1]

    run(main())


def test_games_are_played_one_after_another(run: Run) -> None:
    async def main() -> None:
        async with open_table(3) as table:
            tallies = await play_with_bots(table, "ann", "bob", "cyd", games=4)
            assert len(table.rankings) == 4
            for tally in tallies:
                assert (tally.games, tally.faults) == (4, [])
                places = [ranking.index(tally.nick) + 1 for ranking in table.rankings]
                assert sorted(tally.places.elements()) == sorted(places)
                assert tally.losses == places.count(3)

    run(main())


def test_wait_for_a_game_to_start_is_bounded(run_simulated: Run) -> None:
    async def main() -> None:
        async with open_table(2) as table:
            ann = asyncio.create_task(play_with_bot(table, "ann", games=3))
            assert (await play_with_bot(table, "bob", 2)).faults == []
            async with asyncio.timeout(60.0):
                tally = await ann
            assert (tally.games, tally.faults) == (1, ["waited 30 seconds for a game to start"])
            tally = RingTally("cyd")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(60.0):
                    await play_ring_games(lambda: make_client(table, "cyd"), RandomBot(), luck(1), 1, tally)
            await play_ring_games(lambda: make_client(table, "cyd"), RandomBot(), luck(1), 1, tally, wait_seconds=4.0)
            assert (tally.games, tally.faults) == (0, ["waited 4 seconds for a game to start"])

    run_simulated(main())


def test_table_can_use_tls(run: Run) -> None:
    async def main() -> None:
        authority = trustme.CA()
        server, client = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
        authority.issue_cert("127.0.0.1").configure_cert(server)
        authority.configure_trust(client)
        async with open_table(2, ssl=server) as table:
            tallies = await play_with_bots(table, "ann", "bob", ssl=client)
            assert [tally.faults for tally in tallies] == [[], []]
            (refused,) = await play_with_bots(table, "cyd")
            assert len(refused.faults) == 1

    run(main())


def test_join_table_joins_and_plays(run: Run) -> None:
    async def main() -> None:
        async with open_table(2) as table:
            host, port = table.address
            async with (
                join_table(host, port, nick="ann") as ring,
                join_table(host, port, options=Options("bob", poll_seconds=0.05)) as other,
            ):
                assert [each.player.options.nick for each in (ring, other)] == ["ann", "bob"]
                seat_taken, also = await ring.receive(), await other.receive()
                assert isinstance(seat_taken, SeatTaken)
                assert isinstance(also, SeatTaken)
                assert seat_taken.players == also.players

    run(main())


def test_tally_counts_places_losses_and_faults() -> None:
    tally = RingTally("ann")
    results: list[Any] = [("out", 1), ("out", 2), ("lost", 4), ("out", 1), ("ended", None, "gone")]
    for result in results:
        tally.add_result(PlayerResult(*result))
    assert (tally.losses, tally.places, tally.faults) == (1, {1: 2, 2: 1, 4: 1}, ["gone"])


def test_joining_can_be_cancelled_at_the_moment_of_the_connection(run: Run) -> None:
    class InterruptedClient(RingClient):
        def _on_event(self, event: Any, effects: Any, now: float) -> None:
            super()._on_event(event, effects, now)
            if isinstance(event, Joined):
                joining.cancel()

    async def join(table: OpenTable) -> None:
        async with InterruptedClient(RingConfig(table.address), fast_options("ann"), luck(1)):
            pass

    async def main() -> None:
        nonlocal joining
        async with open_table(2) as table:
            joining = asyncio.create_task(join(table))
            with pytest.raises(asyncio.CancelledError):
                await joining

    joining: asyncio.Task[None]
    run(main())
