"""A number that a person is typing."""

from croupier.tui.keys import BACKSPACE, ESCAPE

LONGEST = 10
"""The digits of the largest number that any protocol here can write."""


class Number:
    """`typed` is what is there of it."""

    def __init__(self) -> None:
        self.typed = ""

    def takes(self, key: str) -> bool:
        """Whether a key is one of the number's: a digit or, when there are any, Backspace and Esc."""
        if len(key) == 1 and key in "0123456789":
            self.typed = (self.typed + key)[:LONGEST]
            return True
        if self.typed and key in {BACKSPACE, ESCAPE}:
            self.typed = self.typed[:-1] if key == BACKSPACE else ""
            return True
        return False

    def taken(self) -> int:
        """The number, which is finished."""
        found = int(self.typed)
        self.typed = ""
        return found
