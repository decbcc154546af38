"""The screen and its keys, with input and output of prompt_toolkit's own for tests."""

import asyncio
from collections.abc import Callable, Iterator

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from croupier.core.presentation import LEAVE, ActionView, Amount, TableView, text
from croupier.tui.screen import Screen
from croupier.tui.table_keys import BACKSPACE, DOWN, ENTER, ESCAPE, HANGUP, LEAVE_KEYS, TAB, UP, Choice
from croupier.tui.table_screen import TableScreen
from tests.processes import PATIENCE

BET = ActionView("bet", text("Bet"), "b", text("puts coins down"), Amount(1, 99, (), 10))
VIEW = TableView(title=text("A game"), seats=(), actions=(BET, LEAVE))


@pytest.fixture
def keyboard() -> Iterator[PipeInput]:
    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
        yield keyboard


def keys_of(keyboard: PipeInput, typed: str, count: int, close: Callable[[], None] = lambda: None) -> list[str]:
    """Return the keys of a screen when this was typed."""

    async def main() -> list[str]:
        pressed: asyncio.Queue[str] = asyncio.Queue()
        async with asyncio.timeout(PATIENCE), Screen(lambda columns, rows: [], pressed.put_nowait):
            keyboard.send_text(typed)
            close()
            return [await pressed.get() for _ in range(count)]

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        ("cQ7?", ["c", "Q", "7", "?"]),
        ("\r\t\x7f", [ENTER, TAB, BACKSPACE]),
        ("\x1b[A\x1b[B\x1b[C\x1b[H", [UP, DOWN, "right", "home"]),
        ("\x1b", [ESCAPE]),
        ("ñ", ["ñ"]),
    ],
)
def test_keys_have_names(keyboard: PipeInput, typed: str, keys: list[str]) -> None:
    assert keys_of(keyboard, typed, len(keys)) == keys


def test_control_c_and_control_d_leave(keyboard: PipeInput) -> None:
    assert set(keys_of(keyboard, "\x03\x04", 2)) <= LEAVE_KEYS


def test_a_closed_terminal_leaves(keyboard: PipeInput) -> None:
    assert keys_of(keyboard, "", 1, keyboard.close) == [HANGUP]


def choices(keyboard: PipeInput, typed: str, count: int) -> list[Choice]:
    """Return the choices of a person who types this."""

    async def main() -> list[Choice]:
        async with asyncio.timeout(PATIENCE), TableScreen("here:1", text("The rules."), VIEW) as table:
            keyboard.send_text(typed)
            return [await table.choose() for _ in range(count)]

    return asyncio.run(main())


def test_a_person_chooses_by_keys(keyboard: PipeInput) -> None:
    assert choices(keyboard, "b\rb25\r9\rq", 4) == [
        Choice("bet", 10),
        Choice("bet", 25),
        Choice("bet", 9),
        Choice("leave"),
    ]


def test_the_last_table_is_printed_at_the_end(keyboard: PipeInput, capsys: pytest.CaptureFixture[str]) -> None:
    assert choices(keyboard, "q", 1) == [Choice("leave")]
    assert capsys.readouterr().out.splitlines()[0].strip() == "A game at here:1"
