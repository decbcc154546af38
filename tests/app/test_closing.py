"""Told to stop, a room says goodbye: to the idle at once, to players when their game is over or the time is."""

import os
import pty
import re
import signal
import socket
import sys

import pytest

from tests.processes import COMMAND, PATIENCE, Serving, hear, rest

SIGNALS = pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name
)


@SIGNALS
def test_a_signal_ends_a_room_without_clients_at_once(number: int) -> None:
    with Serving("kuhn", "--port", 0, "--drain-seconds", PATIENCE * 3) as serving:
        serving.signal(number)
        assert serving.end() == 0
        assert [entry["event"] for entry in serving.entries] == ["closing", "closed"]


@SIGNALS
def test_idle_clients_are_told_goodbye_and_the_process_ends_well(number: int) -> None:
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


def test_a_server_whose_terminal_is_closed_drains_though_its_log_cannot_be_written() -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        flags = ("kuhn", "--port", "0", "--journal", "off", "--bot", "script:CAL")
        os.execv(sys.executable, [*COMMAND, "serve", *flags])
    ready = b""
    while b"\n" not in ready:
        ready += os.read(terminal, 1024)
    with socket.create_connection(("127.0.0.1", int(ready.split()[-1].rpartition(b":")[2])), PATIENCE) as playing:
        playing.sendall(b"STRT P_1")
        hear(playing, 8)
        os.close(terminal)
        playing.sendall(b"ACTN BET")
        assert re.fullmatch(rb"CARD C_[JQK](DISC)?", hear(playing, 8))
        assert rest(playing) == b"DISC"
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_a_server_that_was_started_with_nohup_stays_when_its_terminal_is_closed() -> None:
    with Serving("kuhn", "--port", 0, command=("nohup", *COMMAND, "serve")) as serving:
        serving.signal(signal.SIGHUP)
        assert serving.talk(b"ACTN BET") == b"FAIL W_A"
        assert serving.stop() == 0


def test_a_running_game_may_end_and_then_hears_goodbye() -> None:
    flags = ("--drain-seconds", PATIENCE * 3, "--bot", "script:CAL")
    with Serving("kuhn", "--port", 0, *flags) as serving:
        idle, playing = serving.call(), serving.call()
        idle.sendall(b"ACTN BET")
        assert hear(idle, 8) == b"FAIL W_A"
        playing.sendall(b"STRT P_1")
        assert re.fullmatch(rb"CARD C_[JQK]", hear(playing, 8))
        serving.signal()
        assert rest(idle) == b"DISC"
        idle.close()
        playing.sendall(b"ACTN BET")
        assert re.fullmatch(rb"CARD C_[JQK]DISC", rest(playing))
        playing.close()
        assert serving.end() == 0


def test_no_new_game_begins_in_a_room_that_closes() -> None:
    with Serving("kuhn", "--port", 0, "--drain-seconds", PATIENCE * 3, "--bot", "script:CAL") as serving:
        playing, idle = serving.call(), serving.call()
        playing.sendall(b"STRT P_1")
        hear(playing, 8)
        serving.signal()
        assert rest(idle) == b"DISC"
        playing.sendall(b"ACTN BETSTRT P_1")
        assert re.fullmatch(rb"CARD C_[JQK]DISC", rest(playing))
        with pytest.raises(ConnectionRefusedError):
            serving.call()


def test_a_game_that_is_not_over_in_time_is_void(tmp_path: object) -> None:
    with Serving("kuhn", "--port", 0, "--drain-seconds", 0.2, "--log-level", "debug") as serving:
        playing = serving.call()
        playing.sendall(b"STRT P_1")
        hear(playing, 8)
        serving.signal()
        assert rest(playing) == b"DISC"
        playing.close()
        assert serving.end() == 0
        assert [entry["net"] for entry in serving.entries if entry["event"] == "settled"] == [0]


@SIGNALS
def test_a_second_signal_ends_running_games_at_once(number: int) -> None:
    with Serving("kuhn", "--port", 0, "--drain-seconds", PATIENCE * 3) as serving:
        playing, idle = serving.call(), serving.call()
        playing.sendall(b"STRT P_1")
        hear(playing, 8)
        serving.signal(number)
        assert rest(idle) == b"DISC"
        idle.close()
        assert serving.running
        serving.signal(number)
        assert rest(playing) == b"DISC"
        playing.close()
        assert serving.end() == 0


def test_a_client_that_never_closes_does_not_keep_the_process() -> None:
    with Serving("kuhn", "--port", 0, "--drain-seconds", 0.1) as serving:
        stubborn = serving.call()
        stubborn.sendall(b"ACTN BET")
        assert hear(stubborn, 8) == b"FAIL W_A"
        serving.signal()
        assert serving.end() == 0  # though `stubborn` holds its end
        assert rest(stubborn) == b"DISC"
