"""One interpretation of a seven-and-a-half conversation: what the house has accepted, and what it owes.

A referee (see `croupier.rooms.sevenhalf.referee`) follows all interpretations that fit a conversation. The clauses are
those of docs/protocols/sevenhalf.md.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace

from croupier.core.bank import BankRules, ObservedBankGame
from croupier.core.client_session import LegalMessages
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE, BaseReferee, ExpectedReply, Observation, Party, Sent, Verdict
from croupier.core.rules import Turn
from croupier.rooms.sevenhalf.rules import LENIENT_RULES, MAX_TOTAL_BET, SEVENHALF, TARGET_HALVES, score, total
from croupier.rooms.sevenhalf.wire import (
    DRAW,
    PASS,
    STRT,
    Ante,
    Bksc,
    Bstg,
    Card,
    Draw,
    Erro,
    Gain,
    Message,
    Pass,
    Stbt,
    Strt,
)


@dataclass(frozen=True)
class WireGame(ObservedBankGame):
    """A game as seen on the wire. `is_bet_known` is false if the house has not sent the starting bet.

    `refused_coins` is the sum of the ANTEs that were refused.
    """

    is_bet_known: bool = True
    net: int = 0
    refused_coins: int = 0

    @property
    def total(self) -> int:
        """The total of the client's cards, in halves."""
        return total(self.cards)

    @property
    def bank_total(self) -> int:
        """The total of the bank's cards, in halves."""
        return total(self.bank)

    @property
    def is_over(self) -> bool:
        """Whether the client has more than seven and a half."""
        return self.total > TARGET_HALVES

    @property
    def has_raised(self) -> bool:
        """Whether the client has raised and not yet drawn."""
        return self.state.node is self.state.node.after_raise


class Interpretation(BaseReferee[Message, WireGame]):
    """One interpretation of the conversation: it assumes for every ANTE whether the house has accepted it.

    An ANTE has no answer, its refusal may come after later messages of the client, and only the house knows its limit
    (sevenhalf-7.4). Each ANTE that may be accepted or refused therefore splits the interpretation: this one assumes
    that it is accepted, and the copy that assumes a refusal is added to `forks`. `client_verdicts` are the client's
    errors, and `is_leaving` is true when the house appears to be closing.

    `_tolerates` is the type of a message that is ignored at this point: one PASS of the client after a bust, and then
    one ERRO of a house that refuses this PASS after all (sevenhalf-4.8).
    """

    HANG_UP_CLAUSE = ("sevenhalf-8.2", "ERRO before it")

    def __init__(self, *, lenient: bool, strict: bool, reply_timeout: float) -> None:
        super().__init__(reply_timeout)
        self.client_verdicts: list[Verdict] = []
        self.forks: list[Interpretation] = []
        self.is_leaving = False
        self._rules: BankRules = LENIENT_RULES if lenient else SEVENHALF
        self._lenient = lenient
        self._strict = strict
        self._bet: int | None = None
        self._has_seen_antes = False
        self._last_house_message: Message | None = None
        self._tolerates: type[Pass | Erro] | None = None

    @property
    def legal(self) -> Sequence[Message]:
        """The messages that the client may send now; empty while an answer is due."""
        if self._is_over or self._close_clause is not None or self.is_waiting:
            return ()
        if self.game is None:
            return (STRT,)
        state = self.game.state
        listed = [message for message in (DRAW, PASS) if str(message) in state.node.moves]
        return LegalMessages(
            listed, lambda message: type(message) is Ante and message.coins in self._rules.legal(state)
        )

    def on(self, event: Observation[Message], now: float) -> Sequence[Verdict]:
        """Process an event; return the verdicts on the house."""
        verdicts = super().on(event, now)
        if type(event) is Sent and event.sender == HOUSE and not isinstance(event.message, Violation):
            self._last_house_message = event.message
        return [verdict for verdict in verdicts if verdict.party != CLIENT]

    def _fork(self) -> "Interpretation":
        """Add a copy of this interpretation to `forks`."""
        other = copy(self)
        other._pending_messages, other._expected_replies = self._pending_messages.copy(), self._expected_replies.copy()
        other.client_verdicts, other.forks = [*self.client_verdicts], []
        self.forks.append(other)
        return other

    # Messages of the client.

    def _handle(self, message: Message | Violation) -> list[Verdict]:
        game = self.game
        match message:
            case Erro():
                self._silence_clause = "sevenhalf-6.6"
                return []
            case Violation(clause=clause, fatal=True, code=code):
                # A BKSC without its last space may also be refused as what it is, and then no close is due.
                self._expected_replies.append(ExpectedReply("sevenhalf-6.5" if code else clause, "ERRO", kind=Erro))
                return []
            case Violation():
                return self._blame("sevenhalf-6.5", message, self._phase_clause()[1])
            case Strt() if game is None or self._lenient:
                return self._start(game)
            case Draw() if game is not None or self._lenient:
                return self._draw(
                    game or WireGame(self._rules.start(self._bet or 1), is_bet_known=self._bet is not None)
                )
            case Pass() if game is not None and "PASS" in game.state.node.moves:
                return self._pass(game)
            case Pass() if game is None and self._tolerates is Pass:
                self._tolerates = Erro
                return []
            case Ante() if game is not None and game.state.node.after_raise is not None:
                return self._raise(game, message)
            case _:
                return self._client_error(message)

    def _start(self, game: WireGame | None) -> list[Verdict]:
        if game is not None:
            self._end_game(replace(game, net=-game.bet))
        self._tolerates = None
        self._expected_replies.append(ExpectedReply("sevenhalf-4.1", "STBT", kind=Stbt))
        return []

    def _draw(self, game: WireGame) -> list[Verdict]:
        clause = "sevenhalf-4.7" if total(game.state.cards) == TARGET_HALVES else "sevenhalf-4.2"
        self.game = replace(game, state=self._rules.play(game.state, "DRAW"))
        self._tolerates = None
        self._expected_replies.append(ExpectedReply(clause, "CARD", kind=Card))
        return []

    def _pass(self, game: WireGame) -> list[Verdict]:
        self.game = replace(game, state=self._rules.play(game.state, "PASS"))
        self._expected_replies += (
            ExpectedReply("sevenhalf-4.5", "BKSC", kind=Bksc),
            ExpectedReply("sevenhalf-4.5", "GAIN", kind=Gain),
        )
        return []

    def _raise(self, game: WireGame, message: Ante) -> list[Verdict]:
        coins = message.coins
        refused = replace(game, refused_coins=game.refused_coins + coins)
        if coins <= 0:
            self.game = refused
            return self._blame("sevenhalf-7.2", message, "1 or more")
        if game.bet + coins > MAX_TOTAL_BET:
            self.game = refused
            return self._blame("sevenhalf-7.3", message, f"bets of at most {MAX_TOTAL_BET} in all", MAX_TOTAL_BET)
        fork = self._fork()
        fork.game = refused
        fork._expected_replies.append(ExpectedReply("sevenhalf-7.3", "ERRO", kind=Erro))
        self.game = replace(game, state=self._rules.play(game.state, coins))
        self._has_seen_antes = True
        self._silence_clause = "sevenhalf-4.4"
        return []

    def _client_error(self, message: Message) -> list[Verdict]:
        clause, allowed = self._phase_clause()
        if not isinstance(message, Strt | Draw | Ante | Pass):
            clause = "sevenhalf-6.5"
        return self._blame(clause, message, allowed)

    def _blame(
        self, clause: str, message: Message | Violation, allowed: str, limit: int | None = None
    ) -> list[Verdict]:
        found = message.found if isinstance(message, Violation) else str(message)
        self._expected_replies.append(ExpectedReply(clause, "ERRO", kind=Erro))
        self.client_verdicts.append(Verdict(CLIENT, Violation(clause, found, allowed, limit=limit), message))
        return []

    def _phase_clause(self) -> tuple[str, str]:
        """The clause that restricts the client now, and the commands that it allows."""
        game = self.game
        if game is None:
            return "sevenhalf-6.1", "STRT"
        if game.has_raised:
            return "sevenhalf-6.4", "DRAW, ANTE"
        return ("sevenhalf-6.3", "DRAW, ANTE, PASS") if game.state.cards else ("sevenhalf-6.2", "DRAW")

    # Messages of the house.

    def _accept_goodbye(self, message: Message) -> bool:
        """An ERRO that is not an answer announces the close (sevenhalf-6.8)."""
        if type(message) is not Erro or self._tolerates is Erro:
            return False
        if any(due.kind is Erro for due in self._expected_replies):
            return False
        self._close_clause = "sevenhalf-6.6" if self._silence_clause == "sevenhalf-6.6" else "sevenhalf-6.8"
        self.is_leaving = True
        return True

    def _check_unsolicited(self, message: Message) -> list[Verdict]:
        if type(message) is Erro:
            self._tolerates = None  # a strict house refuses what others ignore
            return []
        return self._house_fault(self._unsolicited_clause(message), message, "nothing, until the client speaks")

    def _unsolicited_clause(self, message: Message) -> str:
        """The clause that is broken by a message that answers nothing."""
        if self._silence_clause is not None:
            return self._silence_clause
        if self.game is None and self._bet is None:
            return "sevenhalf-1.2"
        is_after_card = type(self._last_house_message) is Card and self.game is not None
        return "sevenhalf-3.4" if type(message) is Bstg and is_after_card else "sevenhalf-4.9"

    def _check_reply(self, expected: ExpectedReply, message: Message) -> list[Verdict]:
        match message:
            case _ if type(message) is not expected.kind:
                return self._house_fault(expected.clause, message, str(expected))
            case Stbt(coins):
                return self._check_starting_bet(coins)
            case Card(card) if self.game is not None:
                return self._check_card(self.game, card)
            case Bksc() if self.game is not None:
                return self._check_bank(self.game, message)
            case Gain(coins) if self.game is not None:
                return self._check_payout(self.game, coins)
            case Erro() if expected.clause == "sevenhalf-2.9":
                self._close_clause = expected.clause
        return []

    def _check_starting_bet(self, coins: int) -> list[Verdict]:
        if not 1 <= coins <= MAX_TOTAL_BET:
            return self._house_fault("sevenhalf-7.1", f"STBT {coins}", f"STBT with 1 to {MAX_TOTAL_BET}")
        self._bet = coins
        self.game = WireGame(self._rules.start(coins))
        return []

    def _check_card(self, game: WireGame, card: str) -> list[Verdict]:
        if card in game.state.cards:
            return self._house_fault("sevenhalf-3.3", f"CARD {card}", "a card that was not dealt before")
        state = self._rules.play(game.state, card)
        self.game = replace(game, state=state)
        if state.node.turn is Turn.CHANCE:
            kinds = ((Bstg, "BSTG"), (Bksc, "BKSC"), (Gain, "GAIN"))
            self._expected_replies += (ExpectedReply("sevenhalf-4.6", name, kind=kind) for kind, name in kinds)
        elif self.game.total == TARGET_HALVES:
            self._silence_clause = "sevenhalf-4.7"
        return []

    def _check_bank(self, game: WireGame, message: Bksc) -> list[Verdict]:
        """Check that the bank's cards are new, that its score is their sum, and that it drew by the rules."""
        seen = {*game.state.cards}
        for card in message.cards:
            if card in seen:
                return self._house_fault(
                    "sevenhalf-3.3", message, f"cards that were not dealt before, not {card} again"
                )
            seen.add(card)
        if message.score != score(total(message.cards)):
            return self._house_fault("sevenhalf-5.2", message, f"the score {score(total(message.cards))}")
        state = game.state
        for card in message.cards:
            if state.node.turn is not Turn.CHANCE:
                break
            state = self._rules.play(state, card)
        self.game = replace(game, state=state)
        if state.node.turn is not Turn.OVER or len(self.game.bank) < len(message.cards):
            if game.is_over:
                return self._house_fault("sevenhalf-3.7", message, "exactly one card")
            return self._house_fault("sevenhalf-3.6", message, "one card, and more while the score is not higher")
        return []

    def _check_payout(self, game: WireGame, coins: int) -> list[Verdict]:
        net, _ = self._rules.payoff(game.state)
        if coins != net if game.is_bet_known else (coins > 0, coins < 0) != (net > 0, net < 0):
            wanted = (Gain(net),) if game.is_bet_known else ()
            clause = _payout_clause(game, net, coins, may_miscount_antes=self._has_seen_antes)
            return self._house_fault(clause, f"GAIN {coins}", f"GAIN {net}", *wanted)
        self._tolerates = Pass if game.is_over and not self._strict else None
        self._end_game(replace(game, net=coins))
        return []

    def _on_disconnected(self, party: Party) -> list[Verdict]:
        """After an ERRO a close is never a fault; after GAIN it is tolerated (sevenhalf-6.8, sevenhalf-8.5)."""
        last = self._last_house_message
        if party == CLIENT or type(last) not in {Erro, Gain}:
            return super()._on_disconnected(party)
        self._is_over = True
        if type(last) is Gain and self._strict:
            return self._fault_of_close("sevenhalf-8.5", "ERRO before it")
        return []


def _payout_clause(game: WireGame, net: int, paid: int, *, may_miscount_antes: bool) -> str:
    """The clause that is broken by a payout in place of the net of a finished game.

    `may_miscount_antes`: the client has raised before, so that an amount that is no result of this bet is another bet.
    """
    if game.refused_coins and paid == net // game.bet * (game.bet + game.refused_coins):
        return "sevenhalf-7.4"
    if may_miscount_antes and paid not in {-game.bet, 0, game.bet, 2 * game.bet}:
        return "sevenhalf-5.3"
    if game.is_over:
        return "sevenhalf-5.4"
    if game.total == TARGET_HALVES:
        return "sevenhalf-5.7" if game.bank_total == TARGET_HALVES else "sevenhalf-5.6"
    return "sevenhalf-5.5" if game.bank_total > TARGET_HALVES else "sevenhalf-5.8"
