"""A table as lines of text, for screen readers, simple terminals, and programs that write keys into a pipe."""

import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from threading import Thread
from typing import Final, Self

from msgspec.structs import replace

from croupier.core.linear import action_line, board_line, seat_line
from croupier.core.presentation import ActionView, TableView, Text, listed, new_items, text
from croupier.tui.encoding import terminal_text
from croupier.tui.table_keys import ENTER, HELP, Choice, TableKeys, keys_of
from croupier.tui.texts import LINES_HELP, money_text, presets_text, time_text

READ_BYTES: Final = 4096
MAX_LINE_BYTES: Final = 200
"""Longer lines are cut; no key, label or number is as long."""
MAX_LISTED_ACTIONS: Final = 6
"""More actions are printed in one line, without their consequences."""
QUIET_SECONDS: Final = 5.0
"""A pipe that ends or leaves waits for a table that it cannot act at, until the table was silent for this time."""

END_OF_INPUT: Final = None
LEAVE_LINES: Final = ("q", "leave", END_OF_INPUT)


class PlainDisplay:
    """A `Display` of lines: it prints only what is new, and never moves the cursor.

    A line of input is the key, the id or the label of an action, perhaps followed by a number, or a number. An empty
    line reads the table again. The lines of a pipe may be written in advance: they are used when the person can act.
    The end of the input leaves the table.
    """

    def __init__(self, place: str, rules: Text, view: TableView) -> None:
        self._place = place
        self._rules = rules
        self._view = view
        self._keys = TableKeys(view)
        self._printed: dict[str, object] = {}
        self._announced: Sequence[Text] = ()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._held: list[str | None] = []
        self._changed = asyncio.Event()
        self._is_pipe = sys.stdin is None or not sys.stdin.isatty()

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()

        def read() -> None:
            with suppress(RuntimeError):  # the loop has ended
                for line in input_lines():
                    loop.call_soon_threadsafe(self._lines.put_nowait, line)

        Thread(target=read, daemon=True, name="croupier-lines").start()
        self._print(text("{title} at {place}.", title=self._view.title, place=self._place))
        self._print(LINES_HELP)
        self.show(self._view)
        return self

    async def __aexit__(self, *error: object) -> None:
        sys.stdout.flush()

    def show(self, view: TableView) -> None:
        """See `Display.show`."""
        self._view = view
        self._keys.update(view)
        self._changed.set()
        for announcement in new_items(self._announced, view.announcements):
            self._print(announcement)
        self._announced = view.announcements
        for name, line in table_lines(view):
            news = resting_seat_line(view) if name == "seat" else line
            if self._printed.get(name) != news:
                self._printed[name] = news
                self._print(line)
        if self._printed.get("actions") != view.actions:
            self._printed["actions"] = view.actions
            if view.blocked is None and view.actions:
                self._print_actions()

    def notify(self, notice: Text | None) -> None:
        """See `Display.notify`."""
        if notice is not None:
            self._print(notice)

    async def choose(self) -> Choice:
        """See `Display.choose`."""
        while True:
            line = await self._next_line()
            if line is END_OF_INPUT:
                self._print(text("The input has ended: you leave. (--bot NAME lets a bot play.)"))
                return Choice("leave")
            choice = self._use(line.strip())
            if choice is not None:
                return choice

    async def _next_line(self) -> str | None:
        """Wait for a line, and if it is from a pipe, until the person can act."""
        if not self._held:
            self._held.append(await self._lines.get())
        line = self._held[0]
        while self._is_pipe and self._view.blocked is not None:
            self._changed.clear()
            try:
                async with asyncio.timeout(QUIET_SECONDS if line in LEAVE_LINES else None):
                    await self._changed.wait()
            except TimeoutError:
                break
        return self._held.pop()

    def _use(self, line: str) -> Choice | None:
        """Use a line of input. Return what the person has chosen by it, None if nothing."""
        if not line and self._keys.number is None:
            self._read_table()
            return None
        choice = None
        keys = keys_of_line(line, self._view.actions)
        if keys is None:
            self._keys.reject(line)
        else:
            for key in keys:
                choice = self._keys.press(key)
        self._answer()
        return choice

    def _answer(self) -> None:
        """Print what the last keys have led to, unless they chose something."""
        if self._keys.is_help_shown:
            self._keys.is_help_shown = False
            for line in (self._rules, *map(action_line, self._view.actions), LINES_HELP):
                self._print(line)
        if self._keys.notice is not None:
            self._print(self._keys.notice)
        elif self._keys.number is not None:
            number = self._keys.number
            self._print(action_line(number.action))
            if (presets := presets_text(number.amount)) is not None:
                self._print(presets)
            if number.digits:
                self._print(text("Type a number and Enter; Enter alone takes {number}.", number=number.digits))
            else:
                self._print(text("Type a number and Enter."))

    def _read_table(self) -> None:
        for seat in self._view.seats:
            self._print(seat_line(seat))
        for name, line in table_lines(self._view):
            if name != "seat":
                self._print(line)
        self._print_actions()

    def _print_actions(self) -> None:
        if (left := time_text(self._view)) is not None:
            self._print(left)
        if len(self._view.actions) > MAX_LISTED_ACTIONS:
            self._print(text("Keys: {keys}.", keys=listed(keys_of(self._view))))
            return
        for action in self._view.actions:
            self._print(action_line(action))

    def _print(self, line: Text | str) -> None:
        print(terminal_text(line), flush=True)


def table_lines(view: TableView) -> Iterator[tuple[str, str]]:
    """Yield the lines that describe a table, by names, without other people's seats: announcements describe those."""
    for seat in view.seats:
        if seat.is_viewer:
            yield "seat", terminal_text(seat_line(seat))
    for name, line in (
        ("board", board_line(view)),
        ("money", money_text(view)),
        ("score", view.score),
        ("status", view.status),
        ("blocked", None if view.blocked == view.status else view.blocked),
    ):
        if line is not None:
            yield name, terminal_text(line)


def resting_seat_line(view: TableView) -> str:
    """Return the line of the person's seat as it is in the turns of others.

    In the person's turn it is not read again with all its cards: the actions that are printed say the same.
    """
    own = next(seat for seat in view.seats if seat.is_viewer)
    return terminal_text(seat_line(replace(own, status="") if own.status == "to act" else own))


def keys_of_line(line: str, actions: Sequence[ActionView]) -> list[str] | None:
    """Return the keys that a line of input stands for, None if it is none of the actions and no number."""
    words = line.casefold()
    if words in {"", HELP}:
        return [HELP if words else ENTER]
    for name, number in ((words, ""), words.rpartition(" ")[::2]):
        for action in actions:
            if name.strip() in {action.key, action.id, terminal_text(action.label).casefold()}:
                if not number:
                    return [action.key]
                return [action.key, *number, ENTER] if is_number(number) and action.amount is not None else None
    has_number = any(action.amount is not None for action in actions)
    return [*words, ENTER] if has_number and is_number(words) else None


def is_number(words: str) -> bool:
    """Whether a text is a number in decimal digits."""
    return words.isascii() and words.isdecimal()


def input_lines(read_bytes: int = READ_BYTES) -> Iterator[str | None]:
    """Yield the lines of standard input, and None at its end.

    It is read without buffers: a thread may wait in it, and with `read_bytes` of 1, later lines are left to others.
    """
    rest = b""
    while sys.stdin is not None and (data := os.read(sys.stdin.fileno(), read_bytes)):
        *lines, rest = (rest + data).split(b"\n")
        yield from (line[:MAX_LINE_BYTES].decode(errors="replace") for line in lines)
        rest = rest[:MAX_LINE_BYTES]
    if rest:
        yield rest.decode(errors="replace")
    yield END_OF_INPUT
