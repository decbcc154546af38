"""Seven and a half in the terminal."""

from functools import partial
from pathlib import Path

import pytest

from tests.processes import Serving
from tests.tui import fake_terminal as seats
from tests.tui.fake_terminal import deck_file, rogue

seated = partial(seats.seated, "sevenhalf")
sitting = partial(seats.sitting, "sevenhalf")

START = ("s", "You bet 100. Draw your first card.")
STBT = b"STBT \x00\x00\x00\x64"
BKSC = b"BKSC \x00\x00\x00\x027eso 07.5"
GAIN = b"GAIN \x00\x00\x00\x64"
LOSS = b"GAIN \xff\xff\xff\x9c"


@pytest.fixture
def deck(tmp_path: Path) -> str:
    """Seven and a half for the client, and then too much for the bank."""
    return deck_file(tmp_path, "7o sc 5e 6e")


def test_a_game_is_won_with_seven_and_a_half(deck: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("[s/Enter] start a game  [q] leave")
        seat.plays(START, ("d", "You draw the 7 of oros."))
        seat.sees("[d] draw  [p] pass  [a] raise by 100  [0-9] another raise  [q] leave")
        seat.plays(("d", "you: 7½"), ("p", "The bank draws the 5 of espases, the 6 of espases. You win 200."))
        seat.sees("Games: 1   Coins won: +200")
        seat.sees("you 7½        bank 11, over  bet 100        +200")
        seat.sees("start a game")
        seat.press("q")
        seat.sees("You have left the table.")
        seat.leaves()


def test_too_much_loses_and_a_figure_counts_a_half(tmp_path: Path) -> None:
    with seated("--deck", deck_file(tmp_path, "rb 5c 4o cc")) as seat:
        seat.sees("start a game")
        seat.plays(START, ("d", "you: ½"), ("d", "you: 5½"))
        seat.plays(("d", "You draw the 4 of oros. That is too much. The bank draws the cavall"))
        seat.sees("of copes. You lose 100.")
        seat.sees("you 9½, over  bank ½         bet 100        -100")


def test_nobody_wins_a_tie(tmp_path: Path) -> None:
    with seated("--deck", deck_file(tmp_path, "7o sc 7e se")) as seat:
        seat.sees("start a game")
        seat.plays(START, ("d", "[p] pass"), ("d", "you: 7½"), ("p", "Nobody wins."))
        seat.sees("Games: 1   Coins won: +0")


def test_after_a_raise_the_player_must_draw(deck: str) -> None:
    with seated("--deck", deck, "--bet", "50") as seat:
        seat.sees("start a game")
        seat.plays(("\r", "You bet 50."), ("d", "[a] raise by 50"))
        seat.plays(("a", "You raise by 50, to 100. Now you have to draw."))
        seat.sees("[d] draw  [a] raise by 50  [0-9] another raise  [q] leave")
        seat.plays(("p", "'p' does nothing now."), ("d", "You draw the sota of copes."), ("p", "You win 200."))


def test_a_raise_is_entered_as_a_number(deck: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("start a game")
        seat.plays(START, ("d", "[p] pass"))
        seat.plays(("2", "Raise by 2_  [Enter] confirm  [Esc] cancel  [q] leave"), ("5", "Raise by 25_"))
        seat.plays(("\x7f", "Raise by 2_"), ("0", "Raise by 20_"), ("\r", "You raise by 20, to 120."))
        seat.sees("Bet: 120")
        seat.plays(("9", "Raise by 9_"), ("\x1b", "[0-9] another raise"))
        seat.plays(("0", "Raise by 0_"), ("\n", "You cannot raise by 0; allowed: 1 to 1073741703."))
        seat.plays(("9", "Raise by 9_"), ("d", "you: 7½"))
        seat.sees("[0-9] another raise")
        seat.sees("Bet: 120")


def test_the_error_for_a_refused_raise_is_quoted(deck: str) -> None:
    with seated("--deck", deck, "--max-bet", "150") as seat:
        seat.sees("start a game")
        seat.plays(START, ("d", "[p] pass"), ("a", "The house reports an error: ANTE 100 refused; allowed: 1 to 50."))
        seat.sees("Bet: 100")
        seat.sees("[p] pass")


def test_error_texts_of_the_house_are_escaped() -> None:
    with rogue([STBT, b"CARD 7o", b"ERRO 07\x1b[2J\xff\x07\n"]) as house, sitting(house.port) as seat:
        seat.sees("start a game")
        seat.plays(START, ("d", "[p] pass"), ("a", "The house reports an error: ?[2Jÿ??."))
        seat.press("q")


def test_unknown_keys_are_reported(deck: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("start a game")
        seat.plays(("d", "'d' does nothing now."), ("7", "'7' does nothing now."), START)
        seat.plays(("s", "'s' does nothing now."), ("\r", "Enter does nothing now."))
        seat.plays(("\x1b[D", "That key does nothing now."), ("\x7f", "Backspace does nothing now."))


def test_play_continues_on_new_connections_after_each_game(deck: str) -> None:
    with seated("--deck", deck, "--once") as seat:
        seat.sees("start a game")
        for key, games in (("s", 1), ("\r", 2), ("s", 3)):
            seat.plays((key, "You bet 100. Draw your first card."), ("d", "[p] pass"), ("d", "you: 7½"))
            seat.plays(("p", "You win 200."))
            seat.sees(f"Games: {games}   Coins won: +{200 * games}")
            seat.sees("closed this table.")
            seat.sees("[s/Enter] the next game  [q] leave")
        seat.plays(("d", "'d' does nothing now."), ("q", "You have left the table."))
        seat.leaves()


def test_a_close_may_cross_the_start_of_the_next_game() -> None:
    with rogue([STBT, b"CARD 7o", BKSC + LOSS, b""], [STBT, b""]) as house, sitting(house.port) as seat:
        seat.sees("start a game")
        seat.plays(START, ("d", "[p] pass"), ("p", "You lose 100."), ("s", "The house has closed this table."))
        seat.plays(START, ("q", "You have left the table."))
        seat.leaves()
    assert house.received == b"STRTDRAWPASSSTRTSTRT"


def test_a_house_that_closes_says_why(deck: str) -> None:
    with Serving("sevenhalf", "--port", "0", "--deck", deck) as server, sitting(server.port) as seat:
        seat.sees("start a game")
        assert server.stop() == 0
        seat.sees("The house reports an error: the room closes. The house is gone")
        seat.leaves(1)


def test_a_stopped_house_is_reported(deck: str) -> None:
    with Serving("sevenhalf", "--port", "0", "--deck", deck) as server, sitting(server.port) as seat:
        seat.sees("start a game")
        seat.plays(START, ("d", "[p] pass"), ("d", "you: 7½"), ("p", "You win 200."))
        assert server.stop() == 0
        seat.sees("The house reports an error: the room closes. The house has closed")
        seat.plays(("s", "No house answers at"))
        seat.leaves(1)


@pytest.mark.parametrize(
    ("answers", "keys", "clause"),
    [
        ([b"CARD 7o"], "s", "sevenhalf-4.1"),
        ([STBT, b"CARD 8o"], "sd", "sevenhalf-2.9"),
        ([STBT, b"CARD 7o", b"CARD 7o"], "sdd", "sevenhalf-3.3"),
        ([STBT, b"CARD 7o", BKSC + GAIN], "sdp", "sevenhalf-5.8"),
    ],
)
def test_a_violation_of_the_house_shows_its_clause(answers: list[bytes], keys: str, clause: str) -> None:
    seen = {"s": "Draw your first card.", "d": "[p] pass"}
    with rogue(answers) as house, sitting(house.port) as seat:
        seat.sees("start a game")
        seat.plays(*((key, seen[key]) for key in keys[:-1]))
        seat.press(keys[-1])
        seat.sees("The house broke the protocol.")
        seat.sees(clause)
        seat.leaves(1)
    assert house.received.endswith(f"ERRO {len(clause) + 10}{clause} is broken".encode())


def test_many_cards_fit_a_narrow_terminal(tmp_path: Path) -> None:
    cards = "so sc se sb co cc ce cb ro rc re rb 1o"
    with seated("--deck", deck_file(tmp_path, f"{cards} 1c 7o"), columns=30) as seat:
        seat.sees("leave")
        seat.press("s")
        seat.sees("first card.")
        for number, _ in enumerate(cards.split(), start=1):
            halves = number if number < 13 else 14
            score = f"{halves // 2 or ''}{'½' if halves % 2 else ''}"
            seat.press("d")
            seat.sees(f"you: {score} ")
            seat.sees("leave")
        assert seat.width <= 30
        seat.press("p")
        seat.sees("win 100.")
        seat.sees("leave")
        assert seat.width <= 30


def test_a_terminal_without_halves_sees_points(deck: str) -> None:
    with seated("--deck", deck, encoding="ascii") as seat:
        seat.sees("start a game")
        seat.plays(START, ("d", "|oros   |"), ("d", "you: 7.5"))


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_control_c_and_control_d_leave_in_the_middle_of_a_game(deck: str, key: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("start a game")
        seat.plays(START, ("d", "[p] pass"), (key, "You have left the table."))
        seat.leaves()
