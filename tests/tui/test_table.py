"""A person at a terminal: a real pseudo-terminal, real keys, and what is on the screen."""

import os
import pty
import re
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.processes import COMMAND, PATIENCE, Serving, environment

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Seat:
    """A person's terminal. `screen` is all that has been shown since the last key."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int) -> None:
        self.process = process
        self.screen = ""
        self._terminal = terminal

    def press(self, key: str) -> None:
        self.screen = ""
        os.write(self._terminal, key.encode())

    def sees(self, text: str) -> None:
        while text not in self.screen:
            ready, _, _ = select.select([self._terminal], [], [], PATIENCE)
            assert ready, f"{text!r} is not on the screen:\n{self.screen}"
            try:
                data = os.read(self._terminal, 65536)
            except OSError:  # the other end is closed
                data = b""
            assert data, f"{text!r} was never on the screen:\n{self.screen}"
            self.screen += ANSI.sub("", data.decode(errors="replace"))


@contextmanager
def sitting(port: int) -> Iterator[Seat]:
    outer, inner = pty.openpty()
    try:
        with subprocess.Popen(
            [*COMMAND, "play", "kuhn", f"127.0.0.1:{port}"],
            stdin=inner,
            stdout=inner,
            stderr=inner,
            env=environment({"TERM": "xterm", "COLUMNS": "100", "LINES": "40"}),
            start_new_session=True,
        ) as process:
            os.close(inner)
            try:
                yield Seat(process, outer)
            finally:
                process.kill() if process.poll() is None else None
    finally:
        os.close(outer)


@contextmanager
def seated(*flags: str) -> Iterator[Seat]:
    with Serving("kuhn", "--port", "0", "--log-level", "error", *flags) as server, sitting(server.port) as seat:
        yield seat


@pytest.fixture
def deck(tmp_path: object) -> str:
    path = f"{tmp_path}/deck.txt"
    with open(path, "w") as file:  # noqa: PTH123 -- one line
        file.write("Q\nK\nJ\n")
    return path


def test_a_game_is_played_with_keys_and_seen_to_its_end(deck: str) -> None:
    with seated("--deck", deck, "--mind", "script:CAL") as seat:
        seat.sees("[1] play as P_1  [2] play as P_2  [q] leave")
        seat.press("1")
        seat.sees("You are dealt the queen.")
        seat.sees("Pot: 2.")
        seat.sees("[c] check  [b] bet a coin  [q] leave")
        seat.press("b")
        seat.sees("The house shows the king. You lose 2.")
        seat.sees("Coins won: -2")
        seat.sees("you bet, house calls")
        seat.press("q")
        seat.sees("You have left the table.")
        assert seat.process.wait(PATIENCE) == 0


def test_the_second_seat_sees_what_the_house_has_done_first(deck: str) -> None:
    with seated("--deck", deck, "--mind", "script:BET") as seat:
        seat.sees("[2] play as P_2")
        seat.press("2")
        seat.sees("You are dealt the king. The house bets a coin.")
        seat.sees("[c] call  [f] fold")
        seat.press("c")
        seat.sees("The house shows the queen. You win 2.")


def test_a_key_that_means_nothing_is_said_to(deck: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("play as P_1")
        seat.press("x")
        seat.sees("'x' does nothing now.")


def test_a_refusal_is_explained_and_an_empty_purse_can_be_filled(deck: str) -> None:
    with seated("--deck", deck, "--coins", "1", "--mind", "script:CHK") as seat:
        seat.sees("play as P_1")
        seat.press("1")
        seat.sees("[b] bet a coin")
        seat.press("b")
        seat.sees("Refused, N_C: there is no coin left in your purse for that")
        seat.sees("[c] check  [q] leave")
        seat.press("c")
        seat.sees("You lose 1.")
        seat.press("1")
        seat.sees("Refused, N_C: there is no coin left in your purse for the ante")
        seat.sees("[n] a new purse")
        seat.press("n")
        seat.sees("Welcome.")
        seat.sees("Coins won: -1")


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_control_c_and_control_d_say_goodbye_and_leave(deck: str, key: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("play as P_1")
        seat.press(key)
        seat.sees("You have left the table.")
        assert seat.process.wait(PATIENCE) == 0


def test_a_house_that_closes_is_told_of(deck: str) -> None:
    with Serving("kuhn", "--port", "0") as server, sitting(server.port) as seat:
        seat.sees("play as P_1")
        assert server.stop() == 0
        seat.sees("The house is gone")
        assert seat.process.wait(PATIENCE) == 1


def test_a_fold_ends_a_game_without_a_word_from_the_house(deck: str) -> None:
    with seated("--deck", deck, "--mind", "script:BET") as seat:
        seat.sees("play as P_1")
        seat.press("1")
        seat.sees("[c] check")
        seat.press("c")
        seat.sees("The house bets a coin.")
        seat.press("f")
        seat.sees("You lose 1.")
        seat.sees("no showdown")
