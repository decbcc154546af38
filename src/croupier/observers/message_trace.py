"""Observer that logs every message of a room at level debug."""

from collections.abc import Sequence
from typing import Any

from croupier.core.logger import Logger
from croupier.core.session import Drop, Effect, Event, HandFinished, Malformed, Received, Send, Settle


class MessageTrace:
    """Logs the messages that peers send and receive, and the result of every game."""

    name = "--log-level debug"

    def __init__(self, log: Logger) -> None:
        self._log = log

    def __call__(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- an Observer
        """Log an event and its effects."""
        match event:
            case Received(peer, message):
                self._log.debug("received", peer=peer, message=str(message))
            case Malformed(peer, violation):
                self._log.debug("violation", peer=peer, clause=violation.clause, found=violation.found)
            case _:
                pass
        for effect in effects:
            match effect:
                case Send(peer, message):
                    self._log.debug("sent", peer=peer, message=str(message))
                case Drop(peer):
                    self._log.debug("dropped", peer=peer)
                case Settle(peer, hand, _, net):
                    self._log.debug("settled", peer=peer, hand=hand, net=net)
                case HandFinished(deal, nets):
                    self._log.debug("finished", deal=deal, nets=nets)
                case _:
                    pass
