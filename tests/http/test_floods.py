"""What thousands of requests cost whose answers nobody reads: memory stays bounded, and others are answered."""

import re
import socket
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.processes import PATIENCE, Serving

CONNECTIONS = 200
AHEAD_BYTES = 93_000
MOST_MIB = 64


def memory(serving: Serving) -> int:
    """The resident memory of a server, in MiB."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{serving.pid}/status").read_text())
    assert found
    return int(found[1]) // 1024


def flood(serving: Serving, data: bytes, room: str) -> list[socket.socket]:
    """Connections that send this as far as they can, and read nothing."""
    found = []
    for _ in range(CONNECTIONS):
        caller = socket.socket()
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * AHEAD_BYTES)
        caller.connect((serving.host, serving.ports[room]))
        caller.setblocking(False)
        with suppress(BlockingIOError, ConnectionError):
            caller.send(data)
        found.append(caller)
    return found


def answered(serving: Serving, path: str, room: str) -> float:
    """How many seconds an answer takes, with all that the server does before."""
    start = time.monotonic()
    with socket.create_connection((serving.host, serving.ports[room]), PATIENCE) as caller:
        caller.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert b" 200 OK" in caller.recv(1000)
    return time.monotonic() - start


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", ["/games/", "/openapi.json", "/nothing", "/games/{game}?wait=60", "/games/{game}/events"]
)
def test_requests_whose_answers_nobody_reads_cost_no_memory(path: str) -> None:
    with Serving("holdem", "--port", 0, "--journal", "off") as serving, ExitStack() as callers:
        with serving.call("holdem") as caller:
            caller.sendall(b"GET /games/ HTTP/1.1\r\nHost: x\r\n\r\n")
            game = re.search(rb'"gameID":"([^"]+)"', caller.recv(65_536))
            assert game
        one = f"GET {path.format(game=game[1].decode())} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        before = memory(serving)
        for _ in range(2):
            for each in flood(serving, one * (AHEAD_BYTES // len(one)), "holdem"):
                callers.enter_context(each)
            answered(serving, "/games/", "holdem")
            assert memory(serving) < before + MOST_MIB
            callers.close()
            answered(serving, "/games/", "holdem")
        assert memory(serving) < before + MOST_MIB
        assert serving.stop() == 0
        assert {entry["event"] for entry in serving.entries} <= {"closing", "closed"}


@pytest.mark.slow
def test_half_sent_requests_for_metrics_cost_no_thread() -> None:
    with Serving("kuhn", "--port", 0, "--metrics-port", 0, ready=2) as serving, ExitStack() as callers:
        threads = len([*Path(f"/proc/{serving.pid}/task").iterdir()])
        for _ in range(5):
            for each in flood(serving, b"GET /metrics HTTP/1.1\r\n", "metrics"):
                callers.enter_context(each)
        assert len([*Path(f"/proc/{serving.pid}/task").iterdir()]) <= threads
        callers.close()
        end = time.monotonic() + PATIENCE
        while True:  # until the server has noticed that they are gone
            with suppress(AssertionError, ConnectionError):
                answered(serving, "/metrics", "metrics")
                break
            assert time.monotonic() < end
            time.sleep(0.05)
        answered(serving, "/healthz", "metrics")
