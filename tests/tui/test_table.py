"""Kuhn poker in the terminal, and behaviour shared by all house games."""

import signal
import socket
from functools import partial
from pathlib import Path

import pytest

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
        seat.sees("[1] Play as P_1: you act first [2] Play as P_2: the house acts first [q] Leave [?] rules and keys")
        seat.press("1")
        seat.sees("You are dealt the queen.")
        seat.sees("Pot: 2, Purse: 9")
        seat.sees("[c] Check: costs nothing [b] Bet 1: puts a coin into the pot [q] Leave")
        seat.press("b")
        seat.sees("The house shows the king. You lose 2 coins.")
        seat.sees("1 game, coins won: -2")
        seat.sees("the queen against the king: -2")
        seat.sees("Purse: 8")
        seat.press("q")
        seat.sees("You have left the table.")
        seat.leaves()


def test_the_second_seat_sees_the_first_action_of_the_house(deck: str) -> None:
    with seated("--deck", deck, "--bot", "script:BET") as seat:
        seat.sees("[2] Play as P_2")
        seat.press("2")
        seat.sees("You are dealt the king. The house bets a coin.")
        seat.sees("[f] Fold")
        seat.press("c")
        seat.sees("The house shows the queen. You win 2 coins.")


def test_a_key_that_does_nothing_says_why_and_erases_no_result(deck: str) -> None:
    with seated("--deck", deck, "--bot", "script:CAL") as seat:
        seat.sees("Play as P_1")
        seat.plays(("x", "'x' does nothing now; allowed: 1 Play as P_1, 2 Play as P_2, q Leave."))
        seat.plays(("1", "[b] Bet 1"), ("b", "You lose 2 coins."), ("\x1b[C", "That key does nothing now; allowed:"))
        seat.sees("You lose 2 coins.")


def test_the_rules_and_keys_are_shown_and_hidden(deck: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("Play as P_1")
        seat.plays(("?", "If nobody folds, the higher card wins the pot."))
        seat.sees("[1] Play as P_1: you act first")
        seat.sees("Ctrl-C leaves at once.")
        seat.plays(("1", "Purse: 10"))
        seat.misses("the higher card")
        seat.plays(("1", "You are dealt the queen."), ("?", "[c] Check: costs nothing"), ("?", "You are dealt"))


def test_a_refusal_is_explained_and_an_empty_purse_can_be_replaced(deck: str) -> None:
    with seated("--deck", deck, "--coins", "1", "--bot", "script:CHK") as seat:
        seat.sees("Play as P_1")
        seat.press("1")
        seat.sees("[b] Bet 1")
        seat.press("b")
        seat.sees("Refused (N_C): your purse has no coin left for that")
        seat.sees("Purse: 0")
        seat.sees("[c] Check: costs nothing")
        seat.press("c")
        seat.sees("You lose 1 coin.")
        seat.press("1")
        seat.sees("Refused (N_C): your purse has no coin left for the ante")
        seat.sees("[n] New purse")
        seat.press("n")
        seat.sees("Welcome.")
        seat.sees("coins won: -1")


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_control_c_and_control_d_leave(deck: str, key: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("Play as P_1")
        seat.press(key)
        seat.sees("You have left the table.")
        seat.leaves()


def test_a_signal_to_end_leaves_and_restores_the_terminal(deck: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("Play as P_1")
        seat.plays(("1", "[c] Check"), ("?", "the higher card wins the pot."))
        seat.process.send_signal(signal.SIGTERM)
        seat.sees("You are dealt the queen. The game is not finished.")
        seat.sees("You have left the table.")
        seat.leaves()


def test_leaving_in_a_game_is_confirmed(deck: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("Play as P_1")
        seat.plays(("1", "[c] Check"), ("q", "You lose what you have bet if you leave now. Press q again"))
        seat.press("\x1b")
        seat.misses("again to do it")
        seat.plays(("q", "Press q again"), ("q", "You have left the table."))
        seat.leaves()


def test_a_closed_house_is_reported(deck: str) -> None:
    with Serving("kuhn", "--port", "0") as server, sitting(server.port) as seat:
        seat.sees("Play as P_1")
        assert server.stop() == 0
        seat.sees("The server closed the connection.")
        seat.leaves(1)


def test_a_fold_ends_a_game_without_a_message_from_the_house(deck: str) -> None:
    with seated("--deck", deck, "--bot", "script:BET") as seat:
        seat.sees("Play as P_1")
        seat.press("1")
        seat.sees("[c] Check")
        seat.press("c")
        seat.sees("The house bets a coin.")
        seat.press("f")
        seat.sees("You lose 1 coin.")
        seat.sees("no showdown")


def test_games_are_counted_across_purses(deck: str) -> None:
    with seated("--deck", deck, "--coins", "1", "--bot", "script:CHK") as seat:
        seat.sees("Play as P_1")
        seat.plays(("1", "[c] Check"), ("c", "You lose 1 coin."), ("1", "[n] New purse"), ("n", "Play as P_1"))
        seat.plays(("1", "[c] Check"), ("c", "2 games, coins won: -2"))


def test_a_server_that_is_gone_is_no_broken_clause() -> None:
    with rogue([]) as house:
        port = house.port
        with sitting(port) as seat:
            seat.sees("The server closed the connection.")
            seat.leaves(1)
            assert "kuhn-" not in seat.text
    with sitting(port) as seat:
        seat.sees(f"No house answers at 127.0.0.1:{port}")
        seat.leaves(1)


def test_a_violation_of_the_house_shows_its_clause() -> None:
    with rogue([b"CARD C_K", b"CARD C_K"]) as house, sitting(house.port) as seat:
        seat.sees("Play as P_1")
        seat.plays(("1", "[b] Bet 1"), ("b", "The house broke the protocol. kuhn-5.4"))
        seat.leaves(1)


def test_a_narrow_terminal_is_enough(deck: str) -> None:
    with seated("--deck", deck, "--bot", "script:CAL", columns=30) as seat:
        seat.sees("[1] Play as P_1")
        seat.plays(("1", "You are dealt the"), ("b", "You lose 2 coins."))
        assert seat.width <= 30


def test_a_terminal_without_line_drawing_sees_plainer_cards(deck: str) -> None:
    with seated("--deck", deck, encoding="ascii") as seat:
        seat.sees("Play as P_1")
        seat.plays(("1", "|Q      |"))
        seat.sees("|#######|")
        assert seat.text.isascii()


def test_every_resize_draws_the_table_again(deck: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("Play as P_1")
        seat.plays(("1", "│Q      │"))
        for columns, rows, text in (
            (40, 12, "> You Q P_1"),
            (90, 30, "│Q      │"),
            (30, 24, "│Q │"),
            (100, 40, "│░░░░░░░│"),
        ):
            seat.resize(columns, rows)
            seat.sees(text)
            seat.sees("[?] rules and keys")
            assert seat.width <= columns


@pytest.mark.parametrize("key", ["\x03", "q"])
def test_leaving_while_connecting(key: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, sitting(silent.getsockname()[1], "--tls") as seat:
        seat.sees("Connecting")
        seat.press(key)
        seat.sees("You have left the table.")
        seat.leaves()


def test_the_terminal_has_the_last_table_after_the_end(deck: str) -> None:
    with seated("--deck", deck, "--bot", "script:CAL") as seat:
        seat.sees("Play as P_1")
        seat.plays(("1", "[b] Bet 1"), ("b", "You lose 2 coins."), ("q", "You have left the table."))
        assert seat.process.wait(PATIENCE) == 0
        seat.sees("You lose 2 coins. You have left the table. 1 game, coins won: -2")
