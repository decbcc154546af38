"""House side of blackjack: deals, draws for the bank and pays (docs/protocols/blackjack.md, sections 4 to 8)."""

from croupier.core.bank import CLIENT_SEAT, BankRules, BankState
from croupier.core.bank_table import BankTable
from croupier.core.dealer import Dealer
from croupier.core.errors import Violation
from croupier.core.private_table import Purse
from croupier.core.session import Effect, Peer, Send, Timeouts
from croupier.rooms.blackjack.rules import HIT, SURRENDER, largest_bet
from croupier.rooms.blackjack.wire import (
    CRD,
    GOODBYE,
    INVALID,
    NO_COINS,
    STP,
    TRN,
    UNEXPECTED,
    UNKNOWN,
    Bet,
    Err,
    Message,
    Mon,
    Mov,
    Ply,
    Srd,
    Stp,
    result_message,
)

CLIENT_CARDS, BANK_CARDS = CRD["C"], CRD["S"]

type Effects = list[Effect[Message]]


class House(BankTable[Message]):
    """The house at one private table. See `BankTable`.

    The purse is the client's (blackjack-7) and excludes the bet of the current round. `_is_betting` is true between MON
    and the bet.
    """

    TIMEOUT_MESSAGES = CLOSING_MESSAGES = GOODBYE

    __slots__ = ("_is_betting",)

    def __init__(self, peer: Peer, dealer: Dealer, timeouts: Timeouts, rules: BankRules, purse: Purse) -> None:
        super().__init__(peer, dealer, timeouts, rules, purse)
        self._is_betting = False

    def on_received(self, message: Message) -> Effects:
        """See `PrivateTable.on_received`."""
        state = self._state
        if type(message) is Mov:
            if state is not None:
                return self._move(state, message.move)
        elif type(message) is Ply:
            if state is None and not self._is_betting:
                self._is_betting = True
                return [Send(self._peer, Mon(self._purse.coins))]
        elif type(message) is Bet:
            if self._is_betting:
                return self._bet(message.coins)
        elif type(message) is Srd:
            if state is not None:
                return self._move(state, SURRENDER)
        elif type(message) is Stp:
            return self._say_goodbye(self._forfeit(), (STP,))
        elif type(message) is Err:
            return []
        return [Send(self._peer, UNEXPECTED)]

    def on_malformed(self, violation: Violation) -> Effects:
        """Refuse malformed input; close if its length is unknown (blackjack-6.7)."""
        if violation.fatal:
            return self._say_goodbye([Send(self._peer, UNKNOWN), *self._forfeit()], GOODBYE)
        if violation.clause == "blackjack-2.12":
            return []  # an ERR, even a malformed one, is never answered (blackjack-6.8)
        is_move_due = violation.clause == "blackjack-2.11" and self._state is not None
        return [Send(self._peer, INVALID if is_move_due else UNEXPECTED)]

    def _bet(self, coins: int) -> Effects:
        """Stake the bet and deal from a newly shuffled shoe (blackjack-4.2, blackjack-7.4)."""
        if coins <= 0:
            return [Send(self._peer, INVALID)]
        if coins > largest_bet(self._purse.coins, self._purse.staked):
            return [Send(self._peer, NO_COINS)]
        self._is_betting = False
        self._start_game(coins)
        state = self._draw_cards(self._rules.start_node, coins)
        self._await_decision(state)
        first, second, bank = state.cards
        peer = self._peer
        return [
            Send(peer, CLIENT_CARDS[first]),
            Send(peer, CLIENT_CARDS[second]),
            Send(peer, BANK_CARDS[bank]),
            Send(peer, TRN),
        ]

    def _move(self, before: BankState, move: str) -> Effects:
        """Deal the cards that follow a move; then the client decides again, or the round ends (blackjack-4)."""
        state = self._draw_cards(before.node.successors[move], before.bet, before.cards, before.receivers)
        if move == HIT:
            effects: Effects = [Send(self._peer, CLIENT_CARDS[state.cards[-1]])]
        else:
            effects = [Send(self._peer, BANK_CARDS[card]) for card in state.cards[len(before.cards) :]]
        if state.node.turn != CLIENT_SEAT:
            return self._pay(state, effects)
        self._await_decision(state)
        effects.append(Send(self._peer, TRN))
        return effects

    def _pay(self, state: BankState, effects: Effects) -> Effects:
        """End the round and pay the client (blackjack-5)."""
        result = result_message(state)
        effects.append(Send(self._peer, result))
        return self._settle(state, result.coins - state.bet, effects)
