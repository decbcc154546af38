"""Messages and requests that are sent a second time: nobody gains or loses anything by them."""

import httpx

from tests.hardening.servers import SERVERS
from tests.http.service_fixture import InProcessService
from tests.net.raw_client import RawClient, Run, kuhn, opened
from tests.web.app_fixture import Browser, web_app


def test_a_replayed_action_of_a_house_game_is_refused_and_costs_nothing(run: Run) -> None:
    async def main() -> None:
        async with opened(**kuhn(bot="script:FLD", coins=2)) as (_, address), RawClient(address) as client:
            for _ in range(20):  # each game costs a coin at most, and wins one: two replays of a bet would cost two
                await client.send(b"STRT P_1")
                assert (await client.receive(8)).startswith(b"CARD")
                await client.exchange(b"ACTN BET", b"ACTN FLD")
                await client.exchange(b"ACTN BET", b"FAIL W_A")
                await client.exchange(b"ACTN BET", b"FAIL W_A")

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
            users = {ann: "ann", bob: "bob"}
            first = (await service.turn(game))["playerID"]
            assert (await service.act(game, users[first], first, 1, 10)).status == 201
            before = (await service.ask("GET", f"/games/{game}")).json
            for _ in range(3):
                assert (await service.act(game, users[first], first, 1, 10)).status == 403
            assert (await service.ask("POST", f"/games/{game}/players/", "ann")).status == 409
            assert (await service.ask("GET", f"/games/{game}")).json == before

    run(main())


def test_a_replayed_form_of_the_web_app_acts_once(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, endpoint):
            browser = await Browser(app).play()
            old_version = browser.version
            assert (await browser.act("first")).status_code == 200
            played = endpoint.counts.messages_received
            for action in ("first", "bet"):
                browser.version = old_version
                assert (await browser.act(action)).status_code == 409
            assert endpoint.counts.messages_received == played

    run(main())


def test_a_form_that_another_browser_replays_is_refused(run: Run) -> None:
    async def main() -> None:
        async with SERVERS["web"]() as server:
            url = f"http://127.0.0.1:{server.address[1]}"
            async with httpx.AsyncClient(base_url=url) as visitor, httpx.AsyncClient(base_url=url) as other:
                page = (await visitor.get("/")).text
                csrf = page.partition('name="csrf" value="')[2].partition('"')[0]
                await other.get("/")
                assert (await visitor.post("/play", data={"csrf": csrf, "room": "kuhn"})).status_code == 303
                assert (await other.post("/play", data={"csrf": csrf, "room": "kuhn"})).status_code == 403

    run(main())
