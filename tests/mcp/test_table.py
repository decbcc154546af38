"""A program plays at tables by calls: it sees what a person would see, and nothing else."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from croupier.clients.luck import Login, new_login
from croupier.core.presentation import UnknownAction
from croupier.mcp.places import OwnPlaces, ServerPlaces, seat_opener
from croupier.mcp.table import CallTable
from croupier.rooms import ROOMS, find_room
from tests.processes import PATIENCE


@asynccontextmanager
async def seated(
    places: Any, room_name: str, player: str | None = None, wait_seconds: float = PATIENCE
) -> AsyncIterator[CallTable]:
    """A seat in a room, when it can act."""
    room = find_room(room_name)
    login = new_login() if player is None else Login(player, "secret")
    async with AsyncExitStack() as stack:
        open_seat = await stack.enter_async_context(seat_opener(room, await places.address(room), login))
        table = CallTable(room.load_extra("presenter")(), open_seat, "the table")
        stack.push_async_callback(table.close)
        await table.settle(wait_seconds)
        yield table


@asynccontextmanager
async def own_places(seed: int | None = None) -> AsyncIterator[OwnPlaces]:
    """Rooms of our own."""
    places = OwnPlaces(seed)
    try:
        yield places
    finally:
        await places.close()


async def act(table: CallTable) -> dict[str, Any]:
    """Do the first legal action, with the lowest number if it takes one."""
    first: Any = table.legal_actions()[0]
    await table.act(first["action"], first["amount"]["low"] if "amount" in first else None, PATIENCE)
    return table.observe()


@pytest.mark.parametrize("room_name", ROOMS)
def test_a_program_plays_in_every_room(room_name: str) -> None:
    async def play() -> None:
        async with own_places(seed=1) as places, seated(places, room_name) as table:
            seen = table.observe()
            for _ in range(5):
                assert seen["your_turn"], seen
                assert not seen["is_over"]
                seen = await act(table)
            await table.leave(PATIENCE)
            assert table.end_reason is not None
            assert not table.observe()["your_turn"]
            assert "You have left the table." in str(table.observe()["text"])

    asyncio.run(play())


def test_the_same_seed_deals_the_same_cards() -> None:
    async def play(seed: int) -> list[Any]:
        async with own_places(seed) as places, seated(places, "blackjack") as table:
            return [(await act(table))["text"] for _ in range(6)]

    first, again, other = (asyncio.run(play(seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_an_action_that_is_not_offered_is_refused_and_nothing_happens() -> None:
    async def play() -> None:
        async with own_places() as places, seated(places, "blackjack") as table:
            await act(table)
            before = table.observe()
            with pytest.raises(UnknownAction, match="found hit; allowed: "):
                await table.act("hit", None, PATIENCE)
            bet = next(each for each in table.legal_actions() if "amount" in each)
            for amount in (0, None):
                with pytest.raises(UnknownAction, match=f"found {bet['action']} {amount}; allowed: 1 to "):
                    await table.act(str(bet["action"]), amount, PATIENCE)
            assert table.observe() == before

    asyncio.run(play())


def test_a_second_action_before_the_answer_to_the_first_is_refused() -> None:
    async def play() -> None:
        async with own_places() as places, seated(places, "kuhn") as table:
            first = asyncio.ensure_future(table.act("first", None, PATIENCE))
            await asyncio.sleep(0)
            with pytest.raises(UnknownAction, match="found first before the last action was answered"):
                await table.act("first", None, PATIENCE)
            await first
            assert "You are dealt" in str(table.observe()["text"])

    asyncio.run(play())


def test_two_players_of_holdem_never_see_the_cards_of_each_other_in_a_running_hand() -> None:
    async def play() -> int:
        compared = 0
        async with (
            own_places() as places,
            seated(places, "holdem", "ann", wait_seconds=0.0) as ann,
            seated(places, "holdem", "bob", wait_seconds=0.0) as bob,
        ):
            for _ in range(200):
                for table, other in ((ann, "bob"), (bob, "ann")):
                    seen = table.observe()
                    if not seen["your_turn"]:
                        continue
                    seats = [line for line in str(seen["text"]).splitlines() if line.startswith(f"{other}: ")]
                    compared += len(seats)
                    assert all(" of " not in line for line in seats)
                    has_lost = any(each["action"] == "rejoin" for each in table.legal_actions())  # all chips, to bots
                    await table.act("rejoin" if has_lost else "call", None, 0.0)
                if compared > 20:
                    break
                turns = {*map(asyncio.ensure_future, (ann.settle(PATIENCE), bob.settle(PATIENCE)))}
                await asyncio.wait(turns, return_when=asyncio.FIRST_COMPLETED)
                for turn in turns:
                    turn.cancel()
        return compared

    assert asyncio.run(play()) > 3


def test_the_house_of_kuhn_poker_shows_its_card_only_after_the_game() -> None:
    async def play() -> None:
        async with own_places() as places, seated(places, "kuhn") as table:
            for _ in range(30):
                seen = await act(table)
                lines = [line for line in str(seen["text"]).splitlines() if line.startswith("House: ")]
                actions: Any = seen["actions"]
                if actions[0]["action"] not in {"first", "second", "rejoin"}:  # offered between two games
                    assert [line.startswith("House: a card face down") for line in lines] == [True]

    asyncio.run(play())


@pytest.mark.parametrize("room_name", ["kuhn", "sevenhalf", "blackjack", "holdem"])
def test_nobody_is_to_act_at_a_table_that_is_over(room_name: str) -> None:
    async def play() -> None:
        async with own_places(seed=1) as places, seated(places, room_name) as table:
            while "your turn" not in str(table.observe()["text"]):
                await act(table)
            await table.leave(PATIENCE)
            assert not re.search("your turn$|to act$", str(table.observe()["text"]), re.MULTILINE)

    asyncio.run(play())


def test_a_program_that_loses_its_purse_may_take_a_new_one() -> None:
    async def play() -> set[str]:
        done = set()
        async with own_places(seed=3) as places, seated(places, "kuhn") as table:
            for _ in range(200):
                offered: Any = table.legal_actions()
                names = [each["action"] for each in offered]
                action = next((name for name in ("rejoin", "fold", "bet", "first") if name in names), names[0])
                done.add(action)
                await table.act(action, None, PATIENCE)
                assert table.observe()["your_turn"]
                if "rejoin" in done and "bet" in names:
                    break
        return done

    assert "rejoin" in asyncio.run(play())


def test_a_table_of_a_server_that_is_not_there_is_over() -> None:
    async def play() -> None:
        async with own_places() as places:
            host, port = await places.address(find_room("kuhn"))
        async with seated(ServerPlaces(host, port), "kuhn") as table:
            assert table.end_reason is not None
            assert not table.observe()["your_turn"]

    asyncio.run(play())


def test_the_rooms_of_a_server_have_their_default_ports() -> None:
    async def find() -> Any:
        return await ServerPlaces("cards.example", None).address(find_room("holdem"))

    assert asyncio.run(find()) == ("cards.example", 8080)


def test_a_turn_is_awaited_for_the_given_time_only() -> None:
    async def play() -> None:
        async with own_places() as places:
            room = find_room("oldmaid")
            address = await places.address(room)
            await places.close()  # the bots are gone
            async with seat_opener(room, address, new_login()) as open_seat:
                table = CallTable(room.load_extra("presenter")(), open_seat, "the table")
                await table.settle(0.01)
                assert not table.observe()["your_turn"]
                await table.close()

    asyncio.run(play())


def test_what_a_player_waits_for_is_said_once() -> None:
    async def play() -> None:
        async with own_places() as places, seated(places, "holdem", wait_seconds=0.0) as table:
            while table.observe()["your_turn"] or "It is the turn of" not in str(table.observe()["text"]):
                await table.settle(0.01)
                if table.observe()["your_turn"]:
                    await table.act("call", None, 0.0)
            assert str(table.observe()["text"]).count("It is the turn of") == 1

    asyncio.run(play())
