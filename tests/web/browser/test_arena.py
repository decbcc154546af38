"""The page of a tournament in Chromium, while bots play."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.processes import PATIENCE
from tests.web.browser.watched_command import watched

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
BOTS = ("equilibrium", "book:always-bet", "random")


@pytest.fixture
def arena_page() -> Iterator[str]:
    """The URL of the page of a tournament."""
    with watched("arena", "kuhn", *BOTS, "--hands", 100_000, "--duplicate") as url:
        yield url


def test_the_results_arrive_while_bots_play_and_lists_stay_open(page: Page, arena_page: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(arena_page)
    page.locator("#standings svg").wait_for(timeout=PATIENCE * 1000)
    leaks = page.locator("#leaks details").first
    leaks.wait_for(timeout=PATIENCE * 1000)
    assert leaks.evaluate("details => details.open")
    leaks.locator("summary").click()
    page.locator("#arena_status", has_text="The tournament is over.").wait_for(timeout=PATIENCE * 1000)
    assert page.locator("#arena_status label").inner_text() == "3 of 3 pairings are over; 300,000 hands"
    assert page.locator("h1").inner_text().startswith("equilibrium ")
    assert page.locator("table.pairings td.won, table.pairings td.lost").count() == 6
    assert not page.locator("#leaks details").first.evaluate("details => details.open")
    plot = page.locator("#bankrolls svg").bounding_box()
    assert plot
    assert plot["width"] > 1000
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        # It cannot see the ground of texts in plots; they have the colour of all texts.
        result = Axe().run(page, context={"exclude": ["figure svg"]}).response
        assert [rule["id"] for rule in result["violations"] + result["incomplete"]] == []
