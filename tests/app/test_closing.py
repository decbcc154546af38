"""Shutdown: idle clients receive a goodbye at once, players after their game or after --drain-seconds."""

import os
import pty
import re
import signal
import socket
import sys

import pytest

from tests.processes import COMMAND, PATIENCE, Serving, hear, rest
from tests.sampling import extended

SIGNALS = pytest.mark.parametrize(
    "number", extended([signal.SIGTERM, signal.SIGINT, signal.SIGHUP], 3), ids=lambda number: number.name
)


@SIGNALS
def test_room_without_clients_stops_at_once(number: int) -> None:
    with Serving("kuhn", "--port", 0, "--drain-seconds", PATIENCE * 3) as serving:
        serving.signal(number)
        assert serving.end() == 0
        assert [entry["event"] for entry in serving.entries] == ["closing", "closed"]


@SIGNALS
def test_idle_clients_receive_goodbye_and_the_process_exits_with_0(number: int) -> None:
    with Serving("kuhn", "--port", 0, "--drain-seconds", PATIENCE * 3) as serving:
        idle = [serving.call() for _ in range(3)]
        for connection in idle:
            connection.sendall(b"ACTN BET")
            assert hear(connection, 8) == b"FAIL W_A"
        serving.signal(number)
        for connection in idle:
            assert rest(connection) == b"DISC"
            connection.close()
        assert serving.end() == 0


def test_closed_terminal_drains_although_the_log_cannot_be_written() -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        flags = ("kuhn", "--port", "0", "--journal", "off", "--bot", "script:CAL")
        os.execv(sys.executable, [*COMMAND, "serve", *flags])
    ready = b""
    while b"\n" not in ready:
        ready += os.read(terminal, 1024)
    with socket.create_connection(("127.0.0.1", int(ready.split()[-1].rpartition(b":")[2])), PATIENCE) as player:
        player.sendall(b"STRT P_1")
        hear(player, 8)
        os.close(terminal)
        player.sendall(b"ACTN BET")
        assert re.fullmatch(rb"CARD C_[JQK](DISC)?", hear(player, 8))
        assert rest(player) == b"DISC"
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_server_under_nohup_ignores_sighup() -> None:
    with Serving("kuhn", "--port", 0, command=("nohup", *COMMAND, "serve")) as serving:
        serving.signal(signal.SIGHUP)
        assert serving.talk(b"ACTN BET") == b"FAIL W_A"
        assert serving.stop() == 0


def test_running_game_finishes_before_the_goodbye() -> None:
    flags = ("--drain-seconds", PATIENCE * 3, "--bot", "script:CAL")
    with Serving("kuhn", "--port", 0, *flags) as serving:
        idle, player = serving.call(), serving.call()
        idle.sendall(b"ACTN BET")
        assert hear(idle, 8) == b"FAIL W_A"
        player.sendall(b"STRT P_1")
        assert re.fullmatch(rb"CARD C_[JQK]", hear(player, 8))
        serving.signal()
        assert rest(idle) == b"DISC"
        idle.close()
        player.sendall(b"ACTN BET")
        assert re.fullmatch(rb"CARD C_[JQK]DISC", rest(player))
        player.close()
        assert serving.end() == 0


def test_closing_room_starts_no_new_games() -> None:
    with Serving("kuhn", "--port", 0, "--drain-seconds", PATIENCE * 3, "--bot", "script:CAL") as serving:
        player, idle = serving.call(), serving.call()
        player.sendall(b"STRT P_1")
        hear(player, 8)
        serving.signal()
        assert rest(idle) == b"DISC"
        player.sendall(b"ACTN BETSTRT P_1")
        assert re.fullmatch(rb"CARD C_[JQK]DISC", rest(player))
        with pytest.raises(ConnectionRefusedError):
            serving.call()


def test_game_that_exceeds_drain_seconds_is_void(tmp_path: object) -> None:
    with Serving("kuhn", "--port", 0, "--drain-seconds", 0.2, "--log-level", "debug") as serving:
        player = serving.call()
        player.sendall(b"STRT P_1")
        hear(player, 8)
        serving.signal()
        assert rest(player) == b"DISC"
        player.close()
        assert serving.end() == 0
        assert [entry["net"] for entry in serving.entries if entry["event"] == "settled"] == [0]


@SIGNALS
def test_second_signal_ends_running_games_at_once(number: int) -> None:
    with Serving("kuhn", "--port", 0, "--drain-seconds", PATIENCE * 3) as serving:
        player, idle = serving.call(), serving.call()
        player.sendall(b"STRT P_1")
        hear(player, 8)
        serving.signal(number)
        assert rest(idle) == b"DISC"
        idle.close()
        assert serving.running
        serving.signal(number)
        assert rest(player) == b"DISC"
        player.close()
        assert serving.end() == 0


def test_client_that_never_closes_does_not_block_the_exit() -> None:
    with Serving("kuhn", "--port", 0, "--drain-seconds", 0.1) as serving:
        client = serving.call()
        client.sendall(b"ACTN BET")
        assert hear(client, 8) == b"FAIL W_A"
        serving.signal()
        assert serving.end() == 0  # although the client keeps its connection open
        assert rest(client) == b"DISC"
