"""Old Maid over real sockets: our bots, independent players, both together, and players that disconnect."""

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
from tests.clients.independent_player import IndependentPlayer
from tests.clients.oldmaid_fixtures import OpenTable, luck, make_client, open_table, play_with_bot, play_with_bots
from tests.net.raw_client import TIMEOUT_SECONDS, Run
from tests.sampling import extended


@pytest.mark.parametrize("players", [2, 3, 4, 8])
def test_every_player_gets_its_place_in_the_ring(run: Run, players: int) -> None:
    async def main() -> None:
        async with open_table(players) as table:
            nicks = [f"p{number}" for number in range(players)]
            tallies = await play_with_bots(table, *nicks)
            assert [tally.faults for tally in tallies] == [[]] * players
            (ranking,) = table.rankings
            assert sorted(ranking) == nicks
            assert {tally.nick: [*tally.places] for tally in tallies} == {
                nick: [place] for place, nick in enumerate(ranking, start=1)
            }
            assert [tally.nick for tally in tallies if tally.losses] == [ranking[-1]]
            assert table.endpoint.counts.undeliverable == 0

    run(main())


@pytest.mark.parametrize("chop", [1, 7, 4096])
def test_independent_players_play_with_small_writes(run: Run, chop: int) -> None:
    async def main() -> None:
        async with open_table(3) as table:
            players = [IndependentPlayer(table.address, nick, chop) for nick in ("ann", "bob", "cyd")]
            await asyncio.gather(*(stranger.play() for stranger in players))
            assert [[stranger.nick for stranger in players if stranger.lost]] == [
                ranking[-1:] for ranking in table.rankings
            ]

    run(main())


@pytest.mark.parametrize("chop", [1, 7, 4096])
@pytest.mark.parametrize("dialect", ["document", "njaal"])
def test_independent_players_and_our_bots_play_in_one_ring(run: Run, chop: int, dialect: str) -> None:
    async def main() -> None:
        async with open_table(4, dialect=dialect) as table:
            players = [IndependentPlayer(table.address, nick, chop) for nick in ("ann", "bob")]
            tallies, *_ = await asyncio.gather(
                play_with_bots(table, "cyd", "dan"), *(stranger.play() for stranger in players)
            )
            assert [tally.faults for tally in tallies] == [[], []]
            lost = [each.nick for each in players if each.lost] + [each.nick for each in tallies if each.losses]
            assert [lost] == [ranking[-1:] for ranking in table.rankings]

    run(main())


ALONE = "nobody is left to play with"
STUCK = "the server closed the connection: oldmaid-6.10: "

RETRY_SECONDS = 0.5
"""How long players try to reach one that has gone."""


async def play_until_disconnect(table: OpenTable, kind: type[PlayerEvent], times: int) -> None:
    """Play until an event has occurred `times` times, then break all connections."""
    ring = make_client(table, "torn", 99, retry_seconds=RETRY_SECONDS)
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
    extended(
        [
            (SeatTaken, 1),
            (CardDrawn, 1),
            (CardDrawn, 7),
            (CardPicked, 3),
            (OfferReceived, 1),
            (CardPicked, 1),
            (OfferMade, 2),
            (CardGiven, 1),
        ],
        3,
    ),
)
def test_disconnected_player_is_last_and_the_others_finish(run: Run, kind: type[PlayerEvent], times: int) -> None:
    """The lost cards may leave several cards without a pair; the game cannot end then."""

    async def main() -> None:
        async with open_table(4, stuck_seconds=0.5) as table:
            others = [
                play_with_bot(table, nick, number, retry_seconds=RETRY_SECONDS)
                for number, nick in enumerate(("ann", "bob", "cyd"))
            ]
            _, *tallies = await table.play_in_order(play_until_disconnect(table, kind, times), *others)
            (game,) = table.games
            assert game.nicks[game.departed_seats[0]] == "torn"
            assert [ranking[-1:] for ranking in table.rankings] == [[] if game.is_void else ["torn"]]
            assert [tally.games for tally in tallies] == [1, 1, 1]
            for tally in tallies:
                assert all(fault.startswith((ALONE, STUCK)) for fault in tally.faults)
            assert [fault for tally in tallies for fault in tally.faults if fault.startswith(STUCK)] or not game.is_void

    run(main())


def test_disconnected_table_ends_the_game(run: Run) -> None:
    async def main() -> None:
        async with open_table(3) as table:

            async def breaks() -> None:
                ring = make_client(table, "cyd", 9)
                async with ring:
                    while not isinstance(await ring.receive(), CardDrawn):
                        pass
                    for line in [*table.endpoint.connections.values()]:
                        line.abort()
                    while not isinstance(await ring.receive(), PlayerFinished):
                        pass

            tallies, _ = await asyncio.gather(play_with_bots(table, "ann", "bob"), breaks())
            for tally in tallies:
                (fault,) = tally.faults
                assert fault.startswith("the server closed the connection")

    run(main())


def test_stopping_table_lets_the_running_game_finish(run: Run) -> None:
    async def main() -> None:
        async with open_table(4) as table:

            async def stops() -> None:
                async with make_client(table, "dan", 9) as ring:
                    news: PlayerEvent | None = None
                    while not isinstance(news, PlayerFinished):
                        pick = ring.player.decide(RandomBot(), luck(9))
                        if pick is not None:
                            await ring.send(pick)
                        news = await ring.receive()
                        if (isinstance(news, CardDrawn) and news.is_last) or isinstance(news, OfferReceived):
                            table.endpoint.halt(final=False)

            playing = asyncio.gather(play_with_bots(table, "ann", "bob", "cyd"), stops())
            await asyncio.sleep(0)
            tallies, _ = await playing
            assert [tally.faults for tally in tallies] == [[], [], []]
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await table.endpoint.wait_drained()

    run(main())


def test_game_at_a_durable_table(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with open_table(4, store=tmp_path / "kept.db") as table:
            tallies = await play_with_bots(table, "ann", "bob", "cyd", "dan", games=2)
            assert [tally.faults for tally in tallies] == [[]] * 4
            assert table.endpoint.counts.undeliverable == 0
            rankings = table.rankings
        async with await open_store(str(tmp_path / "kept.db")) as store:
            hands = await store.hands("oldmaid")
            assert [json.loads(hand.record)["ranking"] for hand in hands] == rankings[::-1]
            assert len(hands) == 2

    run(main())


def test_pipelined_messages_are_answered_in_order(run: Run, tmp_path: Path) -> None:
    """oldmaid-1.4"""

    async def main() -> None:
        async with open_table(2, store=tmp_path / "kept.db") as table:
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
