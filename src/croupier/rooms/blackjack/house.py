"""The house's side of blackjack: it deals, draws for the bank, and pays (docs/protocols/blackjack.md, 4 to 8)."""

from croupier.core.bank import CHANCE, BankRules, State
from croupier.core.dealer import Dealer, Deck
from croupier.core.errors import Violation
from croupier.core.private_table import Purse, Table
from croupier.core.rules import Turn
from croupier.core.session import Effect, Patience, Peer, Say
from croupier.rooms.blackjack.rules import HIT, STAND, SURRENDER, limit
from croupier.rooms.blackjack.wire import (
    CRD,
    GOODBYE,
    INVALID,
    POOR,
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
    result,
)

type Effects = list[Effect[Message]]


class House(Table[Message, State]):
    """One conversation at a private table. See `Table`.

    The purse is the client's (blackjack-7), without the bet of a round that is running. `_betting` is true between MON
    and the bet. Cards come from the deck, so the nodes of the rules can be followed unasked.
    """

    LATE = CLOSING = GOODBYE

    __slots__ = ("_betting", "_deck", "_rules")

    def __init__(self, peer: Peer, dealer: Dealer, patience: Patience, rules: BankRules, purse: Purse) -> None:
        super().__init__(peer, dealer, patience, purse)
        self._rules = rules
        self._betting = False
        self._deck: Deck

    def _said(self, message: Message) -> Effects:
        state = self._state
        if type(message) is Mov:
            if state is not None:
                return self._hit(state) if message.move == HIT else self._stand(state)
        elif type(message) is Ply:
            if state is None and not self._betting:
                self._betting = True
                return [Say(self._peer, Mon(self._purse.coins))]
        elif type(message) is Bet:
            if self._betting:
                return self._bet(message.coins)
        elif type(message) is Srd:
            if state is not None:
                return self._pay(self._rules.play(state, SURRENDER), [])
        elif type(message) is Stp:
            return self._farewell(self._forfeit(), (STP,))
        elif type(message) is Err:
            return []
        return [Say(self._peer, UNEXPECTED)]

    def _garbled(self, violation: Violation) -> Effects:
        """What has no known end ends the talk (blackjack-6.7); a frame that means nothing is refused like others."""
        if violation.lost:
            return self._farewell([Say(self._peer, UNKNOWN), *self._forfeit()], GOODBYE)
        if violation.clause == "blackjack-2.12":
            return []  # an ERR, however wrong, is never answered (blackjack-6.8)
        expected = violation.clause == "blackjack-2.11" and self._state is not None
        return [Say(self._peer, INVALID if expected else UNEXPECTED)]

    def _bet(self, coins: int) -> Effects:
        """Take the stake, and deal from a fresh shoe (blackjack-4.2, blackjack-7.4)."""
        if coins <= 0:
            return [Say(self._peer, INVALID)]
        if coins > limit(self._purse.coins, self._purse.staked):
            return [Say(self._peer, POOR)]
        self._betting = False
        self._put(coins)
        rules, shoe = self._rules, self._rules.shoe
        self._deck = deck = self._dealer.deck(len(shoe))
        first, second, bank = shoe[next(deck)], shoe[next(deck)], shoe[next(deck)]
        node = rules.first.next[first].next[second].next[bank]
        self._state = State(node, (first, second, bank), 1, coins)
        peer, client = self._peer, CRD["C"]
        return [Say(peer, client[first]), Say(peer, client[second]), Say(peer, CRD["S"][bank]), Say(peer, TRN)]

    def _hit(self, state: State) -> Effects:
        """A card for the client, who decides again below 21 (blackjack-4.3)."""
        card = self._rules.shoe[next(self._deck)]
        node = state.node.next[HIT].next[card]
        state = State(node, (*state.cards, card), state.banked, state.bet)
        said: Effect[Message] = Say(self._peer, CRD["C"][card])
        if node.turn is Turn.OVER:
            return self._pay(state, [said])
        self._state = state
        return [said, Say(self._peer, TRN)]

    def _stand(self, state: State) -> Effects:
        """The bank draws as it must (blackjack-4.4)."""
        node = state.node.next[STAND]
        deck, shoe, told = self._deck, self._rules.shoe, CRD["S"]
        drawn: tuple[str, ...] = ()
        effects: Effects = []
        while node.turn is CHANCE:
            card = shoe[next(deck)]
            drawn += (card,)
            node = node.next[card]
            effects.append(Say(self._peer, told[card]))
        return self._pay(State(node, state.cards + drawn, state.banked + len(drawn), state.bet), effects)

    def _pay(self, state: State, effects: Effects) -> Effects:
        """The round is over: pay back what there is to pay (blackjack-5)."""
        said = result(state)
        effects.append(Say(self._peer, said))
        return self._settle(state, said.coins - state.bet, effects)
