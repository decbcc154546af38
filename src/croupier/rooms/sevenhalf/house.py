"""House side of seven and a half: deals, draws for the bank and pays (docs/protocols/sevenhalf.md)."""

from typing import Final

from croupier.core.bank import CHANCE, CLIENT_SEAT, BankNode, BankRules, BankState
from croupier.core.dealer import Dealer, Deck
from croupier.core.errors import Violation
from croupier.core.private_table import PrivateTable, Purse
from croupier.core.session import Drop, Effect, Peer, Send, Timeouts
from croupier.rooms.sevenhalf import wire
from croupier.rooms.sevenhalf.rules import score, total
from croupier.rooms.sevenhalf.wire import BSTG, CARD, Ante, Bksc, Draw, Erro, Gain, Message, Pass, Stbt, Strt

type Effects = list[Effect[Message]]

COMMANDS: Final = ("STRT", "DRAW", "ANTE", "PASS")

UNLIMITED_COINS: Final = 2**62
"""The purse of a client when the house does not check whether it can pay (sevenhalf-7.6)."""


class House(PrivateTable[Message, BankState]):
    """The house at one private table. See `PrivateTable`.

    The cards come from the house's own deck, so it follows the nodes of the rules without checking moves.
    `_allows_late_pass` is true while one PASS after a bust is still ignored (sevenhalf-4.8).
    """

    TIMEOUT_MESSAGES = (wire.TIMED_OUT,)
    CLOSING_MESSAGES = (wire.CLOSING,)

    __slots__ = ("_allows_late_pass", "_bet", "_deck", "_is_single_game", "_lenient", "_rules", "_strict")

    def __init__(
        self,
        peer: Peer,
        dealer: Dealer,
        timeouts: Timeouts,
        purse: Purse,
        rules: BankRules,
        *,
        bet: int,
        lenient: bool = False,
        once: bool = False,
        strict: bool = False,
    ) -> None:
        super().__init__(peer, dealer, timeouts, purse)
        self._rules = rules
        self._bet = bet
        self._lenient = lenient
        self._is_single_game = once
        self._strict = strict
        self._allows_late_pass = False
        self._deck: Deck

    def _on_received(self, message: Message) -> Effects:  # noqa: C901 -- one branch per command, frequent ones first
        state = self._state
        if type(message) is Draw:
            if state is not None:
                return self._draw(state)
            if self._lenient:
                return self._draw(self._deal()) if self._purse.coins >= self._bet else self._close_unaffordable([])
        elif type(message) is Pass:
            if state is not None and (node := state.node.successors.get("PASS")):
                return self._play_bank(state, node, [])
            if state is None and self._allows_late_pass:
                self._allows_late_pass = False
                return []
        elif type(message) is Strt:
            if state is None:
                return self._start([])
            if self._lenient:
                effects = self._forfeit()
                return self._say_goodbye(effects, self.CLOSING_MESSAGES) if self._is_closing else self._start(effects)
        elif type(message) is Ante:
            if state is not None and state.node.after_raise is not None:
                return self._raise(state, message.coins)
        elif type(message) is Erro:
            return []
        return self._refuse_misplaced(str(message)[:4])

    def _on_malformed(self, violation: Violation) -> Effects:
        """Refuse malformed input; close if its length is unknown (sevenhalf-2.9, sevenhalf-6.5)."""
        if violation.fatal:
            return self._say_goodbye(self._forfeit(), [wire.UNREADABLE])
        return self._refuse_misplaced(violation.found[:4])

    def _deal(self) -> BankState:
        """Stake the starting bet and shuffle a new deck (sevenhalf-4.1)."""
        self._allows_late_pass = False
        self._stake_coins(self._bet)
        self._deck = self._dealer.next_deck(len(self._rules.shoe))
        return self._rules.start(self._bet)

    def _start(self, effects: Effects) -> Effects:
        if self._purse.coins < self._bet:
            return self._close_unaffordable(effects)
        self._state = self._deal()
        return [*effects, Send(self._peer, Stbt(self._bet))]

    def _draw(self, state: BankState) -> Effects:
        """Deal a card to the client; a bust ends the game (sevenhalf-4.2, sevenhalf-4.6)."""
        card = self._rules.shoe[next(self._deck)]
        node = state.node.successors["DRAW"].successors[card]
        state = BankState(node, (*state.cards, card), 0, state.bet)
        reply: Effect[Message] = Send(self._peer, CARD[card])
        if node.turn == CLIENT_SEAT:
            self._state = state
            return [reply]
        self._allows_late_pass = not self._strict
        return self._play_bank(state, node, [reply, Send(self._peer, BSTG)])

    def _raise(self, state: BankState, coins: int) -> Effects:
        """Raise the bet by a number of coins, within the limit and the purse (sevenhalf-7)."""
        max_raise = min(self._rules.max_bet - state.bet, self._purse.coins)
        if not 0 < coins <= max_raise:
            return self._refuse(f"ANTE {coins}", f"1 to {max_raise}" if max_raise else "no more")
        self._state = self._rules.play(state, coins)
        self._stake_coins(coins)
        return []

    def _close_unaffordable(self, effects: Effects) -> Effects:
        """Close because the purse cannot pay: an allowed command is never refused without closing (sevenhalf-6.8)."""
        return self._say_goodbye(effects, [wire.NO_COINS])

    def _play_bank(self, state: BankState, node: BankNode, effects: Effects) -> Effects:
        """Draw for the bank and pay the client (sevenhalf-3.6, sevenhalf-5)."""
        deck, shoe = self._deck, self._rules.shoe
        drawn: tuple[str, ...] = ()
        while node.turn is CHANCE:
            card = shoe[next(deck)]
            drawn += (card,)
            node = node.successors[card]
        state = BankState(node, state.cards + drawn, len(drawn), state.bet)
        net = self._rules.payoff(state)[0]
        effects += (Send(self._peer, Bksc(drawn, score(total(drawn)))), Send(self._peer, Gain(net)))
        effects = self._settle(state, net, effects)
        if self._is_single_game and not self._is_dropped:
            self._mark_dropped()
            effects.append(Drop(self._peer))
        return effects

    def _allowed_commands(self) -> list[str]:
        """The commands that are allowed now, in the order of `COMMANDS`."""
        state = self._state
        if state is None:
            return ["STRT", "DRAW"] if self._lenient else ["STRT"]
        allowed = {
            *state.node.moves,
            "ANTE" if state.node.after_raise is not None else "",
            "STRT" if self._lenient else "",
        }
        return [command for command in COMMANDS if command in allowed]

    def _refuse_misplaced(self, code: str) -> Effects:
        """Refuse a message that is not allowed now."""
        return self._refuse(code, ", ".join(self._allowed_commands()))

    def _refuse(self, found: str, allowed: str) -> Effects:
        """Send an ERRO with what was found and what is allowed; the game does not change (sevenhalf-6)."""
        return [Send(self._peer, Erro(f"{found} refused; allowed: {allowed}"))]
