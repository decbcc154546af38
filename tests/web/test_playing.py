"""A person plays in a browser: two clicks to a seat, actions with and without scripts, and the frames on the wire."""

import json
import re

import pytest

from croupier.core.cards import Order
from croupier.core.room import HouseRoom
from croupier.net.endpoint import EndpointLimits
from croupier.rooms import HOUSE_ROOMS
from croupier.rooms.kuhn import ROOM
from croupier.web.config import WebConfig
from tests.net.raw_client import Run
from tests.web.app_fixture import Browser, house, serve, web_app


def deck(text: str) -> tuple[Order, ...]:
    return ROOM.pack.parse_decks(text.replace(" ", "\n"), "test", 1)


def frames(page: str) -> list[tuple[str, ...]]:
    pattern = r'data-sender="(\w+)".*?class="text">([^<]+)<.*?(kuhn-[\d.]+)</a>.*?class="bytes">([^<]+)<'
    return re.findall(pattern, page, re.DOTALL)


def test_two_clicks_lead_to_a_table_and_a_game_is_played(run: Run) -> None:
    async def main() -> None:
        async with web_app(deck("Q K J"), bot="script:CAL") as (app, endpoint):
            browser = await Browser(app).play()
            assert endpoint.connection_count == 1
            dealt = await browser.act("first")
            assert dealt.status_code == 200
            assert dealt.json()["say"] == "You are dealt the queen."
            assert {*dealt.json()["parts"]} == {"felt", "acts", "wire"}
            lost = await browser.act("bet")
            assert lost.json()["say"].startswith("The house shows the king. You lose 2 coins.")
            assert (await browser.get(browser.table)).text.count("the queen against the king: -2") == 1

    run(main())


@pytest.mark.parametrize("room", HOUSE_ROOMS.values(), ids=HOUSE_ROOMS)
def test_games_are_played_in_every_house_with_the_first_action(room: HouseRoom, run: Run) -> None:
    async def main() -> None:
        async with serve(house(room)) as app:
            browser = await Browser(app).play(room.name)
            table = next(iter(app.state.tables.of_session(browser.session)))
            for _ in range(12):
                action, *_ = table.seat.feed.snapshot.view.actions
                amount = {} if action.amount is None else {"amount": str(action.amount.low)}
                done = await browser.act(action.id, **amount)
                assert done.status_code == 200, done.text
            view = table.seat.feed.snapshot.view
            assert view.results
            assert not view.is_over
            frames = table.seat.feed.snapshot.frames
            assert {frame.sender for frame in frames} == {"you", "house"}
            assert [frame for frame in frames if not frame.clause.startswith(f"{room.name}-")] == []
            assert b"".join(bytes.fromhex(frame.hex) for frame in frames)

    run(main())


def test_every_frame_is_shown_with_its_bytes_and_its_clause(run: Run) -> None:
    async def main() -> None:
        async with web_app(deck("Q K J"), bot="script:CAL") as (app, _):
            browser = await Browser(app).play()
            await browser.act("first")
            await browser.act("bet")
            assert frames((await browser.get(browser.table)).text) == [
                ("you", "STRT P_1", "kuhn-4.1", b"STRT P_1".hex(" ")),
                ("house", "CARD C_Q", "kuhn-4.1", b"CARD C_Q".hex(" ")),
                ("you", "ACTN BET", "kuhn-4.4", b"ACTN BET".hex(" ")),
                ("house", "CARD C_K", "kuhn-4.4", b"CARD C_K".hex(" ")),
            ]

    run(main())


def test_a_fold_has_its_clause_though_nothing_answers_it(run: Run) -> None:
    async def main() -> None:
        async with web_app(deck("Q K J"), bot="script:BET") as (app, _):
            browser = await Browser(app).play()
            await browser.act("second")
            await browser.act("fold")
            assert frames((await browser.get(browser.table)).text)[-1][:3] == ("you", "ACTN FLD", "kuhn-4.7")

    run(main())


def test_an_action_without_scripts_leads_back_to_the_page(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            browser = await Browser(app).play()
            done = await browser.post(f"{browser.table}/act", {"version": browser.version, "act": "first"})
            assert (done.status_code, done.headers["location"]) == (303, browser.table)
            late = await browser.post(f"{browser.table}/act", {"version": browser.version, "act": "first"})
            assert (late.status_code, "nothing was done" in late.text) == (409, True)

    run(main())


def test_an_action_of_an_older_version_is_stale_and_changes_nothing(run: Run) -> None:
    async def main() -> None:
        async with web_app(deck("Q K J")) as (app, _):
            browser = await Browser(app).play()
            old = browser.version
            await browser.act("first")
            stale = await browser.act("bet", version=old)
            assert (stale.status_code, stale.json()["version"]) == (409, browser.version)
            assert len(frames((await browser.get(browser.table)).text)) == 2

    run(main())


@pytest.mark.parametrize("fields", [{"act": "raise"}, {"act": "call"}, {"act": "first", "amount": "x"}, {}])
def test_an_action_that_is_not_offered_is_refused_in_the_form_that_scripts_read(
    fields: dict[str, str], run: Run
) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            browser = await Browser(app).play()
            form = {"version": browser.version, **fields}
            refused = await browser.post(f"{browser.table}/act", form, accept="application/json")
            assert refused.status_code == 400
            assert json.loads(refused.text)["detail"] == "The request cannot be understood."

    run(main())


def test_the_text_of_a_table_has_its_seats_and_actions(run: Run) -> None:
    async def main() -> None:
        async with web_app(deck("Q K J")) as (app, _):
            browser = await Browser(app).play()
            await browser.act("first")
            text = (await browser.get(f"{browser.table}/text")).text.splitlines()
            assert text[:2] == ["Kuhn poker", "You are dealt the queen."]
            assert "House: a card face down, P_2, 1 coin bet" in text
            assert "[b] Bet 1: puts a coin into the pot" in text

    run(main())


def test_leaving_ends_the_connection_and_the_table(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, endpoint):
            browser = await Browser(app).play()
            await browser.act("first")
            left = await browser.post(f"{browser.table}/leave")
            assert (left.status_code, left.headers["location"]) == (303, "/")
            await endpoint.wait_drained()
            page = (await browser.get(browser.table)).text
            assert "You have left the table." in page
            assert "Play again" in page

    run(main())


def test_an_empty_purse_is_replaced_on_a_new_connection(run: Run) -> None:
    async def main() -> None:
        async with web_app(coins=0) as (app, endpoint):
            browser = await Browser(app).play()
            refused = await browser.act("first")
            assert "your purse has no coin left" in refused.json()["say"]
            again = await browser.act("rejoin")
            assert again.status_code == 200
            assert "Welcome" in again.json()["say"]
            assert endpoint.counts.connections == 2

    run(main())


def test_a_house_that_refuses_the_connection_ends_the_table(run: Run) -> None:
    async def main() -> None:
        async with web_app(limits=EndpointLimits(max_connections_per_address=1)) as (app, _):
            await Browser(app).play()
            second = await Browser(app).play()
            await second.page_with("The house ends the session (DISC).")
            assert (await second.act("first")).status_code in {400, 409}

    run(main())


def test_a_session_has_a_limited_number_of_seats(run: Run) -> None:
    async def main() -> None:
        async with web_app(config=WebConfig(max_seats=2)) as (app, _):
            browser = await Browser(app).play()
            await browser.play()
            refused = await browser.post("/play", {"room": "kuhn"})
            assert (refused.status_code, "2 tables" in refused.text) == (429, True)

    run(main())
