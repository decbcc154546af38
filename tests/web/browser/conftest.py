"""Fixtures of the tests with a real browser: Chromium and requirements/browser.txt, whose absence is an error."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.web.browser.gallery import make_gallery, serve
from tests.web.browser.scripted_table import ScriptedTable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

TIMEOUT_MILLISECONDS = 10_000


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    assert path, "Chromium is missing: apt-get install chromium fonts-dejavu-core"
    # Chromium's sandbox does not start as root.
    arguments = ["--disable-gpu"] + (["--no-sandbox"] if os.geteuid() == 0 else [])
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=arguments)
        yield launched
        launched.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    context.set_default_timeout(TIMEOUT_MILLISECONDS)
    yield context
    context.close()


@pytest.fixture
def console() -> Iterator[list[str]]:
    """Errors and messages on the console of the page; what a test leaves there fails it."""
    messages: list[str] = []
    yield messages
    assert messages == []


@pytest.fixture
def page(context: BrowserContext, console: list[str]) -> Page:
    page = context.new_page()
    page.on("console", lambda message: console.append(message.text))
    page.on("pageerror", lambda error: console.append(str(error)))
    return page


@pytest.fixture(scope="session")
def gallery() -> Iterator[str]:
    """The address of the gallery."""
    with serve(make_gallery()) as address:
        yield address


@pytest.fixture
def table(context: BrowserContext) -> Iterator[ScriptedTable]:
    """A table that does what the test says."""
    table = ScriptedTable()
    with serve(table.app) as address:
        table.address = f"{address}/tables/t"
        yield table
        context.close()  # ends its streams
