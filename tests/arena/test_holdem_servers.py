"""A bot of the arena sits down at the hold'em server of an address, against the players there."""

import asyncio
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread

import pytest
from msgspec.structs import replace

from croupier.arena import holdem_servers
from croupier.arena.holdem_servers import GameAddress, parse_game_address
from croupier.arena.plan import Plan
from croupier.arena.play import play_chunk
from croupier.arena.programs import check_processes, check_programs
from croupier.arena.tally import Tally
from croupier.clients.contestants import parse_contestant
from croupier.clients.holdem import HoldemClient, play_hands
from croupier.core.bots import Bot
from croupier.core.dealer import FairDealer, Luck
from croupier.rooms import find_room
from croupier.rooms.holdem.engine.legal import Move
from croupier.rooms.holdem.table.views import View
from tests.http.service_fixture import opened

GUID = "0f0e0d0c-0b0a-4908-8706-050403020100"


class Folder:
    def choose(self, view: View, legal: Sequence[Move], luck: Luck) -> Move:
        return view.check_or_fold


@contextmanager
def server(*bots: Bot[View, Move], blinds: str = "10/20") -> Iterator[str]:
    """A hold'em server at which these bots play; yields its address."""
    addresses: list[str] = []
    is_open, is_over = Event(), Event()

    async def serve() -> None:
        async with opened(blinds=blinds) as service:
            host, port = service.address
            addresses.append(f"{host}:{port}")
            luck = FairDealer(bytes(32)).luck
            clients = [HoldemClient(f"http://{host}:{port}", f"user{number}", "secret") for number in range(len(bots))]
            players = [
                asyncio.create_task(play_hands(client, bot, luck, rebuy=True))
                for client, bot in zip(clients, bots, strict=True)
            ]
            is_open.set()
            await asyncio.to_thread(is_over.wait)
            for player, client in zip(players, clients, strict=True):
                player.cancel()
                with suppress(asyncio.CancelledError):
                    await player
                await client.exchange.close()

    thread = Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert is_open.wait(30)
        yield addresses[0]
    finally:
        is_over.set()
        thread.join()


def play(address: str, *, server_first: bool = False) -> Tally:
    bots = (address, "maniac") if server_first else ("maniac", address)
    return play_chunk(Plan("holdem", bots, pairs=10, seed=1, chunk_pairs=10, answer_seconds=20), (0, 1), 0)


@pytest.mark.parametrize("server_first", [False, True])
def test_a_bot_plays_against_who_plays_at_the_server(server_first: bool) -> None:
    with server(Folder(), blinds="50/100") as address:
        tally = play(address, server_first=server_first)
    assert (tally.pairs, tally.plain.count, tally.faults) == (10, 10, ())
    # The bot wins a big blind on the button and half of it in the other seat, and both if it has not seen that fold.
    won = -tally.plain.mean if server_first else tally.plain.mean
    assert 50 <= won <= 150


def test_the_results_are_those_of_all_others_at_the_table() -> None:
    with server(Folder(), Folder()) as address:
        tally = play(address)
    assert tally.faults == ()
    assert tally.plain.mean > 0


def test_a_server_at_which_nobody_plays_forfeits_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holdem_servers, "MAX_HAND_MESSAGES", 0)
    monkeypatch.setattr(holdem_servers, "START_SECONDS", 0.3)
    with server() as address:
        tally = play(address)
    assert (tally.pairs, tally.forfeit) == (0, 1)
    assert [fault.reason for fault in tally.faults] == [
        "the bot had nothing to decide for 0.3 seconds: nobody plays with it"
    ]


def test_a_game_that_is_not_there_forfeits() -> None:
    with server() as address:
        tally = play(f"http://{address}/games/{GUID}")
    assert (tally.pairs, tally.forfeit) == (0, 1)
    assert [fault.reason[:13] for fault in tally.faults] == ["404 Not Found"] * 3


def test_a_server_that_is_not_there_forfeits() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        address = f"127.0.0.1:{unused.getsockname()[1]}"
    plan = Plan("holdem", ("maniac", address), pairs=10, seed=1, answer_seconds=0.1)
    tally = play_chunk(plan, (0, 1), 0)
    assert tally.forfeit == 1
    assert all("no answer to POST /users/" in fault.reason for fault in tally.faults)


def test_an_address_may_name_a_game() -> None:
    assert parse_game_address("localhost:8080") == GameAddress("http://localhost:8080", None)
    assert parse_game_address(f"https://cards.example/poker/games/{GUID.upper()}/") == GameAddress(
        "https://cards.example/poker", GUID
    )
    assert parse_game_address("http://cards.example/games/all") == GameAddress("http://cards.example/games/all", None)


@pytest.mark.parametrize(
    ("bots", "error"),
    [
        (("a {url}", "localhost:8080"), "'a {url}' (a client) and 'localhost:8080' (a server) against each other"),
        (("localhost:8080", "localhost:8081"), "(a server) against each other; allowed: a program against a bot"),
        (("random", "http://ann:secret@localhost"), "found 'http://***@localhost'; allowed: http://HOST:PORT"),
    ],
)
def test_servers_at_which_nobody_of_ours_can_play_are_refused(bots: tuple[str, ...], error: str) -> None:
    contestants = [parse_contestant(find_room("holdem"), bot) for bot in bots]
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 -- the text is compared below
        check_programs(Plan("holdem", bots, pairs=10, seed=1), contestants)
    assert error in str(refusal.value)


def test_bots_of_several_processes_do_not_meet_at_a_server() -> None:
    plan = Plan("holdem", ("tight", "localhost:8080"), pairs=10, seed=1)
    with pytest.raises(ValueError, match="found --jobs 2 and the server 'localhost:8080', where our bots could meet"):
        check_processes(plan, "--jobs 2")
    check_processes(replace(plan, bots=("tight", "./mine {url}")), "--jobs 2")
