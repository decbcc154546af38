"""Takes the pictures of the README with Chromium, from a running demo: `make pictures`. They are not taken in CI."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

IMAGES = Path(__file__).parent / "images"
WIDTH, HEIGHT = 1000, 900
MAX_BYTES = 120_000
SECONDS_TO_PLAY = 12
"""After this time the bots have hands to show."""


@contextmanager
def demo() -> Iterator[str]:
    """Run the demo while the context is open; yield the address of its lobby."""
    command = [sys.executable, "-m", "croupier", "demo", "--no-browser", "--free-ports", "--pause", "0.5"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None, "it is a pipe"
        try:
            yield next(line for line in process.stdout if "lobby" in line).split()[-1]
        finally:
            process.terminate()


def take(page: Page, name: str) -> None:
    """Save what the page shows. Raises ValueError if the file is too large."""
    path = IMAGES / f"{name}.png"
    page.screenshot(path=path)
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise ValueError(f"found {size:,} bytes in {path.name}; allowed: {MAX_BYTES:,}")
    print(f"{path.name}: {size:,} bytes")


def main() -> None:
    """Take all pictures."""
    IMAGES.mkdir(exist_ok=True)
    # Chromium's sandbox does not start as root.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with demo() as lobby, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, locale="en", reduced_motion="reduce")
        page.wait_for_timeout(SECONDS_TO_PLAY * 1000)
        page.goto(lobby)
        take(page, "lobby")
        page.get_by_role("button", name="Play now").click()
        page.locator(".act").first.click()
        page.locator(".act[data-key=b]").first.wait_for()
        take(page, "table")
        browser.close()


if __name__ == "__main__":
    main()
