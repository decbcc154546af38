"""Referee of Kuhn poker conversations: names the clause that a message breaks (docs/protocols/kuhn.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, BaseReferee, ExpectedReply, Verdict
from croupier.core.rules import Seat
from croupier.rooms.kuhn.rules import (
    ACTION_COST,
    ANTE,
    BETTING_TREE,
    P_1,
    P_2,
    SEATS,
    SHOWDOWN,
    TERMINAL_HISTORIES,
    BettingHistory,
    KuhnAction,
    Rank,
    View,
    beats,
    coins_in_pot,
)
from croupier.rooms.kuhn.wire import (
    ACTN,
    CARD,
    DISC,
    HOUSE_DECISIONS,
    NO_COINS,
    STRT,
    WRONG_ACTION,
    Actn,
    Card,
    Disc,
    Fail,
    Message,
    Strt,
)


@dataclass(frozen=True)
class WireGame:
    """A game as seen on the wire: the client's seat and card, the actions, and the card the house has shown."""

    seat: Seat
    card: Rank | None = None
    history: BettingHistory = ()
    house_card: Rank | None = None

    @property
    def view(self) -> View:
        """The information set of the client's seat."""
        return View(self.card, self.history)

    @property
    def net(self) -> int:
        """The coins that the client has won (negative: lost); the game must be over."""
        winner, coins = TERMINAL_HISTORIES[self.history]
        if winner == SHOWDOWN:
            assert self.card is not None
            assert self.house_card is not None
            return coins if beats(self.card, self.house_card) else -coins
        return coins if winner == self.seat else -coins


ACTION_CLAUSES: Final[Mapping[tuple[KuhnAction, BettingHistory], str]] = {
    ("CHK", ()): "kuhn-4.3",
    ("BET", ()): "kuhn-4.4",
    ("BET", ("CHK",)): "kuhn-4.4",
    ("CHK", ("CHK",)): "kuhn-4.5",
    ("CAL", ("BET",)): "kuhn-4.6",
    ("CAL", ("CHK", "BET")): "kuhn-4.6",
    ("FLD", ("BET",)): "kuhn-4.7",
    ("FLD", ("CHK", "BET")): "kuhn-4.7",
}
"""The clause that defines the house's answer to an action of the client, by the action and the history before it."""

type AllowedReplies = Mapping[Message, WireGame | None]
"""The messages that the house may send now, each with the game after it; None if the game does not change."""


class ExpectedOneOf(ExpectedReply):
    """An answer that the house owes, with all messages allowed in its place."""

    __slots__ = ("allowed",)

    def __init__(self, clause: str, allowed: AllowedReplies) -> None:
        super().__init__(clause, " or ".join(map(str, allowed)), tuple(allowed))
        self.allowed = allowed


class Referee(BaseReferee[Message, WireGame]):
    """See `croupier.core.referee.Referee`.

    `coins` is the client's purse at the start. If it is None, the purse is unknown, and FAIL N_C is accepted wherever
    coins are due. Such a refusal changes nothing: until something is accepted, `_unpaid_clause` is the clause about it.
    """

    HANG_UP_CLAUSE = ("kuhn-8.2", "DISC before it")

    def __init__(self, coins: int | None = None, reply_timeout: float = 5.0) -> None:
        super().__init__(reply_timeout)
        self._coins = coins
        self._unpaid_clause: str | None = None

    @property
    def legal(self) -> tuple[Message, ...]:
        """The messages that the client may send now; only DISC while an answer is due."""
        if self._is_over or self._close_clause is not None:
            return ()
        if self.is_waiting:
            return (DISC,)
        if self.game is None:
            return (*STRT.values(), DISC)
        return (*(ACTN[action] for action in BETTING_TREE[self.game.history][1]), DISC)

    def _handle(self, message: Message | Violation) -> list[Verdict]:
        """Queue the house's expected answer to a client message; return verdicts on the client."""
        game = self.game
        match message:
            case Strt(player) if game is None:
                return self._start(WireGame(SEATS[player]))
            case Actn(action) if game is not None and action in BETTING_TREE[game.history][1]:
                return self._act(game, action)
            case Disc():
                self._close_clause = "kuhn-8.1"
                return []
            case Fail() | Violation(clause="kuhn-2.8"):
                self._silence_clause = "kuhn-6.5"
                return []
            case Violation(clause=clause, fatal=is_fatal):
                self._expected_replies.append(ExpectedOneOf(clause, {WRONG_ACTION: None}))
                if is_fatal:
                    self._expected_replies.append(ExpectedOneOf(clause, {DISC: None}))
                return []
            case Strt():
                return self._client_error("kuhn-6.3", message, "ACTN until the game is over")
            case Card():
                return self._client_error("kuhn-6.4", message, "STRT, ACTN, DISC")
            case Actn():
                if game is None:
                    return self._client_error("kuhn-6.2", message, "STRT P_1, STRT P_2, DISC")
                return self._client_error(
                    "kuhn-6.1", message, ", ".join(f"ACTN {a}" for a in BETTING_TREE[game.history][1])
                )

    def _client_error(self, clause: str, message: Message, allowed: str) -> list[Verdict]:
        self._expected_replies.append(ExpectedOneOf(clause, {WRONG_ACTION: None}))
        return [Verdict(CLIENT, Violation(clause, str(message), allowed))]

    def _start(self, game: WireGame) -> list[Verdict]:
        if self.last_game is not None and self._unpaid_clause == "kuhn-7.3":
            self._unpaid_clause = None  # the client has folded since
        if self._coins is not None and self._coins < ANTE:
            return self._client_cannot_pay("kuhn-7.2", "STRT with an empty purse")
        cards: AllowedReplies = {CARD[rank]: replace(game, card=rank) for rank in CARD}
        self._expected_replies.append(
            ExpectedOneOf("kuhn-4.1" if game.seat == P_1 else "kuhn-4.2", self._or_no_coins(cards))
        )
        if game.seat == P_2:
            self._expected_replies.append(ExpectedOneOf("kuhn-4.2", {}))  # filled in when the card is known
        return []

    def _act(self, game: WireGame, action: KuhnAction) -> list[Verdict]:
        cost = ACTION_COST[action]
        if self._coins is not None and self._coins - self._client_stake(game) < cost:
            return self._client_cannot_pay("kuhn-7.3", f"ACTN {action} with an empty purse")
        clause = ACTION_CLAUSES[action, game.history]
        done = replace(game, history=(*game.history, action))
        if done.history in TERMINAL_HISTORIES and action == "FLD":
            self._silence_clause = clause
            self._end_game(done)
            return []
        allowed = self._showdown_replies(done) if done.history in TERMINAL_HISTORIES else self._decision_replies(done)
        self._expected_replies.append(ExpectedOneOf(clause, self._or_no_coins(allowed) if cost else allowed))
        return []

    def _client_cannot_pay(self, clause: str, found: str) -> list[Verdict]:
        self._expected_replies.append(ExpectedOneOf(clause, {NO_COINS: None}))
        return [Verdict(CLIENT, Violation(clause, found, "what the purse can pay"))]

    def _or_no_coins(self, allowed: AllowedReplies) -> AllowedReplies:
        """Also allow FAIL N_C if the purse is unknown."""
        return {**allowed, NO_COINS: None} if self._coins is None else allowed

    @staticmethod
    def _client_stake(game: WireGame) -> int:
        return coins_in_pot(game.history, game.seat)

    @staticmethod
    def _showdown_replies(game: WireGame) -> dict[Message, WireGame | None]:
        """The house shows its card, which cannot be the client's (kuhn-5.4)."""
        return {CARD[rank]: replace(game, house_card=rank) for rank in CARD if rank != game.card}

    def _decision_replies(self, game: WireGame) -> dict[Message, WireGame | None]:
        """The house acts with ACTN, or with CARD if that leads to a showdown (kuhn-4.8)."""
        allowed: dict[Message, WireGame | None] = {}
        for reply, history in HOUSE_DECISIONS[game.history].items():
            done = replace(game, history=history)
            allowed |= self._showdown_replies(done) if reply == "CARD" else {ACTN[reply]: done}
        return allowed

    # Messages of the house.

    def _accept_goodbye(self, message: Message) -> bool:
        """A DISC of the house may cross a message of the client (kuhn-4.9, kuhn-8.4)."""
        if message != DISC or any(
            isinstance(due, ExpectedOneOf) and DISC in due.allowed for due in self._expected_replies
        ):
            return False
        self._close_clause = "kuhn-8.2"
        return True

    def _check_reply(self, expected: ExpectedReply, message: Message) -> list[Verdict]:
        assert isinstance(expected, ExpectedOneOf), "this referee expects nothing else"
        if message not in expected.allowed:
            return self._unexpected_reply(expected, message)
        if message == DISC:
            self._close_clause = "kuhn-8.2"
            return []
        if message == NO_COINS:
            self._expected_replies.clear()  # a refusal of the first answer cancels the ones after it
            self._unpaid_clause = "kuhn-7.2" if self.game is None else "kuhn-7.3"
        elif message != WRONG_ACTION:
            self._unpaid_clause = None
        game = expected.allowed[message]
        if game is not None and game.history in TERMINAL_HISTORIES:
            self._end_game(game)
        elif game is not None:
            self.game = game
            if self._expected_replies:
                self._expected_replies[0] = ExpectedOneOf("kuhn-4.2", self._decision_replies(game))
        return []

    def _unexpected_reply(self, due: ExpectedOneOf, message: Message) -> list[Verdict]:
        """Report an answer that is not allowed, with the most specific clause it breaks."""
        clause = due.clause
        match message:
            case Card() if any(isinstance(allowed, Card) for allowed in due.allowed):
                clause = "kuhn-5.4"
            case Actn("CAL"):
                clause = "kuhn-4.8"
            case Actn("CHK") if clause in {"kuhn-4.3", "kuhn-4.5"}:
                clause = "kuhn-4.8"
            case Fail("W_A") if self._unpaid_clause is not None:
                clause = self._unpaid_clause
            case Fail("N_C") if WRONG_ACTION in due.allowed:
                clause = "kuhn-6.6"
            case Fail("N_C") if self.game is None:
                clause = "kuhn-7.2"
            case Fail("N_C") if clause != "kuhn-4.2":  # after its first answer STRT has been paid
                clause = "kuhn-7.3"
            case _:
                pass
        return self._house_fault(clause, message, str(due), *due.messages)

    def _check_unsolicited(self, message: Message) -> list[Verdict]:
        has_begun = self.game is not None or self.last_game is not None
        clause = self._silence_clause or self._unpaid_clause
        if clause == "kuhn-4.7" and message == WRONG_ACTION:
            clause = self._unpaid_clause or clause  # it may have taken the refusal for the end of the game
        if clause is None and isinstance(message, Actn) and self.game is not None and not self.game.history:
            clause = "kuhn-4.1"
        return self._house_fault(
            clause or ("kuhn-4.9" if has_begun else "kuhn-1.2"), message, "nothing, until the client speaks"
        )

    def _end_game(self, game: WireGame) -> None:
        super()._end_game(game)
        if self._coins is not None:
            self._coins += game.net
