"""Parts of the terminal interface: keys, number input, cards and the frame."""

import os
import pty
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from croupier.rooms.blackjack.rules import CARDS as FRENCH
from croupier.rooms.sevenhalf.rules import CARDS as SPANISH
from croupier.tui.cards import CARD_HEIGHT_LINES, CARD_WIDTH_COLUMNS, TwoHands, fan_lines, french_face, spanish_face
from croupier.tui.frame import SceneFrame
from croupier.tui.keys import BACKSPACE, END_OF_INPUT, ENTER, ESCAPE, keys_of_line, read_keys, split_keys
from croupier.tui.number_input import NumberInput
from tests.net.raw_client import Run


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("cq", ["c", "q"]),
        ("\r\n", [ENTER, ENTER]),
        ("\x03", [END_OF_INPUT]),
        ("\b\x7f", [BACKSPACE, BACKSPACE]),
        ("\x1b", [ESCAPE]),
        ("a\x1b[Ab", ["a", "\x1b[A", "b"]),
        ("\x1bOP\x1b[15~d", ["\x1bOP", "\x1b[15~", "d"]),
    ],
)
def test_split_keys(typed: str, found: list[str]) -> None:
    assert split_keys(typed) == found


@pytest.mark.parametrize(
    ("line", "found"), [("c\n", ["c"]), ("\n", [ENTER]), ("25\n", ["2", "5", ENTER]), (" p \n", ["p"])]
)
def test_keys_of_line(line: str, found: list[str]) -> None:
    assert keys_of_line(line) == found


def test_a_slow_terminal_receives_all_output_while_keys_are_read(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"x" * 100_000  # more than a terminal holds
    outer, inner = pty.openpty()

    async def write() -> str:
        with read_keys() as keys:
            assert os.write(inner, text) == len(text)
            os.write(outer, b"c")
            return await keys.get()

    def read() -> bytes:
        found = b""
        while len(found) < len(text):
            found += os.read(outer, 4096)
        return found

    with open(inner, closefd=False) as terminal, ThreadPoolExecutor(1) as threads:
        monkeypatch.setattr("sys.stdin", terminal)
        received = threads.submit(read)
        try:
            assert run(write()) == "c"
        finally:
            os.close(inner)  # which ends the thread if something has failed
        assert received.result() == text
    os.close(outer)


def test_number_input_accepts_digits_and_corrections() -> None:
    number = NumberInput()
    taken = [number.accept_key(key) for key in [BACKSPACE, ESCAPE, "٣", "4", "2", BACKSPACE, "0", "x", ENTER]]
    assert taken == [False, False, False, True, True, True, True, False, False]
    assert (number.digits, number.pop_value(), number.digits) == ("40", 40, "")
    assert number.accept_key("7")
    assert number.accept_key(ESCAPE)
    assert number.digits == ""


def test_number_input_is_limited() -> None:
    number = NumberInput()
    for key in "9" * 99:
        number.accept_key(key)
    assert number.pop_value() < 10**10


def test_card_names() -> None:
    assert [spanish_face(card).name for card in ("7o", "sc", "ce", "rb")] == [
        "the 7 of oros",
        "the sota of copes",
        "the cavall of espases",
        "the rei of bastos",
    ]
    assert [french_face(card).name for card in ("TS", "AH", "JD", "2C")] == [
        "the 10 of spades",
        "the ace of hearts",
        "the jack of diamonds",
        "the 2 of clubs",
    ]


@given(st.integers(0, 20), st.integers(CARD_WIDTH_COLUMNS, 90))
def test_fan_lines_fit_any_width_and_show_every_card(count: int, width: int) -> None:
    for faces in (
        [spanish_face(card) for card in SPANISH[-count - 1 :]],
        [french_face(card) for card in FRENCH[:count]],
    ):
        lines = fan_lines(faces, width)
        assert max(map(len, lines)) <= width
        assert len(lines) % CARD_HEIGHT_LINES == 0
        ranks = "".join(lines[1::CARD_HEIGHT_LINES])
        suits = "".join(lines[2::CARD_HEIGHT_LINES])
        for face in faces:
            assert f"{face.rank:<2}"[:2] in ranks
            assert f"{face.suit:<2}"[:2] in suits


@given(st.integers(0, 14), st.integers(0, 14), st.integers(1, 90))
def test_two_hands_fit_any_width(own: int, bank: int, width: int) -> None:
    console = Console(width=width, height=24, force_terminal=True)
    hands = TwoHands(
        ([spanish_face(card) for card in SPANISH[:own]], "you"), ([spanish_face(card) for card in SPANISH[:bank]], "")
    )
    assert all(sum(len(part.text) for part in line) <= width for line in console.render_lines(hands))


@pytest.mark.parametrize(("height", "kept"), [(30, 5), (8, 3), (5, 0), (3, 0)])
def test_the_history_is_cut_before_the_keys(height: int, kept: int) -> None:
    console = Console(width=40, height=height, force_terminal=True, color_system=None)
    frame = SceneFrame(
        "title", [Text("above")], [f"game {number}" for number in range(5)], [Text("keys"), Text("more")]
    )
    with console.capture() as capture:
        console.print(frame)
    shown = capture.get()
    assert len(shown.splitlines()) <= height
    assert "more" in shown
    assert [f"game {number}" in shown for number in range(5)] == [number >= 5 - kept for number in range(5)]
