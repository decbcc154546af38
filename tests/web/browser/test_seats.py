"""People keep their seats in every room: after a reload, in a new page, and when the server starts again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from croupier.rooms import ROOMS
from tests.processes import Serving
from tests.web.browser.tables import (
    address,
    own_cards,
    press_first_action,
    sit_down,
    wait_for_table,
    wait_for_turn,
)

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

pytestmark = pytest.mark.browser


def serving(room: str, *options: object, web_port: int = 0) -> Serving:
    return Serving(room, "--port", 0, "--web-port", web_port, "--seed", 1, *options, ready=2)


@pytest.mark.parametrize("room", ROOMS)
def test_a_reload_and_a_new_page_resume_the_seat(context: BrowserContext, page: Page, room: str) -> None:
    with serving(room) as server:
        sit_down(page, address(server))
        wait_for_turn(page)
        while not (cards := own_cards(page)):
            press_first_action(page)
            wait_for_turn(page)
        page.reload()
        assert own_cards(page) == cards
        page.close()
        other = context.new_page()
        other.goto(address(server))
        other.get_by_role("link", name="Go on").click()
        wait_for_table(other)
        assert own_cards(other) == cards
        press_first_action(other)
        other.close()


@pytest.mark.parametrize("room", [room for room in ROOMS if room not in {"kuhn", "holdem"}])
def test_a_page_outlives_its_server(page: Page, console: list[str], room: str) -> None:
    with serving(room) as server:
        sit_down(page, address(server))
        wait_for_turn(page)
        port = server.ports["web"]
        server.stop()
    page.get_by_text("The server is shutting down").first.wait_for()
    with serving(room, web_port=port) as server:
        page.get_by_role("link", name="Back to the lobby").click()
        sit_down(page, address(server))
        press_first_action(page)
        page.close()
    console.clear()  # the browser notes the connections that were refused meanwhile


def test_a_hand_of_holdem_goes_on_when_the_server_starts_again(page: Page, console: list[str], tmp_path: Path) -> None:
    journal = ("--journal", "durable", "--store", tmp_path / "holdem.db")
    with serving("holdem", *journal) as server:
        sit_down(page, address(server))
        wait_for_turn(page)
        table, cards, port = page.url, own_cards(page), server.ports["web"]
        server.stop()
    page.get_by_text("Your seat and your chips are kept.").first.wait_for()
    with serving("holdem", *journal, web_port=port) as server:
        page.get_by_role("link", name="Back to the lobby").click()
        page.get_by_role("button", name="Play now").click()
        page.wait_for_url(table)
        wait_for_table(page)
        assert own_cards(page) == cards
        press_first_action(page)
        page.close()
    console.clear()  # as above
