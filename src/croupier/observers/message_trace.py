"""Tells a log the whole conversation, message by message, for whoever wants to watch a table."""

from collections.abc import Sequence
from typing import Any, Protocol

from croupier.core.session import Drop, Effect, Event, HandFinished, Malformed, Received, Send, Settle


class DebugLogger(Protocol):
    """The part of a logger that is used here."""

    def debug(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- told above


class MessageTrace:
    """A tap: what peers say, what they are told, and what every game has brought."""

    name = "--log-level debug"

    def __init__(self, log: DebugLogger) -> None:
        self._log = log

    def __call__(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- a Tap
        """Tell the event and its effects."""
        match event:
            case Received(peer, message):
                self._log.debug("says", peer=peer, message=str(message))
            case Malformed(peer, violation):
                self._log.debug("breaks the protocol", peer=peer, clause=violation.clause, found=violation.found)
            case _:
                pass
        for effect in effects:
            match effect:
                case Send(peer, message):
                    self._log.debug("hears", peer=peer, message=str(message))
                case Drop(peer):
                    self._log.debug("is dropped", peer=peer)
                case Settle(peer, hand, _, net):
                    self._log.debug("settles", peer=peer, hand=hand, net=net)
                case HandFinished(deal, nets):
                    self._log.debug("finishes", deal=deal, nets=nets)
                case _:
                    pass
