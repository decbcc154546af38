"""Health checks and metrics of a server, and its behaviour while the disk is full."""

import json
import resource
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_serve_holdem import running_holdem
from tests.cli.test_serve_oldmaid import seated, serving, talk
from tests.processes import PATIENCE, Serving, croupier


def health(serving: Serving) -> tuple[int, Any]:
    """The status and the body of /readyz."""
    try:
        with urllib.request.urlopen(f"http://{serving.host}:{serving.ports['metrics']}/readyz") as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_readyz_reports_the_status_of_all_rooms() -> None:
    with Serving("kuhn", "--port", 0, "--metrics-port", 0, ready=2) as serving:
        assert health(serving) == (200, {"status": "ok", "rooms": {"kuhn": {"status": "ok"}}})


def test_acts_are_refused_while_the_disk_is_full(tmp_path: Path) -> None:
    """holdem-3.17; tests/recording/test_holdem_journal.py shows that turns are paused."""
    store = tmp_path / "kept.db"
    with running_holdem("--store", store, "--metrics-port", 0, "--turn-seconds", 2 * PATIENCE, ready=2) as server:
        assert server.seat("ann", "bob") == [201, 201]
        limit(server.serving, 4096)
        assert server.act(1, 10).status == 503
        status, report = health(server.serving)
        assert (status, report["status"], report["rooms"]["holdem"]["status"]) == (503, "down", "down")
        assert str(store) in report["rooms"]["holdem"]["reason"]
        limit(server.serving, resource.RLIM_INFINITY)
        await_health(server.serving)
        seen = server.see()
        assert [player["handle"] for player in seen["table"]] == ["ann", "bob"]
        assert server.act(1, 0).status == 201
        events = [entry["event"] for entry in server.serving.entries]
        assert events.count("store unavailable") == 1
        assert events.count("store available again") == 1


def test_old_maid_games_are_void_while_the_disk_is_full(tmp_path: Path) -> None:
    """oldmaid-9.15"""
    store = tmp_path / "kept.db"
    with serving("--players", 2, "--store", store, "--metrics-port", 0, ready=2) as server:
        idle, (ann, bob) = talk(server), seated(server, "ann", "bob")
        limit(server, 4096)
        ann.say(cmd="draw")
        for player in (ann, bob):
            assert player.error().startswith("oldmaid-9.15: ")
            assert player.ends()
        status, report = health(server)
        assert (status, report["rooms"]["oldmaid"]["status"]) == (503, "down")
        idle.say(cmd="join", nick="cyd")
        assert idle.error().startswith("oldmaid-9.15: ")
        limit(server, resource.RLIM_INFINITY)
        await_health(server)
        idle.say(cmd="join", nick="cyd")
        (dan,) = [talk(server)]
        dan.say(cmd="join", nick="dan")
        assert idle.hear() == dan.hear()
        assert server.stop() == 0
    lines = croupier("hands", "list", "oldmaid", "--store", store).stdout.splitlines()
    assert [line.split()[2:] for line in lines] == [["oldmaid/table/2", "void"], ["oldmaid/table/1", "void"]]
    done = croupier("hands", "export", tmp_path / "out", "--room", "oldmaid", "--store", store)
    assert done.returncode == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["table-1.jsonl", "table-2.jsonl"]


def await_health(server: Serving) -> None:
    """Wait until /readyz reports 200."""
    end = time.monotonic() + PATIENCE
    while health(server)[0] != 200:
        assert time.monotonic() < end
        time.sleep(0.05)


def limit(server: Serving, size: int) -> None:
    """Limit the file size of the server process to `size` bytes; 4096 does not suffice for a page and its header."""
    hard = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (size if size >= 0 else hard, hard))


@pytest.mark.parametrize(
    ("flags", "host"), [((), "127.0.0.1"), (("--metrics-host", "::1"), "::1")], ids=["default", "named"]
)
def test_metrics_are_served_on_this_machine_only_unless_another_address_is_named(
    flags: Sequence[str], host: str
) -> None:
    other = "::1" if host == "127.0.0.1" else "127.0.0.1"
    with Serving("kuhn", "--port", 0, "--host", other, "--metrics-port", 0, *flags, ready=2) as serving:
        port = serving.ports["metrics"]
        with socket.create_connection((host, port)) as connection:
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(12) == b"HTTP/1.1 200"
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((other, port))
