"""A person plays Old Maid in a browser: with bots, again, and until they leave."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette

from croupier.core.presentation import TableView
from croupier.rooms.holdem import ROOM as HOLDEM
from croupier.rooms.oldmaid import ROOM
from croupier.rooms.oldmaid.settings import Settings
from croupier.web.app import close, create_app
from croupier.web.config import WebConfig
from croupier.web.ring_seat import TABLE_UNREACHABLE
from croupier.web.rooms import RoomEntry
from tests.clients.oldmaid_fixtures import open_table
from tests.net.raw_client import TIMEOUT_SECONDS, Run
from tests.web.app_fixture import KEYS, LOOK_SECONDS, Browser
from tests.web.test_login import accounts, log_in

JOIN = b'{"cmd":"join","nick":"marta"}\n'

MAX_LOOKS = 3000
"""A person looks at the table some hundred times in a game. The bots play in the same loop, on any machine."""


@pytest.fixture(autouse=True)
def bots_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.web.ring_seat.BOTS_AFTER_SECONDS", 0.0)


@asynccontextmanager
async def oldmaid(players: int = 3) -> AsyncIterator[Starlette]:
    async with open_table(players) as table:
        app = create_app(
            [RoomEntry(ROOM, Settings(players=players), table.endpoint, address=table.address)], WebConfig(), KEYS
        )
        try:
            yield app
        finally:
            close(app)
            await asyncio.sleep(0)


def view(app: Starlette, browser: Browser) -> TableView:
    (table,) = app.state.tables.of_session(browser.session)
    return table.seat.feed.snapshot.view


async def play_a_game(app: Starlette, browser: Browser) -> None:
    """Pick the first card whenever there is one to pick, until the game is over."""
    for _ in range(MAX_LOOKS):
        actions = view(app, browser).actions
        if "rejoin" in [action.id for action in actions]:
            return
        if actions[0].id.startswith("pick-"):
            await browser.get(browser.table)
            done = await browser.act(actions[0].id)
            assert done.status_code in {200, 202, 409}, done.text
        await asyncio.sleep(LOOK_SECONDS)
    raise AssertionError("the game does not end")


@pytest.mark.extended
def test_a_person_plays_two_games_with_bots(run: Run) -> None:
    async def main() -> None:
        async with oldmaid() as app:
            browser = await Browser(app).play("oldmaid")
            await play_a_game(app, browser)
            assert len(view(app, browser).results) == 1
            await browser.get(browser.table)
            assert (await browser.act("rejoin")).status_code == 200
            await play_a_game(app, browser)
            assert len(view(app, browser).results) == 2
            page = (await browser.get(browser.table)).text
            assert "&#34;offer&#34;" in page
            assert 'data-sender="peer"' in page
            (table,) = app.state.tables.of_session(browser.session)
            for frame in table.seat.feed.snapshot.frames:
                assert bytes.fromhex(frame.hex).strip() == frame.text.encode()

    run(main())


def test_two_people_share_a_table(run: Run) -> None:
    async def main() -> None:
        async with oldmaid() as app:
            ann, bob = await Browser(app).play("oldmaid"), await Browser(app).play("oldmaid")
            await asyncio.gather(play_a_game(app, ann), play_a_game(app, bob))
            seats = {str(seat.name) for seat in view(app, ann).seats}
            assert len([name for name in seats if name.startswith("guest:")]) == 1
            assert len([name for name in seats if name.startswith("bot ")]) == 1

    run(main())


def test_a_person_with_an_account_plays_under_its_name_unless_the_table_refuses_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.web.ring_seat.BOTS_AFTER_SECONDS", 3600.0)

    async def main() -> None:
        async with accounts() as holdem, open_table(2) as table:
            rooms = [
                RoomEntry(HOLDEM, holdem.room.house_service.house.settings, holdem.room),
                RoomEntry(ROOM, Settings(players=2), table.endpoint, address=table.address),
            ]
            app = create_app(rooms, WebConfig(), KEYS)
            first, second = Browser(app), Browser(app)
            for browser in (first, second):
                await log_in(browser)
                await browser.play("oldmaid")
                (seat,) = [table.seat for table in app.state.tables.of_session(browser.session)]
                async with asyncio.timeout(TIMEOUT_SECONDS):
                    while JOIN not in [bytes.fromhex(frame.hex) for frame in seat.feed.snapshot.frames]:
                        await asyncio.sleep(0)  # the messages of a game that begins replace it soon
            async with asyncio.timeout(TIMEOUT_SECONDS):
                while not (view(app, first).seats and view(app, second).seats):
                    await asyncio.sleep(0.005)
            assert {str(seat.name) for seat in view(app, second).seats if not seat.is_viewer} == {"marta"}
            assert [str(seat.name)[:6] for seat in view(app, first).seats if not seat.is_viewer] == ["guest:"]
            assert view(app, second).results == ()
            close(app)
            await asyncio.sleep(0)

    run(main())


def test_leaving_ends_the_connections(run: Run) -> None:
    async def main() -> None:
        async with oldmaid() as app:
            browser = await Browser(app).play("oldmaid")
            async with asyncio.timeout(TIMEOUT_SECONDS):
                while not view(app, browser).seats:
                    await asyncio.sleep(0.005)
            await browser.post(f"{browser.table}/leave")
            await browser.page_with("You have left the table.")

    run(main())


def test_a_table_that_is_gone_says_so(run: Run) -> None:
    async def main() -> None:
        async with open_table(3) as table:
            await table.endpoint.close()
            entry = RoomEntry(ROOM, Settings(), table.endpoint, address=table.address)
            app = create_app([entry], WebConfig(), KEYS)
            browser = await Browser(app).play("oldmaid")
            await browser.page_with(str(TABLE_UNREACHABLE))
            close(app)

    run(main())
