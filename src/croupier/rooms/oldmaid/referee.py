"""The referee of Old Maid: from all that is said in a game he knows who holds what, and who has cheated.

No player can see that: the table sees no offers, and the players see no hands (docs/protocols/oldmaid.md).
"""

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from croupier.core.errors import Violation
from croupier.rooms.oldmaid.cards import JOKER, NUMBERS, Card, pairs
from croupier.rooms.oldmaid.ring.observed import Known, told
from croupier.rooms.oldmaid.ring.turn_checks import Passing
from croupier.rooms.oldmaid.rules import FEWEST, MOST
from croupier.rooms.oldmaid.table.game import CARDS, Game
from croupier.rooms.oldmaid.wire import (
    Discard,
    Draw,
    Join,
    Message,
    OutOfCards,
    Reply,
    Request,
    Seated,
    Standing,
    Status,
)

TABLE: Final = ""
"""The table among those who talk: no player can be called so (oldmaid-3.7)."""

OVER: Final = "oldmaid-6.9"
"""What is asked when the game is over is nobody's fault: he cannot have known."""


class Verdict(Struct, frozen=True):
    """Who broke which clause: a player by his nick, or TABLE."""

    nick: str
    violation: Violation


class Shown:
    """The deck that somebody else deals from: on top is the card that was seen last."""

    card: Card = JOKER

    def __iter__(self) -> "Shown":
        return self

    def __next__(self) -> Card:
        return self.card


class Referee:
    """Judges one game from the talk of the table and of all its players, and tells every fault when it shows.

    What is said has to be told in an order in which nobody speaks before what he has heard; whoever saw all of it leave
    has seen it so. `game` is what the table has to know, None before its list; `players` are known by their nicks.

    When somebody is gone, and may have had the turn, those who are left may take up more turns than one: nobody can
    tell a cheat from who means well (oldmaid-9.7 to 9.9). From then on, which `torn` says, nothing is said about turns;
    what cards everybody has is judged to the end.
    """

    def __init__(self, *, strict: bool = False) -> None:
        self.game: Game | None = None
        self.players: dict[str, Known] = {}
        self._strict = strict
        self._passing: Passing | None = None
        self._listed: tuple[Seated, ...] = ()
        self._shown = Shown()
        self._dealt: set[Card] = set()
        self._asked: dict[tuple[str, str], deque[Request | None]] = defaultdict(deque)
        self._due: set[str] = set()  # who has not been told the list yet
        self._elsewhere: set[str] = set()  # they have joined another game since
        self._verdicts: list[Verdict] = []

    # What is known.

    @property
    def holders(self) -> Mapping[str, frozenset[Card]]:
        """Who holds which cards; who is gone still holds what he had."""
        return {nick: frozenset(known.hand) for nick, known in self.players.items()}

    @property
    def maid(self) -> str | None:
        """Who holds the joker; None while she is in the deck."""
        return next((nick for nick, known in self.players.items() if JOKER in known.hand), None)

    @property
    def loser(self) -> str | None:
        """Who has lost, as the table has to see it; None before the end, and of a void game."""
        return self.game.nicks[self.game.ranking[-1]] if self.game is not None and self.game.ranking else None

    @property
    def torn(self) -> bool:
        """Whether the turn may have been lost with somebody."""
        return self._passing is not None and self._passing.torn

    # What happens.

    def heard(self, sender: str, receiver: str, said: Message | Violation) -> Sequence[Verdict]:
        """Somebody says something to somebody; a Violation is what the receiver's codec finds in it."""
        if TABLE in {sender, receiver} and {sender, receiver} & self._elsewhere:
            return ()
        if isinstance(said, Violation):
            self._unreadable(sender, receiver, said)
        elif isinstance(said, Reply | Standing):
            waiting = self._asked[receiver, sender]
            if waiting:
                self._answered(sender, receiver, waiting.popleft(), said)
            elif sender == TABLE:
                self._unasked(receiver, said)
        else:
            self._asked[sender, receiver].append(said)
            if self._passing is not None and sender in self.players:
                if receiver in self.players:
                    self._passing.asked(self.players[sender], self.players[receiver], said)
                elif receiver == TABLE and isinstance(said, Draw):
                    self._passing.drawing(self.players[sender])
        return self._judged()

    def lost(self, nick: str, other: str) -> Sequence[Verdict]:
        """Somebody has no connection to somebody any more, or cannot get one, and has noticed it."""
        self._asked.pop((other, nick), None)
        known, game = self.players.get(other), self.game
        if known is None or game is None or self._passing is None:
            return ()
        if nick in self.players:
            self._passing.lost(self.players[nick], known)
        elif nick == TABLE and not game.over and game.inside[known.seat]:
            game.leave(known.seat, 0.0)
            self._passing.torn = True
        return self._judged()

    def _judged(self) -> Sequence[Verdict]:
        verdicts, self._verdicts = self._verdicts, []
        return verdicts

    def _blame(self, nick: str, clause: str, found: object, allowed: str) -> None:
        self._verdicts.append(Verdict(nick, Violation(clause, str(found), allowed)))

    def _unreadable(self, sender: str, receiver: str, violation: Violation) -> None:
        """What cannot be read is an answer if one is due, or else it will be answered as a request is."""
        self._verdicts.append(Verdict(sender, violation))
        if self._asked[receiver, sender]:
            self._asked[receiver, sender].popleft()
        else:
            self._asked[sender, receiver].append(None)

    def _answered(self, sender: str, receiver: str, request: Request | None, answer: Reply | Standing) -> None:
        """Somebody answers a request."""
        if sender == TABLE:
            match request, answer:
                case Join(), Reply("ok", players=tuple(listed)):
                    self._sat(receiver, listed)
                case _ if receiver in self.players:
                    self._answered_by_table(self.players[receiver], request, answer)
                case _, Reply("error"):
                    pass
                case _:
                    self._blame(TABLE, "oldmaid-4.6", f"{answer} to who is in no game", "an error")
        elif self._passing and sender in self.players and receiver in self.players and request is not None:
            self._passing.answered(self.players[sender], self.players[receiver], request, answer)

    # The table.

    def _unasked(self, nick: str, said: Reply | Standing) -> None:
        """The table says something of its own: that the game is void, if it is to somebody in it (oldmaid-1.8)."""
        if said != Reply("error", said.message if isinstance(said, Reply) else None):
            self._blame(TABLE, "oldmaid-1.8", said, "an answer, or an error before the end")
        elif self.game is not None and nick in self.players and self.game.inside[self.players[nick].seat]:
            self.game.stop()

    def _sat(self, nick: str, listed: Sequence[Seated]) -> None:
        """The table lists the players (oldmaid-3.2)."""
        nicks = [nick for _, nick in listed]
        if not self.players:
            if len({*nicks}) < len(nicks) or not FEWEST <= len(nicks) <= MOST:
                self._blame(TABLE, "oldmaid-3.19", ", ".join(nicks), f"{FEWEST} to {MOST} players, each with a nick")
                return
            self._listed = tuple(listed)
            self.game = Game(1, nicks, self._shown, 0.0)
            self.players = {nick: Known(nick, seat) for seat, nick in enumerate(nicks)}
            self._passing = Passing(self.game, self.players, self._blame, strict=self._strict)
            self._due = {*nicks}
        if nick not in self._due:
            self._elsewhere.add(nick)
            return
        self._due.remove(nick)
        if self._listed != tuple(listed):
            self._blame(TABLE, "oldmaid-3.2", "another list for another player", "the same for all of them")

    def _answered_by_table(self, known: Known, request: Request | None, answer: Reply | Standing) -> None:
        assert self.game is not None, "who is known plays"
        accepted = isinstance(answer, Reply) and answer.result != "error"
        match request, answer:
            case Draw(), Reply():
                self._drawn(known, self.game, answer)
            case Discard(), Reply():
                self._discarded(known, self.game, request, accepted=accepted)
            case OutOfCards(), Reply():
                self._finished(known, self.game, accepted=accepted)
            case Status(), Standing():
                if answer != self.game.standing:
                    self._blame(TABLE, "oldmaid-6.6", answer, f"{self.game.standing}")
            case Status(), Reply("error"):
                self._blame(TABLE, "oldmaid-6.5", answer, f"{self.game.standing}")
            case ((None | Join()), Reply("error")):
                pass
            case _:
                self._blame(TABLE, "oldmaid-2.3", f"{answer} as the answer to {request}", "an answer to it")

    def _drawn(self, known: Known, game: Game, answer: Reply) -> None:
        if answer.result == "error":
            if not game.over and game.drawn < CARDS and game.taker == known.seat:
                self._blame(TABLE, "oldmaid-4.2", f"no card for {known.nick!r}, who is to draw", "one")
            known.turn = None
            return
        card = NUMBERS.get(answer.card) if answer.card is not None else None
        if card is None:
            self._blame(TABLE, "oldmaid-2.4", answer, "a card of the pack")
            return
        if card in self._dealt:
            self._blame(TABLE, "oldmaid-4.1", f"{told(card)}, dealt before", "every card once")
        self._dealt.add(card)
        self._shown.card = card
        self._allow(lambda: game.draw(known.seat, 0.0), accepted=True, clause="oldmaid-4.2")
        last = answer.result == "last_card"
        if last != (game.drawn == CARDS):
            self._blame(TABLE, "oldmaid-4.4", f"{answer.result} with card {game.drawn}", f"last_card with card {CARDS}")
        known.hand.add(card)
        known.drawn = known.drawn or last
        known.turn = "offer" if last else "pass"

    def _discarded(self, known: Known, game: Game, discard: Discard, *, accepted: bool) -> None:
        wrong = self._allow(
            lambda: game.discard(known.seat, *discard.cards, 0.0), accepted=accepted, clause="oldmaid-5.2"
        )
        a, b = (NUMBERS.get(card, -1) for card in discard.cards)
        if not ({a, b} <= known.hand and pairs(a, b)):
            if wrong is None:
                found = f"{known.nick!r} throws away {told(a)} with {told(b)}"
                wrong = Violation("oldmaid-5.7", found, "cards of his own")
            if wrong.clause != OVER:
                self._verdicts.append(Verdict(known.nick, wrong))
        known.got = None
        if accepted:
            known.hand -= {a, b}
        else:
            known.refused.add(min(a, b))

    def _finished(self, known: Known, game: Game, *, accepted: bool) -> None:
        wrong = self._allow(
            lambda: game.finish(known.seat, 0.0, believed=accepted), accepted=accepted, clause="oldmaid-6.1"
        )
        late = wrong is not None and wrong.clause == OVER
        if wrong is not None and not late:
            self._verdicts.append(Verdict(known.nick, wrong))
        elif not known.count(0) and not late:
            held = ", ".join(map(told, sorted(known.hand)))
            self._blame(known.nick, "oldmaid-7.12", f"out_of_cards with {held}", "it with no cards")
        known.out = known.out or accepted or late

    def _allow(self, deed: Callable[[], object], *, accepted: bool, clause: str) -> Violation | None:
        """What is wrong with what somebody asked of the table; the table is to accept it if nothing is."""
        try:
            deed()
        except Violation as violation:
            if accepted:
                self._blame(TABLE, violation.clause, f"what was asked is accepted: {violation.found}", "an error")
            return violation
        if not accepted:
            self._blame(TABLE, clause, "an error", "what was asked, which is right")
        return None
