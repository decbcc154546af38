"""Judges any conversation in seven and a half and names the clause that was broken (docs/protocols/sevenhalf.md)."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Final, Literal

from croupier.core.bank import CLIENT as SEAT
from croupier.core.bank import BankRules, State
from croupier.core.client_session import Offer
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, Due, Judge, Verdict
from croupier.core.rules import Turn
from croupier.core.session import Event, Garbled, Left, Rang, Said
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

MANY: Final = 64
"""So many worlds are told apart; where there may be more only the likely one is followed, and nobody is blamed."""


@dataclass(frozen=True)
class Game:
    """A game as the wire shows it; `known` is false where nobody has told the starting bet."""

    state: State
    known: bool = True
    net: int = 0
    seat: int = SEAT

    @property
    def bet(self) -> int:
        """The bet, with every ANTE that was not refused."""
        return self.state.bet


class Answer(Due):
    """An answer that the house owes: a message of this kind."""

    __slots__ = ("kind",)

    def __init__(self, clause: str, kind: type[Message], told: str) -> None:
        super().__init__(clause, told)
        self.kind = kind


class World(Judge[Message, Game]):
    """One account of the conversation, in which it is decided for every ANTE whether the house has taken it.

    An ANTE is not answered, so that a refusal may come behind what the client has said next, and nobody but the house
    knows its limit (sevenhalf-7.4). So where an ANTE may be taken or refused there are two worlds from then on: this
    one takes it, and the one that refuses it is added to `born`. `blamed` is what the client has done wrong, and
    `leaving` is true when the house seems to say goodbye.

    `_swallows` is what may come without an answer or a question: behind a bust one PASS of the client, and when that
    has come one ERRO of a house that refuses it after all (sevenhalf-4.8).
    """

    ENDS = ("sevenhalf-8.2", "ERRO before it")

    def __init__(self, *, lenient: bool, strict: bool, patience: float) -> None:
        super().__init__(patience)
        self.blamed: list[Verdict] = []
        self.born: list[World] = []
        self.leaving = False
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
        """What the house has broken, if anything."""
        verdicts = super().on(event, now)
        if type(event) is Said and event.peer != CLIENT:
            self._last_word = event.message
        return [verdict for verdict in verdicts if verdict.side != CLIENT]

    def _other(self) -> "World":
        """Another world, the same so far."""
        other = copy(self)
        other._unheard, other._due = self._unheard.copy(), self._due.copy()
        other.blamed, other.born = [*self.blamed], []
        self.born.append(other)
        return other

    # The client's part.

    def _handle(self, message: Message | Violation) -> list[Verdict]:
        game = self.game
        match message:
            case Erro():
                return []
            case Violation(clause=clause, lost=True):
                self._due.append(Answer(clause, Erro, "ERRO"))
                return []
            case Violation(found=found):
                return self._blame("sevenhalf-6.5", found, self._phase()[1])
            case Strt() if game is None or self._lenient:
                return self._start(game)
            case Draw() if game is not None or self._lenient:
                return self._draw(game or Game(self._rules.start(self._bet or 1), self._bet is not None))
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
        self.game = replace(game, state=self._rules.play(game.state, "PASS"))
        self._due += (Answer("sevenhalf-4.5", Bksc, "BKSC"), Answer("sevenhalf-4.5", Gain, "GAIN"))
        return []

    def _raise(self, game: Game, coins: int) -> list[Verdict]:
        if coins <= 0:
            return self._blame("sevenhalf-7.2", f"ANTE {coins}", "1 or more")
        if game.bet + coins > MOST:
            return self._blame("sevenhalf-7.3", f"ANTE {coins}", f"{MOST} in all")
        self._other()._due.append(Answer("sevenhalf-7.3", Erro, "ERRO"))
        self.game = replace(game, state=self._rules.play(game.state, coins))
        return []

    def _wrong(self, message: Message) -> list[Verdict]:
        clause, allowed = self._phase()
        if not isinstance(message, Strt | Draw | Ante | Pass):
            clause = "sevenhalf-6.5"
        return self._blame(clause, message, allowed)

    def _blame(self, clause: str, found: object, allowed: str) -> list[Verdict]:
        self._due.append(Answer(clause, Erro, "ERRO"))
        self.blamed.append(Verdict(CLIENT, Violation(clause, str(found), allowed)))
        return []

    def _phase(self) -> tuple[str, str]:
        """The clause that says what a client may not do now, and what it may."""
        game = self.game
        if game is None:
            return "sevenhalf-6.1", "STRT"
        if _raised(game.state):
            return "sevenhalf-6.4", "DRAW, ANTE"
        return ("sevenhalf-6.3", "DRAW, ANTE, PASS") if game.state.cards else ("sevenhalf-6.2", "DRAW")

    # The house's part.

    def _goodbye(self, message: Message) -> bool:
        """An ERRO that refuses nothing announces the close (sevenhalf-6.8)."""
        if type(message) is not Erro or self._swallows == "an ERRO":
            return False
        if any(isinstance(due, Answer) and due.kind is Erro for due in self._due):
            return False
        self._close = "sevenhalf-6.8"
        self.leaving = True
        return True

    def _unasked(self, message: Message) -> list[Verdict]:
        game = self.game
        if type(message) is Erro:
            self._swallows = "nothing"  # a strict house refuses what others swallow
            return []
        if game is None:
            clause = "sevenhalf-4.9" if self._bet is not None else "sevenhalf-1.2"
        elif _raised(game.state):
            clause = "sevenhalf-4.4"
        else:
            clause = "sevenhalf-4.7" if total(client_cards(game.state)) == BEST else "sevenhalf-4.9"
        return self._fault(clause, message, "nothing, until the client speaks")

    def _answered(self, due: Due, message: Message) -> list[Verdict]:
        assert isinstance(due, Answer), "nothing else is owed here"
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
        self.game = Game(self._rules.start(coins))
        return []

    def _card(self, game: Game, card: str) -> list[Verdict]:
        if card in game.state.cards:
            return self._fault("sevenhalf-3.3", f"CARD {card}", "a card that was not dealt before")
        state = self._rules.play(game.state, card)
        self.game = replace(game, state=state)
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
        net, _ = self._rules.payoff(game.state)
        if coins != net if game.known else (coins > 0, coins < 0) != (net > 0, net < 0):
            return self._fault(_payment(game.state), f"GAIN {coins}", f"GAIN {net}")
        over = total(client_cards(game.state)) > BEST
        self._swallows = "a PASS" if over and not self._strict else "nothing"
        self._end(replace(game, net=coins))
        return []

    def _left(self, side: int) -> list[Verdict]:
        """Behind an ERRO a close is never a fault; behind GAIN it is tolerated (sevenhalf-6.8, sevenhalf-8.5)."""
        word = self._last_word
        if side == CLIENT or type(word) not in {Erro, Gain}:
            return super()._left(side)
        self._over = True
        if type(word) is Gain and self._strict:
            return self._fault("sevenhalf-8.5", "the end of the conversation", "ERRO before it")
        return []


class Referee:
    """See `croupier.core.referee.Referee`. A close behind GAIN is a fault only for a strict one (sevenhalf-8.5).

    It follows every world that may be the true one (see `World`): the house is at fault where there is none left.
    """

    def __init__(self, *, lenient: bool = False, strict: bool = False, patience: float = 5.0) -> None:
        self._worlds = [World(lenient=lenient, strict=strict, patience=patience)]
        self._told = 0
        self._over = False
        self._blind = False

    @property
    def alarm(self) -> float | None:
        """When a silence becomes a fault, or tells which world is the true one."""
        alarms = [world.alarm for world in self._worlds if world.alarm is not None]
        return None if self._over else min(alarms, default=None)

    @property
    def legal(self) -> Sequence[Message]:
        """What the client may say now; nothing while an answer is due."""
        return () if self._over else self._likely.legal

    @property
    def game(self) -> Game | None:
        """The game being played, with every ANTE taken that may have been."""
        return self._likely.game

    @property
    def last(self) -> Game | None:
        """The last game that was finished."""
        return self._likely.last

    @property
    def finished(self) -> int:
        """How many games were finished."""
        return self._likely.finished

    @property
    def _likely(self) -> World:
        return next((world for world in self._worlds if not world.leaving), self._worlds[0])

    def on(self, event: Event[Message], now: float) -> Sequence[Verdict]:
        """What was broken, if anything was."""
        if self._over:
            return []
        likely = self._likely
        faults: dict[World, Sequence[Verdict]] = {}
        living = []
        for world in self._worlds:
            if type(event) is Rang and (world.alarm is None or world.alarm > now):
                living.append(world)
                continue
            faults[world] = world.on(event, now)
            living += [world] * (not faults[world]) + world.born
            world.born = []
        self._over = not living or type(event) is Left
        self._worlds = living or [likely]
        if len(living) > MANY:
            self._blind = True
            self._worlds = [self._likely]
        verdicts = [*_lost(event), *self._blame()]
        return verdicts if living or self._blind else [*verdicts, *faults[likely]]

    def _blame(self) -> Sequence[Verdict]:
        """What the client has done wrong in every world that is left; at the end, in the likely one."""
        told, blamed = self._told, self._likely.blamed
        worlds = [self._likely] if self._over else self._worlds
        while self._told < len(blamed) and all(
            world.blamed[: self._told + 1] == blamed[: self._told + 1] for world in worlds
        ):
            self._told += 1
        return blamed[told : self._told]


def _lost(event: Event[Message]) -> Sequence[Verdict]:
    """The verdict on a client that cannot be read."""
    if type(event) is Garbled and event.peer == CLIENT and event.violation.lost:
        return [Verdict(CLIENT, event.violation)]
    return []


def _raised(state: State) -> bool:
    """Whether the client has raised and not yet drawn."""
    return state.node is state.node.raised


def _payment(state: State) -> str:
    """The clause that says what the client is paid."""
    client, bank = total(client_cards(state)), total(bank_cards(state))
    if client > BEST:
        return "sevenhalf-5.4"
    if client == BEST:
        return "sevenhalf-5.7" if bank == BEST else "sevenhalf-5.6"
    return "sevenhalf-5.5" if bank > BEST else "sevenhalf-5.8"
