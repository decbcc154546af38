"""People at a hold'em table: seats through the REST service's own requests, reconnects, and watchers."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette

from croupier.core.presentation import TableView
from croupier.http.auth import QUICK_HASHER, Authenticator
from croupier.http.holdem_app import HoldemApp
from croupier.rooms.holdem import ROOM
from croupier.rooms.holdem.table.person_clock import SHOWDOWN_SECONDS
from croupier.rooms.holdem.wire import Join, RequestRefused
from croupier.web.app import close, create_app, wait_closed
from croupier.web.config import WebConfig
from croupier.web.holdem_seat import YOU_ARE_AWAY
from croupier.web.rest_bytes import answer_bytes
from croupier.web.rooms import RoomEntry
from tests.http.service_fixture import ManualClock
from tests.http.service_fixture import house as holdem_house
from tests.net.raw_client import TIMEOUT_SECONDS, Run
from tests.web.app_fixture import KEYS, Browser, stream
from tests.web.hidden_cards import run_alike


class Holdem:
    """A hold'em room, and apps for it: the second one stands for a server that has started again."""

    def __init__(self, config: WebConfig = WebConfig(), **settings: Any) -> None:
        self.clock = ManualClock()
        house = holdem_house(**settings)
        self.room = HoldemApp(house, Authenticator(hasher=QUICK_HASHER), clock=self.clock)
        self.config = config
        self.app = self.start()

    def start(self) -> Starlette:
        self.app = create_app([RoomEntry(ROOM, self.room.house_service.house.settings, self.room)], self.config, KEYS)
        return self.app

    @property
    def shows_showdown(self) -> bool:
        """Whether a table shows the cards of a hand that is over."""
        return any(table.hand is not None and table.hand.over for table in self.room.house_service.house.games())

    def pass_time(self, seconds: float) -> None:
        self.clock.now += seconds
        self.room.house_service.process_deadlines()


@asynccontextmanager
async def holdem(config: WebConfig = WebConfig(), **settings: Any) -> AsyncIterator[Holdem]:
    room = Holdem(config, **settings)
    try:
        yield room
    finally:
        close(room.app)
        await wait_closed(room.app)
        room.room.service.halt(final=True)
        room.room.authenticator.close()
        await asyncio.sleep(0)


def view(room: Holdem, browser: Browser) -> TableView:
    """The table as a browser's person sees it."""
    (table,) = room.app.state.tables.of_session(browser.session)
    return table.seat.feed.snapshot.view


async def to_act(room: Holdem, *browsers: Browser) -> Browser:
    """The browser whose turn it is, with its page reloaded."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while True:
            for browser in browsers:
                if len(view(room, browser).actions) > 1:
                    await browser.get(browser.table)
                    return browser
            if room.shows_showdown:
                room.pass_time(SHOWDOWN_SECONDS)
            await asyncio.sleep(0.001)


def test_two_people_play_a_hand(run: Run) -> None:
    async def main() -> None:
        async with holdem() as room:
            ann, bob = await Browser(room.app).play("holdem"), await Browser(room.app).play("holdem")
            assert ann.table == bob.table
            for _ in range(2 * 4):
                actor = await to_act(room, ann, bob)
                done = await actor.act("call")
                assert done.status_code == 200, done.text
            await to_act(room, ann, bob)
            assert len(view(room, ann).results) == len(view(room, bob).results) == 1
            own = [seat for seat in view(room, ann).seats if seat.is_viewer]
            assert [card.face is not None for card in own[0].cards] == [True, True]
            others = [card.face for seat in view(room, ann).seats if not seat.is_viewer for card in seat.cards]
            assert others == [None, None]

    run(main())


def test_frames_are_the_requests_and_responses_of_the_rest_service(run: Run) -> None:
    async def main() -> None:
        async with holdem() as room:
            ann, bob = await Browser(room.app).play("holdem"), await Browser(room.app).play("holdem")
            actor = await to_act(room, ann, bob)
            await actor.act("raise", amount="40")
            page = (await actor.get(actor.table)).text
            game = actor.table.rpartition("/")[2]
            assert re.search(
                rf"POST /games/{game}/players/[-\w]+/acts/ {{&#34;action&#34;:1,&#34;betAmount&#34;:30}}", page
            )
            assert re.search(r'class="text">201</code>\s*<a class="clause" href="/protocols/holdem#holdem-4.1"', page)
            assert "holdem-5.2" in page

    run(main())


def test_every_frame_of_rest_has_the_bytes_of_its_message(run: Run) -> None:
    async def main() -> None:
        async with holdem() as room:
            ann, bob = await Browser(room.app).play("holdem"), await Browser(room.app).play("holdem")
            actor = await to_act(room, ann, bob)
            await actor.act("raise", amount="40")
            (table,) = room.app.state.tables.of_session(actor.session)
            frames = table.seat.feed.snapshot.frames
            assert [frame.number for frame in frames] == [*range(1, len(frames) + 1)]
            post = next(frame for frame in frames if frame.sender == "you")
            line, body = post.text.split(" {")
            head = f"{line} HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: {len(body) + 1}\r\n\r\n"
            assert bytes.fromhex(post.hex) == f"{head}{{{body}".encode()
            done = next(frame for frame in frames if frame.text == "201")
            assert bytes.fromhex(done.hex) == b"HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n"
            shown = next(frame for frame in frames if frame.text.startswith("GET"))
            head, _, body = bytes.fromhex(shown.hex).decode().partition("\r\n\r\n")
            assert head.startswith("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
            assert shown.text == f"GET /games/{table.seat.game}: 200 {body}"
            page = (await actor.get(actor.table)).text
            assert f"<summary>{len(bytes.fromhex(post.hex))} bytes</summary>" in page
            assert post.hex in page

    run(main())


def test_a_refusal_has_the_bytes_of_its_response() -> None:
    refusal = RequestRefused(404, "holdem-8.4", "found a game that is gone; allowed: one of /games/")
    data = answer_bytes(refusal, "readme", lambda _: pytest.fail("no game is shown"))
    text = b"holdem-8.4: found a game that is gone; allowed: one of /games/\n"
    head = b"HTTP/1.1 404 Not Found\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\n" % len(text)
    assert data == head + b"\r\n" + text


def test_a_bet_out_of_range_is_refused(run: Run) -> None:
    async def main() -> None:
        async with holdem() as room:
            ann, bob = await Browser(room.app).play("holdem"), await Browser(room.app).play("holdem")
            actor = await to_act(room, ann, bob)
            for amount in ("21", "10001"):
                assert (await actor.act("raise", amount=amount)).status_code == 400

    run(main())


def test_a_person_returns_to_the_seat_after_the_web_app_has_started_again(run: Run) -> None:
    async def main() -> None:
        async with holdem() as room:
            ann, bob = await Browser(room.app).play("holdem"), await Browser(room.app).play("holdem")
            await to_act(room, ann, bob)
            holes = [[card.face for card in seat.cards] for seat in view(room, ann).seats]
            close(room.app)
            room.start()
            again = Browser(room.app)
            again.client.cookies = ann.client.cookies
            again.table = ann.table
            assert (await again.get(ann.table)).status_code == 200
            assert [[card.face for card in seat.cards] for seat in view(room, again).seats] == holes
            stranger = Browser(room.app)
            await stranger.get("/")
            assert (await stranger.get(ann.table)).status_code == 404

    run(main())


def test_leaving_gives_up_the_seat(run: Run) -> None:
    async def main() -> None:
        async with holdem() as room:
            ann = await Browser(room.app).play("holdem")
            assert len(room.room.house_service.house.users) == 1
            await ann.get(ann.table)
            assert (await ann.act("leave")).status_code == 200
            assert room.room.house_service.house.users == ()
            again = await ann.play("holdem")
            assert "Waiting for another player." in (await again.get(again.table)).text

    run(main())


def test_a_seat_that_is_taken_again_outlives_the_former_one(run: Run) -> None:
    async def main() -> None:
        async with holdem(WebConfig(reconnect_seconds=0.02)) as room:
            ann = await Browser(room.app).play("holdem")
            (former,) = room.app.state.tables.of_session(ann.session)
            await ann.post(f"{ann.table}/leave")
            await ann.play("holdem")
            room.app.state.tables.release(former)  # a stream of the former seat ends late
            await asyncio.sleep(0.05)
            (current,) = room.app.state.tables.of_session(ann.session)
            assert current is not former
            assert len(room.room.house_service.house.users) == 1

    run(main())


def test_a_chosen_table_is_joined_and_a_second_seat_at_it_is_the_first_one(run: Run) -> None:
    async def main() -> None:
        async with holdem() as room:
            ann = await Browser(room.app).play("holdem")
            game = ann.table.rpartition("/")[2]
            bob = Browser(room.app)
            await bob.get("/")
            for _ in range(2):
                joined = await bob.post("/play", {"room": "holdem", "table": game})
                assert joined.headers["location"] == ann.table
            assert len(room.room.house_service.house.users) == 2
            refused = await bob.post("/play", {"room": "holdem", "table": "nowhere"})
            assert (refused.status_code, "This game does not exist any more." in refused.text) == (409, True)

    run(main())


def test_a_person_who_is_away_keeps_the_seat_and_comes_back(run: Run) -> None:
    async def main() -> None:
        async with holdem() as room:
            ann, bob = await Browser(room.app).play("holdem"), await Browser(room.app).play("holdem")
            idle = await to_act(room, ann, bob)
            other = bob if idle is ann else ann
            async with asyncio.timeout(TIMEOUT_SECONDS):
                while view(room, idle).status != YOU_ARE_AWAY:
                    if await to_act(room, ann, bob) is other:
                        await other.act("call")
                    else:
                        room.pass_time(75.0)
                    await asyncio.sleep(0)
            assert [action.id for action in view(room, idle).actions] == ["back", "leave"]
            await other.get(other.table)
            assert [seat.status for seat in view(room, other).seats if not seat.is_viewer] == ["away"]
            await idle.get(idle.table)
            assert (await idle.act("back")).status_code == 200
            assert view(room, idle).status != YOU_ARE_AWAY

    run(main())


def test_the_lobby_and_the_list_show_tables_and_a_watcher_sees_no_hole_cards(run: Run) -> None:
    async def main() -> None:
        async with holdem() as room:
            ann, bob = await Browser(room.app).play("holdem"), await Browser(room.app).play("holdem")
            await to_act(room, ann, bob)
            game = ann.table.rpartition("/")[2]
            watcher = Browser(room.app)
            for path in ("/", "/watch"):
                assert f'href="/watch/{game}"' in (await watcher.get(path)).text
            page = (await watcher.get(f"/watch/{game}")).text
            assert "You watch this table." in page
            faces = re.findall(r'(?:french|spanish)\.svg#(\w+)"', page)
            assert faces.count("back") == 4
            assert {*faces} == {"back", "spade"}
            assert f'<a href="/watch/{game}/text">' in page
            lines = (await watcher.get(f"/watch/{game}/text")).text.splitlines()
            assert lines[0] == "Hold'em"
            assert sum("a card face down, a card face down" in line for line in lines) == 2
            assert (await watcher.get("/watch/nowhere/text")).status_code == 404
            assert (await watcher.get("/watch/nowhere")).status_code == 404

    run(main())


def test_a_delay_hides_what_has_just_happened() -> None:
    async def main() -> None:
        async with holdem(WebConfig(watch_delay_seconds=1.0)) as room:
            ann, bob = await Browser(room.app).play("holdem"), await Browser(room.app).play("holdem")
            await to_act(room, ann, bob)
            watcher = Browser(room.app)
            watcher.table = f"/watch/{ann.table.rpartition('/')[2]}"
            assert "#back" not in (await watcher.get(watcher.table)).text
            assert "face down" not in (await watcher.get(f"{watcher.table}/text")).text
            await watcher.page_with("#back")

    run_alike(main())


def test_watchers_of_fast_players_are_sent_the_newest_view_only() -> None:
    async def main() -> None:
        async with holdem() as room:
            ann, bob = await Browser(room.app).play("holdem"), await Browser(room.app).play("holdem")
            watcher = Browser(room.app)
            async with stream(room.app, watcher, f"/watch/{ann.table.rpartition('/')[2]}/events") as events:
                await asyncio.sleep(1)
                count = events.body.count(b"event: table")
                for _ in range(2 * 4):
                    assert (await (await to_act(room, ann, bob)).act("call")).status_code == 200
                await events.wait_for(b"hand 1")
                await asyncio.sleep(1)
                assert events.body.count(b"event: table") <= count + 2

    run_alike(main())


def test_bots_join_a_person_who_is_alone_and_leave_after_them(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.web.holdem_bots.BOTS_AFTER_SECONDS", 0.0)
    monkeypatch.setattr("croupier.web.holdem_bots.THINKING_SECONDS", 0.0)

    async def main() -> None:
        async with holdem() as room:
            ann = await Browser(room.app).play("holdem")
            async with asyncio.timeout(TIMEOUT_SECONDS):
                while len(view(room, ann).results) < 3:
                    await to_act(room, ann)
                    assert (await ann.act("call")).status_code in {200, 409}
            names = sorted(str(seat.name) for seat in view(room, ann).seats)
            assert names == ["You", "bot:caller-2", "bot:tight-1"]
            await ann.post(f"{ann.table}/leave")
            async with asyncio.timeout(TIMEOUT_SECONDS):
                while room.room.house_service.house.users:
                    await asyncio.sleep(0)

    run(main())


@pytest.mark.parametrize("path", ["/watch", "/"])
def test_a_server_without_holdem_has_no_public_tables(path: str, run: Run) -> None:
    async def main() -> None:
        app = create_app([], WebConfig(), KEYS)
        browser = Browser(app)
        assert "No public table is open" in (await browser.get(path)).text
        assert (await browser.get("/watch/x")).status_code == 404
        close(app)

    run(main())


def test_a_guest_is_no_user_whose_account_is_closed(run: Run) -> None:
    async def main() -> None:
        async with holdem() as room:
            ann = await Browser(room.app).play("holdem")
            (user,) = room.room.house_service.house.users
            assert user.startswith("guest:")
            await room.room.service.execute(Join("bob", ann.table.rpartition("/")[2]))
            assert len(room.room.house_service.house.users) == 2

    run(main())
