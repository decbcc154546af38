"""People play against the houses of a real server, in Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.processes import Serving
from tests.web.browser.tables import address, press_first_action, sit_down, version, wait_for_table

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = pytest.mark.browser
HOUSES = ["kuhn", "sevenhalf", "blackjack"]
MAX_FIRST_LOAD_BYTES = 150 * 1024


@pytest.fixture
def kuhn() -> Iterator[str]:
    """The address of the web app of a server of Kuhn poker."""
    with Serving("kuhn", "--port", 0, "--web-port", 0, "--seed", 1, ready=2) as server:
        yield address(server)


def play_games(page: Page, count: int) -> None:
    while page.locator(".results li").count() < count:
        press_first_action(page)


@pytest.mark.parametrize("room", HOUSES)
def test_games_are_played_with_the_keyboard_alone(page: Page, room: str) -> None:
    with Serving(room, "--port", 0, "--web-port", 0, "--seed", 1, ready=2) as server:
        page.goto(address(server))
        page.get_by_role("button", name="Play now").focus()
        page.keyboard.press("Enter")
        wait_for_table(page)
        play_games(page, 2)
        assert page.locator(".frames li").count() >= 4
        page.keyboard.press("q")
        page.get_by_role("button", name="Play again").wait_for()
        page.close()


@pytest.mark.parametrize("room", HOUSES)
def test_games_are_played_without_javascript(browser: Browser, room: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    with Serving(room, "--port", 0, "--web-port", 0, "--seed", 1, ready=2) as server:
        sit_down(page, address(server))
        while page.locator(".results li").count() < 1:
            known = version(page)
            page.locator(".act:not(.quiet)").first.click()
            while version(page) == known:  # the house answers after the redirect
                page.reload()
        context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_at_any_step_of_a_game(page: Page, console: list[str], kuhn: str, theme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(color_scheme="light" if theme == "light" else "dark", reduced_motion="reduce")
    page.goto(kuhn)
    findings = _findings(Axe().run(page).response)
    sit_down(page, kuhn)
    while page.locator(".results li").count() < 1:
        findings += _findings(Axe().run(page).response)
        press_first_action(page)
    page.goto(f"{kuhn}/nowhere")
    assert findings + _findings(Axe().run(page).response) == []
    assert len(console) == 1
    assert "404" in console.pop()


def _findings(response: dict[str, list[dict[str, object]]]) -> list[object]:
    return [rule["id"] for rule in response["violations"] + response["incomplete"]]


def test_a_reload_and_a_second_page_show_the_same_seat(context: BrowserContext, page: Page, kuhn: str) -> None:
    sit_down(page, kuhn)
    press_first_action(page)
    news = page.locator(".news").text_content()
    page.reload()
    assert page.locator(".news").text_content() == news
    other = context.new_page()
    other.goto(page.url)
    play_games(page, 1)
    other.locator(".results li").first.wait_for(state="attached")
    other.goto(kuhn)
    other.get_by_role("link", name="Go on").click()
    other.wait_for_url(page.url)


def test_six_pages_of_a_browser_do_not_stop_each_other(context: BrowserContext, page: Page, kuhn: str) -> None:
    """Browsers open six connections to a server; each table's stream takes one, so the oldest are parked."""
    sit_down(page, kuhn)
    others = [context.new_page() for _ in range(6)]
    for other in others:
        other.goto(page.url)
        wait_for_table(other)
    page.get_by_text("Paused: too many tables are open in this browser.").wait_for()
    play_games(page, 1)
    others[-1].locator(".results li").first.wait_for(state="attached")


def test_a_seat_belongs_to_its_browser(browser: Browser, page: Page, kuhn: str) -> None:
    sit_down(page, kuhn)
    stranger = browser.new_context()
    answer = stranger.new_page().goto(page.url)
    assert answer is not None
    assert answer.status == 404
    stranger.close()


def test_a_page_outlives_its_server(page: Page, console: list[str]) -> None:
    with Serving("kuhn", "--port", 0, "--web-port", 0, ready=2) as server:
        sit_down(page, address(server))
        port = server.ports["web"]
        server.stop()
    page.get_by_text("The server is shutting down").first.wait_for()
    with Serving("kuhn", "--port", 0, "--web-port", port, ready=2) as server:
        page.get_by_role("link", name="Back to the lobby").click()
        sit_down(page, address(server))
        play_games(page, 1)
        page.close()
    console.clear()  # the browser notes the connections that were refused meanwhile


def test_all_links_lead_to_pages(page: Page, kuhn: str) -> None:
    sit_down(page, kuhn)
    play_games(page, 1)
    links: set[str] = set()
    for shown in (page.url, kuhn):
        page.goto(shown)
        links.update(page.locator("a[href]").evaluate_all("links => links.map(link => link.href)"))
    assert len(links) >= 3
    for link in links:
        assert page.request.get(link).status == 200, link


def test_the_lobby_shows_who_sits_down_without_being_loaded_again(
    page: Page, context: BrowserContext, kuhn: str
) -> None:
    page.goto(kuhn)
    page.get_by_text("0 playing").wait_for()
    page.get_by_role("link", name="The protocol of Kuhn poker").focus()
    sit_down(context.new_page(), kuhn)
    page.get_by_text("1 playing").wait_for()
    assert page.evaluate("document.activeElement.textContent") == "protocol"


def test_the_first_load_is_small_and_from_one_host(page: Page, kuhn: str) -> None:
    bytes_received, hosts = [0], set()

    def count(request: object) -> None:
        sizes = request.sizes()  # type: ignore[attr-defined]
        bytes_received[0] += sizes["responseBodySize"] + sizes["responseHeadersSize"]

    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    page.on("requestfinished", count)
    ended = {"content_type": "text/event-stream", "body": "event: end\ndata: \n\n"}
    page.route("**/lobby/events*", lambda route: route.fulfill(**ended))
    page.goto(kuhn)
    page.wait_for_load_state("networkidle")
    assert 0 < bytes_received[0] < MAX_FIRST_LOAD_BYTES
    assert hosts == {urlsplit(kuhn).netloc}
