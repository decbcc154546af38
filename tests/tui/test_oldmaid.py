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
from tests.tui.fake_terminal import Seat

sitting = partial(seats.sitting, "oldmaid")

ANN = ("--nick", "ann", "--pause", "0", "--poll-seconds", "0.1", "--seed", "1")
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
        seat.sees("[3] Card 3")
        yield seat


def test_a_game_is_played_and_another_can_follow(tmp_path: Path) -> None:
    deck = deck_file(tmp_path, ["A spades"], ["A clubs", "joker maid"])
    with bob_waits("--deck", deck) as server, sitting(server.port, *ANN) as seat:
        seat.sees("You are offered 1 card: which one do you pick?")
        seat.sees("bob: left and right neighbour")
        seat.sees("You: 2 cards, pairs laid down: 12,")
        seat.sees("your turn")
        seat.sees("[1] Card 1: picks this card of your right neighbour")
        seat.press("\r")
        seat.sees("You pick the ace of spades.")
        seat.sees("You are left with the old maid: you have lost.")
        seat.sees("1 game, lost: 1")
        seat.plays(("n", "Waiting for other players."), ("q", "You have left the table."))
        seat.leaves()


def test_a_card_is_picked_by_its_key(tmp_path: Path) -> None:
    with offered_three(tmp_path) as seat:
        seat.plays(
            ("7", "'7' does nothing now; allowed: 1 Card 1, 2 Card 2, 3 Card 3, q Leave."), ("2", "You pick the ")
        )


@pytest.mark.extended
def test_leaving_during_a_game_needs_confirmation(tmp_path: Path) -> None:
    with offered_three(tmp_path) as seat:
        seat.plays(("q", "You come last if you leave now. Press q again"))
        seat.press("\x1b")
        seat.misses("Press q again")
        seat.plays(("q", "Press q again"), ("q", "You have left the table."))
        seat.leaves()


@pytest.mark.extended
def test_a_narrow_terminal_and_one_without_line_drawing_are_enough(tmp_path: Path) -> None:
    with offered_three(tmp_path, columns=36, encoding="ascii") as seat:
        seat.plays(("x", "'x' does nothing now"))
        seat.sees("> You")
        assert seat.text.isascii()
        assert seat.width <= 36


@pytest.mark.extended
def test_every_resize_draws_the_table_again(tmp_path: Path) -> None:
    with offered_three(tmp_path) as seat:
        for columns, rows, text in ((90, 40, "│A"), (36, 12, "> You"), (90, 40, "│A")):
            seat.resize(columns, rows)
            seat.sees("[q] Leave")
            seat.sees(text)
            assert seat.width <= columns


def test_control_c_leaves(tmp_path: Path) -> None:
    with Serving("oldmaid", "--port", "0", "--log-level", "error") as server, sitting(server.port, *ANN) as seat:
        seat.sees("Waiting for other players.")
        seat.plays(("\x03", "You have left the table."))
        seat.leaves()


@pytest.mark.parametrize("key", ["\x03", "q"])
def test_leaving_while_connecting(key: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, sitting(silent.getsockname()[1], "--tls", *ANN) as seat:
        seat.sees("Connecting to 127.0.0.1")
        seat.plays((key, "You have left the table."))
        seat.leaves()


def test_an_unreachable_table_and_a_refused_nick_are_reported() -> None:
    with Serving("oldmaid", "--port", "0", "--log-level", "error") as server:
        port = server.port
        with sitting(port, *ANN) as seat:
            seat.sees("Waiting for other players.")
            with sitting(port, *ANN) as other:
                other.sees("The table does not let ann in: oldmaid-3.8:")
                other.leaves(1)
            assert server.stop() == 0
            seat.sees("oldmaid-9.12: ")
            seat.leaves(1)
    with sitting(port, *ANN) as seat:
        seat.sees(f"No table answers at 127.0.0.1:{port}: ")
        seat.leaves(1)
