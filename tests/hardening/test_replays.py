"""Messages and requests that are sent again and again: nobody gains or loses anything, and memory stays bounded."""

import asyncio

import httpx
import pytest

from croupier.net import event_loop
from tests.hardening.servers import SERVERS, Memory
from tests.http.service_fixture import InProcessService
from tests.net.raw_client import TIMEOUT_SECONDS, RawClient, Run, kuhn, opened
from tests.web.app_fixture import Browser, web_app

REPLAYS = 200

MAX_KEPT_BYTES = 128 << 10
"""What all replays of a test may leave in memory, with the game of a neighbour."""


def test_a_replayed_action_of_a_house_game_is_refused_and_costs_nothing(run: Run) -> None:
    async def play(client: RawClient, replays: int) -> None:
        await client.send(b"STRT P_1")
        assert (await client.receive(8)).startswith(b"CARD")
        await client.exchange(b"ACTN BET", b"ACTN FLD")
        for _ in range(replays):
            await client.exchange(b"ACTN BET", b"FAIL W_A")

    async def main() -> None:
        async with (
            opened(**kuhn(bot="script:FLD", coins=2)) as (_, address),
            RawClient(address) as client,
            RawClient(address) as neighbour,
        ):
            for _ in range(20):  # each game costs a coin at most, and wins one: two replays of a bet would cost two
                await play(client, 2)
            await play(neighbour, 0)
            with Memory() as memory:
                await play(client, REPLAYS)
                await play(neighbour, 0)
            assert memory.kept < MAX_KEPT_BYTES

    run(main())


def test_a_conversation_that_is_recorded_and_played_to_the_house_again_is_another_game(run: Run) -> None:
    """The second connection has a purse and a table of its own, and cards of its own."""

    async def main() -> None:
        async with opened(**kuhn()) as (endpoint, address):
            for _ in range(2):
                async with RawClient(address) as client:
                    await client.send(b"STRT P_1ACTN BETDISC")
                    assert (await client.read_to_end()).startswith(b"CARD C_")
            assert endpoint.counts.games == 2

    run(main())


def test_a_replayed_act_of_holdem_is_out_of_turn_and_moves_no_chips(run: Run) -> None:
    async def main() -> None:
        with InProcessService() as service:
            game, (ann, bob) = await service.seat_players("ann", "bob")
            cat, dan = await service.register("cat", "dan")
            quiet = (await service.ask("POST", "/games/", "cat")).headers["location"].rpartition("/")[2]
            assert (await service.ask("POST", f"/games/{quiet}/players/", "dan")).status == 201
            users = {ann: "ann", bob: "bob", cat: "cat", dan: "dan"}
            first = (await service.turn(game))["playerID"]
            assert (await service.act(game, users[first], first, 1, 10)).status == 201
            before = (await service.ask("GET", f"/games/{game}")).json
            with Memory() as memory:
                for _ in range(REPLAYS):
                    assert (await service.act(game, users[first], first, 1, 10)).status == 403
                    assert (await service.ask("POST", f"/games/{game}/players/", "ann")).status == 409
                neighbour = (await service.turn(quiet))["playerID"]
                assert (await service.act(quiet, users[neighbour], neighbour, 1, 10)).status == 201
            assert memory.kept < MAX_KEPT_BYTES
            assert (await service.ask("GET", f"/games/{game}")).json == before

    run(main())


@pytest.mark.parametrize("loop_factory", [event_loop.loop_factory()], ids=["default"])
def test_a_replayed_form_of_the_web_app_acts_once(run: Run) -> None:
    async def replay(browser: Browser) -> set[int]:
        statuses = set()
        for _ in range(REPLAYS):
            statuses.add((await browser.act("first")).status_code)
            await asyncio.sleep(0)  # uvloop drops the timers of requests that are answered; asyncio keeps up to 100
        return statuses

    async def main() -> None:
        async with web_app() as (app, endpoint):
            browser, neighbour = await Browser(app).play(), await Browser(app).play()
            old_version = browser.version
            assert (await browser.act("first")).status_code == 200
            played = endpoint.counts.messages_received
            browser.version = old_version
            for action in ("first", "bet"):
                assert (await browser.act(action)).status_code == 409
            assert await replay(browser) == {409, 429}, "there is a limit on requests, too"
            with Memory() as memory:
                assert await replay(browser) <= {409, 429}
            assert memory.kept < MAX_KEPT_BYTES
            assert endpoint.counts.messages_received == played
            assert (await neighbour.act("first")).status_code == 200

    run(main())


def test_a_form_that_another_browser_replays_is_refused(run: Run) -> None:
    async def main() -> None:
        async with SERVERS["web"]() as server:
            url = f"http://127.0.0.1:{server.address[1]}"
            async with (
                httpx.AsyncClient(base_url=url, timeout=TIMEOUT_SECONDS) as visitor,
                httpx.AsyncClient(base_url=url, timeout=TIMEOUT_SECONDS) as other,
            ):
                page = (await visitor.get("/")).text
                csrf = page.partition('name="csrf" value="')[2].partition('"')[0]
                await other.get("/")
                assert (await visitor.post("/play", data={"csrf": csrf, "room": "kuhn"})).status_code == 303
                assert (await other.post("/play", data={"csrf": csrf, "room": "kuhn"})).status_code == 403

    run(main())
