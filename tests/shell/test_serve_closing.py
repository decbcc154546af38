"""Told to stop, a room says goodbye: to the idle at once, to players when their game is over or the time is."""

import re
import signal

import pytest

from tests.processes import PATIENCE, Serving, hear, rest

SIGNALS = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])


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


def test_a_running_game_may_end_and_then_hears_goodbye() -> None:
    flags = ("--drain-seconds", PATIENCE * 3, "--mind", "script:CAL")
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
    with Serving("kuhn", "--port", 0, "--drain-seconds", PATIENCE * 3, "--mind", "script:CAL") as serving:
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
        assert [entry["net"] for entry in serving.entries if entry["event"] == "settles"] == [0]


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
