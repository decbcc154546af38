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
        seat.sees("[p] Play a round")
        seat.plays(PLAY, ("\r", "Bet: 10_"), ("\r", "You: 18"))
        seat.sees("Bank: 9")
        seat.sees("Purse: 990")
        seat.sees("[r] Surrender: gives up half of your bet")
        seat.plays(("s", "The bank gets the 8 of diamonds. You win 10 coins."))
        seat.sees("1 game, coins won: +10")
        seat.plays(("\r", "You have 1010 coins."), ("b", "Bet: 10_"), ("\r", "You: 17, soft"))
        seat.plays(("h", "You get the 4 of diamonds. You win 10 coins."))
        seat.plays(("p", "You have 1020 coins."), ("\r", "Bet: 10_"), ("\r", "You: 16, 10 coins bet"))
        seat.plays(("h", "You get the king of diamonds. You lose 10 coins."))
        seat.sees("3 games, coins won: +10")
        seat.sees("you 26, over; bank 5; bet 10: -10")
        seat.plays(("q", "You have left the table."))
        seat.leaves()


def test_an_entered_bet_becomes_the_default(deck: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("[p] Play a round")
        seat.plays(PLAY, ("2", "Bet: 2_"), ("5", "Bet: 25_"), ("\r", "[s] Stand"), ("s", "You win 25 coins."))
        seat.plays(("p", "You have 1025 coins."), ("\r", "Bet: 25_"))


def test_an_unaffordable_bet_is_not_sent(deck: str) -> None:
    with seated("--deck", deck) as seat:
        seat.sees("[p] Play a round")
        seat.plays(PLAY, ("5000", "Bet: 5000_"), ("\r", "Bet: found 5000; allowed: 1 to 1000."))
        seat.plays(("\x1b", "[b] Bet"), ("0", "Bet: 0_"), ("\r", "Bet: found 0; allowed: 1 to 1000."))


def test_the_first_bet_can_be_set(deck: str) -> None:
    with seated("--deck", deck, options=["--bet", "40"]) as seat:
        seat.sees("[p] Play a round")
        seat.plays(PLAY, ("\r", "Bet: 40_"))


def test_an_empty_purse_is_shown_and_can_be_replaced(tmp_path: Path) -> None:
    with seated("--deck", deck_file(tmp_path, "TS 6D 5C KD"), "--money", "15") as seat:
        seat.sees("[p] Play a round")
        seat.plays(PLAY, ("\r", "Bet: 10_"), ("\r", "[h] Hit"), ("h", "You lose 10 coins."))
        seat.plays(("p", "You have 5 coins."), ("\r", "Bet: 5_"), ("\r", "[h] Hit"), ("h", "Your purse is empty."))
        seat.sees("You lose 5 coins.")
        seat.sees("[n] New purse")
        seat.plays(("p", "'p' does nothing now; allowed: n New purse, q Leave."), ("n", "Welcome."))
        seat.sees("2 games, coins won: -15")
        seat.plays(PLAY)
        seat.sees("Purse: 15")


def test_a_closing_house_is_explained(deck: str) -> None:
    with Serving("blackjack", "--port", "0", "--deck", deck) as server, sitting(server.port) as seat:
        seat.sees("[p] Play a round")
        assert server.stop() == 0
        seat.sees("The house reports ERR 300: it is about to close the connection.")
        seat.sees("ends the session (STP).")
        seat.sees("The server closed the connection.")
        seat.leaves(1)


@pytest.mark.parametrize(
    ("answers", "keys", "clause"),
    [
        ([DEAL], "p", "blackjack-4.1"),
        ([b"MUN\x00\x00\x03\xe8"], "p", "blackjack-2.10"),
        ([MON, crd("C8S C8S S9C") + b"TRN"], "pb\r", "blackjack-3.1"),
        ([MON, DEAL, crd("S9H") + b"RES\x00L\x00\x00\x00\x00"], "pb\rs", "blackjack-3.10"),
        ([MON, DEAL, crd("S8H") + b"RES\x00W\x00\x00\x00\x0a"], "pb\rs", "blackjack-5.1"),
        ([MON, DEAL, b"RES\x00L\x00\x00\x00\x05", b"MON\x00\x00\x03\xe8"], "pb\rrp", "blackjack-7.2"),
    ],
)
@pytest.mark.extended
def test_a_violation_of_the_house_shows_its_clause(answers: list[bytes], keys: str, clause: str) -> None:
    seen = {"p": "How much do you bet?", "b": "Bet: 10_", "\r": "[h] Hit", "r": "You lose 5 coins."}
    with rogue(answers) as house, sitting(house.port) as seat:
        seat.sees("[p] Play a round")
        seat.plays(*((key, seen[key]) for key in keys[:-1]))
        seat.press(keys[-1])
        seat.sees("The house broke the protocol.")
        seat.sees(clause)
        seat.leaves(1)


def test_many_cards_fit_a_narrow_terminal(tmp_path: Path) -> None:
    with seated("--deck", deck_file(tmp_path, "AS AH TC AD AC 2S 2H 2D 2C 3S 3H 9C"), columns=30) as seat:
        seat.sees("[p] Play a round")
        seat.plays(("p", "bet?"), ("\r", "Bet: 10_"), ("\r", "[s] Stand"))
        for seen in ("13, soft", "14, soft", "16, soft", "18, soft", "20, soft", "12", "15"):
            seat.plays(("h", f" {seen}, 10 coins bet"))
        seat.plays(("s", "You win 10 coins."))
        assert seat.width <= 30


@pytest.mark.parametrize(
    ("encoding", "spades"), [("utf-8", "│♠      │"), ("latin-1", "|S      |"), ("ascii", "|S      |")]
)
@pytest.mark.extended
def test_suits_are_shown_as_the_terminal_can(deck: str, encoding: str, spades: str) -> None:
    with seated("--deck", deck, encoding=encoding) as seat:
        seat.sees("[p] Play a round")
        seat.plays(PLAY, ("\r", "Bet: 10_"), ("\r", spades))


@pytest.mark.parametrize("key", ["\x03", "\x04", "qq"])
def test_leaving_during_a_round_sends_stp(key: str) -> None:
    with rogue([MON, DEAL, b"STP"]) as house, sitting(house.port) as seat:
        seat.sees("[p] Play a round")
        seat.plays(PLAY, ("\r", "Bet: 10_"), ("\r", "[h] Hit"), (key, "You have left the table."))
        seat.leaves()
    assert house.received == b"PLYBET\x00\x00\x00\x0aSTP"
