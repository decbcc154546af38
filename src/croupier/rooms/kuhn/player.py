"""The client's side of Kuhn poker, for a person, a bot or a program; it judges the house as it plays."""

from collections.abc import Sequence

from croupier.core.dealer import Luck
from croupier.core.errors import IllegalMove, Violation
from croupier.core.judge import CLIENT, HOUSE
from croupier.core.mind import Mind
from croupier.core.talk import (
    Chose,
    Drop,
    Effect,
    Event,
    Garbled,
    Halted,
    Joined,
    Left,
    Rang,
    Said,
    Say,
    Settle,
    Tell,
)
from croupier.rooms.kuhn.referee import Game, Referee
from croupier.rooms.kuhn.rules import Action, View
from croupier.rooms.kuhn.wire import ACTN, DISC, NO_COINS, STRT, Actn, Message

type Effects = list[Effect[Message]]


class Player:
    """See `Session`. Chose makes it speak; Tell hands on what the house said, what it broke, and its end.

    `broke` is true when the house has refused a STRT for want of coins: the purse of this connection is empty.
    """

    def __init__(self, patience: float = 30.0) -> None:
        self.broke = False
        self._referee = Referee(patience=patience)
        self._asked: Message = DISC
        self._refused: set[Message] = set()
        self._open = False

    @property
    def alarm(self) -> float | None:
        """When the house's silence becomes a fault."""
        return self._referee.alarm if self._open else None

    @property
    def legal(self) -> tuple[Message, ...]:
        """What may be said now. What the purse could not pay is not offered again."""
        if not self._open:
            return ()
        return tuple(message for message in self._referee.legal if message not in self._refused)

    @property
    def game(self) -> Game | None:
        """The game being played."""
        return self._referee.game

    @property
    def last(self) -> Game | None:
        """The last game that was finished."""
        return self._referee.last

    def decide(self, mind: Mind[View, Action], luck: Luck, seat: str) -> Message | None:
        """What a mind says now: STRT between games, ACTN in one, DISC with an empty purse, None while waiting."""
        if self.broke:
            return DISC if DISC in self.legal else None
        actions = tuple(message.action for message in self.legal if isinstance(message, Actn))
        if self.game is not None and actions:
            return ACTN[mind.choose(self.game.view, actions, luck)]
        start = STRT[seat]
        return start if start in self.legal else None

    def on(self, event: Event[Message], now: float) -> Sequence[Effect[Message]]:
        """What the client's side does about an event. Raises IllegalMove on a Chose that is not `legal`."""
        match event:
            case Joined():
                self._open = True
                return []
            case Left():
                return self._left(event, now)
            case Chose(message):
                return self._chose(message, now)
            case _ if not self._open:
                return []
            case Said(_, message):
                return self._heard(message, now)
            case Garbled(_, violation):
                return self._broken(violation)
            case Rang():
                faults = self._referee.on(event, now)
                return self._broken(faults[0].violation) if faults else []
            case Halted():
                return self._close([Say(HOUSE, DISC)])

    def _heard(self, message: Message, now: float) -> Effects:
        before = self._referee.finished
        for verdict in self._referee.on(Said(HOUSE, message), now):
            return self._broken(verdict.violation)
        if message == NO_COINS:
            self.broke = self._asked in STRT.values()
            self._refused.add(self._asked)
        else:
            self._refused.clear()
        effects: Effects = [Tell(message), *self._settled(before)]
        return self._close(effects) if message == DISC else effects

    def _chose(self, message: Message, now: float) -> Effects:
        if message not in self.legal:
            raise IllegalMove(message, self.legal)
        before = self._referee.finished
        self._referee.on(Said(CLIENT, message), now)
        self._asked = message
        effects: Effects = [Say(HOUSE, message), *self._settled(before)]
        return self._close(effects) if message == DISC else effects

    def _settled(self, before: int) -> Effects:
        last = self._referee.last
        if last is None or self._referee.finished == before:
            return []
        return [Settle(HOUSE, self._referee.finished, last.seat, last.net, last)]

    def _broken(self, violation: Violation) -> Effects:
        """The house broke the protocol: say which clause, say goodbye, and go."""
        return self._close([Tell(violation), Say(HOUSE, DISC)])

    def _close(self, effects: Effects) -> Effects:
        self._open = False
        return [*effects, Drop(HOUSE)]

    def _left(self, event: Left, now: float) -> Effects:
        faults = self._referee.on(Left(HOUSE), now) if self._open else []
        self._open = False
        told: Effects = [Tell(verdict.violation) for verdict in faults]
        return [*told, Tell(event)]
