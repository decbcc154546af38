"""Judges any conversation in seven and a half and names the clause that was broken (docs/protocols/sevenhalf.md)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, Literal

from croupier.core.bank import CLIENT as SEAT
from croupier.core.bank import BankRules, State
from croupier.core.errors import Violation
from croupier.core.guest import Offer
from croupier.core.judge import CLIENT, Due, Judge, Verdict
from croupier.core.rules import Turn
from croupier.core.talk import Event, Said
from croupier.rooms.sevenhalf.rules import (
    BEST,
    LENIENT,
    MOST,
    SEVENHALF,
    bank_cards,
    client_cards,
    score,
    total,
)
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

type Bets = frozenset[int] | None
"""What the bet may be; None where nobody has said."""

MANY: Final = 12
"""So many ANTEs of which one was refused are sorted out; with more of them the bet is unknown."""


@dataclass(frozen=True)
class Game:
    """A game as the wire shows it.

    `state` is where the rules are, `bets` what the bet may be without the `pending` ANTEs, which no CARD has confirmed
    yet; `refused` of them have met an ERRO.
    """

    state: State
    bets: Bets
    pending: tuple[int, ...] = ()
    refused: int = 0
    before: State | None = None
    """Where the rules were before the pending ANTEs."""
    net: int = 0
    seat: int = SEAT

    @property
    def bet(self) -> int:
        """The bet, as far as is known: with every ANTE that was not refused."""
        return self.state.bet


class Answer(Due):
    """An answer that the house owes: a message of this kind."""

    __slots__ = ("kind",)

    def __init__(self, clause: str, kind: type[Message], told: str) -> None:
        super().__init__(clause, told)
        self.kind = kind


class Referee(Judge[Message, Game]):
    """See `croupier.core.judge.Referee`. A close behind GAIN is a fault only for a strict one (sevenhalf-8.5).

    `_swallows` is what may come without an answer or a question: behind a bust one PASS of the client, and when that
    has come one ERRO of a house that refuses it after all (sevenhalf-4.8).
    """

    ENDS = ("sevenhalf-8.2", "ERRO before it")

    def __init__(self, *, lenient: bool = False, strict: bool = False, patience: float = 5.0) -> None:
        super().__init__(patience)
        self._rules: BankRules = LENIENT if lenient else SEVENHALF
        self._lenient = lenient
        self._strict = strict
        self._bet: int | None = None
        self._last_word: Message | None = None
        self._swallows: Literal["nothing", "a PASS", "an ERRO"] = "nothing"

    @property
    def legal(self) -> Sequence[Message]:
        """What the client may say now; nothing while an answer is due."""
        if self._over or self._close is not None or self.waiting:
            return ()
        if self.game is None:
            return (STRT,)
        state = self.game.state
        listed = [message for message in (DRAW, PASS) if str(message) in state.node.moves]
        return Offer(listed, lambda message: type(message) is Ante and message.coins in self._rules.legal(state))

    def on(self, event: Event[Message], now: float) -> Sequence[Verdict]:
        """What was broken, if anything was."""
        verdicts = super().on(event, now)
        if type(event) is Said and event.peer != CLIENT:
            self._last_word = event.message
        return verdicts

    # The client's part.

    def _handle(self, message: Message | Violation) -> list[Verdict]:
        game = self.game
        match message:
            case Erro():
                return []
            case Violation(clause=clause):
                self._due.append(Answer(clause, Erro, "ERRO"))
                return []
            case Strt() if game is None or self._lenient:
                return self._start(game)
            case Draw() if game is not None or self._lenient:
                return self._draw(game or Game(self._rules.start(self._bet or 1), self._known()))
            case Pass() if game is not None and "PASS" in game.state.node.moves:
                return self._pass(game)
            case Pass() if game is None and self._swallows == "a PASS":
                self._swallows = "an ERRO"
                return []
            case Ante(coins) if game is not None and game.state.node.raised is not None:
                return self._raise(game, coins)
            case _:
                return self._wrong(message)

    def _start(self, game: Game | None) -> list[Verdict]:
        if game is not None:
            self._end(replace(game, net=-game.bet))
        self._swallows = "nothing"
        self._due.append(Answer("sevenhalf-4.1", Stbt, "STBT"))
        return []

    def _draw(self, game: Game) -> list[Verdict]:
        self.game = replace(game, state=self._rules.play(game.state, "DRAW"))
        self._swallows = "nothing"
        self._due.append(Answer("sevenhalf-4.2", Card, "CARD"))
        return []

    def _pass(self, game: Game) -> list[Verdict]:
        game = _confirmed(game)
        self.game = replace(game, state=self._rules.play(game.state, "PASS"))
        self._due += (Answer("sevenhalf-4.5", Bksc, "BKSC"), Answer("sevenhalf-4.5", Gain, "GAIN"))
        return []

    def _raise(self, game: Game, coins: int) -> list[Verdict]:
        """Nobody but the house knows its limit: it may refuse the ANTE until it has dealt the next card."""
        if coins <= 0:
            return self._blame("sevenhalf-7.2", f"ANTE {coins}", "1 or more")
        if game.bet + coins > MOST:
            return self._blame("sevenhalf-7.3", f"ANTE {coins}", f"{MOST} in all")
        before = game.before if game.pending else game.state
        state = self._rules.play(game.state, coins)
        self.game = replace(game, state=state, pending=(*game.pending, coins), before=before)
        return []

    def _wrong(self, message: Message) -> list[Verdict]:
        clause, allowed = self._phase()
        if not isinstance(message, Strt | Draw | Ante | Pass):
            clause = "sevenhalf-6.5"
        return self._blame(clause, message, allowed)

    def _blame(self, clause: str, found: object, allowed: str) -> list[Verdict]:
        self._due.append(Answer(clause, Erro, "ERRO"))
        return [Verdict(CLIENT, Violation(clause, str(found), allowed))]

    def _phase(self) -> tuple[str, str]:
        """The clause that says what a client may not do now, and what it may."""
        game = self.game
        if game is None:
            return "sevenhalf-6.1", "STRT"
        if game.pending:
            return "sevenhalf-6.4", "DRAW, ANTE"
        return ("sevenhalf-6.3", "DRAW, ANTE, PASS") if game.state.cards else ("sevenhalf-6.2", "DRAW")

    # The house's part.

    def _goodbye(self, message: Message) -> bool:
        """An ERRO that refuses nothing announces the close (sevenhalf-6.8)."""
        if type(message) is not Erro or self._swallows == "an ERRO" or (self.game is not None and self.game.pending):
            return False
        if any(isinstance(due, Answer) and due.kind is Erro for due in self._due):
            return False
        self._close = "sevenhalf-6.8"
        return True

    def _unasked(self, message: Message) -> list[Verdict]:
        game = self.game
        if type(message) is Erro and game is not None:
            self.game = _refused(game)
            return []
        if type(message) is Erro:
            self._swallows = "nothing"  # a strict house refuses what others swallow
            return []
        if game is None:
            clause = "sevenhalf-4.9" if self._bet is not None else "sevenhalf-1.2"
        elif game.pending:
            clause = "sevenhalf-4.4"
        else:
            clause = "sevenhalf-4.7" if total(client_cards(game.state)) == BEST else "sevenhalf-4.9"
        return self._fault(clause, message, "nothing, until the client speaks")

    def _answered(self, due: Due, message: Message) -> list[Verdict]:
        assert isinstance(due, Answer), "nothing else is owed here"
        if type(message) is Erro and due.kind is not Erro and self.game is not None:
            self.game = _refused(self.game)
            self._due.appendleft(due)  # the refusal of an ANTE has met what was sent behind it (sevenhalf-7.4)
            return []
        match message:
            case _ if type(message) is not due.kind:
                return self._fault(due.clause, message, str(due))
            case Stbt(coins):
                return self._bets(coins)
            case Card(card) if self.game is not None:
                return self._card(self.game, card)
            case Bksc() if self.game is not None:
                return self._bank(self.game, message)
            case Gain(coins) if self.game is not None:
                return self._paid(self.game, coins)
            case Erro() if due.clause == "sevenhalf-2.9":
                self._close = due.clause
        return []

    def _bets(self, coins: int) -> list[Verdict]:
        if not 1 <= coins <= MOST:
            return self._fault("sevenhalf-7.1", f"STBT {coins}", f"1 to {MOST}")
        self._bet = coins
        self.game = Game(self._rules.start(coins), self._known())
        return []

    def _card(self, game: Game, card: str) -> list[Verdict]:
        if card in game.state.cards:
            return self._fault("sevenhalf-3.3", f"CARD {card}", "a card that was not dealt before")
        state = self._rules.play(game.state, card)
        self.game = _confirmed(replace(game, state=state))
        if state.node.turn is Turn.CHANCE:
            kinds = ((Bstg, "BSTG"), (Bksc, "BKSC"), (Gain, "GAIN"))
            self._due += (Answer("sevenhalf-4.6", kind, told) for kind, told in kinds)
        return []

    def _bank(self, game: Game, message: Bksc) -> list[Verdict]:
        """The bank's cards are new, its score is their sum, and it has drawn as it must."""
        seen = {*game.state.cards}
        for card in message.cards:
            if card in seen:
                return self._fault("sevenhalf-3.3", message, f"cards that were not dealt before, not {card} again")
            seen.add(card)
        if message.score != score(total(message.cards)):
            return self._fault("sevenhalf-5.2", message, f"the score {score(total(message.cards))}")
        state = game.state
        over = total(client_cards(state)) > BEST
        for card in message.cards:
            if state.node.turn is not Turn.CHANCE:
                break
            state = self._rules.play(state, card)
        if state.node.turn is not Turn.OVER or len(bank_cards(state)) < len(message.cards):
            if over:
                return self._fault("sevenhalf-3.7", message, "exactly one card")
            return self._fault("sevenhalf-3.6", message, "one card, and more while the score is not higher")
        self.game = replace(game, state=state)
        return []

    def _paid(self, game: Game, coins: int) -> list[Verdict]:
        pays = game.state.node.pays
        if game.bets is not None:
            allowed = sorted({bet * pays // 2 for bet in game.bets})
            if coins not in allowed:
                told = " or ".join(f"GAIN {net}" for net in allowed)
                return self._fault(_payment(game.state), f"GAIN {coins}", told)
        over = total(client_cards(game.state)) > BEST
        self._swallows = "a PASS" if over and not self._strict else "nothing"
        self._end(replace(game, net=coins))
        return []

    def _left(self, side: int) -> list[Verdict]:
        """Behind an ERRO a close is never a fault; behind GAIN it is tolerated (sevenhalf-6.8, sevenhalf-8.5)."""
        word = self._last_word
        if side != CLIENT and type(word) is Erro:
            self._over = True
            return []
        waits = [due for due in self._due if isinstance(due, Answer) and due.kind is not Stbt]
        if side != CLIENT and type(word) is Gain and not waits:
            self._over = True
            return self._fault("sevenhalf-8.5", "the end of the conversation", "ERRO before it") if self._strict else []
        return super()._left(side)

    def _known(self) -> Bets:
        """The starting bet, as far as it has been told."""
        return None if self._bet is None else frozenset({self._bet})


def _refused(game: Game) -> Game:
    """One of the pending ANTEs was refused; when all of them were it is as if there had been none."""
    refused = game.refused + 1
    if refused < len(game.pending):
        return replace(game, refused=refused)
    assert game.before is not None, "what is refused was pending"
    if game.state.node.turn is Turn.CHANCE:  # the client has drawn already
        state = State(game.state.node, game.state.cards, game.state.banked, game.before.bet)
    else:
        state = game.before
    return replace(game, state=state, pending=(), refused=0, before=None)


def _confirmed(game: Game) -> Game:
    """Whatever was not refused now counts."""
    if not game.pending:
        return game
    kept = len(game.pending) - game.refused
    if game.bets is None or (game.refused and len(game.pending) > MANY):
        bets = None
    else:
        bets = frozenset(bet + sum(some) for bet in game.bets for some in combinations(game.pending, kept))
    state = game.state
    if bets is not None:
        state = State(state.node, state.cards, state.banked, max(bets))
    return replace(game, state=state, bets=bets, pending=(), refused=0, before=None)


def _payment(state: State) -> str:
    """The clause that says what the client is paid."""
    client, bank = total(client_cards(state)), total(bank_cards(state))
    if client > BEST:
        return "sevenhalf-5.4"
    if client == BEST:
        return "sevenhalf-5.7" if bank == BEST else "sevenhalf-5.6"
    return "sevenhalf-5.5" if bank > BEST else "sevenhalf-5.8"
