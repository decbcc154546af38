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
        seat.sees("[s] Start a game")
        seat.plays(START, ("d", "You draw the 7 of oros."))
        seat.sees("[p] Pass: ends your turn, and the bank draws")
        seat.plays(("d", "You: 7½"), ("p", "The bank draws the 5 of espases"))
        seat.sees("You win 200 coins.")
        seat.sees("1 game, coins won: +200")
        seat.sees("[s] Start a game")
        seat.press("q")
        seat.sees("You have left the table.")
        seat.leaves()


def test_too_much_loses_and_a_figure_counts_a_half(tmp_path: Path) -> None:
    with seated("--deck", deck_file(tmp_path, "rb 5c 4o cc")) as seat:
        seat.sees("[s] Start a game")
        seat.plays(START, ("d", "You: ½"), ("d", "You: 5½"), ("d", "That is too much. The bank draws the cavall"))
        seat.sees("of copes. You lose 100 coins.")


def test_nobody_wins_a_tie(tmp_path: Path) -> None:
    with seated("--deck", deck_file(tmp_path, "7o sc 7e se")) as seat:
        seat.sees("[s] Start a game")
        seat.plays(START, ("d", "[p] Pass"), ("d", "You: 7½"), ("p", "Nobody wins."))
        seat.sees("1 game, coins won: +0")


def test_a_raise_is_entered_as_a_number(deck: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("[s] Start a game")
        seat.plays(START, ("d", "[p] Pass"), ("a", "Raise: 100_"), ("2", "Raise: 2_"), ("5", "Raise: 25_"))
        seat.plays(("\x7f", "Raise: 2_"), ("\x1b", "[p] Pass"), ("0", "Raise: 0_"))
        seat.plays(("\r", "Raise: found 0; allowed: 1 to 1073741723."), ("\x1b[A", "Raise: 1_"))
        seat.plays(("\t", "Raise: 100_"), ("\x1b[B", "Raise: 99_"), ("\r", "199 coins bet"))
        seat.plays(("p", "'p' does nothing now; allowed: d Draw"), ("9", "Raise: 9_"), ("d", "You: 7½, 199 coins bet"))


def test_the_error_for_a_refused_raise_is_quoted(deck: str) -> None:
    with seated("--deck", deck, "--max-bet", "150") as seat:
        seat.sees("[s] Start a game")
        seat.plays(START, ("d", "[p] Pass"), ("a", "Raise: 100_"), ("\r", "ANTE 100 refused; allowed: 1 to 50."))
        seat.sees("100 coins bet")
        seat.sees("[p] Pass")


def test_error_texts_of_the_house_are_escaped() -> None:
    with rogue([STBT, b"CARD 7o", b"ERRO 07\x1b[2J\xff\x07\n"]) as house, sitting(house.port) as seat:
        seat.sees("[s] Start a game")
        seat.plays(START, ("d", "[p] Pass"), ("a", "Raise: 100_"), ("\r", r"\x1b[2Jÿ\x07"))
        seat.press("\x03")


def test_play_continues_on_new_connections_after_each_game(deck: str) -> None:
    with seated("--deck", deck, "--once") as seat:
        seat.sees("[s] Start a game")
        seat.press("s")
        for games in (1, 2, 3):
            seat.sees("You bet 100. Draw your first card.")
            seat.plays(("d", "[p] Pass"), ("d", "You: 7½"), ("p", f"coins won: +{200 * games}"))
            seat.misses("[p] Pass")
            seat.sees("Next game")
            seat.press("\r")
        seat.sees("You bet 100. Draw your first card.")
        seat.plays(("\x03", "You have left the table."))
        seat.leaves()


def test_a_close_may_cross_the_start_of_the_next_game() -> None:
    with rogue([STBT, b"CARD 7o", BKSC + LOSS, b""], [STBT, b""]) as house, sitting(house.port) as seat:
        seat.sees("[s] Start a game")
        seat.plays(START, ("d", "[p] Pass"), ("p", "You lose 100 coins."), ("s", "Next game"))
        seat.plays(("\r", "You bet 100. Draw your first card."), ("\x03", "You have left the table."))
        seat.leaves()
    assert house.received == b"STRTDRAWPASSSTRTSTRT"


def test_a_house_that_closes_says_why(deck: str) -> None:
    with Serving("sevenhalf", "--port", "0", "--deck", deck) as server, sitting(server.port) as seat:
        seat.sees("[s] Start a game")
        assert server.stop() == 0
        seat.sees("The room closes (ERRO).")
        seat.sees("The server closed the connection.")
        seat.leaves(1)


@pytest.mark.parametrize(
    ("answers", "keys", "clause"),
    [
        ([b"CARD 7o"], "s", "sevenhalf-4.1"),
        ([STBT, b"CARD 8o"], "sd", "sevenhalf-2.4"),
        ([STBT, b"CARD 7o", b"CARD 7o"], "sdd", "sevenhalf-3.3"),
        ([STBT, b"CARD 7o", BKSC + GAIN], "sdp", "sevenhalf-5.8"),
    ],
)
def test_a_violation_of_the_house_shows_its_clause(answers: list[bytes], keys: str, clause: str) -> None:
    seen = {"s": "Draw your first card.", "d": "[p] Pass"}
    with rogue(answers) as house, sitting(house.port) as seat:
        seat.sees("[s] Start a game")
        seat.plays(*((key, seen[key]) for key in keys[:-1]))
        seat.press(keys[-1])
        seat.sees("The house broke the protocol.")
        seat.sees(clause)
        seat.leaves(1)
    assert house.received.endswith(f"ERRO {len(clause) + 10}{clause} is broken".encode())


def test_many_cards_fit_a_narrow_terminal(tmp_path: Path) -> None:
    cards = "so sc se sb co cc ce cb ro rc re rb 1o"
    with seated("--deck", deck_file(tmp_path, f"{cards} 1c 7o"), columns=30) as seat:
        seat.sees("[s] Start a game")
        seat.press("s")
        seat.sees("first card.")
        for number, _ in enumerate(cards.split(), start=1):
            halves = number if number < 13 else 14
            seat.press("d")
            seat.sees(f"You: {halves // 2 or ''}{'½' if halves % 2 else ''},")
            seat.sees("[p] Pass")
        assert seat.width <= 30
        seat.press("p")
        seat.sees("You win 100 coins.")
        assert seat.width <= 30


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_control_c_and_control_d_leave_in_the_middle_of_a_game(deck: str, key: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("[s] Start a game")
        seat.plays(START, ("d", "[p] Pass"), (key, "You have left the table."))
        seat.leaves()
