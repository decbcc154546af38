"""An administrator enters with the token and drains the server, in Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.processes import Serving

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
TOKEN = "a token of some length"


def test_an_administrator_enters_and_drains_the_server(page: Page) -> None:
    flags = ("kuhn", "--port", 0, "--web-port", 0)
    with Serving(*flags, variables={"CROUPIER_ADMIN_TOKEN": TOKEN}, ready=2) as server:
        page.goto(f"http://127.0.0.1:{server.ports['web']}/admin")
        page.get_by_label("Token of the administrator").fill(TOKEN)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Accounts").wait_for()
        assert TOKEN not in page.url
        drain = page.get_by_role("button", name="Drain the server")
        assert not drain.is_visible()  # it takes two steps
        page.get_by_text("Drain the server").first.click()
        drain.click()
        page.get_by_text("The server is draining").wait_for()
        assert server.end() == 0
