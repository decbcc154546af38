"""A browser at the address of the hold'em service gets a page that leads to the web app (holdem-9.14)."""

import pytest

from tests.http.service_fixture import InProcessService
from tests.net.raw_client import Run

BROWSER = {"accept": "text/html,application/xhtml+xml;q=0.9", "host": "192.0.2.7:8080"}


def test_a_browser_gets_a_page_with_a_link_to_the_web_app(run: Run) -> None:
    async def main() -> None:
        web = InProcessService()
        web.service.web_port = 8000
        page = await web.ask("GET", "/", headers=BROWSER)
        assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert '<a href="http://192.0.2.7:8000/">' in page.text
        assert "<script" not in page.text
        assert page.headers["content-security-policy"].startswith("default-src 'none'")
        head = await web.ask("HEAD", "/", headers=BROWSER)
        assert (head.status, head.text) == (200, "")

    run(main())


@pytest.mark.parametrize("host", ['"><script>', "<b>", ""])
def test_a_strange_host_is_not_repeated(host: str, run: Run) -> None:
    async def main() -> None:
        web = InProcessService()
        web.service.web_port = 8000
        page = await web.ask("GET", "/", headers={**BROWSER, "host": host})
        assert page.status == 200
        assert "<script>" not in page.text
        assert "<b>" not in page.text
        assert ":8000" not in page.text

    run(main())


@pytest.mark.parametrize(
    ("method", "headers"),
    [("GET", {}), ("GET", {"accept": "*/*"}), ("GET", {"accept": "application/json"}), ("POST", BROWSER)],
)
def test_programs_find_nothing_there(method: str, headers: dict[str, str], run: Run) -> None:
    async def main() -> None:
        answer = await InProcessService().ask(method, "/", headers=headers)
        assert (answer.status, answer.text[:12]) == (404, "holdem-8.3: ")

    run(main())
