"""The fair deal in the browser: fair.mjs deals the published orders, and the page says what it finds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.processes import ROOT
from tests.web.browser.gallery import WEB

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
VECTORS = json.loads((ROOT / "docs" / "fair-deal.json").read_text())
DEAL = """async ([seed, hands]) => {
  const fair = await import("/static/fair.mjs");
  const bytes = fair.fromHex(seed);
  return [
    fair.toHex(fair.sha256(bytes)),
    hands.map((hand) => fair.shuffle(
      hand.algorithm, bytes, new TextEncoder().encode(hand.client_seed), hand.hand, hand.cards)),
  ];
}"""


def test_the_browser_deals_the_published_orders(page: Page, gallery: str) -> None:
    page.goto(f"{gallery}/pages/fair")
    commitment, orders = page.evaluate(DEAL, [VECTORS["server_seed"], VECTORS["hands"]])
    assert commitment == VECTORS["commitment"]
    assert orders == [hand["order"] for hand in VECTORS["hands"]]


def test_the_program_that_verifies_is_short_enough_to_be_read() -> None:
    lines = (WEB / "static" / "fair.mjs").read_text().splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 120


@pytest.mark.parametrize(
    ("label", "value", "verdict"),
    [
        ("Dealt cards", "Q J", "Kept: the seed is the promised one, and it deals these cards."),
        ("Dealt cards", "J Q", "BROKEN: the seed deals other cards."),
        ("Dealt cards", "", "The seed is the promised one. It deals:"),
        ("Promise", "00", "BROKEN: the seed is not the one that was promised."),
        ("Server seed", "zz", "A seed has hexadecimal digits; a server seed has 64 of them."),
    ],
)
def test_the_page_gives_a_verdict(page: Page, gallery: str, label: str, value: str, verdict: str) -> None:
    page.goto(f"{gallery}/pages/fair")
    page.get_by_label(label).fill(value)
    page.get_by_role("button", name="Verify").click()
    assert page.locator("#verdict p").first.text_content() == verdict
