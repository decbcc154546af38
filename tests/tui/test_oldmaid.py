"""Old Maid in the terminal, with a real table and a bot as the other player."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path

import pytest

from tests.processes import Background, Serving
from tests.tui import fake_terminal as seats
from tests.tui.fake_terminal import SIZELESS, Seat

sitting = partial(seats.sitting, "oldmaid")

ANN = ("--nick", "ann", "--pause", "0", "--poll-seconds", "0.1", "--seed", "1")
RIGHT, LEFT = "\x1b[C", "\x1b[D"
SUITS = ("spades", "clubs", "diamonds", "hearts")
PAIRS = [
    [f"{value} {suits[0]}", f"{value} {suits[1]}"]
    for value in (*map(str, range(2, 11)), "J", "Q", "K", "A")
    for suits in (SUITS[:2], SUITS[2:])
]


def deck_file(folder: Path, left: list[str], right: list[str]) -> str:
    """Write a deck for two players: `left` and `right` remain in their hands after all pairs are discarded."""
    pairs = [pair for pair in PAIRS if not {*pair} & {*left, *right}]
    split = (27 - len(left)) // 2
    hands = [*left, *chain(*pairs[:split])], [*right, *chain(*pairs[split:])]
    deck = [hands[at % 2][at // 2] for at in range(53)]
    path = folder / "deck.txt"
    path.write_text("\n".join(deck) + "\n")
    return str(path)


@contextmanager
def bob_waits(*flags: str) -> Iterator[Serving]:
    """Run a table for two at which the bot Bob has joined first."""
    with Serving(
        "oldmaid", "--port", "0", "--players", "2", "--log-level", "debug", "--drain-seconds", "0", *flags
    ) as server:
        bot = ("play", "oldmaid", server.address, "--nick", "bob", "--bot", "first", "--pause", "0")
        with Background(*bot, "--poll-seconds", "0.1"):
            server.wait_for_event("received")
            yield server


@contextmanager
def offered_three(tmp_path: Path, *flags: str, columns: int = 100, **more: object) -> Iterator[Seat]:
    """Ann in a terminal, with a king and an ace; Bob offers her a king, an ace and the joker."""
    deck = deck_file(tmp_path, ["A spades", "K spades", "joker maid"], ["A clubs", "K clubs"])
    with (
        bob_waits("--deck", deck) as server,
        sitting(server.port, *ANN, *flags, columns=columns, **more) as seat,  # type: ignore[arg-type]
    ):
        seat.sees("Card 1 of 3")
        yield seat


def test_a_game_is_played_and_another_can_follow(tmp_path: Path) -> None:
    deck = deck_file(tmp_path, ["A spades"], ["A clubs", "joker maid"])
    with bob_waits("--deck", deck) as server, sitting(server.port, *ANN) as seat:
        seat.sees("2 players; you are number 2")
        seat.sees("You throw away ")
        seat.sees("You are offered 1 card: which card do you pick?")
        seat.sees("> bob")
        seat.sees("[← → 0-9] choose  [Enter] pick card 1  [q] leave")
        seat.press("\r")
        seat.sees("You pick the ace of spades")
        seat.sees("You are left with the old maid: you have lost.")
        seat.sees("Games: 1   Lost: 1")
        seat.sees("[n/Enter] another game  [q] leave")
        seat.plays(("n", "Waiting for other players …"), ("q", "You have left the table."))
        seat.leaves()


def test_a_card_is_chosen_with_arrows_and_numbers(tmp_path: Path) -> None:
    with offered_three(tmp_path) as seat:
        seat.sees("Enter] pick card 1 ")
        seat.plays(
            (RIGHT, "[Enter] pick card 2"),
            (LEFT + LEFT, "[Enter] pick card 3"),
            (RIGHT, "[Enter] pick card 1"),
            ("2", "[Enter] pick card 2"),
            ("x", "'x' does nothing now."),
            ("7", "There is no card 7; allowed: 1 to 3."),
            ("3", "[Enter] pick card 3"),
            ("2", "[Enter] pick card 2"),
            ("\r", "You pick the "),
        )


def test_leaving_during_a_game_needs_confirmation(tmp_path: Path) -> None:
    with offered_three(tmp_path) as seat:
        seat.plays(
            ("q", "You come last if you leave now."),
            ("\x1b", "[Enter] pick card 1"),
            ("q", "[q] leave anyway  [Esc] stay"),
            ("q", "You have left the table."),
        )
        seat.leaves()


def test_a_narrow_terminal_and_one_without_line_drawing_are_enough(tmp_path: Path) -> None:
    with offered_three(tmp_path, columns=36, encoding="ascii") as seat:
        seat.sees("leave")
        seat.press(RIGHT)
        seat.sees("Card 2 of 3")
        seat.sees("leave")
        assert "Your hand: " in seat.screen
        assert seat.screen.isascii()
        assert seat.width <= 36


def test_a_resize_redraws_the_screen(tmp_path: Path) -> None:
    with offered_three(tmp_path, variables=SIZELESS) as seat:
        seat.resize(90, 40)
        seat.sees("│░│ │░│")
        for lines in (24, 23):  # the end of a wide screen may still arrive after the first resize
            seat.resize(36, lines)
            seat.sees("Your hand: ")
        assert seat.width <= 36
        seat.resize(90, 40)
        seat.sees("│░│ │░│")


def test_control_c_leaves(tmp_path: Path) -> None:
    with Serving("oldmaid", "--port", "0", "--log-level", "error") as server, sitting(server.port, *ANN) as seat:
        seat.sees("Waiting for other players …")
        seat.plays(("\x03", "You have left the table."))
        seat.leaves()


@pytest.mark.parametrize("key", ["\x03", "q"])
def test_leaving_while_connecting(key: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, sitting(silent.getsockname()[1], "--tls", *ANN) as seat:
        seat.sees("Waiting for other players …")
        seat.plays((key, "You have left the table."))
        seat.leaves()


def test_an_unreachable_table_and_a_refused_nick_are_reported() -> None:
    with Serving("oldmaid", "--port", "0", "--log-level", "error") as server:
        port = server.port
        with sitting(port, *ANN) as seat:
            seat.sees("Waiting for other players")
            with sitting(port, *ANN) as other:
                other.sees("does not let us in: oldmaid-3.8:")
                other.leaves(1)
            assert server.stop() == 0
            seat.sees("oldmaid-9.12: ")
            seat.leaves(1)
    with sitting(port, *ANN) as seat:
        seat.sees(f"No table answers at 127.0.0.1:{port}: ")
        seat.leaves(1)
