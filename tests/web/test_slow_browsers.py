"""Browsers that send slowly, or too much, do not keep others out, and are cut off."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import httpx
import pytest

from croupier.net.listening_socket import bind_socket, bound_address
from croupier.rooms.kuhn import ROOM as KUHN
from croupier.web import security
from croupier.web.app import create_app
from croupier.web.browser_connection import BrowserConnection
from croupier.web.config import WebConfig
from croupier.web.server import WebServer
from tests.net.raw_client import TIMEOUT_SECONDS, Run
from tests.web.app_fixture import KEYS, house

SLOW_OPENERS = 200
BEGUN_HEAD = b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: "


@asynccontextmanager
async def web_server() -> AsyncIterator[tuple[str, int]]:
    """A server of the web app on a real socket; its address."""
    entry = house(KUHN)
    bound = await bind_socket("127.0.0.1", 0)
    server = WebServer(create_app([entry], WebConfig(), KEYS), bound)
    try:
        yield bound_address(bound)
    finally:
        await server.close()
        await entry.house.endpoint.close()


class RawBrowser:
    """A connection that sends what the test says."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def open(cls, address: tuple[str, int], data: bytes = b"") -> "RawBrowser":
        browser = cls(*await asyncio.open_connection(*address))
        browser.writer.write(data)
        return browser

    async def response(self) -> bytes:
        """The head of the next response; empty at the end of the connection."""
        head = b""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            head = await self.reader.readuntil(b"\r\n\r\n")
        return head

    async def rest(self) -> bytes:
        """All bytes until the server closes."""
        with suppress(ConnectionError):
            return await self.reader.read()
        return b""

    async def trickle(self, data: bytes, seconds: float) -> None:
        """Send these bytes again and again until the server closes."""
        with suppress(ConnectionError):
            while not (self.reader.at_eof() or self.writer.is_closing()):
                self.writer.write(data)
                await self.writer.drain()
                await asyncio.sleep(seconds)

    async def close(self) -> None:
        self.writer.close()
        with suppress(OSError):
            await self.writer.wait_closed()


def test_slow_openers_keep_nobody_out_and_are_cut_off(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BrowserConnection, "HEAD_SECONDS", 1.5)

    async def main() -> None:
        async with web_server() as address:
            slow = [await RawBrowser.open(address, BEGUN_HEAD) for _ in range(SLOW_OPENERS)]
            trickling = [asyncio.ensure_future(browser.trickle(b"x", 0.05)) for browser in slow]
            url = f"http://127.0.0.1:{address[1]}"
            async with httpx.AsyncClient(base_url=url, timeout=TIMEOUT_SECONDS) as visitor:
                for _ in range(10):
                    assert (await visitor.get("/")).status_code == 200
            assert [await browser.rest() for browser in slow] == [b""] * SLOW_OPENERS
            await asyncio.gather(*trickling)
            for browser in slow:
                await browser.close()

    run(main())


@pytest.mark.parametrize("begun", [b"", b"GET / HT", BEGUN_HEAD])
def test_a_connection_without_a_request_is_closed(begun: bytes, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BrowserConnection, "HEAD_SECONDS", 0.05)

    async def main() -> None:
        async with web_server() as address:
            browser = await RawBrowser.open(address, begun)
            assert await browser.rest() == b""
            await browser.close()

    run(main())


def test_a_second_request_has_as_long_as_the_first(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BrowserConnection, "HEAD_SECONDS", 1.0)

    async def main() -> None:
        async with web_server() as address:
            request = b"HEAD /nothing HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
            browser = await RawBrowser.open(address, request)
            assert (await browser.response()).startswith(b"HTTP/1.1 404")
            await asyncio.sleep(1.2)  # between two requests, only the keep-alive limit holds
            browser.writer.write(request)
            assert (await browser.response()).startswith(b"HTTP/1.1 404")
            browser.writer.write(BEGUN_HEAD)
            assert await browser.rest() == b""
            await browser.close()

    run(main())


def test_a_stream_is_not_limited_in_time(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BrowserConnection, "HEAD_SECONDS", 1.0)

    async def main() -> None:
        async with web_server() as address:
            url = f"http://127.0.0.1:{address[1]}"
            async with httpx.AsyncClient(base_url=url, timeout=TIMEOUT_SECONDS) as visitor:
                page = (await visitor.get("/")).text
                csrf = page.partition('name="csrf" value="')[2].partition('"')[0]
                table = (await visitor.post("/play", data={"csrf": csrf, "room": "kuhn"})).headers["location"]
                async with visitor.stream("GET", f"{table}/events") as stream:
                    lines = stream.aiter_lines()
                    assert await anext(lines) == "retry: 1000"
                    await asyncio.sleep(1.2)
                    assert (await visitor.post(f"{table}/leave", data={"csrf": csrf})).status_code == 303
                    assert [line async for line in lines if line == "event: end"] == ["event: end"]

    run(main())


def test_a_head_without_an_end_is_cut_off_at_its_maximum_length(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    received = 0
    data_received = BrowserConnection.data_received

    def counted(connection: BrowserConnection, data: bytes) -> None:
        nonlocal received
        received += len(data)
        data_received(connection, data)

    monkeypatch.setattr(BrowserConnection, "data_received", counted)

    async def main() -> None:
        async with web_server() as address:
            browser = await RawBrowser.open(address, BEGUN_HEAD)
            await browser.trickle(b"x" * 1000, 0.0)
            assert await browser.rest() == b""
            await browser.close()

    run(main())
    assert BrowserConnection.MAX_BYTES < received < BrowserConnection.MAX_BYTES + (1 << 19)


def test_a_form_that_does_not_arrive_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "BODY_SECONDS", 0.05)

    async def main() -> None:
        async with web_server() as address:
            form = b"content-type: application/x-www-form-urlencoded\r\ncontent-length: 100\r\n\r\ncsrf="
            browser = await RawBrowser.open(address, b"POST /play HTTP/1.1\r\nhost: 127.0.0.1\r\n" + form)
            assert (await browser.response()).startswith(b"HTTP/1.1 408")
            assert b"The form took too long to arrive." in await browser.rest()
            await browser.close()

    run(main())
