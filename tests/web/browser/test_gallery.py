"""Every page in both themes and four widths: accessible, without a word on the console, and for no other host."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from croupier.core.languages import locales
from tests.web.samples import PAGES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = pytest.mark.browser
SIZES = [(320, 568), (390, 844), (768, 1024), (1280, 800)]
THEMES = ["light", "dark"]


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_on_a_page_that_never_scrolls_sideways(page: Page, gallery: str, name: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{gallery}/pages/{name}")
    findings = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            result = Axe().run(page).response
            findings += [
                (width, theme, rule["id"], [node["html"] for node in rule["nodes"]])
                for rule in result["violations"] + result["incomplete"]
            ]
    assert findings == []
    assert hosts == {urlsplit(gallery).netloc}


@pytest.mark.parametrize("locale", locales())
def test_pages_and_buttons_are_wide_enough_for_every_language(page: Page, gallery: str, locale: str) -> None:
    page.set_viewport_size({"width": SIZES[0][0], "height": SIZES[0][1]})
    for name in PAGES:
        page.goto(f"{gallery}/pages/{name}?locale={locale}")
        assert page.locator("html").get_attribute("lang") == locale
        assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[0][0], name
        overflowing = "buttons => buttons.filter(one => one.scrollWidth > one.clientWidth).map(one => one.textContent)"
        assert page.locator("button, .button").evaluate_all(overflowing) == [], name


@pytest.mark.parametrize("name", ["lobby", "holdem", "protocol-kuhn"])
def test_an_explicit_theme_overrides_the_one_of_the_system(page: Page, gallery: str, name: str) -> None:
    backgrounds = {}
    for system in THEMES:
        page.emulate_media(color_scheme=system)
        for chosen in ["auto", *THEMES]:
            page.goto(f"{gallery}/pages/{name}?theme={chosen}")
            backgrounds[system, chosen] = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert backgrounds["light", "auto"] == backgrounds["light", "light"] == backgrounds["dark", "light"]
    assert backgrounds["dark", "auto"] == backgrounds["dark", "dark"] == backgrounds["light", "dark"]
    assert backgrounds["light", "auto"] != backgrounds["dark", "auto"]


def test_all_cards_are_drawn(page: Page, gallery: str) -> None:
    """A card that the sprite lacks would be an empty picture, without any error."""
    for name in ("kuhn", "sevenhalf", "holdem", "oldmaid", "lobby"):
        page.goto(f"{gallery}/pages/{name}")
        page.wait_for_load_state("networkidle")
        boxes = page.locator(".card use").evaluate_all("uses => uses.map(use => use.getBBox().width)")
        assert boxes
        assert min(boxes) > 90, name


def test_a_page_has_one_main_heading_and_a_link_to_its_content(page: Page, gallery: str) -> None:
    for name in PAGES:
        page.goto(f"{gallery}/pages/{name}")
        assert page.locator("h1").count() == 1, name
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip", name
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main", name


def test_controls_are_large_enough_for_a_finger(page: Page, gallery: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for name in ("kuhn", "holdem", "lobby"):
        page.goto(f"{gallery}/pages/{name}")
        heights = page.locator("main :is(button, .button, input:not([type=hidden]), summary)").evaluate_all(
            "elements => elements.map(element => element.getBoundingClientRect().height).filter(Boolean)"
        )
        assert min(heights) >= 24, name


@pytest.mark.parametrize("locale", ["en", "nb"])
def test_a_button_that_stands_alone_is_as_wide_as_the_screen_of_a_phone(page: Page, gallery: str, locale: str) -> None:
    page.set_viewport_size({"width": 375, "height": 700})
    page.goto(f"{gallery}/pages/blackjack?locale={locale}")
    size = page.locator(".buttons .act").evaluate_all(
        "elements => elements.map(element => element.getBoundingClientRect()).map(box => [box.width, box.height])"
    )
    assert len(size) == 1
    assert size[0][0] > 340
    assert size[0][1] < 70


def test_three_buttons_are_a_row_of_three_lines_on_a_phone(page: Page, gallery: str) -> None:
    page.set_viewport_size({"width": 375, "height": 700})
    page.goto(f"{gallery}/pages/kuhn")
    heights = page.locator(".buttons .act").evaluate_all(
        "elements => elements.map(element => element.getBoundingClientRect().height)"
    )
    assert len(heights) == 3
    assert max(heights) < 90


def test_a_phone_shows_three_lines_of_what_has_happened(page: Page, gallery: str) -> None:
    """A sentence that needs two lines, and the one after it, are whole."""
    page.set_viewport_size({"width": 375, "height": 700})
    page.goto(f"{gallery}/pages/sevenhalf")
    lines = "element => element.clientHeight / Number.parseFloat(getComputedStyle(element).lineHeight)"
    assert page.locator(".newest").evaluate(lines) == pytest.approx(3, abs=0.1)


def test_forced_colours_keep_the_borders_of_what_can_be_clicked(browser: Browser, gallery: str) -> None:
    context: BrowserContext = browser.new_context(forced_colors="active")
    page = context.new_page()
    page.goto(f"{gallery}/pages/holdem")
    for selector in (".felt", ".act", ".preset"):
        assert page.locator(selector).first.evaluate("element => getComputedStyle(element).borderTopStyle") == "solid"
    context.close()
