"""People play Old Maid at the table of a real server, in Chromium."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pytest

from tests.processes import Serving
from tests.web.browser.conftest import TIMEOUT_MILLISECONDS
from tests.web.browser.tables import address, sit_down

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
OFFERED = ".act[value^=pick-]"


@pytest.fixture
def lobby() -> Iterator[str]:
    """The address of the web app of a table for three players."""
    with Serving("oldmaid", "--port", 0, "--web-port", 0, "--players", 3, "--seed", 2, ready=2) as server:
        yield address(server)


def play_to_the_end(pages: Sequence[Page]) -> None:
    """Pick the first offered card with its key, in the turn of each of the people, until all have a result."""
    while not all(page.locator(".results li").count() for page in pages):
        for page in pages:
            if page.locator(f"#acts:not([aria-busy]) {OFFERED}").count():
                page.keyboard.press("1")
        pages[0].wait_for_timeout(10)


def test_a_game_is_played_with_bots_and_another_one_begins(page: Page, lobby: str) -> None:
    sit_down(page, lobby)
    page.get_by_text("Waiting for other players.").first.wait_for()
    play_to_the_end([page])
    assert page.locator(".seat").count() == 3
    page.keyboard.press("n")
    page.locator(OFFERED).first.wait_for(timeout=3 * TIMEOUT_MILLISECONDS)
    assert page.locator('.frames li[data-sender="peer"]').count()


def test_two_browsers_share_a_game(browser: Browser, lobby: str) -> None:
    contexts = [browser.new_context() for _ in range(2)]
    pages = [context.new_page() for context in contexts]
    for page in pages:
        page.set_default_timeout(TIMEOUT_MILLISECONDS)
        sit_down(page, lobby)
    play_to_the_end(pages)
    results = [page.locator(".results li").text_content() for page in pages]
    assert results[0] != results[1]
    for page in pages:
        names = page.locator(".others .who strong").all_text_contents()
        assert sorted(name.partition(" ")[0].partition(":")[0] for name in names) == ["bot", "guest"]
    for context in contexts:
        context.close()


def test_leaving_ends_the_game_for_the_person(page: Page, lobby: str) -> None:
    sit_down(page, lobby)
    page.locator(OFFERED).first.wait_for(timeout=3 * TIMEOUT_MILLISECONDS)
    page.once("dialog", lambda dialog: dialog.accept())
    page.keyboard.press("q")
    page.get_by_role("button", name="Play again").wait_for()
