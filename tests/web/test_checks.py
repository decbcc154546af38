"""The check page: a fault is found through it, and nobody can scan ports or see the runs of others with it."""

import asyncio
import html
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network
from xml.etree import ElementTree as ET

import httpx
import pytest
import trustme
from msgspec.structs import replace
from starlette.applications import Starlette

from croupier.conformance.program import ProgramUnderTest
from croupier.net.client_addresses import parse_ip_address
from croupier.web import checks
from croupier.web.check_targets import Asker, TargetRules
from croupier.web.config import WebConfig
from tests.conformance.programs import command
from tests.net.raw_client import TIMEOUT_SECONDS, Run
from tests.ports import closed_port
from tests.sampling import extended
from tests.web.app_fixture import Browser, serve, web_app

CONFIG = WebConfig(checks_per_minute=100)


@asynccontextmanager
async def student_server(habit: str) -> AsyncIterator[str]:
    """A server of Kuhn poker that breaks one rule; its address."""
    port = closed_port()
    async with await ProgramUnderTest.start(command("kuhn", "server", habit), {"port": port}) as program:
        await program.wait_listening("127.0.0.1", port, TIMEOUT_SECONDS)
        yield f"127.0.0.1:{port}"


@asynccontextmanager
async def silent_server() -> AsyncIterator[str]:
    """A server that accepts connections and never answers: runs against it go on; its address."""
    server = await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def start_check(browser: Browser, target: str, room: str = "kuhn") -> httpx.Response:
    await browser.get("/check")
    return await browser.post("/check", {"room": room, "target": target})


async def page_with(browser: Browser, path: str, pattern: str) -> str:
    async with asyncio.timeout(2 * TIMEOUT_SECONDS):
        while not re.search(pattern, page := (await browser.get(path)).text):
            await asyncio.sleep(0.05)
    return page


def test_a_seeded_fault_is_found_and_reported(run: Run) -> None:
    async def main() -> None:
        async with serve(config=CONFIG) as app, student_server("greets") as target:
            browser = Browser(app)
            response = await start_check(browser, target)
            assert response.status_code == 303
            path = response.headers["location"]
            page = await page_with(browser, path, "Report as HTML")
            assert 'href="/protocols/kuhn#kuhn-1.2"' in page
            assert "data-events" not in page
            report = await browser.client.get(f"{path}/report.html")
            assert report.headers["content-disposition"] == 'attachment; filename="report.html"'
            assert "kuhn-1.2" in report.text
            junit = await browser.client.get(f"{path}/junit.xml")
            suites = ET.fromstring(junit.text)
            assert int(suites.attrib["failures"]) > 0
            assert target in (await browser.get("/check")).text

    run(main())


@pytest.mark.extended
def test_the_stream_brings_each_state_and_then_ends(run: Run) -> None:
    async def main() -> None:
        async with serve(config=CONFIG) as app, student_server("greets") as target:
            browser = Browser(app)
            path = (await start_check(browser, target)).headers["location"]
            stream = (await browser.client.get(f"{path}/events")).text
            assert stream.count("event: table\n") > 1
            assert stream.endswith("event: end\ndata: \n\n")
            assert re.search("[0-9]+ faults? found so far", stream)
            assert "It breaks " in stream

    run(main())


def test_the_rooms_of_this_server_can_be_tested(run: Run) -> None:
    async def main() -> None:
        async with web_app(config=CONFIG) as (app, endpoint):
            _, port = await endpoint.listen("127.0.0.1", 0)
            browser = Browser(app)
            path = (await start_check(browser, f"127.0.0.1:{port}")).headers["location"]
            await page_with(browser, path, "✓ [1-9][0-9]* passed")

    run(main())


@asynccontextmanager
async def tls_server(authority: trustme.CA, name: str = "127.0.0.1") -> AsyncIterator[str]:
    """A server of Kuhn poker that uses TLS; its address."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(name).configure_cert(context)
    async with web_app(config=CONFIG) as (_, endpoint):
        _, port = await endpoint.listen("127.0.0.1", 0, context)
        yield f"127.0.0.1:{port}"


@pytest.mark.parametrize("name", extended(["127.0.0.1", "students-laptop"], 2))
def test_a_server_with_tls_is_tested_with_its_certificate_authority(name: str, run: Run) -> None:
    async def main() -> None:
        authority = trustme.CA()
        async with serve(config=CONFIG) as app, tls_server(authority, name) as target:
            browser = Browser(app)
            await browser.get("/check")
            pem = authority.cert_pem.bytes().decode()
            form = {"room": "kuhn", "target": target, "authority": pem}
            path = (await browser.post("/check", form)).headers["location"]
            page = await page_with(browser, path, "✓ [1-9][0-9]* passed")
            assert f"{target} (TLS)" in page

    run(main())


def test_a_server_whose_certificate_nobody_trusts_is_not_tested(run: Run) -> None:
    async def main() -> None:
        async with serve(config=CONFIG) as app, tls_server(trustme.CA()) as target:
            browser = Browser(app)
            await browser.get("/check")
            response = await browser.post("/check", {"room": "kuhn", "target": target, "tls": "on", "authority": ""})
            page = await page_with(browser, response.headers["location"], "Nothing could be tested.")
            assert "certificate verify failed" in page

    run(main())


@pytest.mark.parametrize(
    ("room", "authority", "reason"),
    [
        ("oldmaid", "", "This protocol is tested without TLS."),
        ("kuhn", "/etc/ssl/certs/ca-certificates.crt", "is not a certificate in the PEM format"),
        ("kuhn", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "is not a certificate"),
        ("kuhn", "el meu servidor és", "is not a certificate"),
    ],
)
def test_a_form_with_a_wrong_certificate_authority_is_refused(room: str, authority: str, reason: str, run: Run) -> None:
    async def main() -> None:
        async with serve(config=CONFIG) as app:
            browser = Browser(app)
            await browser.get("/check")
            form = {"room": room, "target": "127.0.0.1:1212", "tls": "on", "authority": authority}
            refused = await browser.post("/check", form)
            assert refused.status_code == 400
            assert reason in refused.text
            assert html.escape(authority) in refused.text
            assert re.search('name="tls" checked', refused.text)
            assert app.state.checks.of_session(browser.session) == []

    run(main())


def test_a_target_without_a_server_is_named(run: Run) -> None:
    async def main() -> None:
        async with serve(config=CONFIG) as app:
            browser = Browser(app)
            target = f"127.0.0.1:{closed_port()}"
            path = (await start_check(browser, target)).headers["location"]
            page = await page_with(browser, path, "Nothing could be tested.")
            assert f"No server takes connections at {target}" in page
            for report in ("report.html", "junit.xml"):
                assert (await browser.get(f"{path}/{report}")).status_code == 404

    run(main())


def test_a_session_has_one_run_which_it_can_stop(run: Run) -> None:
    async def main() -> None:
        async with silent_server() as target, serve(config=CONFIG) as app:
            browser = Browser(app)
            path = (await start_check(browser, target)).headers["location"]
            response = await start_check(browser, target)
            assert response.status_code == 429
            assert "Another check of yours is running." in response.text
            assert (await browser.post(f"{path}/stop")).status_code == 303
            await page_with(browser, path, "You have stopped the run.")
            assert (await start_check(browser, target)).status_code == 303

    run(main())


def test_all_sessions_together_have_a_limit(run: Run) -> None:
    async def main() -> None:
        async with silent_server() as target, serve(config=replace(CONFIG, max_checks=2)) as app:
            answers = [(await start_check(Browser(app), target)).status_code for _ in range(3)]
            assert answers == [303, 303, 429]

    run(main())


def test_a_run_is_visible_to_its_session_only(run: Run) -> None:
    async def main() -> None:
        async with silent_server() as target, serve(config=CONFIG) as app:
            owner, stranger = Browser(app), Browser(app)
            path = (await start_check(owner, target)).headers["location"]
            assert (await owner.get(path)).status_code == 200
            assert target not in (await stranger.get("/check")).text
            for page in ("", "/events", "/report.html", "/junit.xml"):
                assert (await stranger.get(path + page)).status_code == 404
            assert (await stranger.post(f"{path}/stop")).status_code == 404
            assert (await owner.post(f"{path}/stop", {"csrf": stranger.csrf})).status_code == 403

    run(main())


@pytest.mark.extended
def test_old_runs_are_forgotten(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "MAX_KEPT_RUNS", 1)

    async def main() -> None:
        async with serve(config=CONFIG) as app:
            browser, target = Browser(app), f"127.0.0.1:{closed_port()}"
            paths = []
            for _ in range(2):
                paths.append((await start_check(browser, target)).headers["location"])
                await page_with(browser, paths[-1], "Nothing could be tested.")
                await app.state.checks.wait_idle()
            assert (await browser.get(paths[0])).status_code == 404
            assert (await browser.get(paths[1])).status_code == 200

    run(main())


def test_a_run_that_takes_too_long_is_stopped(run: Run) -> None:
    async def main() -> None:
        async with silent_server() as target, serve(config=replace(CONFIG, max_check_seconds=0.01)) as app:
            browser = Browser(app)
            path = (await start_check(browser, target)).headers["location"]
            await page_with(browser, path, "The run took too long and was stopped.")

    run(main())


def test_the_tester_ends_with_the_server(run: Run) -> None:
    async def main() -> None:
        async with silent_server() as target:
            async with serve(config=CONFIG) as app:
                browser = Browser(app)
                path = (await start_check(browser, target)).headers["location"]
                await page_with(browser, path, "tests</label>")
                [check] = app.state.checks.of_session(browser.session)
            assert check.process.returncode is not None

    run(main())


@pytest.mark.parametrize(("scheme", "note"), [("http", ""), ("https", " (TLS)")])
def test_a_holdem_server_is_tested_at_its_url(scheme: str, note: str, run: Run) -> None:
    async def main() -> None:
        async with silent_server() as target, serve(config=CONFIG) as app:
            browser = Browser(app)
            response = await start_check(browser, f"{scheme}://{target}/", "holdem")
            assert response.status_code == 303
            [check] = app.state.checks.of_session(browser.session)
            assert str(check.target) == f"{target}{note}"

    run(main())


def remote_browser(app: Starlette, address: str) -> Browser:
    """A browser at an address."""
    browser = Browser(app)
    browser.client = httpx.AsyncClient(
        transport=httpx.ASGITransport(app=app, client=(address, 50_000)), base_url="http://127.0.0.1:8000"
    )
    return browser


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("192.0.2.1:1212", "The address 192.0.2.1:1212 cannot be checked"),
        ("192.0.2.1", "The address 192.0.2.1:1212 cannot be checked"),
        ("0.0.0.0:1212", "The address 0.0.0.0:1212 cannot be checked"),
        ("[::ffff:192.0.2.1]:1212", "The address 192.0.2.1:1212 cannot be checked"),
        ("127.0.0.1:0", "This is not an address"),
        ("127.0.0.1:port", "This is not an address"),
        ("http://127.0.0.1:1212", "This is not an address"),
        (f"{'x' * 70}:1212", "There is no host of the name"),
        ("a\0b:1212", "There is no host of the name"),
    ],
)
def test_other_targets_are_refused(run: Run, target: str, reason: str) -> None:
    async def main() -> None:
        async with serve(config=CONFIG) as app:
            browser = Browser(app)
            response = await start_check(browser, target)
            assert response.status_code == 400
            assert reason in response.text
            assert not app.state.checks.of_session(browser.session)

    run(main())


def test_loopback_is_refused_to_other_computers(run: Run) -> None:
    async def main() -> None:
        async with silent_server() as target, serve(config=CONFIG) as app:
            browser = remote_browser(app, "192.0.2.7")
            assert (await start_check(browser, target)).status_code == 400

    run(main())


@pytest.mark.parametrize(
    ("client", "target", "allowed"),
    [
        ("127.0.0.1", "127.0.0.1:22", True),
        ("127.0.0.1", "127.0.0.2:22", True),
        ("127.0.0.1", "[::1]:22", True),
        ("192.0.2.7", "192.0.2.7:22", True),
        ("192.0.2.7", "192.0.2.8:22", False),
        ("192.0.2.7", "127.0.0.1:22", False),
        ("192.0.2.7", "127.0.0.1:1212", True),
        ("192.0.2.7", "192.0.2.1:1212", True),
        ("192.0.2.7", "192.0.2.1:22", False),
        ("192.0.2.7", "198.51.100.9:22", True),
        ("192.0.2.7", "169.254.169.254:80", False),
        ("", "127.0.0.1:22", False),
    ],
)
def test_a_visitor_may_check_their_own_computer_the_rooms_and_what_the_server_allows(
    client: str, target: str, allowed: bool
) -> None:
    rules = TargetRules([ip_network("198.51.100.0/24")], {1212})
    host, _, port = target.rpartition(":")
    address = parse_ip_address(host.strip("[]"))
    assert address is not None
    asker = Asker(parse_ip_address(client), parse_ip_address("192.0.2.1"))
    assert asker.may_check(address, int(port), rules) is allowed


def test_checks_are_rate_limited_by_address(run: Run) -> None:
    async def main() -> None:
        async with serve(config=replace(CONFIG, checks_per_minute=2)) as app:
            answers = [(await start_check(Browser(app), "192.0.2.1:1")).status_code for _ in range(3)]
            assert answers == [400, 400, 429]

    run(main())


def test_forms_without_a_room_or_a_token_are_refused(run: Run) -> None:
    async def main() -> None:
        async with serve(config=CONFIG) as app:
            browser = Browser(app)
            assert (await start_check(browser, "127.0.0.1:1", "bridge")).status_code == 400
            response = await browser.post("/check", {"room": "kuhn", "target": "127.0.0.1:1", "csrf": "forged"})
            assert response.status_code == 403

    run(main())


def test_no_check_starts_while_the_server_shuts_down(run: Run) -> None:
    async def main() -> None:
        async with serve(config=CONFIG) as app:
            app.state.checks.halt()
            response = await start_check(Browser(app), "127.0.0.1:1")
            assert "The server is shutting down." in response.text

    run(main())
