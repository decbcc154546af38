"""A terminal emulator: what a person sees after a program has written and moved the cursor."""

import re
from typing import Final

SEQUENCE: Final = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])|\x1b[=>()][0B]?|[\s\S]")
UNFINISHED: Final = re.compile(r"\x1b(\[[0-9;?]*)?$")


class Emulator:
    """A screen of `columns` and `rows` that obeys the control sequences of a VT100, as far as they are used."""

    def __init__(self, columns: int, rows: int) -> None:
        self._columns, self._rows = columns, rows
        self._cells = self._blank()
        self._main: list[list[str]] | None = None  # the screen behind the alternate one
        self._row = self._column = 0
        self._unfinished = ""

    @property
    def lines(self) -> list[str]:
        """The lines of the screen, without spaces at their ends."""
        return ["".join(row).rstrip() for row in self._cells]

    def resize(self, columns: int, rows: int) -> None:
        """Change the size; what does not fit is lost."""
        before = self._cells
        self._columns, self._rows = columns, rows
        self._cells = self._blank()
        for row, old in zip(self._cells, before, strict=False):
            row[: min(columns, len(old))] = old[:columns]
        self._row, self._column = min(self._row, rows - 1), min(self._column, columns - 1)

    def feed(self, text: str) -> None:
        """Show output of a program; a control sequence that is cut off waits for its end."""
        text = self._unfinished + text
        cut = UNFINISHED.search(text)
        self._unfinished = cut[0] if cut else ""
        for found in SEQUENCE.finditer(text.removesuffix(self._unfinished)):
            private, arguments, final = found.groups()
            if final is None:
                if not found[0].startswith("\x1b"):
                    self._write(found[0])
            elif private:
                self._set_mode(arguments, is_on=final == "h")
            else:
                self._obey(final, [int(each or 0) for each in arguments.split(";")])

    def _blank(self) -> list[list[str]]:
        return [[" "] * self._columns for _ in range(self._rows)]

    def _write(self, char: str) -> None:
        match char:
            case "\n":
                self._line_feed()
            case "\r":
                self._column = 0
            case "\b":
                self._column = max(0, self._column - 1)
            case _ if char.isprintable():
                if self._column == self._columns:
                    self._column = 0
                    self._line_feed()
                self._cells[self._row][self._column] = char
                self._column += 1

    def _line_feed(self) -> None:
        self._row += 1
        if self._row == self._rows:
            self._row -= 1
            self._cells = [*self._cells[1:], [" "] * self._columns]

    def _set_mode(self, mode: str, *, is_on: bool) -> None:
        if mode == "1049" and is_on:
            self._main, self._cells = self._cells, self._blank()
            self._row = self._column = 0
        elif mode == "1049" and self._main is not None:
            self._cells, self._main = self._main, None
            self.resize(self._columns, self._rows)
            self._row = max((at for at, line in enumerate(self.lines) if line), default=-1) + 1
            self._column = 0

    def _obey(self, final: str, arguments: list[int]) -> None:
        count = arguments[0] or 1
        match final:
            case "A":
                self._row = max(0, self._row - count)
            case "B":
                self._row = min(self._rows - 1, self._row + count)
            case "C":
                self._column = min(self._columns - 1, self._column + count)
            case "D":
                self._column = max(0, self._column - count)
            case "H":
                row, column = (*arguments, 0)[:2]
                self._row, self._column = max(0, row - 1), max(0, column - 1)
            case "K":
                self._cells[self._row][self._column :] = [" "] * (self._columns - self._column)
            case "J":
                if arguments[0] == 2:
                    self._cells = self._blank()
                    return
                self._cells[self._row][self._column :] = [" "] * (self._columns - self._column)
                for row in self._cells[self._row + 1 :]:
                    row[:] = [" "] * self._columns
            case _:
                pass  # colours and other looks
