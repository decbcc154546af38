"""Judges any conversation in blackjack and names the clause that was broken (docs/protocols/blackjack.md)."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from croupier.core.bank import BANK, CLIENT, Node, State
from croupier.core.client_session import Offer
from croupier.core.errors import IllegalMove, Violation
from croupier.core.referee import CLIENT as SPEAKER
from croupier.core.referee import Due, Judge, Verdict
from croupier.core.rules import Seat, Turn
from croupier.rooms.blackjack.rules import (
    BEST,
    HIT,
    LOST,
    STAND,
    SURRENDER,
    SURRENDERED,
    WON,
    Blackjack,
    bank_cards,
    client_cards,
    hand,
    limit,
)
from croupier.rooms.blackjack.wire import (
    INVALID,
    LEAVING,
    MOV,
    PLY,
    POOR,
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
    result,
)


@dataclass(frozen=True)
class Game:
    """A round as the wire shows it."""

    state: State
    """What the round has come to; both ends know all of it."""

    seat: Seat = CLIENT

    @property
    def cards(self) -> tuple[str, ...]:
        """The client's cards."""
        return client_cards(self.state)

    @property
    def bank(self) -> tuple[str, ...]:
        """The bank's cards."""
        return bank_cards(self.state)

    @property
    def bet(self) -> int:
        """What the client has bet, in coins."""
        return self.state.bet

    @property
    def net(self) -> int:
        """What the client has won, when the round is over."""
        return result(self.state).coins - self.state.bet


DEALT: Final = "blackjack-4.2"
MOVED: Final[Mapping[str, str]] = {HIT: "blackjack-4.3", STAND: "blackjack-4.4", SURRENDER: "blackjack-4.5"}
"""The clauses that say how the house answers a bet, and each move of the client."""

AT_ONCE: Final[Mapping[Node, str]] = {WON: "blackjack-3.5", LOST: "blackjack-3.6"}
"""The clause by which a hit ends the round."""

PAID: Final[Mapping[Node, str]] = {WON: "blackjack-5.1", LOST: "blackjack-5.2", SURRENDERED: "blackjack-5.3"}
"""The clause that says what is paid back."""


class Word(Due):
    """An answer that can be nothing but this message."""

    __slots__ = ("word",)

    def __init__(self, clause: str, word: Message) -> None:
        super().__init__(clause, str(word))
        self.word = word


class Step(Due):
    """The next message of a round: what it may be is told by what the round has come to."""


class Referee(Judge[Message, Game]):
    """See `croupier.core.referee.Referee`.

    `decks` are shuffled for every round. `money` is what the purse begins with; None when it is not known, and then
    the first MON is taken for true. A strict one wants ERR 300 before every goodbye of the house.
    """

    ENDS = ("blackjack-8.2", "ERR 300 and STP before it")

    def __init__(
        self, decks: int = 1, money: int | None = None, *, strict: bool = False, patience: float = 5.0
    ) -> None:
        super().__init__(patience)
        self._rules = Blackjack(decks)
        self._balance = money
        self._strict = strict
        self._begun = False
        self._betting = False
        self._leaving = False  # the house has said ERR 300

    @property
    def legal(self) -> Sequence[Message]:
        """What the client may say now; while an answer is due, only STP. Of all bets the largest is listed."""
        if self._over or self._leaving or self._close is not None:
            return ()
        return (STP,) if self.waiting else self._expected()

    def _expected(self) -> Sequence[Message]:
        """What the house waits for."""
        if self.game is not None:
            return (*MOV.values(), SRD, STP)
        if not self._betting:
            return (PLY, STP)
        most = self._most()
        if most == 0:
            return (STP,)
        return Offer((Bet(most), STP), lambda message: type(message) is Bet and 0 < message.coins <= most)

    def _most(self) -> int:
        """The largest bet that the purse can pay."""
        assert self._balance is not None, "MON has told it"
        return limit(self._balance)

    def _pay(self, coins: int) -> None:
        assert self._balance is not None, "MON has told it"
        self._balance += coins

    # The client's part.

    def _handle(self, message: Message | Violation) -> list[Verdict]:
        game = self.game
        match message:
            case Ply() if game is None and not self._betting:
                self._begun = True
                self._due.append(Due("blackjack-4.1", "MON with the balance"))
            case Bet(coins) if self._betting:
                return self._bet(coins)
            case Mov(move) if game is not None:
                self._step(MOVED[move], self._rules.play(game.state, move))
            case Srd() if game is not None:
                self._step(MOVED[SURRENDER], self._rules.play(game.state, SURRENDER))
            case Stp():
                self._due.append(Word("blackjack-8.1", STP))
            case Violation():
                self._garbled(message)
            case Ply() | Bet() | Mov() | Srd():
                return self._wrong("blackjack-6.3", UNEXPECTED, message, ", ".join(map(str, self._expected())))
            case Mon() | Crd() | Trn() | Res():
                return self._wrong("blackjack-6.4", UNEXPECTED, message, "PLY, BET, MOV, SRD, STP, ERR")
            case Err():
                pass  # it is swallowed (blackjack-6.8)
        return []

    def _garbled(self, violation: Violation) -> None:
        """What the house owes for what is no message."""
        if violation.lost:
            self._due += (Word("blackjack-6.7", word) for word in (UNKNOWN, LEAVING, STP))
            return
        if violation.clause == "blackjack-2.11":
            due = Word("blackjack-6.5", INVALID) if self.game else Word("blackjack-6.3", UNEXPECTED)
            self._due.append(due)
        elif violation.clause != "blackjack-2.12":
            self._due.append(Word("blackjack-6.4", UNEXPECTED))

    def _wrong(self, clause: str, error: Err, message: Message, allowed: str) -> list[Verdict]:
        self._due.append(Word(clause, error))
        return [Verdict(SPEAKER, Violation(clause, str(message), allowed))]

    def _bet(self, coins: int) -> list[Verdict]:
        if coins <= 0:
            return self._wrong("blackjack-6.5", INVALID, Bet(coins), "1 or more")
        if coins > self._most():
            return self._wrong("blackjack-6.6", POOR, Bet(coins), f"{self._most()} at most")
        self._pay(-coins)
        self._betting = False
        self._step(DEALT, self._rules.start(coins))
        return []

    # The house's part.

    def _step(self, clause: str, state: State) -> None:
        """The round has come to this, and the house owes the next message of it."""
        self.game = Game(state)
        if state.node.turn is Turn.OVER:
            told = str(result(state))
        elif state.node.turn == CLIENT:
            told = "TRN"
        else:
            told = "CRD S and a card" if state.node.taker == BANK else "CRD C and a card"
        self._due.append(Step(clause, told))

    def _goodbye(self, message: Message) -> bool:
        """A goodbye may come in the place of any answer (blackjack-4.7, blackjack-8.1): then it is what is owed."""
        first = self._due[0] if self._due else None
        if isinstance(first, Word) and first.word == message:
            return False
        if message == LEAVING and not self._leaving:
            self._due = deque(Word("blackjack-8.2", word) for word in (LEAVING, STP))
            self._unheard.clear()
        elif message == STP and not self._strict:
            self._due = deque([Word("blackjack-8.3", STP)])
            self._unheard.clear()
        return False

    def _answered(self, due: Due, message: Message) -> list[Verdict]:
        if message == STP and self._strict and not (isinstance(due, Word) and due.word == STP):
            return self._unannounced()
        match due:
            case Word():
                return self._word(due, message)
            case Step():
                return self._played(due, message)
            case _:
                return self._told(due, message)

    def _word(self, due: Word, message: Message) -> list[Verdict]:
        if message != due.word:
            refused = isinstance(due.word, Err) and due.word != LEAVING and isinstance(message, Err)
            return self._fault("blackjack-6.2" if refused else due.clause, message, str(due))
        if message == LEAVING:
            self._leaving = True
        elif message == STP:
            self._close = "blackjack-8.1" if due.clause == "blackjack-8.1" else "blackjack-8.2"
        return []

    def _told(self, due: Due, message: Message) -> list[Verdict]:
        """The balance is told (blackjack-7)."""
        if not isinstance(message, Mon):
            return self._fault(due.clause, message, str(due))
        if message.coins < 0:
            return self._fault("blackjack-7.1", message, "MON 0 or more")
        if self._balance is not None and message.coins != self._balance:
            return self._fault("blackjack-7.2", message, f"MON {self._balance}")
        self._balance = message.coins
        self._betting = True
        return []

    def _played(self, due: Due, message: Message) -> list[Verdict]:
        """The round goes on by a card, a question, or its end."""
        assert self.game is not None, "a step is one of a round"
        state = self.game.state
        node = state.node
        if node.turn is Turn.CHANCE:
            if isinstance(message, Crd) and message.owner == ("S" if node.taker == BANK else "C"):
                try:
                    after = self._rules.play(state, message.card)
                except IllegalMove:
                    return self._fault("blackjack-3.1", message, "a card that is not out")
                self._step(due.clause, after)
                return []
        elif node.turn == CLIENT:
            if message == TRN:
                return []
        elif message == result(state):
            self._pay(result(state).coins)
            self._end(self.game)
            return []
        return self._fault(misfit(due.clause, state, message), message, str(due))

    def _unasked(self, message: Message) -> list[Verdict]:
        if message == STP:
            return self._unannounced()
        clause = "blackjack-4.7" if self._begun else "blackjack-1.2"
        return self._fault(clause, message, "nothing, until the client speaks")

    def _unannounced(self) -> list[Verdict]:
        return self._fault("blackjack-8.3", STP, "ERR 300 before it")


def misfit(clause: str, state: State, message: Message) -> str:
    """The clause that says most about a message that is not the next one of a round."""
    node = state.node
    match message:
        case Err(400) if not state.cards:
            return "blackjack-7.4"
        case Res(kind) if node.turn is Turn.OVER and kind == result(state).result:
            return PAID[node]
        case Res() if clause == DEALT and node.turn == CLIENT and hand(client_cards(state)).total == BEST:
            return "blackjack-3.7"
        case Crd("S") if node.turn == CLIENT:
            return "blackjack-3.3"
        case Crd() | Trn() | Res() if clause == MOVED[HIT] and node.turn is Turn.OVER:
            return AT_ONCE[node]
        case Res() if clause == MOVED[STAND] and node.turn is Turn.OVER:
            tie = hand(client_cards(state)).total == hand(bank_cards(state)).total
            return "blackjack-3.10" if tie else "blackjack-3.9"
        case Res() if clause == MOVED[STAND]:
            return "blackjack-3.8"
        case Crd("S") if clause == MOVED[STAND] and node.turn is Turn.OVER:
            return "blackjack-3.8"
    return clause
