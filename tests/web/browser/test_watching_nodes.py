"""A person plays against a house at one server of a cluster, and another one watches at the other, in Chromium."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from bench.nats_server import NatsServer

from tests.processes import Serving
from tests.web.browser.tables import address, press_first_action, sit_down

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


def test_a_game_is_watched_at_the_other_server_until_its_own_dies(page: Page, browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "nats").mkdir()
    with NatsServer(tmp_path / "nats") as nats:
        flags = ("kuhn", "--port", 0, "--web-port", 0, "--journal", "off", "--bot", "script:CAL", "--bus", nats.url)
        with Serving(*flags, "--node", "ada", ready=2) as ada, Serving(*flags, "--node", "bea", ready=2) as bea:
            context = browser.new_context()
            person = context.new_page()
            page.goto(f"{address(bea)}/watch")
            sit_down(person, address(ada))
            page.get_by_role("link", name="Watch Kuhn poker").click()
            page.get_by_text("Between two games.").first.wait_for()
            press_first_action(person)
            page.locator(".seat use[href$='#back']").nth(1).wait_for()
            press_first_action(person)
            page.locator(".newest", has_text="The client").wait_for()
            ada.signal(signal.SIGKILL)
            page.get_by_text("The server of this table does not answer any more.").first.wait_for()
            context.close()
