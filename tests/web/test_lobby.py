"""The lobby is live: its stream brings the numbers of players and the public tables."""

import asyncio

import pytest

from croupier.web.app import close
from croupier.web.live_lobby import LiveLobby
from tests.net.raw_client import TIMEOUT_SECONDS, Run
from tests.web.app_fixture import Browser, stream, web_app
from tests.web.test_holdem_seats import holdem

EVENTS = "/lobby/events"


@pytest.fixture(autouse=True)
def refreshed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.web.live_lobby.REFRESH_SECONDS", 0.0)


def test_browsers_see_who_comes_and_goes(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            async with stream(app, Browser(app), EVENTS) as lobby:
                await lobby.wait_for(b'"count-kuhn":"0 playing"')
                ann = await Browser(app).play()
                await lobby.wait_for(b'"count-kuhn":"1 playing"')
                await ann.post(f"{ann.table}/leave")
                async with asyncio.timeout(TIMEOUT_SECONDS):
                    while lobby.body.count(b'"count-kuhn":"0 playing"') < 2:
                        await asyncio.sleep(0)
            await nobody_follows(app.state.lobby)

    run(main())


def test_a_table_appears_with_its_players_and_a_browser_sits_down_there(run: Run) -> None:
    async def main() -> None:
        async with holdem() as room:
            bob = Browser(room.app)
            assert "No public table is open" in (await bob.get("/watch")).text
            async with stream(room.app, bob, EVENTS) as lobby:
                await lobby.wait_for(b"No public table is open")
                ann = await Browser(room.app).play("holdem")
                game = ann.table.rpartition("/")[2]
                await lobby.wait_for(f'name=\\"table\\" value=\\"{game}\\"'.encode())
                (user,) = room.room.house_service.house.users
                await lobby.wait_for(f'"count-holdem":"1 playing: {user}"'.encode())
                assert b"csrf" not in lobby.body, "all browsers share the event"
            (listed,) = (
                await bob.get("/watch", headers={"accept": "application/json", "accept-language": "ca"})
            ).json()
            assert listed == {
                "id": game,
                "room": "holdem",
                "title": "Hold'em",
                "players": [user],
                "note": "10 llocs",
            }
            seated = await bob.post("/play", {"room": "holdem", "table": game})
            assert seated.headers["location"] == ann.table

    run(main())


def test_the_page_has_the_newest_version(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            live: LiveLobby = app.state.lobby
            for path in ("/", "/watch"):
                page = (await Browser(app).get(path)).text
                assert f'data-version="{live.feed.snapshot.version}"' in page
            before = live.feed.snapshot.version
            assert live.refresh().version == before, "nothing has changed"

    run(main())


def test_streams_of_the_lobby_end_with_the_server(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, _), stream(app, Browser(app), EVENTS) as lobby:
            await lobby.wait_for(b"event: table")
            close(app)
            await lobby.wait_for(b"event: end")

    run(main())


def test_the_lobby_is_parked_before_a_table(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            browser = await Browser(app).play()
            async with stream(app, browser) as table, stream(app, browser, EVENTS) as lobby:
                for follower in (table, lobby):
                    await follower.wait_for(b"event: table")
                others = [stream(app, browser) for _ in range(3)]
                for other in others:
                    await (await other.__aenter__()).wait_for(b"event: table")
                await lobby.wait_for(b"event: parked")
                assert b"event: parked" not in table.body
                for other in others:
                    await other.__aexit__(None, None, None)

    run(main())


async def nobody_follows(lobby: LiveLobby) -> None:
    """Wait until the lobby is not refreshed any more."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while lobby._timer.is_set:
            await asyncio.sleep(0)
    assert not lobby.feed.subscriptions
