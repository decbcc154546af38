"""Marked passwords pass through every failing path of a server; its output must not contain them."""

import json
import os
import pty
import re
import select
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import trustme

from croupier.core.basic_auth import encode_user_pass
from tests.http.service_fixture import basic
from tests.processes import PATIENCE, environment

PASSWORD = "Marked7Password"
PARTIAL_BODY = b"half a body"
"""The part that is sent of a longer body."""

WRONG_PASSWORD = "Wrong8Marked"
FAULTY_PROGRAM = """
import sys
from croupier.cli import main
from croupier.rooms.holdem.house import House
from croupier.http.auth import Authenticator
from croupier.http.holdem_app import HoldemApp

apply, handle, authenticate = House.apply, HoldemApp._handle, Authenticator.authenticate

def faulty_apply(self, entry):
    if entry.said is not None and "eve" in str(entry.said):
        raise RuntimeError(f"a fault about {entry}")
    return apply(self, entry)

def faulty_handle(self, request, match):
    if request.fields.get(b"authorization") is not None and request.fields.get(b"x-fault") is not None:
        raise RuntimeError(f"a fault about {request}")
    return handle(self, request, match)

async def faulty_authenticate(self, header, address):
    if header is not None and header.endswith(b"=FAULT"):
        raise RuntimeError(f"a fault about {header}", {"authorization": header})
    return await authenticate(self, header, address)

House.apply, HoldemApp._handle, Authenticator.authenticate = faulty_apply, faulty_handle, faulty_authenticate
sys.argv[0] = "croupier"
main()
"""


class FaultyServer:
    """A server at log level debug, parts of which raise errors."""

    def __init__(self, folder: Path, *flags: object, terminal: bool) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 -- closed with the server
        self._master, slave = pty.openpty() if terminal else (-1, -1)
        self._captured = b""
        command = [sys.executable, "-c", FAULTY_PROGRAM, "serve", "holdem", "--port", "0", "--log-level", "debug"]
        self._process = subprocess.Popen(
            [*command, "--metrics-port", "0", "--log", str(folder / "conversation"), *map(str, flags)],
            stdout=subprocess.PIPE,
            stderr=slave if terminal else self._file,
            stdin=subprocess.DEVNULL,
            env=environment({"XDG_DATA_HOME": str(folder), "TERM": "xterm"}),
        )
        if terminal:
            os.close(slave)
        assert self._process.stdout is not None
        self.ports = []
        while len(self.ports) < 2:
            line = self._process.stdout.readline().decode()
            found = re.search(r":(\d+)(?:/metrics)?(?: \(TLS\))?$", line.strip())
            assert found, line
            self.ports.append(int(found[1]))

    def drain(self) -> None:
        """Read the terminal's output, so that the server does not block."""
        while self._master >= 0 and select.select([self._master], [], [], 0)[0]:
            try:
                data = os.read(self._master, 65_536)
            except OSError:  # the server has ended
                return
            self._captured += data
            if not data:
                return

    def stop(self) -> str:
        """Terminate the server and return all its output."""
        self._process.terminate()
        end = time.monotonic() + PATIENCE
        while self._process.poll() is None and time.monotonic() < end:
            self.drain()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(0.05)
        self.drain()
        assert self._process.stdout is not None
        out = self._process.stdout.read()
        self._process.stdout.close()
        self._file.seek(0)
        found = out + self._file.read() + self._captured
        self._file.close()
        if self._master >= 0:
            os.close(self._master)
        assert self._process.returncode == 0
        return found.decode()

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


@contextmanager
def faulty_server(folder: Path, *flags: object, terminal: bool = False) -> Iterator[FaultyServer]:
    server = FaultyServer(folder, *flags, terminal=terminal)
    try:
        yield server
    finally:
        server.kill()


def request(method: str, path: str, authorization: str | None, body: bytes = b"", *headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: x", f"Content-Length: {len(body) + (body == PARTIAL_BODY)}", *headers]
    if authorization is not None:
        lines.append(f"Authorization: {authorization}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def attempts(game: str, guid: str) -> Iterator[bytes]:
    """Requests that fail in many ways."""
    right, wrong = basic("ann", PASSWORD), basic("ann", WRONG_PASSWORD)
    eve = basic("eve", PASSWORD)
    paths = ["/users/", "/games/", f"/games/{game}", f"/games/{game}/players/", f"/games/{game}/players/{guid}/acts/"]
    for path in (*paths, f"/games/{game}/events", f"/games/{game}/hands/9.phh", f"/games/{PASSWORD}", f"/{PASSWORD}"):
        for header in (
            right,
            wrong,
            eve,
            f"Bearer {PASSWORD}",
            encode_user_pass("ann", PASSWORD).decode(),
            "Basic " + PASSWORD,
        ):
            yield request("POST", path, header, PASSWORD.encode())
            yield request("POST", path, header, json.dumps({"action": PASSWORD, "password": PASSWORD}).encode())
            yield request("PUT", f"{path}?password={PASSWORD}", header)
            if not path.endswith("/events"):
                yield request("GET", f"{path}?wait={PASSWORD}&password={PASSWORD}", header)
                yield request("GET", f"http://ann:{PASSWORD}@host{path}", header)
                yield request("GET", path, header, b"", "X-Fault: 1")
    yield request("GET", paths[1], right + "=FAULT")
    yield request("GET", paths[1], "Basic =FAULT")
    yield f"GET / HTTP/1.1\r\nAuthorization: {right}\r\n\r\n".encode()
    yield f"{PASSWORD} nonsense\r\n\r\n".encode()
    yield f"GET /{PASSWORD} HTTP/9\r\nAuthorization: {right}\r\n\r\n".encode()
    yield request("GET", "/games/", right) * 200
    yield request("GET", f"/games/{game}/events", right) + request("GET", "/games/", right)
    yield request("POST", "/games/", right, PARTIAL_BODY, "Expect: 100-continue")
    yield request("POST", "/games/", right, b"x" * 100_000)


def send_request(server: FaultyServer, data: bytes, context: ssl.SSLContext | None, port: int = 0) -> bytes:
    """Send data, receive a little, and disconnect."""
    with socket.create_connection(("127.0.0.1", server.ports[port]), PATIENCE) as plain:
        if context is None:
            return exchange(plain, data)
        with context.wrap_socket(plain, server_hostname="127.0.0.1") as secure:
            return exchange(secure, data)


def exchange(connection: socket.socket, data: bytes) -> bytes:
    with suppress(OSError):
        connection.sendall(data)
        if not data.endswith(PARTIAL_BODY):
            return connection.recv(65_536)
    return b""


def test_log_of_a_failing_server_contains_no_credentials(tmp_path: Path) -> None:
    search(tmp_path, "JSON", every=9)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["JSON", "console", "TLS"])
def test_output_of_a_failing_server_contains_no_credentials(tmp_path: Path, mode: str) -> None:
    search(tmp_path, mode)


def search(tmp_path: Path, mode: str, every: int = 1) -> None:
    """Make all failing requests, or every n-th, and search the output for their credentials."""
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    for number, chain in enumerate(issued.cert_chain_pems):
        chain.write_to_path(tmp_path / "chain", append=number > 0)
    issued.private_key_pem.write_to_path(tmp_path / "key")
    context = None
    flags: list[Any] = ["--store", tmp_path / "store"] if mode == "console" else ["--journal", "off"]
    if mode == "TLS":
        context = ssl.create_default_context()
        authority.configure_trust(context)
        flags += ["--tls-cert", tmp_path / "chain", "--tls-key", tmp_path / "key"]
    with faulty_server(tmp_path, *flags, terminal=mode == "console") as server:
        for user in ("ann", "eve"):
            response = send_request(server, request("POST", "/users/", basic(user, PASSWORD)), context)
            assert b" 201 " in response
        response = send_request(server, request("GET", "/games/", basic("ann", PASSWORD)), context)
        game = json.loads(response.partition(b"\r\n\r\n")[2])[0]["gameID"]
        for number, data in enumerate(attempts(game, "x")):
            for port in (0, 1) if number % every == 0 else ():
                send_request(server, data, context if port == 0 else None, port)
            server.drain()
        if context is not None:  # a plain request to a TLS server
            send_request(server, request("GET", "/games/", basic("ann", PASSWORD)), None)
        assert b" 200 " in send_request(server, request("GET", "/games/", None), context)
        output = server.stop() + (tmp_path / "conversation").read_text()
    faults = output.count("RuntimeError")
    assert faults, "the injected faults are logged"
    assert "a fault about" in output
    secrets = [PASSWORD, WRONG_PASSWORD, "$argon2"]
    for user, password in (("ann", PASSWORD), ("ann", WRONG_PASSWORD), ("eve", PASSWORD)):
        secrets.append(encode_user_pass(user, password).decode().rstrip("="))
    assert [secret for secret in secrets if secret in output] == []
    assert "locals" not in output
    if mode != "console":
        log = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        assert {entry["event"] for entry in log if entry["level"] in {"warning", "error"}} == {"internal error"}
        assert len([entry for entry in log if entry["event"] == "internal error"]) < 50
