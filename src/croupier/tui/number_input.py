"""A number that a person is typing."""

from croupier.tui.keys import BACKSPACE, ESCAPE

MAX_DIGITS = 10
"""The digits of the largest number that any protocol here can write."""


class NumberInput:
    """`typed` is what is there of it."""

    def __init__(self) -> None:
        self.digits = ""

    def accept_key(self, key: str) -> bool:
        """Whether a key is one of the number's: a digit or, when there are any, Backspace and Esc."""
        if len(key) == 1 and key in "0123456789":
            self.digits = (self.digits + key)[:MAX_DIGITS]
            return True
        if self.digits and key in {BACKSPACE, ESCAPE}:
            self.digits = self.digits[:-1] if key == BACKSPACE else ""
            return True
        return False

    def pop_value(self) -> int:
        """The number, which is finished."""
        found = int(self.digits)
        self.digits = ""
        return found
