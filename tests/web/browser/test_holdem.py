"""Several people at a hold'em table of a real server, and a watcher, each in a browser of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.processes import Serving
from tests.web.browser.conftest import TIMEOUT_MILLISECONDS
from tests.web.browser.tables import address, own_cards, sit_down, version, wait_for_other_version

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


@pytest.fixture
def lobby() -> Iterator[str]:
    """The address of the web app of a hold'em server."""
    with Serving("holdem", "--port", 0, "--web-port", 0, "--seed", 3, ready=2) as server:
        yield address(server)


@pytest.fixture
def people(browser: Browser, lobby: str) -> Iterator[tuple[Page, Page]]:
    """Two people at one table."""
    contexts = [browser.new_context() for _ in range(2)]
    pages = []
    for context in contexts:
        context.set_default_timeout(TIMEOUT_MILLISECONDS)
        page = context.new_page()
        sit_down(page, lobby)
        pages.append(page)
    yield pages[0], pages[1]
    for context in contexts:
        context.close()


def person_to_act(people: tuple[Page, Page]) -> tuple[Page, Page]:
    """Wait until it is the turn of one of the people; return that one, and the other."""
    while True:
        for page, other in (people, people[::-1]):
            if page.title().startswith("●"):
                return page, other
        people[0].wait_for_timeout(10)


def test_two_browsers_share_a_table(people: tuple[Page, Page]) -> None:
    while not people[0].locator(".results li").count():
        page, other = person_to_act(people)
        known, other_known = version(page), version(other)
        page.keyboard.press("c")
        wait_for_other_version(page, known)
        wait_for_other_version(other, other_known)
    people[1].locator(".results li").wait_for(state="attached")  # its page may be one event behind


def test_a_raise_is_chosen_with_a_preset(people: tuple[Page, Page]) -> None:
    page, other = person_to_act(people)
    page.get_by_role("button", name="Pot", exact=True).click()
    chips = page.get_by_role("spinbutton").input_value()
    page.locator(".act[data-key=r]").click()
    other.locator(".newest", has_text=f"raises to {chips}").wait_for()


def test_a_reload_keeps_seat_and_cards(people: tuple[Page, Page]) -> None:
    page, _ = person_to_act(people)
    cards = own_cards(page)
    page.reload()
    assert len(cards) == 2
    assert own_cards(page) == cards


def test_a_watcher_sees_the_table_without_hole_cards(people: tuple[Page, Page], browser: Browser, lobby: str) -> None:
    page, _ = person_to_act(people)
    context = browser.new_context()
    watcher = context.new_page()
    watcher.goto(f"{lobby}/watch")
    watcher.get_by_role("link", name="Watch Hold'em").click()
    assert watcher.locator(".seat").count() == 2
    assert watcher.locator(".seat use:not([href$='#back'])").count() == 0
    page.keyboard.press("c")
    watcher.locator(".newest", has_text="calls").wait_for()
    context.close()
