"""House side of blackjack: deals, draws for the bank and pays (docs/protocols/blackjack.md, sections 4 to 8)."""

from croupier.core.bank import CHANCE, BankRules, BankState
from croupier.core.dealer import Dealer, Deck
from croupier.core.errors import Violation
from croupier.core.private_table import PrivateTable, Purse
from croupier.core.rules import Turn
from croupier.core.session import Effect, Peer, Send, Timeouts
from croupier.rooms.blackjack.rules import HIT, STAND, SURRENDER, largest_bet
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

type Effects = list[Effect[Message]]


class House(PrivateTable[Message, BankState]):
    """The house at one private table. See `PrivateTable`.

    The purse is the client's (blackjack-7) and excludes the bet of the current round. `_is_betting` is true between MON
    and the bet. The cards come from the house's own deck, so it follows the nodes of the rules without checking moves.
    """

    TIMEOUT_MESSAGES = CLOSING_MESSAGES = GOODBYE

    __slots__ = ("_deck", "_is_betting", "_rules")

    def __init__(self, peer: Peer, dealer: Dealer, timeouts: Timeouts, rules: BankRules, purse: Purse) -> None:
        super().__init__(peer, dealer, timeouts, purse)
        self._rules = rules
        self._is_betting = False
        self._deck: Deck

    def _on_received(self, message: Message) -> Effects:
        state = self._state
        if type(message) is Mov:
            if state is not None:
                return self._hit(state) if message.move == HIT else self._stand(state)
        elif type(message) is Ply:
            if state is None and not self._is_betting:
                self._is_betting = True
                return [Send(self._peer, Mon(self._purse.coins))]
        elif type(message) is Bet:
            if self._is_betting:
                return self._bet(message.coins)
        elif type(message) is Srd:
            if state is not None:
                return self._pay(self._rules.play(state, SURRENDER), [])
        elif type(message) is Stp:
            return self._say_goodbye(self._forfeit(), (STP,))
        elif type(message) is Err:
            return []
        return [Send(self._peer, UNEXPECTED)]

    def _on_malformed(self, violation: Violation) -> Effects:
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
        self._stake_coins(coins)
        rules, shoe = self._rules, self._rules.shoe
        self._deck = deck = self._dealer.next_deck(len(shoe))
        first, second, bank = shoe[next(deck)], shoe[next(deck)], shoe[next(deck)]
        node = rules.start_node.successors[first].successors[second].successors[bank]
        self._state = BankState(node, (first, second, bank), 1, coins)
        peer, client = self._peer, CRD["C"]
        return [Send(peer, client[first]), Send(peer, client[second]), Send(peer, CRD["S"][bank]), Send(peer, TRN)]

    def _hit(self, state: BankState) -> Effects:
        """Deal a card to the client; below 21 the client decides again (blackjack-4.3)."""
        card = self._rules.shoe[next(self._deck)]
        node = state.node.successors[HIT].successors[card]
        state = BankState(node, (*state.cards, card), state.bank_card_count, state.bet)
        reply: Effect[Message] = Send(self._peer, CRD["C"][card])
        if node.turn is Turn.OVER:
            return self._pay(state, [reply])
        self._state = state
        return [reply, Send(self._peer, TRN)]

    def _stand(self, state: BankState) -> Effects:
        """Draw for the bank by its rules (blackjack-4.4)."""
        node = state.node.successors[STAND]
        deck, shoe, bank_messages = self._deck, self._rules.shoe, CRD["S"]
        drawn: tuple[str, ...] = ()
        effects: Effects = []
        while node.turn is CHANCE:
            card = shoe[next(deck)]
            drawn += (card,)
            node = node.successors[card]
            effects.append(Send(self._peer, bank_messages[card]))
        return self._pay(BankState(node, state.cards + drawn, state.bank_card_count + len(drawn), state.bet), effects)

    def _pay(self, state: BankState, effects: Effects) -> Effects:
        """End the round and pay the client (blackjack-5)."""
        result = result_message(state)
        effects.append(Send(self._peer, result))
        return self._settle(state, result.coins - state.bet, effects)
