"""The house's side of Kuhn poker: it deals, plays the other seat, and pays (docs/protocols/kuhn.md, 4 to 8)."""

from collections.abc import Mapping
from typing import Final

from croupier.core.bots import Mind
from croupier.core.dealer import Dealer
from croupier.core.errors import Violation
from croupier.core.private_table import Purse, Table
from croupier.core.rules import Seat, Turn
from croupier.core.session import Drop, Effect, Patience, Peer, Say
from croupier.rooms.kuhn.rules import ANTE, CARDS, COST, P_1, P_2, START, Action, History, State, View
from croupier.rooms.kuhn.wire import (
    ACTN,
    CARD,
    DISC,
    HOUSE_SAYS,
    NO_COINS,
    WRONG_ACTION,
    Actn,
    Disc,
    Fail,
    Message,
    Strt,
)

type Effects = list[Effect[Message]]

SEATS: Final = {"P_1": P_1, "P_2": P_2}

ACTED: Final[Mapping[History, Actn]] = {
    after: ACTN[says] for row in HOUSE_SAYS.values() for says, after in row.items() if says != "CARD"
}
"""How the house says what it has done; where it says nothing it shows its card (kuhn-4.8)."""


class House(Table[Message, State]):
    """One conversation at a private table. See `Table`.

    The purse is the client's (kuhn-7), without `_stake`, what it has put into the pot.
    """

    LATE = CLOSING = (DISC,)

    __slots__ = ("_mind",)

    def __init__(self, peer: Peer, dealer: Dealer, mind: Mind[View, Action], purse: Purse, patience: Patience) -> None:
        super().__init__(peer, dealer, patience, purse)
        self._mind = mind

    def _said(self, message: Message) -> Effects:
        state = self._state
        if type(message) is Actn:
            if state is not None and message.action in state.next:
                return self._act(state, message.action)
        elif type(message) is Strt:
            if state is None:
                return self._start(SEATS[message.player])
        elif type(message) is Fail:
            return []
        elif type(message) is Disc:
            self._drop()
            return [*self._forfeit(), Drop(self._peer)]
        return [Say(self._peer, WRONG_ACTION)]

    def _garbled(self, violation: Violation) -> Effects:
        if violation.clause == "kuhn-2.8":
            return []  # a FAIL, however wrong, is never answered (kuhn-6.5)
        refusal: Effects = [Say(self._peer, WRONG_ACTION)]
        return self._farewell(refusal + self._forfeit(), [DISC]) if violation.lost else refusal

    def _start(self, seat: Seat) -> Effects:
        """Take the ante and deal (kuhn-4.1, kuhn-4.2)."""
        if self._purse.coins < ANTE:
            return [Say(self._peer, NO_COINS)]
        self._put(ANTE)
        self._seat = seat
        deck = self._dealer.deck(len(CARDS))
        state = START.next[CARDS[next(deck)]].next[CARDS[next(deck)]]
        effects: Effects = [Say(self._peer, CARD[state.cards[seat]])]
        if state.turn == seat:
            self._state = state
            return effects
        return self._decide(state, effects)

    def _act(self, state: State, action: Action) -> Effects:
        """The client acts, and then the house does, if there is anything left to do."""
        cost = COST[action]
        if cost:
            if cost > self._purse.coins:
                return [Say(self._peer, NO_COINS)]
            self._put(cost)
        state = state.next[action]
        if state.turn is not Turn.OVER:
            return self._decide(state, [])
        if action == "FLD":
            return self._pay(state, [])
        return self._pay(state, [Say(self._peer, CARD[state.cards[1 - self._seat]])])

    def _decide(self, state: State, effects: Effects) -> Effects:
        """The house acts. It sees its own card and what has been done, and cannot see the client's (kuhn-3.2)."""
        seat = 1 - self._seat
        state = state.next[self._mind.choose(state.views[seat], state.actions, self._dealer.luck)]
        effects.append(Say(self._peer, ACTED.get(state.history) or CARD[state.cards[seat]]))
        if state.turn is Turn.OVER:
            return self._pay(state, effects)
        self._state = state
        return effects

    def _pay(self, state: State, effects: Effects) -> Effects:
        """The game is over: pay the pot (kuhn-7.4)."""
        return self._settle(state, state.payoff[self._seat], effects)
