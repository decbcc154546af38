"""Registering and logging in with the accounts of hold'em: sessions, limits, seats, and what ends a login."""

import asyncio
import io
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from croupier.core.basic_auth import basic_authorization
from croupier.http.auth import MemoryUsers, UserRecord
from croupier.logs import configure, get_logger
from croupier.net.rate_limiter import RateLimiter
from croupier.rooms.holdem import ROOM as HOLDEM
from croupier.rooms.kuhn import ROOM as KUHN
from croupier.web.app import create_app
from croupier.web.config import WebConfig
from croupier.web.rooms import RoomEntry
from tests.net.raw_client import TIMEOUT_SECONDS, Run
from tests.web.app_fixture import KEYS, Browser, house, web_app
from tests.web.test_checks import silent_server, start_check
from tests.web.test_holdem_seats import Holdem, holdem, to_act

PASSWORD = "correct horse"


@asynccontextmanager
async def accounts(config: WebConfig = WebConfig()) -> AsyncIterator[Holdem]:
    """A room of hold'em with the account of marta."""
    async with holdem(config) as room:
        await room.room.authenticator.register(basic_authorization("marta", PASSWORD), "192.0.2.1")
        yield room


async def log_in(browser: Browser, username: str = "marta", password: str = PASSWORD) -> httpx.Response:
    await browser.get("/login")
    return await browser.post("/login", {"username": username, "password": password})


async def register(
    browser: Browser, username: str = "jon", password: str = PASSWORD, repeated: str = PASSWORD
) -> httpx.Response:
    await browser.get("/register")
    return await browser.post("/register", {"username": username, "password": password, "repeated": repeated})


def test_a_person_who_registers_is_logged_in_with_an_account_of_holdem(run: Run) -> None:
    async def main() -> None:
        async with accounts() as room:
            browser = Browser(room.app)
            await browser.get("/register")
            before = browser.session
            response = await register(browser)
            assert (response.status_code, response.headers["location"]) == (303, "/")
            assert browser.session != before
            assert "<span>jon</span>" in (await browser.get("/")).text
            login = await room.room.authenticator.authenticate(basic_authorization("jon", PASSWORD), "192.0.2.1")
            assert login.name == "jon"
            await browser.play("holdem")
            assert [*room.room.house_service.house.users] == ["jon"]
            assert (await log_in(Browser(room.app), "jon")).status_code == 303

    run(main())


def test_the_name_of_a_new_account_is_normalized_as_in_holdem(run: Run) -> None:
    async def main() -> None:
        async with accounts() as room:
            browser = Browser(room.app)
            await register(browser, "\uff41nn")
            assert "<span>ann</span>" in (await browser.get("/")).text

    run(main())


@pytest.mark.parametrize(
    ("username", "password", "repeated", "reason"),
    [
        ("marta", PASSWORD, PASSWORD, "is in use"),
        ("Мarta", PASSWORD, PASSWORD, "is not allowed"),  # noqa: RUF001 -- the first letter is Cyrillic
        ("rnarta", PASSWORD, PASSWORD, "is in use"),
        ("", PASSWORD, PASSWORD, "is not allowed"),
        ("guest:7f3a", PASSWORD, PASSWORD, "is not allowed"),
        ("jon\0", PASSWORD, PASSWORD, "is not allowed"),
        ("j" * 65, PASSWORD, PASSWORD, "is not allowed"),
        ("jon", "", "", "Enter a password."),
        ("jon", PASSWORD, "correct house", "The two passwords differ."),
    ],
)
def test_a_form_of_a_new_account_is_refused_with_its_reason(
    username: str, password: str, repeated: str, reason: str, run: Run
) -> None:
    async def main() -> None:
        async with accounts() as room:
            browser = Browser(room.app)
            response = await register(browser, username, password, repeated)
            assert response.status_code == 422
            assert reason in response.text
            assert 'aria-describedby="form-error"' in response.text
            assert PASSWORD not in response.text
            assert not await room.room.authenticator.is_user("jon")
            assert "<span>" not in (await browser.get("/")).text.partition("<main")[0]

    run(main())


def test_the_tries_to_register_from_one_address_are_limited(run: Run) -> None:
    async def main() -> None:
        async with accounts() as room:
            browser = Browser(room.app)
            statuses = [(await register(browser, "marta")).status_code for _ in range(61)]
            assert statuses == [422] * 60 + [429]
            refused = await register(browser)
            assert (refused.status_code, 0 < int(refused.headers["retry-after"]) <= 60) == (429, True)
            assert "Too many new accounts" in refused.text
            assert not await room.room.authenticator.is_user("jon")

    run(main())


def test_the_limit_of_holdem_on_new_users_holds_for_browsers(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with accounts() as room:
            monkeypatch.setattr(room.room.authenticator, "_registration_limiter", RateLimiter(1, 60.0))
            assert (await register(Browser(room.app), "ann")).status_code == 303
            refused = await register(Browser(room.app))
            assert (refused.status_code, int(refused.headers["retry-after"]) > 0) == (429, True)

    run(main())


def test_no_account_is_created_while_there_is_no_place_for_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with accounts() as room:
            monkeypatch.setattr(room.room.authenticator._users, "_max_users", 1)
            refused = await register(Browser(room.app))
            assert refused.status_code == 503
            assert "Accounts are not available now." in refused.text

    run(main())


def test_a_login_shows_the_account_until_the_logout(run: Run) -> None:
    async def main() -> None:
        async with accounts() as room:
            browser = Browser(room.app)
            response = await log_in(browser)
            assert (response.status_code, response.headers["location"]) == (303, "/")
            assert "<span>marta</span>" in (await browser.get("/")).text
            assert (await browser.post("/logout")).status_code == 303
            assert "marta" not in (await browser.get("/")).text

    run(main())


def test_each_login_and_logout_gives_a_new_session_id(run: Run) -> None:
    async def main() -> None:
        async with accounts() as room:
            browser = Browser(room.app)
            await browser.get("/login")
            before = browser.client.cookies["croupier"]
            await log_in(browser)
            during = browser.client.cookies["croupier"]
            await browser.get("/")
            await browser.post("/logout")
            assert len({before, during, browser.client.cookies["croupier"]}) == 3
            for old in (before, during):
                browser.client.cookies.clear()
                browser.client.cookies.set("croupier", old)
                assert "marta" not in (await browser.get("/")).text

    run(main())


def test_the_seats_of_the_session_are_kept_and_left_at_the_logout(run: Run) -> None:
    async def main() -> None:
        async with accounts() as room:
            kuhn = house(KUHN)
            app = create_app(
                [kuhn, RoomEntry(HOLDEM, room.room.house_service.house.settings, room.room)], WebConfig(), KEYS
            )
            browser = await Browser(app).play("kuhn")
            await log_in(browser)
            page = await browser.get(browser.table)
            assert page.status_code == 200
            assert (await browser.act("first")).status_code == 200
            assert kuhn.house.endpoint.connection_count == 1
            await browser.post("/logout")
            assert (await browser.get(browser.table)).status_code == 404
            await kuhn.house.endpoint.close()
            assert app.state.tables.of_session(browser.session) == []

    run(main())


async def two_browsers(room: Holdem) -> tuple[Browser, Browser]:
    """Two browsers with the seat of marta; the lobby of the second one has led to it."""
    phone, laptop = Browser(room.app), Browser(room.app)
    await log_in(phone)
    await phone.play("holdem")
    await log_in(laptop)
    assert f'href="{phone.table}"' in (await laptop.get("/")).text
    laptop.table = phone.table
    assert (await laptop.get(laptop.table)).status_code == 200
    assert [*room.room.house_service.house.users] == ["marta"]
    return phone, laptop


def test_a_logout_in_one_browser_keeps_the_seat_that_another_one_has_too(run: Run) -> None:
    async def main() -> None:
        async with accounts() as room:
            phone, laptop = await two_browsers(room)
            await phone.post("/logout")
            assert (await phone.get(phone.table)).status_code == 404
            assert [*room.room.house_service.house.users] == ["marta"]
            await laptop.post("/logout")
            assert [*room.room.house_service.house.users] == []

    run(main())


def test_a_browser_that_is_closed_keeps_the_seat_that_another_one_has_too(run: Run) -> None:
    async def main() -> None:
        async with accounts(WebConfig(reconnect_seconds=0.01)) as room:
            phone, laptop = await two_browsers(room)
            tables = room.app.state.tables
            for browser, users in ((phone, ["marta"]), (laptop, [])):
                (table,) = tables.of_session(browser.session)
                tables.release(table)  # its last stream has ended
                async with asyncio.timeout(TIMEOUT_SECONDS):
                    while tables.find(table.page.id, browser.session) is not None:
                        await asyncio.sleep(0.001)
                assert [*room.room.house_service.house.users] == users

    run(main())


def test_a_seat_that_is_left_in_one_browser_is_gone_in_the_other_which_may_take_a_new_one(run: Run) -> None:
    async def main() -> None:
        async with accounts() as room:
            phone, laptop = await two_browsers(room)
            jon = await Browser(room.app).play("holdem")
            while await to_act(room, phone, jon) is not phone:
                assert (await jon.act("call")).status_code == 200
            assert (await phone.act("leave")).status_code == 200
            page = await laptop.page_with("You no longer have a seat in this game.")
            assert "Your time ran out" not in page
            (lost,) = room.app.state.tables.of_session(laptop.session)
            await laptop.play("holdem")
            assert lost.seat.is_over
            assert len(room.room.house_service.house.users) == 2
            assert "Join again" not in (await laptop.get(laptop.table)).text

    run(main())


def test_the_checks_of_the_session_are_kept_and_stopped_at_the_logout(run: Run) -> None:
    async def main() -> None:
        async with accounts() as room, silent_server() as target:
            browser = Browser(room.app)
            path = (await start_check(browser, target)).headers["location"]
            [check] = room.app.state.checks.of_session(browser.session)
            await log_in(browser)
            assert (await browser.get(path)).status_code == 200
            assert (await browser.post("/logout")).status_code == 303
            await room.app.state.checks.wait_idle()
            assert check.process.returncode is not None
            assert (await browser.get(path)).status_code == 404

    run(main())


def test_a_login_moves_the_forms_of_a_check_to_the_new_session(run: Run) -> None:
    async def main() -> None:
        async with accounts() as room, silent_server() as target:
            browser = Browser(room.app)
            path = (await start_check(browser, target)).headers["location"]
            before = (await browser.get(path)).text
            await log_in(browser)
            former = browser.csrf
            page = (await browser.get(path)).text
            assert former in before
            assert former not in page
            assert (await browser.post(f"{path}/stop")).status_code == 303
            assert "You have stopped the run." in (await browser.get(path)).text

    run(main())


def test_a_person_plays_holdem_as_the_user_of_the_account_in_any_browser(run: Run) -> None:
    async def main() -> None:
        async with accounts() as room:
            first, second = Browser(room.app), Browser(room.app)
            await log_in(first)
            await first.play("holdem")
            assert [*room.room.house_service.house.users] == ["marta"]
            await log_in(second)
            await second.play("holdem")
            assert second.table == first.table
            assert [*room.room.house_service.house.users] == ["marta"]

    run(main())


def test_bots_join_a_person_with_an_account_who_is_alone(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.web.holdem_bots.BOTS_AFTER_SECONDS", 0.0)

    async def main() -> None:
        async with accounts() as room:
            browser = Browser(room.app)
            await log_in(browser)
            await browser.play("holdem")
            await browser.page_with("bot:")
            assert {user for user in room.room.house_service.house.users if not user.startswith("bot:")} == {"marta"}

    run(main())


@pytest.mark.parametrize(
    ("username", "password"),
    [("marta", "wrong"), ("jon", PASSWORD), ("", ""), ("marta", ""), ("marta:correct", "horse"), ("\0", "x")],
)
def test_wrong_credentials_are_refused_without_naming_which(username: str, password: str, run: Run) -> None:
    async def main() -> None:
        async with accounts() as room:
            browser = Browser(room.app)
            response = await log_in(browser, username, password)
            assert response.status_code == 422
            assert "The user name or the password is wrong." in response.text
            assert "<span>" not in (await browser.get("/")).text.partition("<main")[0]

    run(main())


def test_guessing_is_limited_as_in_holdem(run: Run) -> None:
    async def main() -> None:
        async with accounts() as room:
            browser = Browser(room.app)
            statuses = [(await log_in(browser, password=f"guess {number}")).status_code for number in range(11)]
            assert statuses == [422] * 10 + [429]
            refused = await log_in(browser, password="guess 12")
            assert (refused.status_code, 0 < int(refused.headers["retry-after"]) <= 60) == (429, True)

    run(main())


def test_a_login_ends_with_the_password_that_it_was_made_with(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with accounts() as room:
            browser = Browser(room.app)
            await log_in(browser)
            users = room.room.authenticator._users
            assert isinstance(users, MemoryUsers)
            users._users["marta"] = UserRecord("marta", "another hash")
            monkeypatch.setattr(users, "version", lambda: 1)
            monkeypatch.setattr(room.room.authenticator, "version", lambda: 1)
            assert "marta" not in (await browser.get("/")).text

    run(main())


def test_forms_without_the_token_of_the_browser_are_refused(run: Run) -> None:
    async def main() -> None:
        async with accounts() as room:
            browser = Browser(room.app)
            fields = {"username": "marta", "password": PASSWORD}
            assert (await browser.client.post("/login", data=fields)).status_code == 403
            assert (await browser.client.post("/register", data=fields)).status_code == 403
            assert (await browser.client.post("/logout")).status_code == 415
            await browser.get("/")
            assert (await browser.post("/logout", {"csrf": "x"})).status_code == 403

    run(main())


def test_the_password_is_in_no_log_and_no_page(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> str:
        monkeypatch.setattr(sys, "stderr", io.StringIO())
        configure("debug")
        async with accounts() as room:
            settings = room.room.house_service.house.settings
            app = create_app([RoomEntry(HOLDEM, settings, room.room)], WebConfig(), KEYS, get_logger(part="web"))
            browser = Browser(app)
            pages = [(await log_in(browser, password=f"{PASSWORD} 2")).text, (await log_in(browser)).text]
            monkeypatch.setattr(room.room.authenticator, "authenticate", None)
            failed = await log_in(browser)
            assert failed.status_code == 500
            return "".join([*pages, failed.text, sys.stderr.getvalue()])  # type: ignore[attr-defined]

    found = run(main())
    assert "internal error" in found
    assert PASSWORD not in found
    assert "Y29ycmVjdCBob3JzZQ" not in found


def test_the_page_says_what_an_account_gives(run: Run) -> None:
    async def main() -> None:
        for keeps_coins in (False, True):
            async with accounts(WebConfig(keeps_coins=keeps_coins)) as room:
                page = (await Browser(room.app).get("/login")).text
                assert ("The coins that you win" in page) is keeps_coins

    run(main())


def test_a_server_without_holdem_has_no_accounts(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            browser = Browser(app)
            await browser.get("/")
            assert (await browser.get("/login")).status_code == 404
            assert (await browser.get("/register")).status_code == 404
            assert (await browser.post("/login", {"username": "marta", "password": PASSWORD})).status_code == 404

    run(main())
