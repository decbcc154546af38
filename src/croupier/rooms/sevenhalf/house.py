"""House side of seven and a half: deals, draws for the bank and pays (docs/protocols/sevenhalf.md)."""

from typing import Final

from croupier.core.bank import CLIENT_SEAT, BankRules, BankState
from croupier.core.bank_table import BankTable
from croupier.core.dealer import Dealer
from croupier.core.errors import Violation
from croupier.core.private_table import Purse
from croupier.core.session import Drop, Effect, Peer, Send, Timeouts
from croupier.rooms.sevenhalf import wire
from croupier.rooms.sevenhalf.rules import score, total
from croupier.rooms.sevenhalf.wire import BSTG, CARD, Ante, Bksc, Draw, Erro, Gain, Message, Pass, Stbt, Strt

type Effects = list[Effect[Message]]

COMMANDS: Final = ("STRT", "DRAW", "ANTE", "PASS")

UNLIMITED_COINS: Final = 2**62
"""The purse of a client when the house does not check whether it can pay (sevenhalf-7.6)."""


class House(BankTable[Message]):
    """The house at one private table. See `BankTable`.

    `_allows_late_pass` is true while one PASS after a bust is still ignored (sevenhalf-4.8).
    """

    TIMEOUT_MESSAGES = (wire.TIMED_OUT,)
    CLOSING_MESSAGES = (wire.CLOSING,)

    __slots__ = ("_allows_late_pass", "_bet", "_is_single_game", "_lenient", "_strict")

    def __init__(
        self,
        peer: Peer,
        dealer: Dealer,
        timeouts: Timeouts,
        rules: BankRules,
        purse: Purse,
        *,
        bet: int,
        lenient: bool = False,
        once: bool = False,
        strict: bool = False,
    ) -> None:
        super().__init__(peer, dealer, timeouts, rules, purse)
        self._bet = bet
        self._lenient = lenient
        self._is_single_game = once
        self._strict = strict
        self._allows_late_pass = False

    def on_received(self, message: Message) -> Effects:  # noqa: C901 -- one branch per command, frequent ones first
        """See `PrivateTable.on_received`."""
        state = self._state
        if type(message) is Draw:
            if state is not None:
                return self._draw(state)
            if self._lenient:
                return self._draw(self._deal()) if self._purse.coins >= self._bet else self._close_unaffordable([])
        elif type(message) is Pass:
            if state is not None and (node := state.node.successors.get("PASS")):
                return self._pay(self._draw_cards(node, state.bet, state.cards, state.receivers), len(state.cards), [])
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

    def on_malformed(self, violation: Violation) -> Effects:
        """Refuse malformed input; close if its length is unknown (sevenhalf-2.9, sevenhalf-6.5)."""
        if violation.fatal:
            return self._say_goodbye(self._forfeit(), [wire.UNREADABLE])
        return self._refuse_misplaced(violation.code)

    def _deal(self) -> BankState:
        self._allows_late_pass = False
        self._start_game(self._bet)
        return self._rules.start(self._bet)

    def _start(self, effects: Effects) -> Effects:
        if self._purse.coins < self._bet:
            return self._close_unaffordable(effects)
        self._await_decision(self._deal())
        return [*effects, Send(self._peer, Stbt(self._bet))]

    def _draw(self, state: BankState) -> Effects:
        """Deal a card to the client; a bust ends the game (sevenhalf-4.2, sevenhalf-4.6)."""
        after = self._draw_cards(state.node.successors["DRAW"], state.bet, state.cards, state.receivers)
        known = len(state.cards)
        reply: Effect[Message] = Send(self._peer, CARD[after.cards[known]])
        if after.node.turn == CLIENT_SEAT:
            self._await_decision(after)
            return [reply]
        self._allows_late_pass = not self._strict
        return self._pay(after, known + 1, [reply, Send(self._peer, BSTG)])

    def _raise(self, state: BankState, coins: int) -> Effects:
        """Raise the bet by a number of coins, within the limit and the purse (sevenhalf-7)."""
        max_raise = min(self._rules.max_bet - state.bet, self._purse.coins)
        if not 0 < coins <= max_raise:
            return self._refuse(f"ANTE {coins}", f"1 to {max_raise}" if max_raise else "no more")
        self._await_decision(self._rules.play(state, coins))
        self._stake_coins(coins)
        return []

    def _close_unaffordable(self, effects: Effects) -> Effects:
        """Close because the purse cannot pay: an allowed command is never refused without closing (sevenhalf-6.8)."""
        return self._say_goodbye(effects, [wire.NO_COINS])

    def _pay(self, state: BankState, known: int, effects: Effects) -> Effects:
        """Send the bank's cards, all after the `known` ones, and pay the client (sevenhalf-3.6, sevenhalf-5)."""
        drawn = state.cards[known:]
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
        return self._refuse(code, ", ".join(self._allowed_commands()))

    def _refuse(self, found: str, allowed: str) -> Effects:
        """Send an ERRO with what was found and what is allowed; the game does not change (sevenhalf-6)."""
        return [Send(self._peer, Erro(f"{found} refused; allowed: {allowed}"))]
