"""Kuhn poker in the terminal, and behaviour shared by all house games."""

import socket
from functools import partial
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from croupier.tui.kuhn import KuhnScene
from tests.processes import PATIENCE, Serving
from tests.tui import fake_terminal as seats
from tests.tui.fake_terminal import deck_file, rogue

seated = partial(seats.seated, "kuhn")
sitting = partial(seats.sitting, "kuhn")


@pytest.fixture
def deck(tmp_path: Path) -> str:
    return deck_file(tmp_path, "Q K J")


def test_a_game_is_played_with_keys(deck: str) -> None:
    with seated("--deck", deck, "--bot", "script:CAL") as seat:
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


def test_the_second_seat_sees_the_first_action_of_the_house(deck: str) -> None:
    with seated("--deck", deck, "--bot", "script:BET") as seat:
        seat.sees("[2] play as P_2")
        seat.press("2")
        seat.sees("You are dealt the king. The house bets a coin.")
        seat.sees("[c] call  [f] fold")
        seat.press("c")
        seat.sees("The house shows the queen. You win 2.")


def test_an_unknown_key_is_reported(deck: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("play as P_1")
        seat.press("x")
        seat.sees("'x' does nothing now.")


def test_a_refusal_is_explained_and_an_empty_purse_can_be_replaced(deck: str) -> None:
    with seated("--deck", deck, "--coins", "1", "--bot", "script:CHK") as seat:
        seat.sees("play as P_1")
        seat.press("1")
        seat.sees("[b] bet a coin")
        seat.press("b")
        seat.sees("Refused (N_C): your purse has no coin left for that")
        seat.sees("[c] check  [q] leave")
        seat.press("c")
        seat.sees("You lose 1.")
        seat.press("1")
        seat.sees("Refused (N_C): your purse has no coin left for the ante")
        seat.sees("[n] a new purse")
        seat.press("n")
        seat.sees("Welcome.")
        seat.sees("Coins won: -1")


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_control_c_and_control_d_leave(deck: str, key: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("play as P_1")
        seat.press(key)
        seat.sees("You have left the table.")
        assert seat.process.wait(PATIENCE) == 0


def test_a_closed_house_is_reported(deck: str) -> None:
    with Serving("kuhn", "--port", "0") as server, sitting(server.port) as seat:
        seat.sees("play as P_1")
        assert server.stop() == 0
        seat.sees("The house is gone")
        assert seat.process.wait(PATIENCE) == 1


def test_a_fold_ends_a_game_without_a_message_from_the_house(deck: str) -> None:
    with seated("--deck", deck, "--bot", "script:BET") as seat:
        seat.sees("play as P_1")
        seat.press("1")
        seat.sees("[c] check")
        seat.press("c")
        seat.sees("The house bets a coin.")
        seat.press("f")
        seat.sees("You lose 1.")
        seat.sees("no showdown")


def test_games_are_counted_across_purses(deck: str) -> None:
    with seated("--deck", deck, "--coins", "1", "--bot", "script:CHK") as seat:
        seat.sees("play as P_1")
        seat.plays(
            ("1", "[c] check"), ("c", "You lose 1."), ("1", "[n] a new purse"), ("n", "Games: 1   Coins won: -1")
        )
        seat.plays(("1", "[c] check"), ("c", "Games: 2   Coins won: -2"))


def test_an_arrow_is_one_key(deck: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("play as P_1")
        seat.plays(("1", "[c] check"), ("\x1b[C", "That key does nothing now."), ("c", "The house"))


def test_an_unreachable_house_is_reported() -> None:
    with rogue([]) as house:
        port = house.port
        with sitting(port) as seat:
            seat.sees("kuhn-8.2")
            seat.leaves(1)
    with sitting(port) as seat:
        seat.sees(f"No house answers at 127.0.0.1:{port}")
        seat.leaves(1)


def test_a_violation_of_the_house_shows_its_clause() -> None:
    with rogue([b"CARD C_K", b"CARD C_K"]) as house, sitting(house.port) as seat:
        seat.sees("play as P_1")
        seat.plays(("1", "[b] bet a coin"), ("b", "kuhn-5.4"))
        seat.leaves(1)


def test_a_narrow_terminal_is_enough(deck: str) -> None:
    with seated("--deck", deck, "--bot", "script:CAL", columns=30) as seat:
        seat.sees("leave")
        seat.plays(("1", "You are dealt the"), ("b", "You lose 2."))
        assert seat.width <= 30


def test_a_terminal_without_line_drawing_sees_plainer_cards(deck: str) -> None:
    with seated("--deck", deck, encoding="ascii") as seat:
        seat.sees("play as P_1")
        seat.plays(("1", "|   Q   |"))
        seat.sees("|#######|")


@pytest.mark.parametrize("key", ["\x03", "q"])
def test_leaving_while_connecting(key: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, sitting(silent.getsockname()[1], "--tls") as seat:
        seat.sees("Connecting")
        seat.press(key)
        seat.sees("You have left the table.")
        seat.leaves()


def test_the_notice_of_a_silent_house_is_shown_until_it_answers() -> None:
    scene = KuhnScene("127.0.0.1:1212")
    scene.show_waiting_notice("127.0.0.1:1212 has not answered for 2 seconds")
    console = Console(width=100, record=True, file=StringIO())
    console.print(scene.draw())
    assert "has not answered for 2 seconds" in console.export_text()
    scene.on_ended("Gone.")
    console.print(scene.draw())
    assert "has not answered" not in console.export_text()
