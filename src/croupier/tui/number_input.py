"""Input of a number, digit by digit."""

from croupier.tui.keys import BACKSPACE, ESCAPE

MAX_DIGITS = 10
"""The largest number of any of the protocols has this many digits."""


class NumberInput:
    """A number being typed; `digits` has the digits so far."""

    def __init__(self) -> None:
        self.digits = ""

    def accept_key(self, key: str) -> bool:
        """Apply a digit, and Backspace or Esc if there are digits. Return whether the key was used."""
        if len(key) == 1 and key in "0123456789":
            self.digits = (self.digits + key)[:MAX_DIGITS]
            return True
        if self.digits and key in {BACKSPACE, ESCAPE}:
            self.digits = self.digits[:-1] if key == BACKSPACE else ""
            return True
        return False

    def pop_value(self) -> int:
        """Return the number and clear the input."""
        value = int(self.digits)
        self.digits = ""
        return value
