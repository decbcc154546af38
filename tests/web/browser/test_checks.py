"""The check page finds a seeded fault, live, in Chromium."""

from __future__ import annotations

import shlex
import socket
import subprocess
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.conformance.programs import command
from tests.processes import PATIENCE, Serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


@pytest.fixture
def target() -> Iterator[str]:
    """The address of a student's server of Kuhn poker that also deals a card after a game."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    program = subprocess.Popen(shlex.split(command("kuhn", "server", "deals-twice").format(port=port)))
    try:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and not is_listening(port):
            time.sleep(0.02)
        yield f"127.0.0.1:{port}"
    finally:
        program.kill()
        program.wait()


def is_listening(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def check_page() -> Iterator[str]:
    """The address of the check page of a server."""
    with Serving("kuhn", "--port", 0, "--web-port", 0, ready=2) as server:
        yield f"http://127.0.0.1:{server.ports['web']}/check"


def start_check(page: Page, address: str, target: str) -> None:
    page.goto(address)
    page.get_by_label("Protocol").select_option("kuhn")
    page.get_by_label("Address").fill(target)
    page.get_by_role("button", name="Start the check").press("Enter")


def test_a_seeded_fault_appears_while_the_run_goes_on(page: Page, check_page: str, target: str) -> None:
    start_check(page, check_page, target)
    fault = page.locator("#causes li.panel", has=page.get_by_role("link", name="kuhn-5.4")).first
    fault.wait_for(timeout=PATIENCE * 1000)
    assert page.get_by_role("button", name="Stop").is_visible()
    assert fault.locator(".frames li").count() > 1
    fault.locator("summary").click()
    assert fault.locator("details li").first.is_visible()
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("You have stopped the run.").first.wait_for()
    assert fault.is_visible()


def test_a_finished_run_has_a_report(page: Page, check_page: str, target: str) -> None:
    start_check(page, check_page, target)
    link = page.get_by_role("link", name="Report as HTML")
    link.wait_for(timeout=2 * PATIENCE * 1000)
    with page.expect_download() as download:
        link.click()
    assert download.value.suggested_filename == "report.html"
    assert "kuhn-5.4" in download.value.path().read_text()


def test_a_forbidden_target_is_explained(page: Page, check_page: str, console: list[str]) -> None:
    start_check(page, check_page, "192.0.2.1:22")
    page.get_by_text("The address 192.0.2.1:22 cannot be checked from your browser").wait_for()
    field = page.get_by_label("Address")
    assert field.input_value() == "192.0.2.1:22"
    assert field.get_attribute("aria-invalid") == "true"
    assert [message for message in console if "400" not in message] == []
    console.clear()  # the browser notes the status


def test_a_check_works_without_javascript(browser: Browser, check_page: str, target: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    start_check(page, check_page, target)
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("You have stopped the run.").wait_for()
    context.close()
