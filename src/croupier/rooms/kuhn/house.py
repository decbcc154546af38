"""House side of Kuhn poker: deals, plays the other seat and pays (docs/protocols/kuhn.md, sections 4 to 8)."""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Final

from croupier.core.bots import Bot, bot_failure, choose_legal
from croupier.core.dealer import Dealer
from croupier.core.errors import Violation
from croupier.core.private_table import PrivateTable, Purse
from croupier.core.rules import Seat, Turn
from croupier.core.session import BotFailed, Drop, Effect, Peer, Send, Timeouts
from croupier.rooms.kuhn.rules import (
    ACTION_COST,
    ANTE,
    BETTING_TREE,
    CARDS,
    DEALS,
    DEFAULT_ACTIONS,
    SEATS,
    START_STATE,
    BettingHistory,
    KuhnAction,
    KuhnState,
    View,
)
from croupier.rooms.kuhn.wire import (
    ACTN,
    CARD,
    DISC,
    HOUSE_DECISIONS,
    NO_COINS,
    WRONG_ACTION,
    Actn,
    Disc,
    Fail,
    Message,
    Strt,
)

type Effects = list[Effect[Message]]

OVER: Final = Turn.OVER


def _state_after(deal: KuhnState, history: BettingHistory) -> KuhnState:
    return reduce(lambda state, action: state.next[action], history, deal)


ANNOUNCEMENTS: Final[Mapping[KuhnState, Message]] = {
    _state_after(deal, after): CARD[deal.cards[BETTING_TREE[before][0]]] if reply == "CARD" else ACTN[reply]
    for deal in DEALS
    for before, row in HOUSE_DECISIONS.items()
    for reply, after in row.items()
}
"""The message that announces the house's action, by the state after it (kuhn-4.8)."""


DEALS_BY_CARDS: Final[Sequence[Mapping[int, KuhnState]]] = [
    {CARDS.index(second): deal for second, deal in START_STATE.next[first].next.items()} for first in CARDS
]
"""The deals by the indices of the first card and the second one."""


class House(PrivateTable[Message, KuhnState]):
    """The house at one private table. See `PrivateTable`.

    The purse is the client's (kuhn-7) and excludes `_stake`, the client's coins in the pot.
    """

    TIMEOUT_MESSAGES = CLOSING_MESSAGES = (DISC,)

    __slots__ = ("_bot",)

    def __init__(
        self, peer: Peer, dealer: Dealer, bot: Bot[View, KuhnAction], purse: Purse, timeouts: Timeouts
    ) -> None:
        super().__init__(peer, dealer, timeouts, purse)
        self._bot = bot

    def on_received(self, message: Message) -> Effects:
        """See `PrivateTable.on_received`."""
        state = self._state
        if type(message) is Actn:
            if state is not None and (after := state.next.get(message.action)):
                return self._act(message.action, after)
        elif type(message) is Strt:
            if state is None:
                return self._start(SEATS[message.player])
        elif type(message) is Fail:
            return []
        elif type(message) is Disc:
            self._mark_dropped()
            return [*self._forfeit(), Drop(self._peer)]
        return [Send(self._peer, WRONG_ACTION)]

    def on_malformed(self, violation: Violation) -> Effects:
        """Refuse malformed input, and close if its length is unknown (kuhn-2.7)."""
        if violation.clause == "kuhn-2.8":
            return []  # a FAIL, even a malformed one, is never answered (kuhn-6.5)
        refusal: Effects = [Send(self._peer, WRONG_ACTION)]
        return self._say_goodbye(refusal + self._forfeit(), [DISC]) if violation.fatal else refusal

    def _start(self, seat: Seat) -> Effects:
        """Collect the ante and deal (kuhn-4.1, kuhn-4.2)."""
        if self._purse.coins < ANTE:
            return [Send(self._peer, NO_COINS)]
        self._stake_coins(ANTE)
        self._seat = seat
        deck = self._dealer.next_deck(len(CARDS))
        state = DEALS_BY_CARDS[next(deck)][next(deck)]
        effects: Effects = [Send(self._peer, CARD[state.cards[seat]])]
        if state.turn == seat:
            self._await_decision(state)
            return effects
        return self._decide(state, effects)

    def _act(self, action: KuhnAction, state: KuhnState) -> Effects:
        """Apply the client's action, which leads to this state; then let the house act unless the game is over."""
        cost = ACTION_COST[action]
        if cost:
            if cost > self._purse.coins:
                return [Send(self._peer, NO_COINS)]
            self._stake_coins(cost)
        if state.turn is not OVER:
            return self._decide(state, [])
        net = state.payoff[self._seat]
        if action == "FLD":
            return self._settle(state, net, [])
        return self._settle(state, net, [Send(self._peer, CARD[state.cards[1 - self._seat]])])

    def _decide(self, state: KuhnState, effects: Effects) -> Effects:
        """Let the house's bot act. It sees its own card and the history, not the client's card (kuhn-3.2).

        For a bot that fails, the house checks or folds.
        """
        seat = 1 - self._seat
        try:
            action = choose_legal(self._bot, state.views[seat], state.actions, self._dealer.luck)
        except (Exception, SystemExit) as error:
            action = next(action for action in DEFAULT_ACTIONS if action in state.actions)
            effects.append(BotFailed(self._peer, bot_failure(error)))
        state = state.next[action]
        effects.append(Send(self._peer, ANNOUNCEMENTS[state]))
        if state.turn is OVER:
            return self._settle(state, state.payoff[self._seat], effects)
        self._await_decision(state)
        return effects
