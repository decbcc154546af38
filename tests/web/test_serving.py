"""`croupier serve` opens the web app beside the rooms, names its URL first, and closes it with them."""

import asyncio
import re
import socket
import ssl
import threading
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import httpx
import pytest
import trustme

from croupier.app.config import RoomConfig, ServerConfig
from croupier.app.serve import serve
from croupier.app.server_process import ServerProcess
from croupier.rooms import ROOMS
from croupier.rooms.holdem import ROOM as HOLDEM
from croupier.web.http_server import AppServer
from tests.net.raw_client import Run
from tests.processes import FREE_PORTS, PATIENCE, Serving, croupier
from tests.web.app_fixture import Browser
from tests.web.test_login import register


def sit_down(client: httpx.Client, room: str = "kuhn") -> str:
    """Take a seat in a room and return the path of its table."""
    csrf = re.findall(r'name="csrf" value="([^"]+)"', client.get("/").text)[0]
    response = client.post("/play", data={"csrf": csrf, "room": room})
    assert response.status_code == 303
    return response.headers["location"]


def test_people_and_programs_play_in_the_same_room() -> None:
    with Serving("kuhn", "--port", 0, "--web-port", 0, "--journal", "off", ready=2) as server:
        assert server.lines[0] == f"web at http://127.0.0.1:{server.ports['web']}"
        with httpx.Client(base_url=f"http://127.0.0.1:{server.ports['web']}", timeout=PATIENCE) as client:
            table = sit_down(client)
            assert "Choose your seat" in client.get(table).text
            assert "2 playing" not in client.get("/").text
            with server.call("kuhn") as program:
                program.sendall(b"STRT P_1")
                assert program.recv(8).startswith(b"CARD C_")
                assert "2 playing" in client.get("/").text
        assert server.stop() == 0


def test_browsers_need_the_same_certificates_as_programs(tmp_path: Path) -> None:
    authority = trustme.CA()
    server_certificate, client_certificate = authority.issue_cert("127.0.0.1"), authority.issue_cert("ann.example")
    server_certificate.private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    tls = ("--tls-cert", tmp_path / "server.pem", "--tls-key", tmp_path / "server.pem")
    known, unknown = ssl.create_default_context(), ssl.create_default_context()
    for context in (known, unknown):
        authority.configure_trust(context)
    client_certificate.configure_cert(known)
    flags = ("--port", 0, "--web-port", 0, *tls, "--tls-client-ca", tmp_path / "ca.pem")
    with Serving("kuhn", *flags, ready=2) as server:
        url = f"https://127.0.0.1:{server.ports['web']}/"
        assert server.lines[0] == f"web at {url[:-1]}"
        response = httpx.get(url, verify=known, timeout=PATIENCE)
        assert (response.status_code, response.headers["cross-origin-opener-policy"]) == (200, "same-origin")
        with pytest.raises(httpx.TransportError):
            httpx.get(url, verify=unknown, timeout=PATIENCE)


def test_a_stream_ends_when_the_server_is_stopped() -> None:
    with Serving("kuhn", "--port", 0, "--web-port", 0, ready=2) as server:
        with httpx.Client(base_url=f"http://127.0.0.1:{server.ports['web']}", timeout=PATIENCE) as client:
            table = sit_down(client)
            with client.stream("GET", f"{table}/events") as stream:
                lines = stream.iter_lines()
                assert next(lines) == "retry: 1000"
                stopping = threading.Thread(target=server.stop)
                stopping.start()
                events = [line for line in lines if line.startswith("event:")]
                stopping.join(PATIENCE)
        assert events[-1] == "event: end"


def test_a_person_keeps_the_seat_at_a_holdem_table_over_a_restart(tmp_path: Path) -> None:
    flags = ("holdem", "--port", 0, "--web-port", 0, "--store", tmp_path / "store.db")
    cookies = httpx.Cookies()
    for start in range(2):
        with Serving(*flags, ready=2) as server:
            url = f"http://127.0.0.1:{server.ports['web']}"
            with httpx.Client(base_url=url, timeout=PATIENCE, cookies=cookies) as client:
                if not start:
                    table = sit_down(client, "holdem")
                    cookies = client.cookies
                page = client.get(table)
                while "Waiting for the server." in page.text:
                    page = client.get(table)
                # Bots join a person who is alone for a few seconds, so the table may not wait for a player any more.
                assert (page.status_code, 'aria-label="Your seat"' in page.text) == (200, True)
                assert "You have no seat at this table." not in page.text
                address_of_programs = f"http://127.0.0.1:{server.ports['holdem']}/"
                front_page = client.get(address_of_programs, headers={"accept": "text/html"})
                assert f'<a href="{url}/">' in front_page.text
            assert server.stop() == 0


def test_people_can_register_until_the_web_app_is_closed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rooms are closed before, so that people see the ends of their games."""
    statuses: list[int] = []
    requests: asyncio.Queue[str] = asyncio.Queue()
    close = AppServer.close

    class Process(ServerProcess):
        def stop_requests(self) -> AbstractContextManager[asyncio.Queue[str]]:
            return nullcontext(requests)

    async def register_and_close(server: AppServer) -> None:
        statuses.append((await register(Browser(server._app))).status_code)
        await close(server)

    monkeypatch.setattr(AppServer, "close", register_and_close)
    for name in ("configure", "raise_file_limit"):  # they change this process
        monkeypatch.setattr(f"croupier.app.serve.{name}", lambda *_: None)

    async def main() -> None:
        requests.put_nowait("stop")
        config = ServerConfig(journal="off", web_port=0)
        await serve([RoomConfig(HOLDEM, 0, HOLDEM.settings())], config, lambda _: None, process=Process())

    run(main())
    assert statuses == [303]


@pytest.mark.parametrize("flags", [("--no-web",), ("--port", 0)])
def test_the_web_app_can_be_left_out(flags: tuple[object, ...]) -> None:
    if flags == ("--no-web",):
        with Serving(*flags, variables=FREE_PORTS, ready=len(ROOMS)) as server:
            assert "web" not in server.ports
    else:
        with Serving("kuhn", *flags) as server:
            assert {*server.ports} == {"kuhn"}


def test_a_web_port_in_use_is_an_error_before_any_room_opens() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        done = croupier("serve", "kuhn", "--port", 0, "--web-port", port)
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}: address already in use" in done.stderr
    assert "--no-web leaves it out" in done.stderr
    assert done.stdout == ""


def test_an_impossible_web_port_is_an_error() -> None:
    done = croupier("serve", "kuhn", "--port", 0, "--web-port", 70000)
    assert (done.returncode, "found the port 70000" in done.stderr) == (1, True)
