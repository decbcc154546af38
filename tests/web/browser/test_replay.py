"""The replay of a real server in Chromium: steps with the keyboard, and a deal that the browser verifies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.processes import Serving

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
BET_AND_LOSE = "/replay/kuhn/action-after-the-end"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Serving]:
    """A server of Kuhn poker with a store and a dealer's record."""
    options = ("--store", tmp_path / "store.db", "--deals", tmp_path / "deals", "--journal", "durable")
    with Serving("kuhn", "--port", 0, "--web-port", 0, *options, ready=2) as server:
        yield server


def address(server: Serving) -> str:
    return f"http://127.0.0.1:{server.ports['web']}"


def wait_for_step(page: Page, number: int) -> None:
    page.locator(".step-text", has_text=f"Step {number} of 7").wait_for()


def test_a_transcript_is_stepped_through_with_the_keyboard(page: Page, server: Serving) -> None:
    page.goto(f"{address(server)}{BET_AND_LOSE}")
    wait_for_step(page, 0)
    for number in (1, 2, 3, 4):
        page.keyboard.press("ArrowRight")
        wait_for_step(page, number)
    assert page.url.endswith("?step=4")
    current = page.locator("#wire [aria-current]")
    assert current.locator(".text").text_content() == "CARD C_K"
    assert current.locator(".bytes").text_content() == "43 41 52 44 20 43 5f 4b"
    assert page.locator("#felt .others .card[aria-label='the king']").count() == 1
    assert page.locator("#live").text_content() == "The house shows the king. You lose 2 coins."
    page.keyboard.press("ArrowLeft")
    wait_for_step(page, 3)
    page.keyboard.press("End")
    wait_for_step(page, 7)
    page.keyboard.press("Home")
    wait_for_step(page, 0)
    page.get_by_role("link", name="Step 6: ACTN FLD").click()
    wait_for_step(page, 6)
    page.reload()
    wait_for_step(page, 6)
    page.locator("#wire [aria-current] a.clause").click()
    page.locator("#kuhn-6\\.2").wait_for()


def test_without_javascript_every_step_is_a_link(browser: Browser, server: Serving) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address(server)}/replay")
    page.get_by_role("link", name="There is nothing to act on when the game is over").click()
    page.get_by_role("link", name="Next").click()
    wait_for_step(page, 1)
    page.get_by_role("link", name="Last").click()
    wait_for_step(page, 7)
    context.close()


def test_the_browser_verifies_the_deal_of_a_recorded_game(page: Page, server: Serving) -> None:
    server.talk(b"STRT P_1", b"ACTN BET")
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(f"{address(server)}/replay")
    page.locator(".records a").first.click()
    page.locator(".step-text").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.get_by_role("link", name="Verify the deal").click()
    page.get_by_role("button", name="Verify").click()
    verdict = page.locator("#verdict p").first
    verdict.wait_for()
    assert verdict.text_content() == "Kept: the seed is the promised one, and it deals these cards."


@pytest.mark.parametrize("path", ["/replay", f"{BET_AND_LOSE}?step=4", "/fair"])
def test_pages_have_no_faults_of_accessibility_and_fit_a_phone(page: Page, server: Serving, path: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(f"{address(server)}{path}")
    found = Axe().run(page).response
    assert [(fault["id"], fault["nodes"]) for fault in found["violations"] + found["incomplete"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
