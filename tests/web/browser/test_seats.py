"""People keep their seats in every room: after a reload, in a new page, and when the server starts again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from croupier.rooms import ROOMS
from tests.processes import Serving
from tests.web.browser.test_playing import address, sit_down, version, wait_for_other_version

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

pytestmark = pytest.mark.browser
BOTS_MILLISECONDS = 30_000
"""Bots join after some seconds, and think; the machine may be busy."""


def serving(room: str, *options: object, web_port: int = 0) -> Serving:
    return Serving(room, "--port", 0, "--web-port", web_port, "--seed", 1, *options, ready=2)


def wait_for_turn(page: Page) -> None:
    """Wait until the person can do more than leave."""
    page.locator(".act:not(.quiet)").first.wait_for(timeout=BOTS_MILLISECONDS)


def act(page: Page) -> None:
    """Press the key of the first action; in hold'em of a check or a call."""
    wait_for_turn(page)
    known = version(page)
    button = page.locator(".act:not(.quiet):not([value=fold])").first
    page.keyboard.press(button.get_attribute("data-key") or "")
    if button.locator("output").count():
        page.keyboard.press("Enter")
    wait_for_other_version(page, known)


def own_cards(page: Page) -> list[str]:
    return page.locator(".own .card").evaluate_all("cards => cards.map(card => card.getAttribute('aria-label'))")


@pytest.mark.parametrize("room", ROOMS)
def test_a_reload_and_a_new_page_resume_the_seat(context: BrowserContext, page: Page, room: str) -> None:
    with serving(room) as server:
        sit_down(page, address(server))
        wait_for_turn(page)
        while not (cards := own_cards(page)):
            act(page)
            wait_for_turn(page)
        page.reload()
        assert own_cards(page) == cards
        page.close()
        other = context.new_page()
        other.goto(address(server))
        other.get_by_role("link", name="Go on").click()
        assert own_cards(other) == cards
        act(other)
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
        act(page)
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
        assert own_cards(page) == cards
        act(page)
        page.close()
    console.clear()  # as above
