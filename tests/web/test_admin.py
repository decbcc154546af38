"""The administration: who may enter, what it shows, and draining."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from croupier.rooms.kuhn import ROOM as KUHN
from croupier.store.store import open_store
from croupier.web.admin_routes import AdminAccess
from croupier.web.app import close, create_app
from croupier.web.config import WebConfig
from tests.net.raw_client import Run
from tests.web.app_fixture import KEYS, Browser, house, web_app

TOKEN = "a token of some length"


@asynccontextmanager
async def administered(access: AdminAccess | None = None, config: WebConfig = WebConfig()) -> AsyncIterator[Starlette]:
    entry = house(KUHN)
    app = create_app([entry], config, KEYS, admin=access or AdminAccess(TOKEN, None, lambda: None))
    try:
        yield app
    finally:
        close(app)
        await entry.house.endpoint.close()


async def enter(browser: Browser, token: str = TOKEN) -> httpx.Response:
    await browser.get("/admin")
    return await browser.post("/admin", {"token": token})


def is_inside(page: httpx.Response) -> bool:
    return "Drain the server" in page.text


def test_without_a_token_there_is_no_administration(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            browser = Browser(app)
            await browser.get("/")
            assert (await browser.get("/admin")).status_code == 404
            assert (await browser.post("/admin", {"token": TOKEN})).status_code == 404
            assert (await browser.post("/admin/drain")).status_code == 404

    run(main())


def test_the_token_opens_the_administration_for_this_browser(run: Run) -> None:
    async def main() -> None:
        async with administered() as app:
            browser, other = Browser(app), Browser(app)
            assert not is_inside(await browser.get("/admin"))
            entered = await enter(browser)
            assert entered.status_code == 303
            cookie = entered.headers["set-cookie"]
            for attribute in ("Path=/admin", "Max-Age=1800", "HttpOnly", "SameSite=strict"):
                assert attribute in cookie
            assert TOKEN not in cookie
            page = await browser.get("/admin")
            assert is_inside(page)
            assert "Kuhn poker" in page.text
            assert "stores nothing" in page.text
            other.client.cookies.set("croupier-admin", browser.client.cookies["croupier-admin"], path="/admin")
            assert not is_inside(await other.get("/admin")), "the cookie belongs to one session"
            await browser.post("/admin/logout")
            assert not is_inside(await browser.get("/admin"))

    run(main())


def test_the_administration_closes_after_half_an_hour(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with administered() as app:
            browser = Browser(app)
            await enter(browser)
            import time

            now = time.time()
            monkeypatch.setattr("croupier.web.admin_routes.time.time", lambda: now + 1790)
            assert is_inside(await browser.get("/admin"))
            monkeypatch.setattr("croupier.web.admin_routes.time.time", lambda: now + 1801)
            assert not is_inside(await browser.get("/admin"))

    run(main())


def test_another_token_ends_what_the_former_one_has_opened(run: Run) -> None:
    async def main() -> None:
        async with administered() as app, administered(AdminAccess(f"{TOKEN} 2", None, lambda: None)) as restarted:
            browser, again = Browser(app), Browser(restarted)
            await enter(browser)
            again.client.cookies = browser.client.cookies
            assert is_inside(await browser.get("/admin"))
            assert not is_inside(await again.get("/admin"))

    run(main())


def test_five_wrong_tokens_a_minute_are_the_most(run: Run) -> None:
    async def main() -> None:
        async with administered() as app:
            browser = Browser(app)
            await enter(browser)
            statuses = [(await enter(Browser(app), f"guess {number}")).status_code for number in range(6)]
            assert statuses == [422] * 5 + [429]
            assert (await enter(Browser(app))).status_code == 429, "the right token, too"
            assert is_inside(await browser.get("/admin"))

    run(main())


@pytest.mark.parametrize("token", ["", "x", TOKEN.upper(), f"{TOKEN}é"])
def test_a_wrong_token_is_refused(token: str, run: Run) -> None:
    async def main() -> None:
        async with administered() as app:
            refused = await enter(Browser(app), token)
            assert (refused.status_code, "The token is wrong." in refused.text) == (422, True)

    run(main())


def test_only_an_administrator_drains_the_server_and_only_once(run: Run) -> None:
    async def main() -> None:
        drained: list[None] = []
        async with administered(AdminAccess(TOKEN, None, lambda: drained.append(None))) as app:
            browser, other = Browser(app), Browser(app)
            await other.get("/admin")
            assert (await other.post("/admin/drain")).status_code == 403
            await enter(browser)
            assert (await browser.post("/admin/drain", {"csrf": "x"})).status_code == 403
            assert drained == []
            for _ in range(2):
                assert "The server is draining" in (await browser.post("/admin/drain")).text
            assert drained == [None]

    run(main())


def test_accounts_and_the_ledger_are_shown(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with await open_store(str(tmp_path / "store.db")) as store:
            await store.add_account("marta", "$hash", coins=5000, reason="<welcome>")
            await store.credit("marta", -2000, reason="paid out")
            async with administered(AdminAccess(TOKEN, store, lambda: None)) as app:
                browser = Browser(app)
                await enter(browser)
                page = (await browser.get("/admin")).text
        assert '<th scope="row">marta</th><td class="number">3,000</td>' in page
        assert page.index("-2,000") < page.index("+5,000"), "the newest first"
        assert "&lt;welcome&gt;" in page
        assert "$hash" not in page

    run(main())


def test_the_page_stays_small_with_many_accounts(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.web.admin_routes.MAX_ACCOUNTS", 2)

    async def main() -> None:
        async with await open_store(str(tmp_path / "store.db")) as store:
            for name in ("ann", "bob", "cem"):
                await store.add_account(name)
            async with administered(AdminAccess(TOKEN, store, lambda: None)) as app:
                browser = Browser(app)
                await enter(browser)
                page = (await browser.get("/admin")).text
        assert "2 of 4 accounts" in page
        assert "cem</th>" not in page

    run(main())


def test_the_token_is_in_no_text_of_the_access() -> None:
    assert TOKEN not in repr(AdminAccess(TOKEN, None, lambda: None))
