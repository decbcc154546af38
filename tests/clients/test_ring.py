"""A seat in a ring of Old Maid: where it listens, how it comes to the table, and what it tells those who sit in it."""

import asyncio
import socket
import ssl
from typing import Any

import pytest
import trustme

from croupier.clients.ring import RingClient, RingConfig, RingTally, join_table, play_ring_games
from croupier.core.bots import RandomBot
from croupier.core.errors import IllegalMove
from croupier.core.session import Address
from croupier.net.endpoint import Endpoint, LocalAddressError
from croupier.rooms.oldmaid.player import Options
from croupier.rooms.oldmaid.ring.player_events import (
    OfferReceived,
    PlayerEvent,
    PlayerFinished,
    PlayerResult,
    SeatTaken,
)
from croupier.rooms.oldmaid.wire import Pick
from tests.clients.oldmaid_fixtures import bots, luck, opened, options, seat
from tests.net.raw_client import PATIENCE, Run
from tests.net.test_local_port import HOSTS, closed_port


async def to_the_end(ring: RingClient, number: int = 0) -> list[PlayerEvent]:
    """Let a bot play: all that it hears."""
    news: list[PlayerEvent] = []
    async with asyncio.timeout(2 * PATIENCE):
        while not (news and isinstance(news[-1], PlayerFinished)):
            pick = ring.player.decide(RandomBot(), luck(number))
            if pick is not None:
                await ring.send(pick)
            news.append(await ring.receive())
    return news


@pytest.mark.parametrize("host", HOSTS)
def test_everybody_is_listed_where_he_listens_so_nobody_tells_a_port(run: Run, host: str) -> None:
    async def main() -> None:
        async with opened(3, host, strict=True) as table, seat(table, "cyd", strict=True) as ring:
            tallies, news = await asyncio.gather(bots(table, "ann", "bob", strict=True), to_the_end(ring))
            assert [tally.faults for tally in tallies] == [[], []]
            (sat,) = [one for one in news if isinstance(one, SeatTaken)]
            assert {address[0] for address, _ in sat.players} == {host}
            assert len({address for address, _ in sat.players}) == 3

    run(main())


def test_a_table_is_found_by_its_name(run: Run) -> None:
    async def main() -> None:
        async with opened(2) as table:
            tallies = [RingTally("ann"), RingTally("bob")]
            way = RingConfig(("localhost", table.address[1]))
            await asyncio.gather(
                *(
                    play_ring_games(
                        lambda nick=tally.nick: RingClient(way, options(nick), luck(1)), RandomBot(), luck(1), 1, tally
                    )  # type: ignore[misc]
                    for tally in tallies
                )
            )
            assert [tally.games for tally in tallies] == [1, 1]

    run(main())


def test_it_listens_where_it_is_told_to(run: Run) -> None:
    async def main() -> None:
        port = closed_port()
        async with opened(2) as table, seat(table, "ann", host="127.0.0.1", port=port) as ring:
            tallies, news = await asyncio.gather(bots(table, "bob"), to_the_end(ring))
            assert tallies[0].faults == []
            (sat,) = [one for one in news if isinstance(one, SeatTaken)]
            assert (("127.0.0.1", port), "ann") in sat.players

    run(main())


class Heard:
    """A log that keeps its warnings."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def debug(self, event: str, **facts: object) -> None: ...
    def info(self, event: str, **facts: object) -> None: ...
    def error(self, event: str, **facts: object) -> None: ...

    def warning(self, event: str, **facts: object) -> None:
        self.warnings.append(event)


@pytest.fixture
def unmoored(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that lets nobody connect from a port that is listened on."""
    connected = Endpoint._connect_from

    async def refuse(board: Endpoint, local: Address, address: Address) -> socket.socket:
        if local[1]:
            raise LocalAddressError("not from here")
        return await connected(board, local, address)

    monkeypatch.setattr(Endpoint, "_connect_from", refuse)


def test_where_the_system_does_not_let_it_call_from_its_port_it_tells_the_table(run: Run, unmoored: None) -> None:
    async def main() -> None:
        log = Heard()
        port = closed_port()
        async with opened(2) as table:
            way = RingConfig(table.address, port=port)
            async with RingClient(way, options("ann"), luck(1), log) as ring:
                tallies, news = await asyncio.gather(bots(table, "bob"), to_the_end(ring))
                assert tallies[0].faults == []
                (sat,) = [one for one in news if isinstance(one, SeatTaken)]
                assert (("127.0.0.1", port), "ann") in sat.players
        assert log.warnings == ["cannot call from where it listens, so it tells its port"]

    run(main())


def test_a_strict_table_does_not_want_to_be_told(run: Run, unmoored: None) -> None:
    async def main() -> None:
        async with opened(2, strict=True) as table, seat(table, "ann") as ring:
            (over,) = await to_the_end(ring)
            assert isinstance(over, PlayerFinished)
            assert "oldmaid-3.5" in over.result.reason

    run(main())


def test_a_port_may_be_announced_that_is_not_the_one_it_listens_on(run: Run) -> None:
    async def main() -> None:
        port = closed_port()
        async with opened(2) as table:
            way = RingConfig(table.address, port=port)
            async with RingClient(way, options("ann", port=port), luck(1)) as ring:
                (tally,), news = await asyncio.gather(bots(table, "bob"), to_the_end(ring))
                (sat,) = [one for one in news if isinstance(one, SeatTaken)]
                assert (("127.0.0.1", port), "ann") in sat.players
                assert tally.faults == []

    run(main())


@pytest.mark.parametrize("announced", [None, 4001])
def test_no_table_is_no_game_and_the_port_is_free_again(run: Run, announced: int | None) -> None:
    async def main() -> None:
        port, nowhere = closed_port(), closed_port()
        ring = RingClient(RingConfig(("127.0.0.1", nowhere), port=port), options("ann", port=announced), luck(1))
        with pytest.raises(ConnectionError, match=f"no table answers at 127.0.0.1:{nowhere}: .*refused|failed"):
            await ring.__aenter__()
        socket.create_server(("127.0.0.1", port)).close()

    run(main())


def test_a_table_without_a_way_to_it_is_no_game(run: Run) -> None:
    async def main() -> None:
        for name in ("nowhere.invalid", "x" * 64 + ".invalid"):
            with pytest.raises(ConnectionError, match="no table answers at "):
                await RingClient(RingConfig((name, 9898)), options("ann"), luck(1)).__aenter__()
        with pytest.raises(ConnectionError, match="no table answers at "):
            await RingClient(RingConfig(("192.0.2.1", 9898), "::1"), options("ann"), luck(1)).__aenter__()

    run(main())


def test_a_port_that_is_taken_is_told(run: Run) -> None:
    async def main() -> None:
        async with opened(2) as table:
            _, port = table.address
            with pytest.raises(OSError, match=rf"cannot listen on 127\.0\.0\.1:{port}: "):
                await seat(table, "ann", port=port).__aenter__()

    run(main())


def test_who_gives_up_while_he_calls_leaves_the_port_free(run: Run) -> None:
    async def main() -> None:
        port = closed_port()
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            context = ssl.create_default_context()  # nobody shakes hands
            ring = RingClient(RingConfig(silent.getsockname(), port=port, ssl=context), options("ann"), luck(1))
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await ring.__aenter__()
            await asyncio.sleep(0)
            socket.create_server(("127.0.0.1", port)).close()

    run(main())


def test_a_refused_join_ends_it_with_the_reason(run: Run) -> None:
    async def main() -> None:
        async with opened(3) as table, seat(table, "ann"):
            tally = RingTally("ann")
            while table.board.connection_count < 1:
                await asyncio.sleep(0)
            await play_ring_games(lambda: seat(table, "ann", 2), RandomBot(), luck(2), 5, tally)
            assert (tally.games, len(tally.faults)) == (0, 1)
            assert "oldmaid-3.8" in tally.faults[0]

    run(main())


def test_nothing_is_heard_behind_the_end(run: Run) -> None:
    async def main() -> None:
        async with opened(2) as table, seat(table, "ann") as ring:
            assert ring.result is None
            (tally,), news = await asyncio.gather(bots(table, "bob"), to_the_end(ring))
            assert isinstance(news[-1], PlayerFinished)
            assert ring.result == news[-1].result
            assert {ring.result.outcome, "lost" if tally.losses else "out"} == {"lost", "out"}
            with pytest.raises(ConnectionError, match="the game is over"):
                await ring.receive()

    run(main())


def test_only_cards_that_are_offered_can_be_picked(run: Run) -> None:
    async def main() -> None:
        async with opened(2) as table, seat(table, "ann") as ring:
            assert ring.legal == ()
            with pytest.raises(IllegalMove):
                await ring.send(Pick(0))
            playing = asyncio.ensure_future(bots(table, "bob"))
            while not isinstance(news := await ring.receive(), OfferReceived):
                pass
            assert ring.legal == tuple(map(Pick, range(news.num_cards)))
            with pytest.raises(IllegalMove):
                await ring.send(Pick(news.num_cards))
            await to_the_end(ring)
            await playing

    run(main())


def test_who_leaves_in_the_middle_of_a_game_is_gone(run: Run) -> None:
    async def main() -> None:
        async with opened(3, stuck_seconds=0.5) as table:

            async def leave() -> None:
                async with seat(table, "cyd", 9) as ring:
                    while not isinstance(await ring.receive(), SeatTaken):
                        pass

            tallies, _ = await asyncio.gather(bots(table, "ann", "bob"), leave())
            (game,) = table.games
            assert [game.nicks[at] for at in game.departed_seats][:1] == ["cyd"]
            assert [tally.games for tally in tallies] == [1, 1]

    run(main())


def test_games_are_played_one_behind_the_other(run: Run) -> None:
    async def main() -> None:
        async with opened(3) as table:
            tallies = await bots(table, "ann", "bob", "cyd", games=4)
            assert len(table.rankings) == 4
            for tally in tallies:
                assert (tally.games, tally.faults) == (4, [])
                places = [ranking.index(tally.nick) + 1 for ranking in table.rankings]
                assert sorted(tally.places.elements()) == sorted(places)
                assert tally.losses == places.count(3)

    run(main())


def test_a_table_may_be_behind_tls(run: Run) -> None:
    async def main() -> None:
        authority = trustme.CA()
        server, client = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
        authority.issue_cert("127.0.0.1").configure_cert(server)
        authority.configure_trust(client)
        async with opened(2, ssl=server) as table:
            tallies = await bots(table, "ann", "bob", ssl=client)
            assert [tally.faults for tally in tallies] == [[], []]
            (refused,) = await bots(table, "cyd")
            assert len(refused.faults) == 1

    run(main())


def test_a_seat_is_taken_in_one_line(run: Run) -> None:
    async def main() -> None:
        async with opened(2) as table:
            host, port = table.address
            async with (
                join_table(host, port, nick="ann") as ring,
                join_table(host, port, options=Options("bob", poll_seconds=0.05)) as other,
            ):
                assert [one.player.options.nick for one in (ring, other)] == ["ann", "bob"]
                sat, also = await ring.receive(), await other.receive()
                assert isinstance(sat, SeatTaken)
                assert isinstance(also, SeatTaken)
                assert sat.players == also.players

    run(main())


def test_a_tally_knows_places_losses_and_faults() -> None:
    tally = RingTally("ann")
    results: list[Any] = [("out", 1), ("out", 2), ("lost", 4), ("out", 1), ("ended", None, "gone")]
    for result in results:
        tally.add_result(PlayerResult(*result))
    assert (tally.losses, tally.places, tally.faults) == (1, {1: 2, 2: 1, 4: 1}, ["gone"])
