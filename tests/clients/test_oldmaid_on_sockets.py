"""Old Maid through real sockets: rings of ours, of strangers and of both, and some from which somebody is torn."""

import asyncio
import json
from pathlib import Path

import pytest

from croupier.core.bots import RandomBot
from croupier.rooms.oldmaid.ring.player_events import (
    CardDrawn,
    CardGiven,
    CardPicked,
    OfferMade,
    OfferReceived,
    PlayerEvent,
    PlayerFinished,
    SeatTaken,
)
from croupier.store.store import open_store
from tests.clients.independent_player import Stranger
from tests.clients.oldmaid_fixtures import Table, bot, bots, luck, opened, seat
from tests.net.raw_client import PATIENCE, Run


@pytest.mark.parametrize("players", [2, 3, 4, 8])
def test_everybody_finds_the_place_that_the_table_has_for_him(run: Run, players: int) -> None:
    async def main() -> None:
        async with opened(players) as table:
            nicks = [f"p{number}" for number in range(players)]
            tallies = await bots(table, *nicks)
            assert [tally.faults for tally in tallies] == [[]] * players
            (ranking,) = table.rankings
            assert sorted(ranking) == nicks
            assert {tally.nick: [*tally.places] for tally in tallies} == {
                nick: [place] for place, nick in enumerate(ranking, start=1)
            }
            assert [tally.nick for tally in tallies if tally.losses] == [ranking[-1]]
            assert table.board.counts.undeliverable == 0

    run(main())


@pytest.mark.parametrize("chop", [1, 7, 4096])
def test_strangers_play_among_themselves_however_few_bytes_they_send(run: Run, chop: int) -> None:
    async def main() -> None:
        async with opened(3) as table:
            strangers = [Stranger(table.address, nick, chop) for nick in ("ann", "bob", "cyd")]
            await asyncio.gather(*(stranger.play() for stranger in strangers))
            assert [[stranger.nick for stranger in strangers if stranger.lost]] == [
                ranking[-1:] for ranking in table.rankings
            ]

    run(main())


@pytest.mark.parametrize("chop", [1, 7, 4096])
@pytest.mark.parametrize("dialect", ["document", "njaal"])
def test_strangers_and_ours_play_in_one_ring(run: Run, chop: int, dialect: str) -> None:
    async def main() -> None:
        async with opened(4, dialect=dialect) as table:
            strangers = [Stranger(table.address, nick, chop) for nick in ("ann", "bob")]
            tallies, *_ = await asyncio.gather(bots(table, "cyd", "dan"), *(stranger.play() for stranger in strangers))
            assert [tally.faults for tally in tallies] == [[], []]
            lost = [one.nick for one in strangers if one.lost] + [one.nick for one in tallies if one.losses]
            assert [lost] == [ranking[-1:] for ranking in table.rankings]

    run(main())


ALONE = "nobody is left to play with"
STUCK = "the table hung up: oldmaid-6.10: "


async def torn(table: Table, kind: type[PlayerEvent], times: int) -> None:
    """A player whose connections break when he has heard this so many times."""
    ring = seat(table, "torn", 99)
    async with ring:
        while times:
            pick = ring.player.decide(RandomBot(), luck(99))
            if pick is not None:
                await ring.send(pick)
            news = await ring.receive()
            times -= isinstance(news, kind)
            assert not isinstance(news, PlayerFinished), "the game was over before"
        for line in [*ring._endpoint.connections.values()]:
            line.abort()
        while not isinstance(await ring.receive(), PlayerFinished):
            pass
        assert ring.result is not None
        assert ring.result.outcome == "ended"


@pytest.mark.parametrize(
    ("kind", "times"),
    [
        (SeatTaken, 1),
        (CardDrawn, 1),
        (CardDrawn, 7),
        (OfferReceived, 1),
        (CardPicked, 1),
        (CardPicked, 3),
        (OfferMade, 2),
        (CardGiven, 1),
    ],
)
def test_when_the_connections_of_a_player_break_he_is_last_and_the_others_end(
    run: Run, kind: type[PlayerEvent], times: int
) -> None:
    """The cards that go with him may leave more that pair with nothing than a game can end with: it is stuck then."""

    async def main() -> None:
        async with opened(4, stuck_seconds=0.5) as table:
            others = [bot(table, nick, number) for number, nick in enumerate(("ann", "bob", "cyd"))]
            _, *tallies = await table.seats(torn(table, kind, times), *others)
            (game,) = table.games
            assert game.nicks[game.departed_seats[0]] == "torn"
            assert [ranking[-1:] for ranking in table.rankings] == [[] if game.is_void else ["torn"]]
            assert [tally.games for tally in tallies] == [1, 1, 1]
            for tally in tallies:
                assert all(fault.startswith((ALONE, STUCK)) for fault in tally.faults)
            assert [fault for tally in tallies for fault in tally.faults if fault.startswith(STUCK)] or not game.is_void

    run(main())


def test_a_table_that_breaks_off_ends_the_game_for_everybody(run: Run) -> None:
    async def main() -> None:
        async with opened(3) as table:

            async def breaks() -> None:
                ring = seat(table, "cyd", 9)
                async with ring:
                    while not isinstance(await ring.receive(), CardDrawn):
                        pass
                    for line in [*table.board.connections.values()]:
                        line.abort()
                    while not isinstance(await ring.receive(), PlayerFinished):
                        pass

            tallies, _ = await asyncio.gather(bots(table, "ann", "bob"), breaks())
            for tally in tallies:
                (fault,) = tally.faults
                assert fault.startswith("the table hung up")

    run(main())


def test_a_table_that_stops_lets_the_running_game_end(run: Run) -> None:
    async def main() -> None:
        async with opened(4) as table:

            async def stops() -> None:
                async with seat(table, "dan", 9) as ring:
                    news: PlayerEvent | None = None
                    while not isinstance(news, PlayerFinished):
                        pick = ring.player.decide(RandomBot(), luck(9))
                        if pick is not None:
                            await ring.send(pick)
                        news = await ring.receive()
                        if (isinstance(news, CardDrawn) and news.is_last) or isinstance(news, OfferReceived):
                            table.board.halt(final=False)

            playing = asyncio.gather(bots(table, "ann", "bob", "cyd"), stops())
            await asyncio.sleep(0)
            tallies, _ = await playing
            assert [tally.faults for tally in tallies] == [[], [], []]
            async with asyncio.timeout(PATIENCE):
                await table.board.wait_drained()

    run(main())


def test_a_ring_plays_at_a_table_that_is_kept(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(4, kept=tmp_path / "kept.db") as table:
            tallies = await bots(table, "ann", "bob", "cyd", "dan", games=2)
            assert [tally.faults for tally in tallies] == [[]] * 4
            assert table.board.counts.undeliverable == 0
            rankings = table.rankings
        async with await open_store(str(tmp_path / "kept.db")) as store:
            hands = await store.hands("oldmaid")
            assert [json.loads(hand.record)["ranking"] for hand in hands] == rankings[::-1]
            assert len(hands) == 2

    run(main())


def test_whoever_says_much_at_once_is_answered_all_of_it_in_order(run: Run, tmp_path: Path) -> None:
    """oldmaid-1.4"""

    async def main() -> None:
        async with opened(2, kept=tmp_path / "kept.db") as table:
            ann, bob = [await asyncio.open_connection(*table.address) for _ in range(2)]
            for (_, writer), nick in ((ann, "ann"), (bob, "bob")):
                writer.write(b'{"cmd": "join", "nick": "%s"}' % nick.encode())
            for reader, _ in (ann, bob):
                await reader.readline()
            ann[1].write(b'{"cmd": "draw"}' * 500 + b'{"cmd": "status"}' * 500)
            first = json.loads(await ann[0].readline())
            assert first["result"] == "ok"
            rest = [json.loads(await ann[0].readline()) for _ in range(999)]
            assert ["oldmaid-4.3" in answer.get("message", "") for answer in rest] == [True] * 499 + [False] * 500
            assert rest[-1] == {"in": ["ann", "bob"], "out": []}
            for _, writer in (ann, bob):
                writer.close()

    run(main())
