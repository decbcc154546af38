"""Cards that a person has not seen never reach the browser: swapping them changes no byte of any answer."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.rooms.kuhn import ROOM
from croupier.web.cookies import Visitor
from tests.net.raw_client import LOOPS, Run
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
        for order in permutations("JQK"):
            if order[0 if seat == "first" else 1] == own:
                found["".join(order)] = run(received("".join(order), script, [seat, *moves]))
    one, other = found.values()
    shared = min(len(one[1]), len(other[1]))
    assert one[1][:shared] == other[1][:shared]
    assert one[0][: 3 * shared] == other[0][: 3 * shared]
    assert shared >= 1
