"""Bots for Old Maid, which only pick cards. The cards are face down, so all bots are equally good."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Final

from croupier.core.bots import BotSpec, RandomBot
from croupier.core.dealer import Luck
from croupier.rooms.oldmaid.rules import View


class EndCardBot:
    """Always picks the first or the last card of the offered hand."""

    def __init__(self, position: int) -> None:
        """Pick the first card if `position` is 0, the last one if it is −1."""
        self._position = position

    def choose(self, view: Hashable, legal: Sequence[int], luck: Luck) -> int:  # noqa: ARG002 -- deterministic
        """The first or the last of the legal positions."""
        return legal[self._position]


BOT_SPECS: Final[Mapping[str, BotSpec[View, int]]] = {
    "random": BotSpec("every card with the same probability", RandomBot),
    "first": BotSpec("the first card of the hand that is offered", lambda: EndCardBot(0)),
    "last": BotSpec("the last card of the hand that is offered", lambda: EndCardBot(-1)),
}
"""Every bot by its name on the command line."""
