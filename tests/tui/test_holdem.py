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
from tests.tui.fake_terminal import SIZELESS, Seat, deck_file

sitting = partial(seats.sitting, "holdem")

ANN = ("--user", "ann", "--password", "secret")
ACES = "AS KD AH QD 2C 7D JS 3H 4S"
"""Heads-up deck: aces for the button, who gets the first card; king-queen for the other; a board that helps neither."""


TITLE = "Hold'em at"
BOTTOM = f"{'─' * 16}╯"
"""The first and the last characters of a drawn screen."""


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
        seat.sees("Waiting for another player")
        with other(server) as bob:
            seat.sees("It is your turn: 10 to call")
            seat.sees("[q] leave")
            yield seat, bob


def picture(seat: Seat, text: str) -> list[str]:
    """Return the lines of a complete screen that contains a text."""
    seat.sees(text)
    seat.screen = seat.screen[seat.screen.rindex(TITLE, 0, seat.screen.rindex(text)) :]
    seat.sees(BOTTOM)
    lines = seat.screen[: seat.screen.index(BOTTOM)].splitlines()
    return [line.removeprefix("│").removesuffix("│").strip() for line in lines[1:-1]]


def test_a_hand_is_played_with_keys(tmp_path: Path) -> None:
    with two(tmp_path) as (seat, bob):
        seat.plays(("r", "Raise to 40_  [Enter] confirm  [Esc] cancel  [q] leave"), ("\r", "It is bob's turn"))
        seat.sees("You raise to 40")
        bob.does()
        seat.sees("bob calls 20")
        seat.sees("Flop: 2♣ 7♦ J♠")
        bob.does(100)
        seat.sees("bob bets 100")
        seat.sees("It is your turn: 100 to call")
        assert picture(seat, "[f] fold")[-3:] == [
            "[f] fold  [c] call 100  [r] raise to 200  [h] half the pot: 240  [p]",
            "the pot: 380  [a] all-in: 9960  [0-9] raise to another total  [q]",
            "leave",
        ]
        seat.press("c")
        seat.sees("You call 100")
        seat.sees("Turn: 3♥")
        bob.does(FOLD)
        seat.sees("You win 140.")
        seat.sees("Hands: 1   Chips won: +140")
        seat.sees("bob folds")
        seat.sees("You win, +140")
        seat.sees("Hand 2: the button is bob")
        seat.plays(("q", "Your 20 chips in the pot are lost if you leave."), ("q", "You have left the table."))
        seat.leaves()
        assert bob.handles == ["bob"]


def test_a_showdown_settles_the_hand(tmp_path: Path) -> None:
    with two(tmp_path) as (seat, bob):
        seat.press("c")
        bob.does()
        for street in ("Flop: 2♣ 7♦ J♠", "Turn: 3♥", "River: 4♠"):
            seat.sees(street)
            bob.does(20)
            seat.sees("It is your turn: 20 to call")
            seat.sees("[q] leave")
            seat.press("c")
        seat.sees("You win 80.")
        seat.sees("You win, +80")


def test_the_table_view(tmp_path: Path) -> None:
    with two(tmp_path) as (seat, _):
        rows = picture(seat, "Pot: 30")
        assert rows[0].split() == ["player", "chips", "bet"]
        assert rows[1].split() == [">", "ann", "(you)", "D", "SB", "9990", "10", "acts"]
        assert rows[2].split() == ["bob", "BB", "9980", "20", "to", "act"]
        assert rows[8:10] == ["you", "Pot: 30"]
        assert "Hand 1: the button is yours" in rows
        seat.plays(("x", "'x' does nothing now."))


def test_totals_are_entered_and_illegal_ones_are_explained(tmp_path: Path) -> None:
    with two(tmp_path) as (seat, bob):
        seat.plays(("3", "Raise to 3_"), ("5", "Raise to 35_"))
        seat.plays(("\r", "You cannot raise to 35; allowed: 40 to 10000."))
        seat.plays(("9", "Raise to 9_"), ("\x7f", "[0-9] raise to another total"))
        seat.plays(("a", "Raise to 10000_"), ("\x1b", "[a] all-in"), ("p", "Raise to 60_"))
        seat.plays(("\x7f", "Raise to 6_"), ("5", "Raise to 65_"), ("\r", "You raise to 65"))
        bob.does()
        seat.sees("bob calls 45")
        bob.does()
        seat.sees("[c] check  [b] bet 20  [h] half the pot: 65")
        seat.plays(("b", "Bet 20_"), ("c", "Turn: 3♥"))
        seat.sees("You check")


def test_a_total_equal_to_the_bet_to_match_is_a_call(tmp_path: Path) -> None:
    with two(tmp_path) as (seat, _):
        seat.plays(("2", "Raise to 2_"), ("0", "Raise to 20_"), ("\r", "You call 10"))


def test_leaving_with_chips_in_the_pot_needs_confirmation(tmp_path: Path) -> None:
    with two(tmp_path) as (seat, bob):
        seat.plays(("q", "Your 10 chips in the pot are lost if you leave."))
        seat.sees("[q] leave anyway  [Esc] stay")
        seat.plays(("\x1b", "[f] fold"), ("q", "leave anyway"), ("c", "You call 10"))
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
        seat.sees("You will be dealt in with the next hand")
        bob.does(FOLD)
        seat.sees("Hand 2: the button is cid")
        seat.sees("It is cid's turn")
        cid.does()
        seat.sees("It is your turn: 10 to call")
        seat.plays(("f", "You fold"), ("q", "You have left the table."))
        seat.leaves()


def test_a_player_who_times_out_can_join_again(tmp_path: Path) -> None:
    with two(tmp_path, "--turn-seconds", "1.5") as (seat, _):
        seat.sees("Your time ran out: you are out of the game.")
        seat.sees("Chips won: -10")
        seat.sees("[j/Enter] join again  [q] leave")
        seat.plays(("f", "'f' does nothing now."), ("j", "Welcome."))
        seat.sees("Chips won: -10")
        seat.sees("It is bob's turn")


def test_losing_the_last_chip_is_shown(tmp_path: Path) -> None:
    with serving("--stack", "100", deck=tmp_path) as server, other(server) as bob, sitting(server.port, *ANN) as seat:
        seat.sees("It is bob's turn")
        bob.does(90)
        seat.sees("[f] fold  [c] call 80, all-in  [q] leave")
        seat.press("c")
        seat.sees("You have lost your last chip: you are out of the game.")
        seat.sees("Chips won: -100")
        seat.plays(("q", "You have left the table."))
        seat.leaves()


def test_waiting_for_a_free_seat(tmp_path: Path) -> None:
    with (
        serving("--seats", "2") as server,
        other(server, "bob"),
        other(server, "cid") as cid,
        sitting(server.port, *ANN, "--game", cid.table.joined_game.game) as seat,
    ):
        seat.sees("Waiting for a free seat")
        cid.client.leave(cid.table.joined_game)
        seat.sees("cid leaves")
        seat.sees("You sit down")
        seat.sees("It is your turn: 10 to call")


def test_a_stopped_server_is_reported(tmp_path: Path) -> None:
    with serving() as server, sitting(server.port, *ANN) as seat:
        seat.sees("Waiting for another player")
        assert server.stop() == 0
        seat.sees("The server is gone: ")
        seat.leaves(1)


def test_the_go_dialect_shows_the_winning_hand(tmp_path: Path) -> None:
    with two(tmp_path, "--dialect", "hspe-go") as (seat, bob):
        seat.plays(("a", "Raise to 10000_"), ("\r", "all-in"))
        bob.does()
        seat.sees("You win with A♠ A♥ J♠ 7♦ 4♠, +10000")
        seat.sees("Hands: 1   Chips won: +10000")


def test_the_end_of_a_hand_is_shown_during_the_pause(tmp_path: Path) -> None:
    with two(tmp_path, "--pause-seconds", "2") as (seat, bob):
        seat.plays(("a", "Raise to 10000_"), ("\r", "You raise to 10000, all-in"))
        bob.does()
        seat.sees("River: 4♠")
        seat.sees("You win, +10000")
        seat.sees("you: pair of aces")
        seat.sees("Waiting for another player")


def test_a_narrow_terminal_is_enough(tmp_path: Path) -> None:
    with two(tmp_path, columns=40) as (seat, bob):
        seat.press("c")
        bob.does()
        assert {"Cards: A♠ A♥  pair of aces", "Board: 2♣ 7♦ J♠"} < {*picture(seat, "Board: ")}
        assert seat.width <= 40


def test_a_terminal_without_line_drawing_sees_plainer_cards(tmp_path: Path) -> None:
    with serving(deck=tmp_path) as server, sitting(server.port, *ANN, encoding="ascii") as seat:
        seat.sees("Waiting for another player ...")
        with other(server):
            seat.sees("|S      |")
            seat.sees("[q] leave")
        assert seat.screen.isascii()


def test_a_resize_redraws_the_screen(tmp_path: Path) -> None:
    with serving(deck=tmp_path) as server, sitting(server.port, *ANN, variables=SIZELESS) as seat:
        seat.sees("Waiting for another player")
        seat.resize(90, 40)
        with other(server):
            seat.sees("│A      │ │A      │")
            seat.resize(36, 24)
            seat.sees("Cards: A♠ A♥")
            assert seat.width <= 36
            seat.resize(90, 40)
            seat.sees("│A      │ │A      │")


def test_the_password_prompt_does_not_echo(tmp_path: Path) -> None:
    with serving() as server, sitting(server.port) as seat:
        seat.plays(("", "Name: "), ("ann\r", "Password of ann: "), ("secret\r", "Waiting for another player"))
        assert "secret" not in seat.screen
        with sitting(server.port, "--user", "ann", "--password", "wrong") as stranger:
            stranger.sees("wrong password for this user")
            stranger.leaves(1)


def test_end_of_input_at_the_name_prompt_ends_the_program() -> None:
    with sitting(9) as seat:
        seat.plays(("", "Name: "), ("\x04", "croupier: username and password are required"))
        seat.leaves(1)


def test_an_unknown_game_is_reported() -> None:
    with serving() as server, sitting(server.port, *ANN, "--game", "nowhere") as seat:
        seat.sees("refused the request: 404 Not Found: holdem-8.4: found the game 'nowhere'")
        seat.leaves(1)
