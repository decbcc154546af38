"""Tables as lines of text: for screen readers, simple terminals and pipes."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from msgspec.structs import replace

from croupier.core.presentation import SeatView, TableView, text
from croupier.rooms.kuhn.presenter import CARDS
from croupier.tui.plain import PlainDisplay
from tests.processes import COMMAND, PATIENCE, Background, Serving, croupier, environment
from tests.tui.fake_terminal import deck_file, rogue, terminal

ESCAPE = "\x1b"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Serving]:
    deck = deck_file(tmp_path, "Q K J")
    with Serving("kuhn", "--port", "0", "--log-level", "error", "--deck", deck, "--bot", "script:CAL") as server:
        yield server


def play(room: str, port: int, keys: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Play with the keys of a pipe."""
    return croupier("play", room, f"127.0.0.1:{port}", *options, keys=keys)


def test_the_keys_of_a_pipe_are_played(house: Serving) -> None:
    done = play("kuhn", house.port, "1\nb\nq\n")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:4] == [
        f"Kuhn poker at {house.address}.",
        "Type a key and Enter. ? and Enter reads the rules, Enter alone reads the table.",
        f"Connecting to {house.address}.",
        "Welcome. Choose your seat: P_1 acts first.",
    ]
    for line in (
        "You are dealt the queen.",
        "You: the queen, P_1, first to act, 1 coin bet, your turn",
        "Pot: 2, Purse: 9",
        "[b] Bet 1: puts a coin into the pot",
        "The house shows the king.",
        "You lose 2 coins.",
        "1 game, coins won: -2",
    ):
        assert lines.count(line) == 1, line
    assert lines.count("[1] Play as P_1: you act first") == 2, "it can be done again after the game"
    assert lines[-1] == "You have left the table."
    assert ESCAPE not in done.stdout


def test_labels_rules_and_the_table_are_read_on_request(house: Serving) -> None:
    done = play("kuhn", house.port, "play as p_1\n?\n\nx\nbet\n")
    assert done.returncode == 0
    assert done.stdout.count("If nobody folds, the higher card wins the pot.") == 1
    assert done.stdout.count("Type a key and Enter. ? and Enter reads the rules, Enter alone reads the table.") == 2
    assert "any key" not in done.stdout
    assert done.stdout.count("House: a card face down, P_2, 1 coin bet") == 1
    assert done.stdout.count("You: the queen, P_1, first to act, 1 coin bet, your turn") == 2
    assert "x does nothing now; allowed: c Check, b Bet 1, q Leave." in done.stdout
    assert "You lose 2 coins." in done.stdout
    assert "The input has ended: you leave. (--bot NAME lets a bot play.)" in done.stdout


def test_an_empty_input_leaves_and_names_the_option_for_bots(house: Serving) -> None:
    done = croupier("play", "kuhn", house.address)
    assert done.returncode == 0
    assert "The input has ended: you leave. (--bot NAME lets a bot play.)" in done.stdout


def test_leaving_that_costs_something_is_confirmed(house: Serving) -> None:
    done = play("kuhn", house.port, "1\nq\nq\n")
    assert "You lose what you have bet if you leave now. Press q again to do it, Esc to stay." in done.stdout
    assert done.stdout.splitlines()[-1] == "You have left the table."


def test_a_number_is_asked_for_or_given_with_its_key(tmp_path: Path) -> None:
    deck = deck_file(tmp_path, "8S TH 9C 8D")
    with Serving("blackjack", "--port", "0", "--log-level", "error", "--deck", deck) as server:
        done = play("blackjack", server.port, "p\nb\n25\ns\np\nb 2000\nb 30\ns\np\n\n40\n")
    assert "[b] Bet, 1 to 1000: puts coins on this round\nHalf 500, All 1000\n" in done.stdout
    assert "Type a number and Enter; Enter alone takes 10." in done.stdout
    assert "You win 25 coins." in done.stdout
    assert "Bet: found 2000; allowed: 1 to 1025." in done.stdout
    assert "You win 30 coins." in done.stdout
    assert done.stdout.count("You: the 8 of spades, the 10 of hearts, 18, 40 coins bet, your turn") == 1


def test_a_server_that_is_gone_ends_the_program_with_status_1() -> None:
    with rogue([b"CARD C_K"]) as house:
        done = play("kuhn", house.port, "1\nc\nc\n")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "The server closed the connection."


def test_a_pipe_leaves_a_table_where_nothing_happens() -> None:
    with Serving("oldmaid", "--port", "0", "--log-level", "error") as server:
        done = play("oldmaid", server.port, "q\n", "--nick", "ann")
    assert done.returncode == 0
    assert "Waiting for other players." in done.stdout
    assert done.stdout.splitlines()[-1] == "You have left the table."


def test_a_dumb_terminal_and_the_option_get_lines(house: Serving) -> None:
    for options, variables in (((), {"TERM": "dumb"}), (("--plain",), {})):
        with terminal("play", "kuhn", house.address, *options, variables=variables) as seat:
            seat.sees("[1] Play as P_1: you act first")
            seat.plays(("1\n", "You are dealt the queen."), ("b\n", "You lose 2 coins."))
            seat.sees("Kuhn poker at")  # nothing is erased
            seat.plays(("q\n", "You have left the table."))
            seat.leaves()


def test_a_person_at_a_terminal_may_leave_while_others_play() -> None:
    with (
        Serving("oldmaid", "--port", "0", "--log-level", "error") as server,
        terminal("play", "oldmaid", server.address, "--nick", "ann", "--plain") as seat,
    ):
        seat.sees("Waiting for other players.")
        seat.plays(("x\n", "x does nothing now: Waiting for other players."), ("q\n", "You have left the table."))
        seat.leaves()


def test_a_hand_of_holdem_is_played_in_lines(tmp_path: Path) -> None:
    bob = ("--user", "bob", "--password", "secret", "--bot", "caller", "--hands", "9")
    with (
        Serving("holdem", "--port", "0", "--log-level", "error") as server,
        Background("play", "holdem", server.address, *bob),
    ):
        done = play("holdem", server.port, "r 40\n" + "c\n" * 8, "--user", "ann", "--password", "secret")
    assert done.returncode == 0
    assert "You raise to 40." in done.stdout
    assert "Time left: " in done.stdout
    assert "1 hand, chips won: " in done.stdout


def test_the_prompt_comes_before_the_end_of_the_line() -> None:
    """A program that reads lines sees each view before it has to answer."""
    with Serving("kuhn", "--port", "0", "--log-level", "error") as server:
        process = subprocess.Popen(
            [*COMMAND, "play", "kuhn", server.address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        assert process.stdin is not None
        assert process.stdout is not None
        read_until(process.stdout, "[2] Play as P_2")
        process.stdin.write("1\n")
        process.stdin.flush()
        read_until(process.stdout, "[b] Bet 1")
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
        process.stdout.close()


def read_until(output: IO[str], text: str) -> None:
    while text not in output.readline():
        pass


def test_the_cards_of_the_person_are_not_read_again_at_each_turn(capsys: pytest.CaptureFixture[str]) -> None:
    own = SeatView(name=text("You"), cards=(CARDS["Q"],), caption=text("P_1"), is_viewer=True)
    view = TableView(title=text("Kuhn poker"), seats=(own,))
    display = PlainDisplay("here", text("The rules."), view)
    for status in ("to act", "", "to act", "folded"):
        display.show(replace(view, seats=(replace(own, status=status),)))
    assert capsys.readouterr().out.splitlines() == ["You: the queen, P_1, your turn", "You: the queen, P_1, folded"]


def test_texts_are_in_the_language_of_the_environment(house: Serving) -> None:
    for variables, welcome in (
        ({"LANGUAGE": "", "LC_ALL": "", "LC_MESSAGES": "", "LANG": "ca_ES.UTF-8"}, "Has deixat la taula."),
        ({"LANGUAGE": "no:en"}, "Du har forlatt bordet."),
        ({"LANGUAGE": "xx"}, "You have left the table."),
    ):
        assert croupier("play", "kuhn", house.address, variables=variables).stdout.splitlines()[-1] == welcome
