"""The base class of private tables: joining, timeouts, leaving and closing, common to all house games."""

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
    """The coins that a client can still stake, and the coins that are `staked` in running games.

    Several connections of the same client may share one purse.
    """

    __slots__ = ("coins", "staked")

    def __init__(self, coins: int) -> None:
        self.coins = coins
        self.staked = 0


class PrivateTable[M, S](ABC):
    """The house's side of one conversation. See `Session`; a room implements `on_received` and `on_malformed`.

    `_state` is the game in progress, None between games; while the house waits during a game, the decision is the
    client's, and `_decision_since` is the time at which it began. `_seat` is the client's seat. `_stake` is the coins
    that the client forfeits if it does not finish the game: a room moves them out of the `_purse` with `_stake_coins`,
    and they return with the winnings. The house sends `TIMEOUT_MESSAGES` to a client that timed out, and
    `CLOSING_MESSAGES` when the room closes. `last_received` is the time of the client's last message.
    """

    TIMEOUT_MESSAGES: ClassVar[Sequence[object]]
    CLOSING_MESSAGES: ClassVar[Sequence[object]]

    __slots__ = (
        "_dealer",
        "_decision_since",
        "_is_closing",
        "_is_dropped",
        "_peer",
        "_purse",
        "_seat",
        "_stake",
        "_state",
        "_timeouts",
        "last_received",
    )

    def __init__(self, peer: Peer, dealer: Dealer, timeouts: Timeouts, purse: Purse) -> None:
        self._peer = peer
        self._dealer = dealer
        self._timeouts = timeouts
        self._purse = purse
        self._state: S | None = None
        self._seat: Seat = 0
        self._stake = 0
        self._decision_since = 0.0
        self._is_closing = False
        self._is_dropped = False
        self.last_received = 0.0

    @property
    def deadline(self) -> float | None:
        """The time at which the client times out, None after the end of the conversation."""
        if self._is_dropped:
            return None
        return self._timeouts.deadline(self.last_received, None if self._state is None else self._decision_since)

    @property
    def running_game(self) -> tuple[S, Seat] | None:
        """The state of the game in progress and the client's seat, None between games."""
        return None if self._state is None else (self._state, self._seat)

    def on(self, event: Event[M], now: float) -> Sequence[Effect[M]]:
        """Handle an event."""
        if self._is_dropped:
            return ()
        if type(event) is Received:
            self.last_received = now
            return self.on_received(event.message)
        match event:
            case Malformed(_, violation):
                self.last_received = now
                return self.on_malformed(violation)
            case Left():
                return self._forfeit()
            case TimedOut():
                return self._say_goodbye(self._forfeit(), self.TIMEOUT_MESSAGES)
            case Closing(is_final):
                return self._on_closing(is_final)
            case _:
                assert isinstance(event, Joined), f"found {event}; allowed: events about the peer, TimedOut, Closing"
                self.last_received = now
                return []

    @abstractmethod
    def on_received(self, message: M) -> list[Effect[M]]:
        """Handle a message of the client.

        A caller that has set `last_received` to the time may pass messages directly, until the client is dropped.
        """

    @abstractmethod
    def on_malformed(self, violation: Violation) -> list[Effect[M]]:
        """Handle input that is not a message of the protocol."""

    def _await_decision(self, state: S) -> None:
        """Let the client decide in this state."""
        self._state = state
        self._decision_since = self.last_received

    def _stake_coins(self, coins: int) -> None:
        self._stake += coins
        self._purse.coins -= coins
        self._purse.staked += coins

    def _pay_out(self, state: S, net: int) -> Settle:
        """End the game: move the stake and the net back to the purse."""
        purse, stake = self._purse, self._stake
        risk = purse.staked
        purse.coins += stake + net
        purse.staked -= stake
        self._stake = 0
        self._state = None
        return Settle(self._peer, self._dealer.hands, self._seat, net, state, risk)

    def _settle(self, state: S, net: int, effects: list[Effect[M]]) -> list[Effect[M]]:
        """End a finished game, and the conversation if the room is closing."""
        effects.append(self._pay_out(state, net))
        return self._say_goodbye(effects, self.CLOSING_MESSAGES) if self._is_closing else effects

    def _abort_game(self, net: int) -> list[Effect[M]]:
        """End the game in progress, if there is one, with this net."""
        return [] if self._state is None else [self._pay_out(self._state, net)]

    def _forfeit(self) -> list[Effect[M]]:
        """End the game in progress, if there is one: the client loses its stake (ruling G4)."""
        return self._abort_game(-self._stake)

    def _on_closing(self, is_final: bool) -> list[Effect[M]]:
        """Close the table after the game in progress; if `is_final`, void the game and close now (ruling G4)."""
        self._is_closing = True
        if self._state is not None and not is_final:
            return []
        return self._say_goodbye(self._abort_game(0), self.CLOSING_MESSAGES)

    def _say_goodbye(self, effects: list[Effect[M]], messages: Sequence[object]) -> list[Effect[M]]:
        self._mark_dropped()
        return [*effects, *(Send(self._peer, message) for message in messages), Drop(self._peer)]  # type: ignore[list-item]  # a room lists only its own messages

    def _mark_dropped(self) -> None:
        self._is_dropped = True
