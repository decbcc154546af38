"""Ways to pick a card of Old Maid. Nobody can tell the backs apart, so each is as good as any other."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Final

from croupier.core.bots import Random, Style
from croupier.core.dealer import Luck
from croupier.rooms.oldmaid.rules import View


class End:
    """Picks the card at one end of the hand that it is offered."""

    def __init__(self, position: int) -> None:
        """0 is the first card, −1 the last one."""
        self._position = position

    def choose(self, view: Hashable, legal: Sequence[int], luck: Luck) -> int:  # noqa: ARG002 -- it always does the same
        """The first or the last of the positions."""
        return legal[self._position]


STYLES: Final[Mapping[str, Style[View, int]]] = {
    "random": Style("every card with the same probability", Random),
    "first": Style("the first card of the hand that is offered", lambda: End(0)),
    "last": Style("the last card of the hand that is offered", lambda: End(-1)),
}
"""Every mind by its name on the command line."""
