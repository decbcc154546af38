"""Ways to pick a card of Old Maid. Nobody can tell the backs apart, so each is as good as any other."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Final

from croupier.core.bots import BotSpec, RandomBot
from croupier.core.dealer import Luck
from croupier.rooms.oldmaid.rules import View


class EndCardBot:
    """Picks the card at one end of the hand that it is offered."""

    def __init__(self, position: int) -> None:
        """0 is the first card, −1 the last one."""
        self._position = position

    def choose(self, view: Hashable, legal: Sequence[int], luck: Luck) -> int:  # noqa: ARG002 -- it always does the same
        """The first or the last of the positions."""
        return legal[self._position]


BOT_SPECS: Final[Mapping[str, BotSpec[View, int]]] = {
    "random": BotSpec("every card with the same probability", RandomBot),
    "first": BotSpec("the first card of the hand that is offered", lambda: EndCardBot(0)),
    "last": BotSpec("the last card of the hand that is offered", lambda: EndCardBot(-1)),
}
"""Every mind by its name on the command line."""
