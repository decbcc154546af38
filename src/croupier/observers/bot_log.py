"""Observer that logs the failures of a house's bot."""

from collections.abc import Sequence

from croupier.core.logger import Logger
from croupier.core.session import BotFailed, Effect, Event


class BotLog:
    """Logs each failure of the bot of a house as an error, with the name of the bot."""

    def __init__(self, bot: str, log: Logger) -> None:
        self._bot = bot
        self._log = log

    def __call__(self, event: Event[object], effects: Sequence[Effect[object]], now: float) -> None:  # noqa: ARG002 -- an Observer
        """Log what has failed in an event."""
        for effect in effects:
            if type(effect) is BotFailed:
                self._log.error("the bot has failed", peer=effect.peer, bot=self._bot, reason=effect.reason)
