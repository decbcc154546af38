"""Cards that a person has not seen never reach the browser: swapping them changes no byte of any answer."""

import asyncio
from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.core.dealer import ScriptedDealer, derive_server_seed
from croupier.http.auth import Authenticator
from croupier.http.holdem_app import HoldemApp
from croupier.rooms.holdem import ROOM as HOLDEM
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings as HoldemSettings
from croupier.rooms.kuhn import ROOM
from croupier.web.app import close, create_app
from croupier.web.config import WebConfig
from croupier.web.cookies import Visitor
from croupier.web.rooms import RoomEntry
from tests.net.raw_client import LOOPS, Run
from tests.quick_hashes import QUICK
from tests.sampling import example_count
from tests.web.app_fixture import KEYS, Browser, web_app

SCRIPTS = ("CHK", "BET", "CAL", "FLD", "CHK,FLD", "BET,CAL")
"""What the house does, whatever its card is."""


async def received(deck: str, script: str, moves: list[str]) -> tuple[list[bytes], list[str]]:
    """All bytes of a conversation: the pages, the answers to the moves, the text, and errors.

    The game stops before the house shows its card; the actions that were done are returned as well.
    """
    decks = ROOM.pack.parse_decks("\n".join(deck), "test", 1)
    answers: list[bytes] = []
    async with web_app(decks, bot=f"script:{script}") as (app, _):
        browser = Browser(app)
        browser.client.cookies.set("croupier", KEYS.encode(Visitor("s" * 22, 1 << 31)))
        await browser.play()
        done: list[str] = []
        for move in moves:
            response = await browser.act(move)
            table = next(iter(app.state.tables.of_session("s" * 22)))
            if any("shows" in each.message for each in table.seat.feed.snapshot.view.announcements):
                break
            done.append(f"{move} {response.status_code}")
            pages = [response] + [await browser.get(browser.table + path) for path in ("", "/text")]
            answers += [
                repr((page.status_code, sorted(page.headers.items()))).encode() + page.content for page in pages
            ]
    return answers, done


@given(
    st.permutations("JQK"),
    st.sampled_from(SCRIPTS),
    st.sampled_from(["first", "second"]),
    st.lists(st.sampled_from(["check", "bet", "call", "fold"]), max_size=2),
)
@settings(max_examples=example_count(60))
def test_swapping_unseen_cards_changes_no_byte(deck: list[str], script: str, seat: str, moves: list[str]) -> None:
    own = deck[0] if seat == "first" else deck[1]
    run = Run(LOOPS["asyncio"])
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("croupier.web.seating.new_table_id", lambda: "the-table")
        patch.setattr("croupier.web.feed.INSTANCE_BYTES", 0)
        patch.setattr("croupier.web.seats.WAITING_VIEW_SECONDS", 60.0)  # a slow machine shows no view in between
        patch.setattr("croupier.web.seats.ANSWER_SECONDS", 60.0)
        for order in permutations("JQK"):
            if order[0 if seat == "first" else 1] == own:
                found["".join(order)] = run(received("".join(order), script, [seat, *moves]))
    one, other = found.values()
    shared = min(len(one[1]), len(other[1]))
    assert one[1][:shared] == other[1][:shared]
    assert one[0][: 3 * shared] == other[0][: 3 * shared]
    assert shared >= 1


HIDDEN = (1, 3, *range(9, 52))
"""The positions of the deck that the first player of two has not seen before the showdown: all but their own and the
board."""


async def holdem_received(deck: Sequence[int], action_count: int) -> list[bytes]:
    """All bytes that the first of two players, and a watcher, receive while both check or call before a showdown."""
    server_seed = derive_server_seed(1, "holdem", 0)
    house = House(HoldemSettings(), lambda hand: ScriptedDealer([tuple(deck)], server_seed), server_seed)
    room = HoldemApp(house, Authenticator(hasher=QUICK), clock=lambda: 0.0)
    app = create_app([RoomEntry(HOLDEM, house.settings, room)], WebConfig(), KEYS)
    received: list[bytes] = []
    players = []
    for session in ("a" * 22, "b" * 22):
        player = Browser(app)
        player.client.cookies.set("croupier", KEYS.encode(Visitor(session, 1 << 31)))
        players.append(await player.play("holdem"))
    watched = f"/watch/{players[0].table.rpartition('/')[2]}"
    for number in range(action_count):
        for _ in range(20):  # until every viewer has followed the last action
            await asyncio.sleep(0)
        for path in (players[0].table, f"{players[0].table}/text", "/", "/watch", watched):
            page = await players[0].get(path)
            received.append(repr(sorted(page.headers.items())).encode() + page.content)
        # The small blind acts first before the flop, and the big blind after it.
        actor = players[number % 2 if number < 2 else (number + 1) % 2]
        await actor.get(actor.table)
        done = await actor.act("call")
        assert done.status_code == 200, done.text
        if actor is players[0]:
            received.append(done.content)
    close(app)
    room.service.halt(final=True)
    room.close()
    await asyncio.sleep(0)
    return received


@given(st.permutations(range(52)), st.permutations(HIDDEN), st.integers(1, 6))
@settings(max_examples=example_count(20))
def test_swapping_unseen_cards_of_holdem_changes_no_byte(deck: list[int], order: list[int], action_count: int) -> None:
    swapped = [*deck]
    for position, other in zip(HIDDEN, order, strict=True):
        swapped[position] = deck[other]
    run = Run(LOOPS["asyncio"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("croupier.web.feed.INSTANCE_BYTES", 0)
        one, other = [run(holdem_received(cards, action_count)) for cards in (deck, swapped)]
    assert one == other
    assert run.faults == []
