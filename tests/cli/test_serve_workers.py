"""`croupier serve --workers N`: several processes share the ports, the files and the store of one server."""

import json
import os
import re
import signal
import socket
import sqlite3
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_serve_health import health
from tests.cli.test_serve_holdem import HoldemServer
from tests.processes import PATIENCE, Serving, croupier, hear, is_running, rest

GAME = b"STRT P_1ACTN CHK"


class Workers:
    """The workers of a server, from its log."""

    def __init__(self, serving: Serving) -> None:
        self.serving = serving

    @property
    def started(self) -> list[tuple[int, int]]:
        """The number and the process id of each worker that was started."""
        return [(each["number"], each["pid"]) for each in self.serving.entries if each["event"] == "worker started"]

    def pid(self, number: int) -> int:
        """The process id of the last worker with this number."""
        return dict(self.started)[number]

    def wait_for_start(self, count: int) -> None:
        """Wait until this many workers have been started."""
        end = time.monotonic() + PATIENCE
        while len(self.started) < count:
            assert time.monotonic() < end, self.serving.log
            assert self.serving.running, self.serving.log
            time.sleep(0.01)


@contextmanager
def serving_workers(*arguments: object, **options: Any) -> Iterator[tuple[Serving, Workers]]:
    with Serving(*arguments, "--workers", 2, **options) as serving:
        yield serving, Workers(serving)


def play(serving: Serving, room: str = "kuhn") -> bytes:
    """Play the beginning of a game on a connection of its own, and return what the house says."""
    with socket.create_connection((serving.host, serving.ports[room]), timeout=PATIENCE) as connection:
        connection.sendall(GAME)
        return hear(connection, 8)


def metrics(serving: Serving) -> Mapping[str, float]:
    with urllib.request.urlopen(f"http://{serving.host}:{serving.ports['metrics']}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[:1] != "#")}


@pytest.mark.extended
def test_connections_files_and_the_store_are_those_of_one_server(tmp_path: Path) -> None:
    store, deals, log = tmp_path / "store.db", tmp_path / "deals.jsonl", tmp_path / "talk.txt"
    deals.write_text('{"deal":"pro')  # a killed server leaves a partial line
    log.write_text("of another run\n")
    flags = ("--store", store, "--journal", "durable", "--deals", deals, "--log", log, "--metrics-port", 0)
    with serving_workers("kuhn", "--port", 0, *flags, "--max-per-address", 80, ready=2) as (serving, workers):
        assert [line.split()[0] for line in serving.lines] == ["kuhn", "metrics"]
        assert [number for number, _ in workers.started] == [1, 2]
        with ExitStack() as stack:
            connections = [stack.enter_context(serving.call()) for _ in range(80)]
            for connection in connections:
                connection.sendall(b"STRT P_1")
            for connection in connections:
                assert hear(connection, 8)[:5] == b"CARD "
            assert rest(serving.call()) == b"DISC"  # the limit counts the connections of both workers
            found = metrics(serving)
            assert found['croupier_connected{room="kuhn"}'] == 80
            assert found['croupier_connections_total{room="kuhn"}'] == 80
            assert found['croupier_refused_total{reason="per_address",room="kuhn"}'] == 1
            assert found['croupier_room_ready{room="kuhn"}'] == 1
            assert found['process_open_fds{worker="1"}'] > 10 < found['process_open_fds{worker="2"}']
            assert health(serving) == (200, {"status": "ok", "rooms": {"kuhn": {"status": "ok"}}})
            for connection in connections:
                connection.sendall(b"ACTN CHKACTN FLDDISC")
                rest(connection)
        assert serving.stop() == 0
        assert [entry for entry in serving.entries if entry["level"] == "error"] == []
    with closing(sqlite3.connect(store)) as opened:
        assert len([game for (fact,) in opened.execute("SELECT fact FROM journal") for game in games(fact)]) == 80
    entries = [json.loads(line) for line in deals.read_text().splitlines()]
    promised = [entry["table"] for entry in entries if entry["deal"] == "promise"]
    assert len({*promised}) == 80  # no number is that of two connections
    assert len({table > 1_000_000_000 for table in promised}) == 2  # both processes have served some
    done = croupier("verify", deals)
    assert done.returncode == 0, done.stdout
    lines = log.read_text().splitlines()
    assert lines.count("C: STRT P_1") == 80
    assert all(re.fullmatch(r"C: [ -~]*|S: [ -~]*", line) for line in lines)


def games(fact: bytes) -> list[Any]:
    found: list[Any] = json.loads(fact).get("games", [])
    return found


@pytest.mark.extended
def test_graceful_restart_refuses_no_connection() -> None:
    with serving_workers("kuhn", "--port", 0, "--journal", "off") as (serving, workers):
        played: list[bytes] = []
        is_done = threading.Event()

        def call() -> None:
            while not is_done.is_set() or len(played) < 600:
                played.append(play(serving))

        callers = [threading.Thread(target=call) for _ in range(2)]
        for caller in callers:
            caller.start()
        serving.signal(signal.SIGHUP)
        workers.wait_for_start(4)
        is_done.set()
        for caller in callers:
            caller.join()
        assert {answer[:5] for answer in played} == {b"CARD "}
        assert [number for number, _ in workers.started] == [1, 2, 1, 2]
        old, new = workers.started[:2], workers.started[2:]
        assert not {*old} & {*new}
        assert serving.stop() == 0
        assert not any(is_running(pid) for _, pid in workers.started)


@pytest.mark.extended
def test_tables_of_holdem_outlive_each_worker(tmp_path: Path) -> None:
    rooms = "".join(f"[serve.{room}]\nport = 0\n" for room in ("kuhn", "sevenhalf", "blackjack", "holdem", "oldmaid"))
    config = tmp_path / "config.toml"
    config.write_text(rooms)
    flags = ("--no-web", "--store", tmp_path / "store.db", "--houses", 2, "--metrics-port", 0)
    with serving_workers("--config", config, *flags, ready=6) as (serving, workers):
        holdem = HoldemServer(serving)

        def players() -> list[str]:
            """The players of the first game, as a new connection sees them when the game has an owner."""
            end = time.monotonic() + PATIENCE
            while True:
                with closing(HoldemServer(serving)) as seeing:
                    response = seeing.ask("", "GET", f"/games/{holdem.game}")
                if response.status == 200:
                    return [player["handle"] for player in response.json["table"]]
                assert response.status == 503
                assert time.monotonic() < end
                time.sleep(0.05)

        assert holdem.seat("ann", "bob") == [201, 201]
        end = time.monotonic() + PATIENCE
        while not holdem.see()["turn"]["playerID"]:  # a worker whose house is moving may show it a moment later
            assert time.monotonic() < end
            time.sleep(0.01)
        assert holdem.act(1, 10).status == 201
        holdem.close()
        for number, count in ((2, 3), (1, 4)):
            os.kill(workers.pid(number), signal.SIGKILL)
            assert play(serving)[:5] == b"CARD "
            workers.wait_for_start(count)
            assert players() == ["ann", "bob"]
        serving.signal(signal.SIGHUP)
        workers.wait_for_start(6)
        assert players() == ["ann", "bob"]
        end = time.monotonic() + PATIENCE
        while (found := health(serving))[0] != 200:  # while the table of Old Maid moves, it runs at no node
            assert time.monotonic() < end, found
            time.sleep(0.05)
        statuses = [entry["status"] for entry in serving.entries if entry["event"] == "worker died"]
        assert statuses == [-signal.SIGKILL, -signal.SIGKILL]


@pytest.mark.extended
def test_workers_end_with_their_supervisor() -> None:
    with serving_workers("kuhn", "--port", 0, "--drain-seconds", 0.1) as (serving, workers):
        connection = serving.call()
        connection.sendall(b"STRT P_1")
        assert hear(connection, 5) == b"CARD "
        serving.signal(signal.SIGKILL)
        serving.end()
        assert rest(connection)[-4:] == b"DISC"
        end = time.monotonic() + PATIENCE
        for _, pid in workers.started:
            while is_running(pid):
                assert time.monotonic() < end, "a worker goes on without its supervisor"
                time.sleep(0.01)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["kuhn", "--workers", 0], "found --workers 0; allowed: 1 or more"),
        (["holdem", "--workers", 2, "--journal", "off"], "found --workers 2 for rooms that only one process can serve"),
        (["kuhn", "--workers", 2, "--tls-cert", "none"], "found only one of --tls-cert and --tls-key"),
    ],
)
def test_impossible_settings_are_one_error(arguments: list[object], error: str) -> None:
    done = croupier("serve", *arguments, "--port", 0)
    assert done.returncode == 2
    assert done.stderr.count(error) == 1
    assert "Traceback" not in done.stderr


def test_port_in_use_is_one_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = croupier("serve", "kuhn", "--workers", 2, "--port", taken.getsockname()[1])
    assert done.returncode == 1
    assert done.stderr.count("address already in use") == 1
