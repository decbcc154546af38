"""Judges any conversation in Kuhn poker and names the clause that was broken (docs/protocols/kuhn.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, Due, Judge, Verdict
from croupier.core.rules import Seat
from croupier.rooms.kuhn.rules import (
    ANTE,
    BETTING,
    COST,
    ENDINGS,
    P_1,
    P_2,
    SHOWDOWN,
    Action,
    History,
    Rank,
    View,
    beats,
)
from croupier.rooms.kuhn.wire import (
    ACTN,
    CARD,
    DISC,
    HOUSE_SAYS,
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
class Game:
    """A game as the wire shows it: the client's seat and card, what has been done, and the card shown."""

    seat: Seat
    card: Rank | None = None
    history: History = ()
    shown: Rank | None = None

    @property
    def view(self) -> View:
        """What the client's seat knows."""
        return View(self.card, self.history)

    @property
    def net(self) -> int:
        """What the client has won, when the game is over."""
        winner, coins = ENDINGS[self.history]
        if winner == SHOWDOWN:
            assert self.card is not None
            assert self.shown is not None
            return coins if beats(self.card, self.shown) else -coins
        return coins if winner == self.seat else -coins


CLAUSES: Final[Mapping[tuple[Action, History], str]] = {
    ("CHK", ()): "kuhn-4.3",
    ("BET", ()): "kuhn-4.4",
    ("BET", ("CHK",)): "kuhn-4.4",
    ("CHK", ("CHK",)): "kuhn-4.5",
    ("CAL", ("BET",)): "kuhn-4.6",
    ("CAL", ("CHK", "BET")): "kuhn-4.6",
    ("FLD", ("BET",)): "kuhn-4.7",
    ("FLD", ("CHK", "BET")): "kuhn-4.7",
}
"""The clause that says how the house answers an action of the client."""

type Allowed = Mapping[Message, Game | None]
"""What the house may say now, and the game that follows; None where nothing changes."""


class Answer(Due):
    """An answer that the house owes, with everything that it may be."""

    __slots__ = ("allowed",)

    def __init__(self, clause: str, allowed: Allowed) -> None:
        super().__init__(clause, " or ".join(map(str, allowed)))
        self.allowed = allowed


class Referee(Judge[Message, Game]):
    """See `croupier.core.referee.Referee`.

    `coins` is the client's purse; None when it is not known, and then FAIL N_C is taken for true wherever coins are
    asked for.
    """

    ENDS = ("kuhn-8.2", "DISC before it")

    def __init__(self, coins: int | None = None, patience: float = 5.0) -> None:
        super().__init__(patience)
        self._coins = coins

    @property
    def legal(self) -> tuple[Message, ...]:
        """What the client may say now; while an answer is due, only DISC."""
        if self._over or self._close is not None:
            return ()
        if self.waiting:
            return (DISC,)
        if self.game is None:
            return (*STRT.values(), DISC)
        return (*(ACTN[action] for action in BETTING[self.game.history][1]), DISC)

    def _handle(self, message: Message | Violation) -> list[Verdict]:
        """What the house owes for a message of the client, and whether the client was wrong to send it."""
        game = self.game
        match message:
            case Strt(player) if game is None:
                return self._start(Game(P_1 if player == "P_1" else P_2))
            case Actn(action) if game is not None and action in BETTING[game.history][1]:
                return self._act(game, action)
            case Disc():
                self._close = "kuhn-8.1"
                return []
            case Fail() | Violation(clause="kuhn-2.8"):
                return []
            case Violation(clause=clause, lost=lost):
                self._due.append(Answer(clause, {WRONG_ACTION: None}))
                if lost:
                    self._due.append(Answer(clause, {DISC: None}))
                return []
            case Strt():
                return self._wrong("kuhn-6.3", message, "ACTN until the game is over")
            case Card():
                return self._wrong("kuhn-6.4", message, "STRT, ACTN, DISC")
            case Actn():
                if game is None:
                    return self._wrong("kuhn-6.2", message, "STRT P_1, STRT P_2, DISC")
                return self._wrong("kuhn-6.1", message, ", ".join(f"ACTN {a}" for a in BETTING[game.history][1]))

    def _wrong(self, clause: str, message: Message, allowed: str) -> list[Verdict]:
        self._due.append(Answer(clause, {WRONG_ACTION: None}))
        return [Verdict(CLIENT, Violation(clause, str(message), allowed))]

    def _start(self, game: Game) -> list[Verdict]:
        if self._coins is not None and self._coins < ANTE:
            return self._poor("kuhn-7.2", "STRT with an empty purse")
        cards: Allowed = {CARD[rank]: replace(game, card=rank) for rank in CARD}
        self._due.append(Answer("kuhn-4.1" if game.seat == P_1 else "kuhn-4.2", self._or_poor(cards)))
        if game.seat == P_2:
            self._due.append(Answer("kuhn-4.2", {}))  # filled in when the card is known
        return []

    def _act(self, game: Game, action: Action) -> list[Verdict]:
        cost = COST[action]
        if self._coins is not None and self._coins - self._staked(game) < cost:
            return self._poor("kuhn-7.3", f"ACTN {action} with an empty purse")
        clause = CLAUSES[action, game.history]
        done = replace(game, history=(*game.history, action))
        if done.history in ENDINGS and action == "FLD":
            self._end(done)
            return []
        allowed = self._showdown(done) if done.history in ENDINGS else self._decision(done)
        self._due.append(Answer(clause, self._or_poor(allowed) if cost else allowed))
        return []

    def _poor(self, clause: str, found: str) -> list[Verdict]:
        self._due.append(Answer(clause, {NO_COINS: None}))
        return [Verdict(CLIENT, Violation(clause, found, "what the purse can pay"))]

    def _or_poor(self, allowed: Allowed) -> Allowed:
        """Where nobody knows what is in the purse, the house may say that it is empty."""
        return {**allowed, NO_COINS: None} if self._coins is None else allowed

    @staticmethod
    def _staked(game: Game) -> int:
        """What the client has put into the pot so far."""
        own = [action for turn, action in enumerate(game.history) if BETTING[game.history[:turn]][0] == game.seat]
        return ANTE + sum(COST[action] for action in own)

    @staticmethod
    def _showdown(game: Game) -> dict[Message, Game | None]:
        """The house shows its card, which is not the client's (kuhn-5.4)."""
        return {CARD[rank]: replace(game, shown=rank) for rank in CARD if rank != game.card}

    def _decision(self, game: Game) -> dict[Message, Game | None]:
        """The house acts: by ACTN, or by CARD where that is a showdown (kuhn-4.8)."""
        allowed: dict[Message, Game | None] = {}
        for said, history in HOUSE_SAYS[game.history].items():
            done = replace(game, history=history)
            allowed |= self._showdown(done) if said == "CARD" else {ACTN[said]: done}
        return allowed

    # The house's part.

    def _goodbye(self, message: Message) -> bool:
        """A goodbye may cross what the client has said (kuhn-4.9, kuhn-8.4)."""
        if message != DISC or any(isinstance(due, Answer) and DISC in due.allowed for due in self._due):
            return False
        self._close = "kuhn-8.2"
        return True

    def _answered(self, due: Due, message: Message) -> list[Verdict]:
        assert isinstance(due, Answer), "nothing else is owed here"
        if message not in due.allowed:
            return self._misfit(due, message)
        if message == DISC:
            self._close = "kuhn-8.2"
            return []
        if message == NO_COINS:
            self._due.clear()  # of a flight that begins with a refusal nothing follows
        game = due.allowed[message]
        if game is not None and game.history in ENDINGS:
            self._end(game)
        elif game is not None:
            self.game = game
            if self._due:
                self._due[0] = Answer("kuhn-4.2", self._decision(game))
        return []

    def _misfit(self, due: Answer, message: Message) -> list[Verdict]:
        """Name the clause that says most about an answer that does not fit."""
        clause = due.clause
        match message:
            case Card() if any(isinstance(allowed, Card) for allowed in due.allowed):
                clause = "kuhn-5.4"
            case Actn("CAL"):
                clause = "kuhn-4.8"
            case Actn("CHK") if clause in {"kuhn-4.3", "kuhn-4.5"}:
                clause = "kuhn-4.8"
            case Fail("N_C") if WRONG_ACTION in due.allowed:
                clause = "kuhn-6.6"
            case Fail("N_C"):
                clause = "kuhn-7.2" if clause in {"kuhn-4.1", "kuhn-4.2"} else "kuhn-7.3"
            case _:
                pass
        return self._fault(clause, message, str(due))

    def _unasked(self, message: Message) -> list[Verdict]:
        if self.game is None and self.last is None:
            clause = "kuhn-1.2"
        elif self.game is None and self.last is not None and self.last.history[-1] == "FLD":
            clause = "kuhn-4.7"
        else:
            clause = "kuhn-4.9"
        return self._fault(clause, message, "nothing, until the client speaks")

    def _end(self, game: Game) -> None:
        super()._end(game)
        if self._coins is not None:
            self._coins += game.net
