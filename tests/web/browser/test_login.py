"""People register, log in and log out in Chromium, with accounts of hold'em."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.processes import Serving

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def test_a_person_registers_plays_logs_out_and_logs_in(page: Page) -> None:
    with Serving("holdem", "--port", 0, "--web-port", 0, "--journal", "off", ready=2) as server:
        page.goto(f"http://127.0.0.1:{server.ports['web']}/login")
        page.get_by_role("link", name="Create an account").click()
        page.get_by_label("User name").fill("marta")
        page.get_by_label("Password", exact=True).fill("correct horse")
        page.get_by_label("Password, once more").fill("correct horse")
        page.keyboard.press("Enter")
        page.get_by_text("marta").wait_for()
        page.get_by_role("button", name="Play now").click()
        page.locator("#felt").wait_for()
        assert page.get_by_role("banner").get_by_text("marta").count() == 1
        page.get_by_role("button", name="Log out").click()
        page.get_by_role("button", name="Play now").wait_for()
        assert page.get_by_text("marta").count() == 0
        page.get_by_role("link", name="Log in").click()
        page.get_by_label("User name").fill("marta")
        page.get_by_label("Password").fill("correct horse")
        page.keyboard.press("Enter")
        page.get_by_text("marta").wait_for()
        assert server.stop() == 0
