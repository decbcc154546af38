"""Blackjack in the terminal."""

from functools import partial
from pathlib import Path

import pytest

from tests.processes import Serving
from tests.tui import fake_terminal as seats
from tests.tui.fake_terminal import deck_file, rogue

seated = partial(seats.seated, "blackjack")
sitting = partial(seats.sitting, "blackjack")

PLAY = ("p", "How much do you bet?")
MON = b"MON\x00\x00\x03\xe8"


def crd(cards: str) -> bytes:
    """Cards with their owners before them."""
    return b"".join(b"CRD" + card.encode("utf-16-be") for card in cards.split())


DEAL = crd("C8S CTH S9C") + b"TRN"


@pytest.fixture
def deck(tmp_path: Path) -> str:
    """Won by standing, then won by a hit to 21, then lost by a hit."""
    return deck_file(tmp_path, "8S TH 9C 8D", "AS 6H TC 4D", "TS 6D 5C KD")


def test_rounds_are_played_and_shown(deck: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("[p/Enter] play a round  [q] leave")
        seat.plays(PLAY)
        seat.sees("[Enter] bet 10  [0-9] another bet  [q] leave")
        seat.press("\r")
        seat.sees("you: 18")
        seat.sees("bank: 9")
        seat.sees("Bet: 10   Balance: 990")
        seat.sees("The bank gets the")
        seat.sees("[h] hit  [s] stand  [r] surrender  [q] leave")
        seat.plays(("s", "The bank gets the 8 of diamonds. You win 10."))
        seat.sees("Games: 1   Coins won: +10")
        seat.plays(("\r", "Balance: 1010"))
        seat.sees("[Enter] bet 10")
        seat.plays(("\r", "you: 17 soft"), ("h", "You get the 4 of diamonds. You win 10."))
        seat.sees("you 21 soft   bank 10        bet 10         +10")
        seat.plays(PLAY)
        seat.sees("[Enter] bet 10")
        seat.plays(("\r", "you: 16 "), ("h", "You get the king of diamonds. You lose 10."))
        seat.sees("Games: 3   Coins won: +10")
        seat.sees("you 26, over  bank 5         bet 10         -10")
        seat.plays(("q", "You have left the table."))
        seat.leaves()


def test_an_entered_bet_becomes_the_default(deck: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("play a round")
        seat.plays(PLAY, ("2", "Bet 2_  [Enter] confirm"), ("5", "Bet 25_"), ("\n", "Bet: 25   Balance: 975"))
        seat.sees("[s] stand")
        seat.plays(("s", "You win 25."), PLAY)
        seat.sees("[Enter] bet 25")


def test_an_unaffordable_bet_is_not_sent(deck: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("play a round")
        seat.plays(PLAY, ("5000", "Bet 5000_"), ("\r", "You cannot bet 5000; allowed: 1 to 1000."))
        seat.plays(("0", "Bet 0_"), ("\r", "You cannot bet 0; allowed: 1 to 1000."))
        seat.sees("[Enter] bet 10")


def test_the_first_bet_can_be_set(deck: str) -> None:
    with seated("--deck", deck, options=["--bet", "40"]) as seat:
        seat.sees("play a round")
        seat.plays(PLAY)
        seat.sees("[Enter] bet 40")


def test_a_surrender_keeps_half_of_the_bet(deck: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("play a round")
        seat.plays(PLAY, ("5", "Bet 5_"), ("\r", "[r] surrender"), ("r", "You lose 3."))
        seat.sees("Bet: 5   Balance: 997")


def test_an_empty_purse_is_shown_and_can_be_replaced(tmp_path: Path) -> None:
    with seated("--deck", deck_file(tmp_path, "TS 6D 5C KD"), "--money", "15") as seat:
        seat.sees("play a round")
        seat.plays(PLAY)
        seat.sees("[Enter] bet 10")
        seat.plays(("\r", "[h] hit"), ("h", "You lose 10."), PLAY)
        seat.sees("[Enter] bet 5 ")
        seat.plays(("\r", "[h] hit"), ("h", "You get the king of diamonds. You lose 5. Your purse is empty."))
        seat.sees("[n] a new purse  [q] leave")
        seat.plays(("p", "'p' does nothing now."), ("n", "Welcome."))
        seat.sees("Games: 2   Coins won: -15")
        seat.plays(PLAY)
        seat.sees("Balance: 15")
        seat.sees("[Enter] bet 5 ")


def test_all_coins_may_be_bet_and_won(deck: str) -> None:
    with seated("--deck", deck, "--money", "10") as seat:
        seat.sees("play a round")
        seat.plays(PLAY, ("\r", "Balance: 0"))
        seat.sees("[s] stand")
        seat.plays(("s", "You win 10."))
        seat.sees("Balance: 20")
        assert "empty" not in seat.screen
        seat.sees("[p/Enter] play a round")


def test_an_initially_empty_purse_is_shown(deck: str) -> None:
    with seated("--deck", deck, "--money", "0") as seat:
        seat.sees("play a round")
        seat.plays(("p", "Your purse is empty."))
        seat.sees("[n] a new purse  [q] leave")


def test_a_purse_too_full_for_a_win_is_shown(deck: str) -> None:
    with seated("--deck", deck, "--money", "2147483647") as seat:
        seat.sees("play a round")
        seat.plays(("p", "Your purse is too full for another bet."))
        seat.sees("[n] a new purse")


def test_unknown_keys_are_reported(deck: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("play a round")
        seat.plays(("h", "'h' does nothing now."), ("3", "'3' does nothing now."), PLAY)
        seat.plays(("p", "'p' does nothing now."), ("\r", "[h] hit"), ("\r", "Enter does nothing now."))
        seat.plays(("5", "'5' does nothing now."))


def test_a_closing_house_is_explained(deck: str) -> None:
    with Serving("blackjack", "--port", "0", "--deck", deck) as server, sitting(server.port) as seat:
        seat.sees("play a round")
        assert server.stop() == 0
        seat.sees("The house reports ERR 300: it is about to close the connection.")
        seat.sees("ends the session (STP).")
        seat.sees("gone")
        seat.leaves(1)


@pytest.mark.parametrize(
    ("answers", "keys", "clause"),
    [
        ([DEAL], "p", "blackjack-4.1"),
        ([b"MUN\x00\x00\x03\xe8"], "p", "blackjack-2.10"),
        ([MON, crd("C8S C8S S9C") + b"TRN"], "p\r", "blackjack-3.1"),
        ([MON, DEAL, crd("S9H") + b"RES\x00L\x00\x00\x00\x00"], "p\rs", "blackjack-3.10"),
        ([MON, DEAL, crd("S8H") + b"RES\x00W\x00\x00\x00\x0a"], "p\rs", "blackjack-5.1"),
        ([MON, DEAL, b"RES\x00L\x00\x00\x00\x05", b"MON\x00\x00\x03\xe8"], "p\rrp", "blackjack-7.2"),
    ],
)
def test_a_violation_of_the_house_shows_its_clause(answers: list[bytes], keys: str, clause: str) -> None:
    seen = {"p": "How much do you bet?", "\r": "[h] hit", "r": "You lose 5."}
    with rogue(answers) as house, sitting(house.port) as seat:
        seat.sees("play a round")
        seat.plays(*((key, seen[key]) for key in keys[:-1]))
        seat.press(keys[-1])
        seat.sees("The house broke the protocol.")
        seat.sees(clause)
        seat.leaves(1)


def test_many_cards_fit_a_narrow_terminal(tmp_path: Path) -> None:
    with seated("--deck", deck_file(tmp_path, "AS AH TC AD AC 2S 2H 2D 2C 3S 3H 9C"), columns=30) as seat:
        seat.sees("leave")
        seat.press("p")
        seat.sees("bet?")
        seat.press("\r")
        seat.sees("you: 12 soft")
        for seen in ("13 soft", "14 soft", "16 soft", "18 soft", "20 soft", "12", "15", "18"):
            seat.sees("leave")
            seat.press("h")
            seat.sees(f"you: {seen} ")
        seat.sees("leave")
        seat.press("s")
        seat.sees("You lose 10.")
        assert seat.width <= 30


@pytest.mark.parametrize(
    ("encoding", "spades"), [("utf-8", "│♠      │"), ("latin-1", "|S      |"), ("ascii", "|S      |")]
)
def test_suits_are_shown_as_the_terminal_can(deck: str, encoding: str, spades: str) -> None:
    with seated("--deck", deck, encoding=encoding) as seat:
        seat.sees("play a round")
        seat.plays(PLAY, ("\r", spades))


@pytest.mark.parametrize("key", ["\x03", "\x04", "q"])
def test_leaving_during_a_round_sends_stp(key: str) -> None:
    with rogue([MON, DEAL, b"STP"]) as house, sitting(house.port) as seat:
        seat.sees("play a round")
        seat.plays(PLAY, ("\r", "[h] hit"), (key, "You have left the table."))
        seat.leaves()
    assert house.received == b"PLYBET\x00\x00\x00\x0aSTP"
