"""How results look in terminals and browsers."""

from typing import NamedTuple


class Look(NamedTuple):
    """How a kind of result looks: a sign that is readable without colour, and a style of rich.

    `light` and `dark` are its colours in a browser in light and in dark mode, chosen for contrast and colour-blind
    readers.
    """

    sign: str
    style: str
    light: str
    dark: str

    def rule(self, selector: str) -> str:
        """The colour as a rule of a style sheet."""
        return f"{selector} {{ color: light-dark({self.light}, {self.dark}); }}"
