"""Referee of blackjack conversations: names the clause that a message breaks (docs/protocols/blackjack.md)."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Final

from croupier.core.bank import BANK_SEAT, CLIENT_SEAT, BankNode, BankState, ObservedBankGame, bank_cards, client_cards
from croupier.core.client_session import LegalMessages
from croupier.core.errors import IllegalMove, Violation
from croupier.core.referee import CLIENT as SPEAKER
from croupier.core.referee import BaseReferee, ExpectedReply, Verdict
from croupier.core.rules import Turn
from croupier.rooms.blackjack.rules import (
    CLIENT_LOST,
    CLIENT_SURRENDERED,
    CLIENT_WON,
    HIT,
    STAND,
    SURRENDER,
    TARGET_TOTAL,
    Blackjack,
    hand_total,
    largest_bet,
)
from croupier.rooms.blackjack.wire import (
    INVALID,
    LEAVING,
    MOV,
    NO_COINS,
    PLY,
    SRD,
    STP,
    TRN,
    UNEXPECTED,
    UNKNOWN,
    Bet,
    Crd,
    Err,
    Message,
    Mon,
    Mov,
    Ply,
    Res,
    Srd,
    Stp,
    Trn,
    result_message,
)


class WireGame(ObservedBankGame):
    """A round as seen on the wire."""

    @property
    def total(self) -> int:
        """The total of the client's cards."""
        return hand_total(self.cards).total

    @property
    def bank_total(self) -> int:
        """The total of the bank's cards."""
        return hand_total(self.bank).total


DEAL_CLAUSE: Final = "blackjack-4.2"
MOVE_CLAUSES: Final[Mapping[str, str]] = {HIT: "blackjack-4.3", STAND: "blackjack-4.4", SURRENDER: "blackjack-4.5"}
"""The clauses that define the house's answers to a bet and to each move of the client."""

IMMEDIATE_END_CLAUSES: Final[Mapping[BankNode, str]] = {CLIENT_WON: "blackjack-3.5", CLIENT_LOST: "blackjack-3.6"}
"""The clause by which a hit ends the round at once."""

PAYOUT_CLAUSES: Final[Mapping[BankNode, str]] = {
    CLIENT_WON: "blackjack-5.1",
    CLIENT_LOST: "blackjack-5.2",
    CLIENT_SURRENDERED: "blackjack-5.3",
}
"""The clause that defines the payout."""


class ExpectedMessage(ExpectedReply):
    """An expected answer that must be exactly one message."""

    __slots__ = ("message",)

    def __init__(self, clause: str, message: Message) -> None:
        super().__init__(clause, str(message), (message,))
        self.message = message


class ExpectedRoundMessage(ExpectedReply):
    """The next message of a round; the state of the round determines what is allowed."""


class Referee(BaseReferee[Message, WireGame]):
    """See `croupier.core.referee.Referee`.

    `decks` are shuffled for each round. `money` is the purse at the start; if it is None, the first MON is accepted as
    correct. A strict referee requires ERR 300 before every STP of the house that is not an answer.
    """

    HANG_UP_CLAUSE = ("blackjack-8.2", "ERR 300 and STP before it")

    def __init__(
        self, decks: int = 1, money: int | None = None, *, strict: bool = False, reply_timeout: float = 5.0
    ) -> None:
        super().__init__(reply_timeout)
        self._rules = Blackjack(decks)
        self._balance = money
        self._strict = strict
        self._has_begun = False
        self._is_betting = False
        self._is_leaving = False  # the house has sent ERR 300

    @property
    def legal(self) -> Sequence[Message]:
        """The messages that the client may send; only STP while an answer is due. Only the largest bet is listed."""
        if self._is_over or self._is_leaving or self._close_clause is not None:
            return ()
        return (STP,) if self.is_waiting else self._allowed_messages()

    def _allowed_messages(self) -> Sequence[Message]:
        """The messages that the house waits for."""
        if self.game is not None:
            return (*MOV.values(), SRD, STP)
        if not self._is_betting:
            return (PLY, STP)
        max_bet = self._max_bet()
        if max_bet == 0:
            return (STP,)
        return LegalMessages((Bet(max_bet), STP), lambda message: type(message) is Bet and 0 < message.coins <= max_bet)

    def _max_bet(self) -> int:
        assert self._balance is not None, "the house must have sent MON"
        return largest_bet(self._balance)

    def _add_to_balance(self, coins: int) -> None:
        assert self._balance is not None, "the house must have sent MON"
        self._balance += coins

    # Messages of the client.

    def _handle(self, message: Message | Violation) -> list[Verdict]:
        game = self.game
        match message:
            case Ply() if game is None and not self._is_betting:
                self._has_begun = True
                clause = "blackjack-4.1" if self._balance != 0 else "blackjack-7.5"
                self._expected_replies.append(ExpectedReply(clause, "MON with the balance", kind=Mon))
            case Bet(coins) if self._is_betting:
                return self._bet(coins)
            case Mov(move) if game is not None:
                self._expect_next(MOVE_CLAUSES[move], self._rules.play(game.state, move))
            case Srd() if game is not None:
                self._expect_next(MOVE_CLAUSES[SURRENDER], self._rules.play(game.state, SURRENDER))
            case Stp():
                self._expected_replies.append(ExpectedMessage("blackjack-8.1", STP))
            case Violation():
                self._expect_refusal(message)
            case Ply() | Bet() | Mov() | Srd():
                return self._client_error(
                    "blackjack-6.3", UNEXPECTED, message, ", ".join(map(str, self._allowed_messages()))
                )
            case Mon() | Crd() | Trn() | Res():
                return self._client_error("blackjack-6.4", UNEXPECTED, message, "PLY, BET, MOV, SRD, STP, ERR")
            case Err():
                self._silence_clause = "blackjack-6.8"
        return []

    def _expect_refusal(self, violation: Violation) -> None:
        """Expect the house's answer to malformed input."""
        if violation.fatal:
            self._expected_replies += (ExpectedMessage("blackjack-6.7", word) for word in (UNKNOWN, LEAVING, STP))
            return
        if violation.clause == "blackjack-2.11":
            due = (
                ExpectedMessage("blackjack-6.5", INVALID) if self.game else ExpectedMessage("blackjack-6.3", UNEXPECTED)
            )
            self._expected_replies.append(due)
        elif violation.clause == "blackjack-2.12":
            self._silence_clause = "blackjack-6.8"
        else:
            self._expected_replies.append(ExpectedMessage("blackjack-6.4", UNEXPECTED))

    def _client_error(
        self, clause: str, error: Err, message: Message, allowed: str, limit: int | None = None
    ) -> list[Verdict]:
        self._expected_replies.append(ExpectedMessage(clause, error))
        return [Verdict(SPEAKER, Violation(clause, str(message), allowed, limit=limit))]

    def _bet(self, coins: int) -> list[Verdict]:
        if coins <= 0:
            return self._client_error("blackjack-6.5", INVALID, Bet(coins), "1 or more")
        if coins > self._max_bet():
            limit = self._max_bet()
            return self._client_error("blackjack-6.6", NO_COINS, Bet(coins), f"BET of at most {limit}", limit)
        self._add_to_balance(-coins)
        self._is_betting = False
        self._expect_next(DEAL_CLAUSE, self._rules.start(coins))
        return []

    # Messages of the house.

    def _expect_next(self, clause: str, state: BankState) -> None:
        """Set the state of the round and expect its next message from the house."""
        self.game = WireGame(state)
        if state.node.turn is Turn.CHANCE:
            description = "CRD S and a card" if state.node.card_receiver == BANK_SEAT else "CRD C and a card"
            self._expected_replies.append(ExpectedRoundMessage(clause, description, kind=Crd))
            return
        message = result_message(state) if state.node.turn is Turn.OVER else TRN
        self._expected_replies.append(ExpectedRoundMessage(clause, str(message), (message,)))

    def _accept_goodbye(self, message: Message) -> bool:
        """Expect a goodbye in place of any other answer, where it is allowed (blackjack-4.7, blackjack-8.1)."""
        first = self._expected_replies[0] if self._expected_replies else None
        if isinstance(first, ExpectedMessage) and first.message == message:
            return False
        if message == LEAVING and not self._is_leaving:
            self._expected_replies = deque(ExpectedMessage("blackjack-8.2", word) for word in (LEAVING, STP))
            self._pending_messages.clear()
        elif message == STP and not self._strict:
            self._expected_replies = deque([ExpectedMessage("blackjack-8.3", STP)])
            self._pending_messages.clear()
        return False

    def _check_reply(self, expected: ExpectedReply, message: Message) -> list[Verdict]:
        if message == STP and self._strict and not (isinstance(expected, ExpectedMessage) and expected.message == STP):
            return self._unannounced_close()
        match expected:
            case ExpectedMessage():
                return self._check_exact(expected, message)
            case ExpectedRoundMessage():
                return self._check_round(expected, message)
            case _:
                return self._check_balance(expected, message)

    def _check_exact(self, due: ExpectedMessage, message: Message) -> list[Verdict]:
        if message != due.message:
            is_wrong_error = isinstance(due.message, Err) and due.message != LEAVING and isinstance(message, Err)
            return self._house_fault("blackjack-6.2" if is_wrong_error else due.clause, message, str(due), due.message)
        if message == LEAVING:
            self._is_leaving = True
        elif isinstance(message, Err):
            self._silence_clause = "blackjack-6.1" if self._has_begun else None
        elif message == STP:
            self._close_clause = "blackjack-8.1" if due.clause == "blackjack-8.1" else "blackjack-8.2"
        return []

    def _check_balance(self, due: ExpectedReply, message: Message) -> list[Verdict]:
        """Check the balance that the house sends (blackjack-7)."""
        if not isinstance(message, Mon):
            return self._house_fault(due.clause, message, str(due))
        if message.coins < 0:
            return self._house_fault("blackjack-7.1", message, "MON 0 or more")
        if self._balance is not None and message.coins != self._balance:
            return self._house_fault("blackjack-7.2", message, f"MON {self._balance}", Mon(self._balance))
        self._balance = message.coins
        self._is_betting = True
        return []

    def _check_round(self, due: ExpectedReply, message: Message) -> list[Verdict]:
        """Check the next message of a round: a card, TRN or the result."""
        assert self.game is not None, "a round must be running"
        state = self.game.state
        node = state.node
        if node.turn is Turn.CHANCE:
            if isinstance(message, Crd) and message.owner == ("S" if node.card_receiver == BANK_SEAT else "C"):
                try:
                    after = self._rules.play(state, message.card)
                except IllegalMove:
                    return self._house_fault("blackjack-3.1", message, "a card that is not out")
                self._expect_next(due.clause, after)
                return []
        elif node.turn == CLIENT_SEAT:
            if message == TRN:
                return []
        elif message == result_message(state):
            self._add_to_balance(result_message(state).coins)
            self._end_game(self.game)
            return []
        return self._house_fault(mismatch_clause(due.clause, state, message), message, str(due), *due.messages)

    def _check_unsolicited(self, message: Message) -> list[Verdict]:
        if message == STP:
            return self._unannounced_close()
        clause = self._silence_clause or ("blackjack-4.7" if self._has_begun else "blackjack-1.2")
        if clause == "blackjack-6.1" and isinstance(message, Err):
            clause = "blackjack-4.7"  # it changes nothing
        return self._house_fault(clause, message, "nothing, until the client speaks")

    def _unannounced_close(self) -> list[Verdict]:
        return self._house_fault("blackjack-8.3", STP, "ERR 300 before it")


def mismatch_clause(clause: str, state: BankState, message: Message) -> str:
    """The most specific clause that is broken by a message other than the next one of a round."""
    node = state.node
    match message:
        case Err(400) if not state.cards:
            return "blackjack-7.4"
        case Res(kind) if node.turn is Turn.OVER and kind == result_message(state).result:
            return PAYOUT_CLAUSES[node]
        case Res() if (
            clause == DEAL_CLAUSE and node.turn == CLIENT_SEAT and hand_total(client_cards(state)).total == TARGET_TOTAL
        ):
            return "blackjack-3.7"
        case Crd("S") if node.turn == CLIENT_SEAT:
            return "blackjack-3.3"
        case Crd() | Trn() | Res() if clause == MOVE_CLAUSES[HIT] and node.turn is Turn.OVER:
            return IMMEDIATE_END_CLAUSES[node]
        case Res() if clause == MOVE_CLAUSES[STAND] and node.turn is Turn.OVER:
            tie = hand_total(client_cards(state)).total == hand_total(bank_cards(state)).total
            return "blackjack-3.10" if tie else "blackjack-3.9"
        case Res() if clause == MOVE_CLAUSES[STAND]:
            return "blackjack-3.8"
        case Crd("S") if clause == MOVE_CLAUSES[STAND] and node.turn is Turn.OVER:
            return "blackjack-3.8"
    return clause
