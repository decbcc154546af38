"""The house's side of blackjack: it deals, draws for the bank, and pays (docs/protocols/blackjack.md, 4 to 8)."""

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
    """One conversation at a private table. See `Table`.

    The purse is the client's (blackjack-7), without the bet of a round that is running. `_betting` is true between MON
    and the bet. Cards come from the deck, so the nodes of the rules can be followed unasked.
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
        """What has no known end ends the talk (blackjack-6.7); a frame that means nothing is refused like others."""
        if violation.fatal:
            return self._say_goodbye([Send(self._peer, UNKNOWN), *self._forfeit()], GOODBYE)
        if violation.clause == "blackjack-2.12":
            return []  # an ERR, however wrong, is never answered (blackjack-6.8)
        expected = violation.clause == "blackjack-2.11" and self._state is not None
        return [Send(self._peer, INVALID if expected else UNEXPECTED)]

    def _bet(self, coins: int) -> Effects:
        """Take the stake, and deal from a fresh shoe (blackjack-4.2, blackjack-7.4)."""
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
        """A card for the client, who decides again below 21 (blackjack-4.3)."""
        card = self._rules.shoe[next(self._deck)]
        node = state.node.successors[HIT].successors[card]
        state = BankState(node, (*state.cards, card), state.bank_card_count, state.bet)
        said: Effect[Message] = Send(self._peer, CRD["C"][card])
        if node.turn is Turn.OVER:
            return self._pay(state, [said])
        self._state = state
        return [said, Send(self._peer, TRN)]

    def _stand(self, state: BankState) -> Effects:
        """The bank draws as it must (blackjack-4.4)."""
        node = state.node.successors[STAND]
        deck, shoe, told = self._deck, self._rules.shoe, CRD["S"]
        drawn: tuple[str, ...] = ()
        effects: Effects = []
        while node.turn is CHANCE:
            card = shoe[next(deck)]
            drawn += (card,)
            node = node.successors[card]
            effects.append(Send(self._peer, told[card]))
        return self._pay(BankState(node, state.cards + drawn, state.bank_card_count + len(drawn), state.bet), effects)

    def _pay(self, state: BankState, effects: Effects) -> Effects:
        """The round is over: pay back what there is to pay (blackjack-5)."""
        said = result_message(state)
        effects.append(Send(self._peer, said))
        return self._settle(state, said.coins - state.bet, effects)
