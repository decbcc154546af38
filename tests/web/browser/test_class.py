"""The page of a class fills up in Chromium while three submissions play, one of them with a bug."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conformance.test_matrix import hand_in
from tests.processes import PATIENCE
from tests.web.browser.watched_command import watched

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
MATRIX_SECONDS = 6 * PATIENCE


@pytest.fixture
def class_page(tmp_path: Path) -> Iterator[str]:
    """The URL of the page of a class that plays."""
    folder = tmp_path / "class"
    hand_in(folder, "ada")
    hand_in(folder, "bob", server="deals-twice")
    hand_in(folder, "cid", client="says-nothing")
    with watched("matrix", folder, "--out", tmp_path / "out", "--jobs", 1, "--timeout", 2) as url:
        yield url


def test_the_grid_fills_up_also_after_a_reload(page: Page, class_page: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(class_page)
    page.locator("#c-1-1 a").wait_for(timeout=MATRIX_SECONDS * 1000)
    assert page.locator("#c-4-4 a").count() == 0
    page.reload()
    assert page.locator("#c-1-1 a").inner_text() == "plays well"
    fault = page.locator("#c-2-1 a")
    fault.wait_for(timeout=MATRIX_SECONDS * 1000)
    fault.focus()
    page.locator("#c-4-4 a").wait_for(timeout=MATRIX_SECONDS * 1000)
    page.locator("#class_status", has_text="The run is over.").wait_for()
    assert fault.evaluate("link => link === document.activeElement")
    assert page.locator("#class_status label").inner_text() == "16 of 16 cells"
    assert page.locator("#server-2").inner_text() == "0"
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        result = Axe().run(page).response
        assert [rule["id"] for rule in result["violations"] + result["incomplete"]] == []
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Client of Ada at the server of Bob").wait_for()
    page.get_by_role("link", name="kuhn-5.4").click()
    page.wait_for_url("**/protocols/kuhn#kuhn-5.4")
