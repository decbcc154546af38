"""A private table of a house: what every house game does alike about coming, waiting, leaving and closing."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from croupier.core.dealer import Dealer
from croupier.core.errors import Violation
from croupier.core.rules import Seat
from croupier.core.session import (
    Drop,
    Effect,
    Event,
    Garbled,
    Halted,
    Joined,
    Left,
    Patience,
    Peer,
    Rang,
    Said,
    Say,
    Settle,
)


class Purse:
    """What a client can still stake, in coins, and what is `staked` in running games.

    Connections of the same client may share one.
    """

    __slots__ = ("coins", "staked")

    def __init__(self, coins: int) -> None:
        self.coins = coins
        self.staked = 0


class Table[M, S](ABC):
    """The house's side of one conversation. See `Session`; a room says what its house answers (`_said`, `_garbled`).

    `_state` is the game being played, None between games; whenever the house waits in a game, the decision is the
    client's. `_seat` is the client's, and `_stake` what it loses if it is not there to finish the game: a room takes
    it out of the `_purse`, and it goes back there with what was won. `LATE` is what a client hears whose time is over,
    and `CLOSING` what it hears when the room closes.
    """

    LATE: ClassVar[Sequence[object]]
    CLOSING: ClassVar[Sequence[object]]

    __slots__ = (
        "_asked",
        "_closing",
        "_dealer",
        "_dropped",
        "_heard",
        "_patience",
        "_peer",
        "_purse",
        "_seat",
        "_stake",
        "_state",
    )

    def __init__(self, peer: Peer, dealer: Dealer, patience: Patience, purse: Purse) -> None:
        self._peer = peer
        self._dealer = dealer
        self._patience = patience
        self._purse = purse
        self._state: S | None = None
        self._seat: Seat = 0
        self._stake = 0
        self._heard = 0.0
        self._asked: float | None = None
        self._closing = False
        self._dropped = False

    @property
    def alarm(self) -> float | None:
        """When the client's time is over; None once the conversation is."""
        return None if self._dropped else self._patience.until(self._heard, self._asked)

    def on(self, event: Event[M], now: float) -> Sequence[Effect[M]]:
        """What the house does about an event."""
        if self._dropped:
            return ()
        if type(event) is Said:
            self._heard = now
            if self._patience.move is None:
                return self._said(event.message)
            before = self._state
            effects = self._said(event.message)
            if self._state is not before:
                self._asked = None if self._state is None else now
            return effects
        match event:
            case Garbled(_, violation):
                self._heard = now
                return self._garbled(violation)
            case Left():
                return self._forfeit()
            case Rang():
                return self._farewell(self._forfeit(), self.LATE)
            case Halted(final):
                return self._halted(final)
            case _:
                assert isinstance(event, Joined), f"{event} is not for a house"
                self._heard = now
                return []

    @abstractmethod
    def _said(self, message: M) -> list[Effect[M]]:
        """What the house does about a message."""

    @abstractmethod
    def _garbled(self, violation: Violation) -> list[Effect[M]]:
        """What the house does about what is no message."""

    def _put(self, coins: int) -> None:
        """Move coins from the purse to the stake."""
        self._stake += coins
        self._purse.coins -= coins
        self._purse.staked += coins

    def _paid(self, state: S, net: int) -> Settle:
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
        effects.append(self._paid(state, net))
        return self._farewell(effects, self.CLOSING) if self._closing else effects

    def _break_off(self, net: int) -> list[Effect[M]]:
        """The game that is being played ends here."""
        return [] if self._state is None else [self._paid(self._state, net)]

    def _forfeit(self) -> list[Effect[M]]:
        """The client is not there to finish its game: it loses what it has staked (ruling G4)."""
        return self._break_off(-self._stake)

    def _halted(self, final: bool) -> list[Effect[M]]:
        """The room closes: finish what is running, or void it when there is no time left (ruling G4)."""
        self._closing = True
        if self._state is not None and not final:
            return []
        return self._farewell(self._break_off(0), self.CLOSING)

    def _farewell(self, effects: list[Effect[M]], words: Sequence[object]) -> list[Effect[M]]:
        """Say the last words and close."""
        self._drop()
        return [*effects, *(Say(self._peer, word) for word in words), Drop(self._peer)]  # type: ignore[list-item]  # a room's words are its messages

    def _drop(self) -> None:
        self._dropped = True
