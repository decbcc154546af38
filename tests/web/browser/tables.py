"""What a person does at a table, in Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.processes import Serving

TURN_MILLISECONDS = 30_000
"""The time until it is the person's turn: bots join after some seconds, and think, and the machine may be busy."""


def address(server: Serving) -> str:
    """The address of the lobby."""
    return f"http://127.0.0.1:{server.ports['web']}"


def sit_down(page: Page, lobby: str) -> None:
    """Sit down with two clicks, of which opening the lobby is one."""
    page.goto(lobby)
    page.get_by_role("button", name="Play now").click()
    wait_for_table(page)


def wait_for_table(page: Page) -> None:
    """Wait until the page of a table is there and its script runs, without which it has no keys."""
    page.locator(".act").first.wait_for()
    page.wait_for_load_state()


def version(page: Page) -> str:
    """The version of the table that the page shows."""
    return page.locator("input[name=version]").first.input_value()


def wait_for_other_version(page: Page, known: str) -> None:
    """Wait until the page shows another version of the table."""
    page.locator(f'input[name=version]:not([value="{known}"])').first.wait_for(state="attached")


def wait_for_turn(page: Page) -> None:
    """Wait until the person can do more than leave."""
    page.locator(".act:not(.quiet)").first.wait_for(timeout=TURN_MILLISECONDS)


def press_first_action(page: Page) -> None:
    """Press the key of the first action but a fold, and Enter if it has a number; wait for what follows."""
    wait_for_turn(page)
    known = version(page)
    button = page.locator(".act:not(.quiet):not([value=fold])").first
    page.keyboard.press(button.get_attribute("data-key") or "")
    if button.locator("output").count():
        page.keyboard.press("Enter")
    wait_for_other_version(page, known)
    page.locator("#acts:not([aria-busy])").wait_for()


def own_cards(page: Page) -> list[str]:
    """The names of the person's cards."""
    return page.locator(".own .card").evaluate_all("cards => cards.map(card => card.getAttribute('aria-label'))")
