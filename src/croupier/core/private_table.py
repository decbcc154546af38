"""A private table of a house: what every house game does alike about coming, waiting, leaving and closing."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from croupier.core.dealer import Dealer
from croupier.core.errors import Violation
from croupier.core.rules import Seat
from croupier.core.session import (
    Closing,
    Drop,
    Effect,
    Event,
    Joined,
    Left,
    Malformed,
    Peer,
    Received,
    Send,
    Settle,
    TimedOut,
    Timeouts,
)


class Purse:
    """What a client can still stake, in coins, and what is `staked` in running games.

    Connections of the same client may share one.
    """

    __slots__ = ("coins", "staked")

    def __init__(self, coins: int) -> None:
        self.coins = coins
        self.staked = 0


class PrivateTable[M, S](ABC):
    """The house's side of one conversation. See `Session`; a room says what its house answers (`_said`, `_garbled`).

    `_state` is the game being played, None between games; whenever the house waits in a game, the decision is the
    client's. `_seat` is the client's, and `_stake` what it loses if it is not there to finish the game: a room takes
    it out of the `_purse`, and it goes back there with what was won. `LATE` is what a client hears whose time is over,
    and `CLOSING` what it hears when the room closes.
    """

    TIMEOUT_MESSAGES: ClassVar[Sequence[object]]
    CLOSING_MESSAGES: ClassVar[Sequence[object]]

    __slots__ = (
        "_dealer",
        "_decision_since",
        "_is_closing",
        "_is_dropped",
        "_last_received",
        "_peer",
        "_purse",
        "_seat",
        "_stake",
        "_state",
        "_timeouts",
    )

    def __init__(self, peer: Peer, dealer: Dealer, timeouts: Timeouts, purse: Purse) -> None:
        self._peer = peer
        self._dealer = dealer
        self._timeouts = timeouts
        self._purse = purse
        self._state: S | None = None
        self._seat: Seat = 0
        self._stake = 0
        self._last_received = 0.0
        self._decision_since: float | None = None
        self._is_closing = False
        self._is_dropped = False

    @property
    def deadline(self) -> float | None:
        """When the client's time is over; None once the conversation is."""
        return None if self._is_dropped else self._timeouts.deadline(self._last_received, self._decision_since)

    def on(self, event: Event[M], now: float) -> Sequence[Effect[M]]:
        """What the house does about an event."""
        if self._is_dropped:
            return ()
        if type(event) is Received:
            self._last_received = now
            if self._timeouts.move is None:
                return self._on_received(event.message)
            before = self._state
            effects = self._on_received(event.message)
            if self._state is not before:
                self._decision_since = None if self._state is None else now
            return effects
        match event:
            case Malformed(_, violation):
                self._last_received = now
                return self._on_malformed(violation)
            case Left():
                return self._forfeit()
            case TimedOut():
                return self._say_goodbye(self._forfeit(), self.TIMEOUT_MESSAGES)
            case Closing(final):
                return self._on_closing(final)
            case _:
                assert isinstance(event, Joined), f"{event} is not for a house"
                self._last_received = now
                return []

    @abstractmethod
    def _on_received(self, message: M) -> list[Effect[M]]:
        """What the house does about a message."""

    @abstractmethod
    def _on_malformed(self, violation: Violation) -> list[Effect[M]]:
        """What the house does about what is no message."""

    def _stake_coins(self, coins: int) -> None:
        """Move coins from the purse to the stake."""
        self._stake += coins
        self._purse.coins -= coins
        self._purse.staked += coins

    def _pay_out(self, state: S, net: int) -> Settle:
        """Move the stake back to the purse, with what was won: the game is over."""
        purse, stake = self._purse, self._stake
        risk = purse.staked
        purse.coins += stake + net
        purse.staked -= stake
        self._stake = 0
        self._state = None
        return Settle(self._peer, self._dealer.hands, self._seat, net, state, risk)

    def _settle(self, state: S, net: int, effects: list[Effect[M]]) -> list[Effect[M]]:
        """The game is over: tell what the client has won."""
        effects.append(self._pay_out(state, net))
        return self._say_goodbye(effects, self.CLOSING_MESSAGES) if self._is_closing else effects

    def _abort_game(self, net: int) -> list[Effect[M]]:
        """The game that is being played ends here."""
        return [] if self._state is None else [self._pay_out(self._state, net)]

    def _forfeit(self) -> list[Effect[M]]:
        """The client is not there to finish its game: it loses what it has staked (ruling G4)."""
        return self._abort_game(-self._stake)

    def _on_closing(self, final: bool) -> list[Effect[M]]:
        """The room closes: finish what is running, or void it when there is no time left (ruling G4)."""
        self._is_closing = True
        if self._state is not None and not final:
            return []
        return self._say_goodbye(self._abort_game(0), self.CLOSING_MESSAGES)

    def _say_goodbye(self, effects: list[Effect[M]], messages: Sequence[object]) -> list[Effect[M]]:
        """Say the last words and close."""
        self._mark_dropped()
        return [*effects, *(Send(self._peer, word) for word in messages), Drop(self._peer)]  # type: ignore[list-item]  # a room's words are its messages

    def _mark_dropped(self) -> None:
        self._is_dropped = True
