"""Requests that no page of ours has made are refused, and every response has the security headers."""

import pytest
from starlette.applications import Starlette

from croupier.web.config import WebConfig
from croupier.web.cookies import COOKIE_SECONDS, SigningKeys
from croupier.web.security import CONTENT_SECURITY_POLICY
from tests.net.raw_client import Run
from tests.web.app_fixture import Browser, web_app


def test_every_response_has_the_security_headers(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            browser = await Browser(app).play()
            page = await browser.get(browser.table)
            static = page.text.partition('href="/static/')[2].partition('"')[0]
            responses = [
                await browser.get("/"),
                page,
                await browser.get(f"/static/{static}"),
                await browser.get("/nowhere"),
                await browser.post("/play", {"room": "chess"}),
                await browser.client.post("/play"),
                await browser.act("first"),
                await browser.get("/", headers={"host": "evil.example"}),
            ]
            assert [response.status_code for response in responses] == [200, 200, 200, 404, 404, 415, 200, 400]
            for response in responses:
                assert response.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
                assert response.headers["x-content-type-options"] == "nosniff"
                assert response.headers["referrer-policy"] == "same-origin"
                assert response.headers["cross-origin-resource-policy"] == "same-origin"
                assert "unsafe" not in response.headers["content-security-policy"]
                assert "cross-origin-opener-policy" not in response.headers

    run(main())


def test_a_fault_of_the_app_is_a_page_with_the_security_headers(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            browser = await Browser(app).play()
            monkeypatch.setattr("croupier.web.table_routes.linear_text", lambda view: None)
            response = await browser.get(f"{browser.table}/text")
            assert (response.status_code, "A fault of the server" in response.text) == (500, True)
            assert response.headers["content-security-policy"] == CONTENT_SECURITY_POLICY

    run(main())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 303),
        ({"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"}, 303),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
    ],
)
def test_a_form_has_to_come_from_a_page_of_this_server(headers: dict[str, str], status: int, run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            browser = Browser(app)
            await browser.get("/")
            assert (await browser.post("/play", {"room": "kuhn"}, **headers)).status_code == status

    run(main())


@pytest.mark.parametrize("path", ["/play", "/language", "/theme", "/tables/x/act", "/tables/x/leave"])
def test_a_form_has_to_have_the_token_of_its_browser(path: str, run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, endpoint):
            browser, other = Browser(app), Browser(app)
            await browser.get("/")
            await other.get("/")
            fields = {"room": "kuhn", "locale": "en", "theme": "dark", "version": "", "act": "first"}
            for token in ("", "x", other.csrf, other.csrf.swapcase()):
                assert (await browser.post(path, {**fields, "csrf": token})).status_code == 403
            assert endpoint.connection_count == 0

    run(main())


def test_a_token_needs_the_cookie(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            browser = Browser(app)
            await browser.get("/")
            browser.client.cookies.clear()
            assert (await browser.post("/play", {"room": "kuhn"})).status_code == 403

    run(main())


def test_a_table_is_shown_to_its_own_session_only(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            browser, other = await Browser(app).play(), Browser(app)
            await other.get("/")
            for path in ("", "/text", "/events"):
                assert (await other.get(browser.table + path)).status_code == 404
            for path in ("/act", "/leave"):
                assert (await other.post(browser.table + path, {"version": "", "act": "first"})).status_code == 404

    run(main())


def test_a_large_body_is_refused(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            browser = Browser(app)
            await browser.get("/")
            assert (await browser.post("/play", {"room": "x" * 5000})).status_code == 413
            assert (await browser.post("/play", {f"f{n}": "" for n in range(30)})).status_code == 400

    run(main())


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8000", 200),
        ("192.0.2.7", 200),
        ("[::1]:8000", 200),
        ("localhost:8000", 200),
        ("school.local", 200),
        ("cards.example:8000", 200),
        ("evil.example", 400),
        ("localhost.evil.example", 400),
        ("notlocal", 400),
        ("[", 400),
    ],
)
def test_a_name_of_another_site_is_no_host_of_ours(host: str, status: int, run: Run) -> None:
    async def main() -> None:
        async with web_app(config=WebConfig(hosts=frozenset({"cards.example"}))) as (app, _):
            assert (await Browser(app).get("/", headers={"host": host})).status_code == status

    run(main())


async def status_of_actions(app: Starlette, count: int) -> list[int]:
    browser = await Browser(app).play()
    return [(await browser.act("nothing")).status_code for _ in range(count)]


def test_actions_are_limited_for_each_session(run: Run) -> None:
    async def main() -> None:
        async with web_app(config=WebConfig(max_acts_per_second=2)) as (app, _):
            assert await status_of_actions(app, 3) == [400, 400, 429]
            assert await status_of_actions(app, 1) == [400]

    run(main())


def test_new_sessions_from_one_address_are_limited(run: Run) -> None:
    async def main() -> None:
        async with web_app(config=WebConfig()) as (app, _):
            for _ in range(60):
                await Browser(app).play()
            browser = Browser(app)
            await browser.get("/")
            refused = await browser.post("/play", {"room": "kuhn"})
            assert (refused.status_code, int(refused.headers["retry-after"]) <= 60) == (429, True)

    run(main())


def test_cookies_are_signed_and_expire() -> None:
    keys, others = SigningKeys([bytes(32)]), SigningKeys([b"1" * 32])
    visitor = keys.issue(1000.0)
    value = keys.encode(visitor)
    assert keys.decode(value, 1000.0) == visitor
    assert keys.decode(value, 1001.0 + COOKIE_SECONDS) is None
    assert others.decode(value, 1000.0) is None
    assert SigningKeys([b"1" * 32, bytes(32)]).decode(value, 1000.0) == visitor
    for forged in ("", ".", "..", value[:-1], value.replace(".1000.", ".9999."), "é" + value):
        assert keys.decode(forged, 1000.0) is None


def test_a_forged_cookie_is_replaced(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            browser = Browser(app)
            browser.client.cookies.set("croupier", "x.1.y")
            response = await browser.get("/")
            assert response.headers["set-cookie"].startswith("croupier=")
            assert "HttpOnly" in response.headers["set-cookie"]
            assert "SameSite=Lax" in response.headers["set-cookie"]

    run(main())


def test_tls_makes_the_cookie_one_of_this_host_only(run: Run) -> None:
    async def main() -> None:
        async with web_app(config=WebConfig(has_tls=True)) as (app, _):
            response = await Browser(app).get("/")
            assert response.headers["set-cookie"].startswith("__Host-croupier=")
            assert "; Secure" in response.headers["set-cookie"]
            assert response.headers["cross-origin-opener-policy"] == "same-origin"

    run(main())
