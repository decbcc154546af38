"""Hold'em in the terminal, with a real server and other players."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from croupier.clients.holdem import BlockingHoldemClient
from croupier.clients.holdem_seat import BlockingHoldemSeat
from croupier.rooms.holdem.engine.legal import FOLD, Move
from tests.processes import Serving
from tests.tui import fake_terminal as seats
from tests.tui.fake_terminal import Seat, deck_file

sitting = partial(seats.sitting, "holdem")

ANN = ("--user", "ann", "--password", "secret")
ACES = "AS KD AH QD 2C 7D JS 3H 4S"
"""Heads-up deck: aces for the button, who gets the first card; king-queen for the other; a board that helps neither."""


@contextmanager
def serving(*flags: str, deck: Path | None = None) -> Iterator[Serving]:
    laid_out = () if deck is None else ("--deck", deck_file(deck, ACES))
    with Serving("holdem", "--port", "0", "--log-level", "error", *laid_out, *flags) as server:
        yield server


class Other:
    """Another player at the table."""

    def __init__(self, client: BlockingHoldemClient, table: BlockingHoldemSeat) -> None:
        self.client = client
        self.table = table

    def does(self, move: Move | None = None) -> None:
        """Wait for the player's turn and act; None calls or checks."""
        while not self.table.player.legal:
            next(self.table)
        view = self.table.player.view
        assert view is not None
        assert self.table.make_move(view.call if move is None else move) is None

    @property
    def handles(self) -> list[str]:
        """The handles of the players at the table."""
        return [one.handle for one in self.client.get_game(self.table.joined_game.game).table]


@contextmanager
def other(server: Serving, name: str = "bob") -> Iterator[Other]:
    with BlockingHoldemClient(server.address, name, "hidden") as client:
        client.register()
        with client.sit() as table:
            yield Other(client, table)


@contextmanager
def two(tmp_path: Path, *flags: str, columns: int = 100) -> Iterator[tuple[Seat, Other]]:
    """Ann, with the button and aces, in a terminal; and Bob."""
    with serving(*flags, deck=tmp_path) as server, sitting(server.port, *ANN, columns=columns) as seat:
        seat.sees("Waiting for another player.")
        with other(server) as bob:
            seat.sees("It is your turn: 10 chips to call.")
            yield seat, bob


def test_a_hand_is_played_with_keys(tmp_path: Path) -> None:
    with two(tmp_path) as (seat, bob):
        seat.plays(("r", "Raise to: 40_ (40 to 10000; Tab: ½ pot 40, Pot 60, All-in 10000)"))
        seat.plays(("\r", "It is the turn of bob."))
        seat.sees("You raise to 40.")
        bob.does()
        seat.sees("bob calls 20.")
        seat.sees("Flop: the 2 of clubs, the 7 of diamonds, the jack of spades.")
        bob.does(100)
        seat.sees("bob bets 100.")
        seat.sees("It is your turn: 100 chips to call.")
        seat.sees("[c] Call 100: makes the pot 280")
        seat.press("c")
        seat.sees("You call 100.")
        seat.sees("Turn: the 3 of hearts.")
        bob.does(FOLD)
        seat.sees("You win 140 chips.")
        seat.sees("1 hand, chips won: +140")
        seat.sees("hand 1")
        seat.sees("Hand 2: bob has the button.")
        seat.sees("> bob ░░ dealer, small blind, 9")
        seat.plays(("q", "Your 20 chips in the pot are lost if you leave now."), ("q", "You have left the table."))
        seat.leaves()
        assert bob.handles == ["bob"]


def test_a_showdown_settles_the_hand(tmp_path: Path) -> None:
    with two(tmp_path) as (seat, bob):
        seat.press("c")
        bob.does()
        for street in ("Flop: the 2 of clubs", "Turn: the 3 of hearts", "River: the 4 of spades"):
            seat.sees(street)
            bob.does(20)
            seat.sees("It is your turn: 20 chips to call.")
            seat.press("c")
        seat.sees("You win 80 chips.")


def test_the_table_is_shown(tmp_path: Path) -> None:
    with two(tmp_path) as (seat, _):
        seat.sees("bob ░░ big blind, 9980 chips, 20 chips bet")
        seat.sees("> You dealer, small blind, 9990 chips, 10 chips bet, your turn")
        seat.sees("│A │ │A │")
        seat.sees("Pot: 30 Time left: 1")
        seat.plays(("x", "'x' does nothing now; allowed: c Call 10, f Fold, r Raise to, q Leave."))


def test_totals_are_entered_and_illegal_ones_are_explained(tmp_path: Path) -> None:
    with two(tmp_path) as (seat, bob):
        seat.plays(("3", "Raise to: 3_"), ("5", "Raise to: 35_"))
        seat.plays(("\r", "Raise to: found 35; allowed: 40 to 10000."), ("\x1b", "[f] Fold"))
        seat.plays(("r", "Raise to: 40_"), ("\t", "Raise to: 60_"), ("\t", "Raise to: 10000_"))
        seat.plays(("6", "Raise to: 6_"), ("5", "Raise to: 65_"), ("\r", "You raise to 65."))
        bob.does()
        seat.sees("bob calls 45.")
        bob.does()
        seat.sees("It is your turn: nothing to call.")
        seat.plays(("r", "Bet: 20_"), ("c", "Turn: the 3 of hearts."))
        seat.sees("You check.")


def test_leaving_with_chips_in_the_pot_needs_confirmation(tmp_path: Path) -> None:
    with two(tmp_path) as (seat, bob):
        seat.plays(("q", "Your 10 chips in the pot are lost if you leave now. Press q again to do it, Esc to stay."))
        seat.press("\x1b")
        seat.misses("Press q again")
        seat.plays(("q", "Press q again"), ("c", "You call 10."))
        bob.does()
        seat.plays(("q", "Your 20 chips in the pot"), ("q", "You have left the table."))
        seat.leaves()
        assert bob.handles == ["bob"]


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_control_c_and_control_d_leave_at_once(tmp_path: Path, key: str) -> None:
    with two(tmp_path) as (seat, bob):
        seat.plays((key, "You have left the table."))
        seat.leaves()
        assert bob.handles == ["bob"]


def test_leaving_after_a_fold_needs_no_confirmation(tmp_path: Path) -> None:
    with (
        serving(deck=tmp_path) as server,
        other(server, "bob") as bob,
        other(server, "cid") as cid,
        sitting(server.port, *ANN) as seat,
    ):
        seat.sees("You are dealt in with the next hand")
        bob.does(FOLD)
        seat.sees("It is the turn of cid.")
        cid.does()
        seat.sees("It is your turn: 10 chips to call.")
        seat.plays(("f", "You fold."), ("q", "You have left the table."))
        seat.leaves()


def test_who_runs_out_of_time_has_lost_what_was_bet(tmp_path: Path) -> None:
    with two(tmp_path, "--turn-seconds", "5") as (seat, _):
        seat.sees("Your time ran out: you are out of the game.")
        seat.sees("You lose 10 chips.")
        seat.sees("chips won: -10")
        seat.sees("[j] Join again")
        seat.plays(("f", "'f' does nothing now; allowed: j Join again, q Leave."), ("\r", "Welcome."))
        seat.sees("chips won: -10")
        seat.sees("It is the turn of bob.")


def test_losing_the_last_chip_is_shown(tmp_path: Path) -> None:
    with serving("--stack", "100", deck=tmp_path) as server, other(server) as bob, sitting(server.port, *ANN) as seat:
        seat.sees("It is the turn of bob.")
        bob.does(90)
        seat.sees("[c] Call 80, all-in")
        seat.press("c")
        seat.sees("You have lost your last chip: you are out of the game.")
        seat.sees("chips won: -100")
        seat.plays(("q", "You have left the table."))
        seat.leaves()


def test_a_stopped_server_is_reported(tmp_path: Path) -> None:
    with serving() as server, sitting(server.port, *ANN) as seat:
        seat.sees("Waiting for another player.")
        assert server.stop() == 0
        seat.sees("The server is gone: ")
        seat.leaves(1)


def test_a_narrow_terminal_is_enough(tmp_path: Path) -> None:
    with two(tmp_path, columns=40) as (seat, bob):
        seat.press("c")
        bob.does()
        seat.sees("Flop: the 2 of clubs")
        bob.does()
        seat.sees("[r] Bet")
        assert seat.width <= 40


def test_a_terminal_without_line_drawing_sees_plainer_cards(tmp_path: Path) -> None:
    with serving(deck=tmp_path) as server, sitting(server.port, *ANN, encoding="ascii") as seat:
        seat.sees("Waiting for another player.")
        with other(server):
            seat.sees("|S      |")
            seat.sees("[q] Leave")
        assert seat.text.isascii()


def test_every_resize_draws_the_table_again(tmp_path: Path) -> None:
    with two(tmp_path) as (seat, _):
        for columns, rows, text in ((90, 40, "│A │ │A │"), (36, 14, "> You A♠ A♥ dealer"), (100, 40, "│A │ │A │")):
            seat.resize(columns, rows)
            seat.sees(text)
            assert seat.width <= columns


def test_the_password_prompt_does_not_echo(tmp_path: Path) -> None:
    with serving() as server, sitting(server.port) as seat:
        seat.plays(("", "Name: "), ("ann\r", "Password of ann: "), ("secret\r", "Waiting for another player."))
        assert "secret" not in seat.text
        with sitting(server.port, "--user", "ann", "--password", "wrong") as stranger:
            stranger.sees("wrong password for this user")
            stranger.leaves(1)


def test_end_of_input_at_the_name_prompt_ends_the_program() -> None:
    with sitting(9) as seat:
        seat.plays(("", "Name: "), ("\x04", "croupier: username and password are required"))
        seat.leaves(2)


def test_an_unknown_game_is_reported() -> None:
    with serving() as server, sitting(server.port, *ANN, "--game", "nowhere") as seat:
        seat.sees("The server refused the request: 404 Not Found: holdem-8.4: found the game 'nowhere'")
        seat.leaves(1)
