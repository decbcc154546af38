"""Judges any conversation in Kuhn poker and names the clause that was broken (docs/protocols/kuhn.md)."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from croupier.core.errors import Violation
from croupier.core.judge import CLIENT, HOUSE, Verdict
from croupier.core.rules import Seat
from croupier.core.talk import Event, Garbled, Left, Rang, Said
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


class Due:
    """An answer that the house owes: the clause that says so, and what it may be."""

    __slots__ = ("allowed", "clause")

    def __init__(self, clause: str, allowed: Allowed) -> None:
        self.clause = clause
        self.allowed = allowed

    def __str__(self) -> str:
        return " or ".join(map(str, self.allowed))


class Referee:
    """See `croupier.core.judge.Referee`.

    `coins` is the client's purse; None when it is not known, and then FAIL N_C is taken for true wherever coins are
    asked for. `patience` is how many seconds an answer may take. `game` is the game being played, None between games;
    `last` the last one that was finished.
    """

    def __init__(self, coins: int | None = None, patience: float = 5.0) -> None:
        self.alarm: float | None = None
        self.game: Game | None = None
        self.last: Game | None = None
        self.finished = 0
        self._coins = coins
        self._patience = patience
        self._unheard: deque[Message | Violation] = deque()
        self._due: deque[Due] = deque()
        self._close: str | None = None
        self._over = False

    @property
    def legal(self) -> tuple[Message, ...]:
        """What the client may say now; nothing while an answer is due, except DISC."""
        if self._over or self._close is not None:
            return ()
        if self._due or self._unheard:
            return (DISC,)
        if self.game is None:
            return (*STRT.values(), DISC)
        return (*(ACTN[action] for action in BETTING[self.game.history][1]), DISC)

    def on(self, event: Event[Message], now: float) -> Sequence[Verdict]:
        """What was broken, if anything was."""
        if self._over:
            return []
        match event:
            case Said(side, message):
                verdicts = self._house_said(message) if side == HOUSE else self._client_said(message)
            case Garbled(side, violation):
                verdicts = [Verdict(side, violation)]
                if side == CLIENT:
                    verdicts += self._client_said(violation)
            case Left(side):
                verdicts = self._left(side)
            case Rang():
                verdicts = self._silence()
            case _:
                return []
        if any(verdict.side == HOUSE for verdict in verdicts):
            self._over = True
        if self._over or not (self._due or self._close):
            self.alarm = None
        elif self.alarm is None or not isinstance(event, Said | Garbled) or event.peer == HOUSE:
            self.alarm = now + self._patience  # a client that talks on does not lend the house time
        return verdicts

    # The client's part: every message is handled when all answers to the ones before it are there (kuhn-1.3).

    def _client_said(self, message: Message | Violation) -> list[Verdict]:
        if self._close is None:
            self._unheard.append(message)
        return self._hear()

    def _hear(self) -> list[Verdict]:
        verdicts: list[Verdict] = []
        while self._unheard and not self._due and self._close is None:
            verdicts += self._handle(self._unheard.popleft())
        return verdicts

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
                self._due.append(Due(clause, {WRONG_ACTION: None}))
                if lost:
                    self._due.append(Due(clause, {DISC: None}))
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
        self._due.append(Due(clause, {WRONG_ACTION: None}))
        return [Verdict(CLIENT, Violation(clause, str(message), allowed))]

    def _start(self, game: Game) -> list[Verdict]:
        if self._coins is not None and self._coins < ANTE:
            return self._poor("kuhn-7.2", "STRT with an empty purse")
        cards: Allowed = {CARD[rank]: replace(game, card=rank) for rank in CARD}
        self._due.append(Due("kuhn-4.1" if game.seat == P_1 else "kuhn-4.2", self._or_poor(cards)))
        if game.seat == P_2:
            self._due.append(Due("kuhn-4.2", {}))  # filled in when the card is known
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
        self._due.append(Due(clause, self._or_poor(allowed) if cost else allowed))
        return []

    def _poor(self, clause: str, found: str) -> list[Verdict]:
        self._due.append(Due(clause, {NO_COINS: None}))
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

    # The house's part: what it says has to be what it owes.

    def _house_said(self, message: Message) -> list[Verdict]:
        if self._close is not None:
            return self._fault(self._close, message, "nothing, only the close of the connection")
        if message == DISC and not any(DISC in due.allowed for due in self._due):
            self._due.clear()  # a goodbye may cross what the client has said (kuhn-4.9, kuhn-8.4)
            self._unheard.clear()
            self._close = "kuhn-8.2"
            return []
        if not self._due:
            return self._unasked(message)
        due = self._due.popleft()
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
                self._due[0] = Due("kuhn-4.2", self._decision(game))
        return self._hear()

    def _misfit(self, due: Due, message: Message) -> list[Verdict]:
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

    @staticmethod
    def _fault(clause: str, found: object, allowed: str) -> list[Verdict]:
        return [Verdict(HOUSE, Violation(clause, str(found), allowed))]

    def _end(self, game: Game) -> None:
        self.game = None
        self.last = game
        self.finished += 1
        if self._coins is not None:
            self._coins += game.net

    # The end of the conversation, and silence.

    def _left(self, side: int) -> list[Verdict]:
        self._over = True
        if side == CLIENT or self._close is not None:
            return []
        if self._due:
            return self._fault(self._due[0].clause, "the end of the conversation", str(self._due[0]))
        return self._fault("kuhn-8.2", "the end of the conversation", "DISC before it")

    def _silence(self) -> list[Verdict]:
        if self._close is not None:
            return self._fault(self._close, "an open connection", "the close of the connection")
        return self._fault(self._due[0].clause, "silence", str(self._due[0])) if self._due else []
