"""Floods of requests whose responses are not read: memory stays bounded, and other clients are answered."""

import re
import socket
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.processes import PATIENCE, Serving

CONNECTIONS = 200
PIPELINED_BYTES = 93_000
MAX_GROWTH_MIB = 64


def memory_mib(serving: Serving) -> int:
    """The resident memory of a server, in MiB."""
    sockets = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{serving.pid}/status").read_text())
    assert sockets
    return int(sockets[1]) // 1024


def flood(serving: Serving, data: bytes, room: str) -> list[socket.socket]:
    """Open connections that send as much of this as the kernel accepts, and read nothing."""
    sockets = []
    for _ in range(CONNECTIONS):
        caller = socket.socket()
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * PIPELINED_BYTES)
        caller.connect((serving.host, serving.ports[room]))
        caller.setblocking(False)
        with suppress(BlockingIOError, ConnectionError):
            caller.send(data)
        sockets.append(caller)
    return sockets


def response_seconds(serving: Serving, path: str, room: str) -> float:
    """The seconds until a request is answered, after all earlier work of the server."""
    start = time.monotonic()
    with socket.create_connection((serving.host, serving.ports[room]), PATIENCE) as caller:
        caller.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert b" 200 OK" in caller.recv(1000)
    return time.monotonic() - start


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", ["/games/", "/openapi.json", "/nothing", "/games/{game}?wait=60", "/games/{game}/events"]
)
def test_requests_whose_responses_are_not_read_cost_no_memory(path: str) -> None:
    with Serving("holdem", "--port", 0, "--journal", "off") as serving, ExitStack() as callers:
        with serving.call("holdem") as caller:
            caller.sendall(b"GET /games/ HTTP/1.1\r\nHost: x\r\n\r\n")
            game = re.search(rb'"gameID":"([^"]+)"', caller.recv(65_536))
            assert game
        one = f"GET {path.format(game=game[1].decode())} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        before = memory_mib(serving)
        for _ in range(2):
            for client in flood(serving, one * (PIPELINED_BYTES // len(one)), "holdem"):
                callers.enter_context(client)
            response_seconds(serving, "/games/", "holdem")
            assert memory_mib(serving) < before + MAX_GROWTH_MIB
            callers.close()
            response_seconds(serving, "/games/", "holdem")
        assert memory_mib(serving) < before + MAX_GROWTH_MIB
        assert serving.stop() == 0
        assert {entry["event"] for entry in serving.entries} <= {"closing", "closed"}


@pytest.mark.slow
def test_half_sent_requests_for_metrics_cost_no_thread() -> None:
    with Serving("kuhn", "--port", 0, "--metrics-port", 0, ready=2) as serving, ExitStack() as callers:
        threads = len([*Path(f"/proc/{serving.pid}/task").iterdir()])
        for _ in range(5):
            for client in flood(serving, b"GET /metrics HTTP/1.1\r\n", "metrics"):
                callers.enter_context(client)
        assert len([*Path(f"/proc/{serving.pid}/task").iterdir()]) <= threads
        callers.close()
        end = time.monotonic() + PATIENCE
        while True:  # until the server has noticed the disconnects
            with suppress(AssertionError, ConnectionError):
                response_seconds(serving, "/metrics", "metrics")
                break
            assert time.monotonic() < end
            time.sleep(0.05)
        response_seconds(serving, "/healthz", "metrics")
