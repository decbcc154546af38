"""The client's side of a house game: a session that plays and checks the house's messages as it goes."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Protocol

from croupier.core.bots import Bot
from croupier.core.dealer import Luck
from croupier.core.errors import IllegalMove, Violation
from croupier.core.referee import CLIENT, HOUSE, Disconnected, ExpectedReply, Referee, Sent, Verdict
from croupier.core.rules import Seat
from croupier.core.session import (
    Closing,
    Drop,
    Effect,
    EndOfInput,
    Event,
    Joined,
    Left,
    Malformed,
    Notify,
    Received,
    Send,
    Settle,
    Submitted,
    TimedOut,
)


class ClientReferee[M, G](Referee[M, G], Protocol):
    """The referee of a conversation with one client, which lists the client's legal messages.

    `unhandled_count` is the number of messages of the client that wait for the replies to earlier ones.
    """

    @property
    def legal(self) -> Sequence[M]: ...  # noqa: D102 -- as in Referee

    @property
    def pending(self) -> ExpectedReply | None:
        """The reply that the house owes first, None if it owes none."""
        ...

    @property
    def clause(self) -> str | None:
        """The clause about what the house owes now: a reply, silence or the end of the connection; None for nothing."""
        ...

    @property
    def unhandled_count(self) -> int: ...  # noqa: D102 -- see the class


class FinishedGame(Protocol):
    """A game that is over, as reconstructed from the messages."""

    @property
    def seat(self) -> Seat:
        """The client's seat."""
        ...

    @property
    def net(self) -> int:
        """The coins that the client has won, negative if it lost."""
        ...


class LegalMessages[M](tuple[M, ...]):
    """Legal messages where there are too many to list: the listed ones, and every message that `accepts` accepts."""

    accepts: Callable[[object], bool]

    def __new__(cls, listed: Iterable[M], accepts: Callable[[object], bool]) -> "LegalMessages[M]":
        """Take the listed messages and the test for all others."""
        self = super().__new__(cls, listed)
        self.accepts = accepts
        return self

    def __contains__(self, message: object) -> bool:
        return super().__contains__(message) or self.accepts(message)


class ClientSession[M, G: FinishedGame](ABC):
    """The client's side of a conversation with a house. See `Session`.

    A Submitted event makes it send a message. Notify effects pass on the house's messages, its violations, and the end
    of the connection. `is_exhausted` is true when no more games can be played on this connection, though a new
    connection could play. `FAREWELL_MESSAGES` are sent when it leaves; after a message in `FINAL_MESSAGES`, sent by
    either side, it closes the connection.
    """

    FAREWELL_MESSAGES: ClassVar[Sequence[object]] = ()
    FINAL_MESSAGES: ClassVar[Sequence[object]] = ()

    def __init__(self, referee: ClientReferee[M, G]) -> None:
        self.is_exhausted = False
        self._referee = referee
        self._is_open = False

    @property
    def is_broke(self) -> bool:
        """Whether it is exhausted because the client has too few coins."""
        return self.is_exhausted

    @property
    def deadline(self) -> float | None:
        """The time at which the house's silence becomes a violation, None while no reply is due."""
        return self._referee.deadline if self._is_open else None

    @property
    def legal(self) -> Sequence[M]:
        """The messages that may be sent now; none before the connection is open or after it is closed."""
        return self._legal_messages() if self._is_open else ()

    @abstractmethod
    def decide(self, bot: Bot[Any, Any], luck: Luck, game: int) -> M | None:
        """The bot's next message, None while there is nothing to decide. `game` counts the games it has played."""

    @property
    def game(self) -> G | None:
        """The game in progress, None between games."""
        return self._referee.game

    @property
    def last_game(self) -> G | None:
        """The last finished game, None before the first."""
        return self._referee.last_game

    @property
    def is_waiting(self) -> bool:
        """Whether the house owes a reply."""
        return self._is_open and self._referee.pending is not None

    @property
    def clause(self) -> str | None:
        """The clause about what the house owes now: a reply, silence or the end of the connection; None for nothing."""
        return self._referee.clause

    def on(self, event: Event[M], now: float) -> Sequence[Effect[M]]:
        """Handle an event. Raises IllegalMove if a Submitted message is not `legal`."""
        match event:
            case Joined():
                self._is_open = True
                return []
            case Left():
                return self._on_left(event, now)
            case Submitted(message):
                return self._on_submitted(message, now)
            case _ if not self._is_open:
                return []
            case Received(_, message):
                return self._on_received(message, now)
            case Malformed(_, violation):
                return self._on_violation(violation)
            case TimedOut():
                verdicts = self._referee.on(event, now)
                return self._on_violation(verdicts[0].violation) if verdicts else []
            case Closing():
                return self._close([], self.FAREWELL_MESSAGES)
            case EndOfInput():
                return []

    def observe_sent(self, message: M | Violation, now: float) -> Sequence[Verdict]:
        """Follow a message, or bytes that are none, that another program has sent in place of this session.

        Return what is wrong with it. The session goes on with the answers of the house.
        """
        if not self._is_open:
            return []
        verdicts = self._referee.on(Sent(CLIENT, HOUSE, message), now)
        if not isinstance(message, Violation):
            self._note_sent(message)
            self._is_open = message not in self.FINAL_MESSAGES
        return verdicts

    def _legal_messages(self) -> Sequence[M]:
        """The legal messages while the connection is open."""
        return self._referee.legal

    def _note_received(self, message: M) -> None:  # noqa: B027 -- most rooms note nothing
        """Called after a legal message of the house."""

    def _note_sent(self, message: M) -> None:  # noqa: B027 -- as above
        """Called after a message of our own."""

    def _violation_messages(self, violation: Violation) -> Sequence[object]:  # noqa: ARG002 -- only some protocols report violations
        """The messages to send before leaving a house that has broken a clause."""
        return self.FAREWELL_MESSAGES

    def _on_received(self, message: M, now: float) -> list[Effect[M]]:
        before = self._referee.finished_count
        for verdict in self._referee.on(Sent(HOUSE, CLIENT, message), now):
            if verdict.party == HOUSE:  # those about observed messages of a client wait for the replies before them
                return self._on_violation(verdict.violation)
        self._note_received(message)
        effects: list[Effect[M]] = [Notify(message), *self._settle_finished(before)]
        return self._close(effects) if message in self.FINAL_MESSAGES else effects

    def _on_submitted(self, message: M, now: float) -> list[Effect[M]]:
        if message not in self.legal:
            raise IllegalMove(message, self.legal)
        before = self._referee.finished_count
        self._referee.on(Sent(CLIENT, HOUSE, message), now)
        self._note_sent(message)
        effects: list[Effect[M]] = [Send(HOUSE, message), *self._settle_finished(before)]
        return self._close(effects) if message in self.FINAL_MESSAGES else effects

    def _settle_finished(self, before: int) -> list[Effect[M]]:
        last = self._referee.last_game
        if last is None or self._referee.finished_count == before:
            return []
        return [Settle(HOUSE, self._referee.finished_count, last.seat, last.net, last)]

    def _on_violation(self, violation: Violation) -> list[Effect[M]]:
        return self._close([Notify(violation)], self._violation_messages(violation))

    def _close(self, effects: list[Effect[M]], messages: Sequence[object] = ()) -> list[Effect[M]]:
        self._is_open = False
        return [*effects, *(Send(HOUSE, message) for message in messages), Drop(HOUSE)]  # type: ignore[list-item]  # a room lists only its own messages

    def _on_left(self, event: Left, now: float) -> list[Effect[M]]:
        verdicts = self._referee.on(Disconnected(HOUSE, CLIENT), now) if self._is_open else []
        self._is_open = False
        notices: list[Effect[M]] = [Notify(verdict.violation) for verdict in verdicts]
        return [*notices, Notify(event)]
