"""The referee of Old Maid: from all that is said in a game he knows who holds what, and who has cheated.

No player can see that: the table sees no offers, and the players see no hands (docs/protocols/oldmaid.md).
"""

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from croupier.core.errors import Violation
from croupier.rooms.oldmaid.cards import CARD_NUMBERS, JOKER, Card, is_pair
from croupier.rooms.oldmaid.ring.observed import Observed, card_name
from croupier.rooms.oldmaid.ring.turn_checks import TurnChecker
from croupier.rooms.oldmaid.rules import MAX_PLAYERS, MIN_PLAYERS
from croupier.rooms.oldmaid.table.game import CARD_COUNT, TableGame
from croupier.rooms.oldmaid.wire import (
    Discard,
    Draw,
    Join,
    ListedPlayer,
    Message,
    OutOfCards,
    Reply,
    Request,
    Standing,
    Status,
)

TABLE: Final = ""
"""The table among those who talk: no player can be called so (oldmaid-3.7)."""

GAME_OVER_CLAUSE: Final = "oldmaid-6.9"
"""What is asked when the game is over is nobody's fault: he cannot have known."""


class PlayerVerdict(Struct, frozen=True):
    """Who broke which clause: a player by his nick, or TABLE."""

    nick: str
    violation: Violation


class ObservedDeck:
    """The deck that somebody else deals from: on top is the card that was seen last."""

    card: Card = JOKER

    def __iter__(self) -> "ObservedDeck":
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
        self.game: TableGame | None = None
        self.players: dict[str, Observed] = {}
        self._strict = strict
        self._turn_checker: TurnChecker | None = None
        self._player_list: tuple[ListedPlayer, ...] = ()
        self._deck = ObservedDeck()
        self._dealt_cards: set[Card] = set()
        self._pending_requests: dict[tuple[str, str], deque[Request | None]] = defaultdict(deque)
        self._unlisted_nicks: set[str] = set()  # who has not been told the list yet
        self._rejoined_nicks: set[str] = set()  # they have joined another game since
        self._verdicts: list[PlayerVerdict] = []

    # What is known.

    @property
    def holders(self) -> Mapping[str, frozenset[Card]]:
        """Who holds which cards; who is gone still holds what he had."""
        return {nick: frozenset(known.hand) for nick, known in self.players.items()}

    @property
    def joker_holder(self) -> str | None:
        """Who holds the joker; None while she is in the deck."""
        return next((nick for nick, known in self.players.items() if JOKER in known.hand), None)

    @property
    def loser(self) -> str | None:
        """Who has lost, as the table has to see it; None before the end, and of a void game."""
        return self.game.nicks[self.game.ranking[-1]] if self.game is not None and self.game.ranking else None

    @property
    def turn_lost(self) -> bool:
        """Whether the turn may have been lost with somebody."""
        return self._turn_checker is not None and self._turn_checker.turn_lost

    # What happens.

    def on_message(self, sender: str, receiver: str, message: Message | Violation) -> Sequence[PlayerVerdict]:
        """Somebody says something to somebody; a Violation is what the receiver's codec finds in it."""
        if TABLE in {sender, receiver} and {sender, receiver} & self._rejoined_nicks:
            return ()
        if isinstance(message, Violation):
            self._check_malformed(sender, receiver, message)
        elif isinstance(message, Reply | Standing):
            waiting = self._pending_requests[receiver, sender]
            if waiting:
                self._check_answer(sender, receiver, waiting.popleft(), message)
            elif sender == TABLE:
                self._check_unsolicited(receiver, message)
        else:
            self._pending_requests[sender, receiver].append(message)
            if self._turn_checker is not None and sender in self.players:
                if receiver in self.players:
                    self._turn_checker.on_request(self.players[sender], self.players[receiver], message)
                elif receiver == TABLE and isinstance(message, Draw):
                    self._turn_checker.on_draw(self.players[sender])
        return self._take_verdicts()

    def on_connection_lost(self, nick: str, other: str) -> Sequence[PlayerVerdict]:
        """Somebody has no connection to somebody any more, or cannot get one, and has noticed it."""
        self._pending_requests.pop((other, nick), None)
        known, game = self.players.get(other), self.game
        if known is None or game is None or self._turn_checker is None:
            return ()
        if nick in self.players:
            self._turn_checker.on_connection_lost(self.players[nick], known)
        elif nick == TABLE and not game.is_over and game.is_inside[known.seat]:
            game.leave(known.seat, 0.0)
            self._turn_checker.turn_lost = True
        return self._take_verdicts()

    def _take_verdicts(self) -> Sequence[PlayerVerdict]:
        verdicts, self._verdicts = self._verdicts, []
        return verdicts

    def _blame(self, nick: str, clause: str, found: object, allowed: str) -> None:
        self._verdicts.append(PlayerVerdict(nick, Violation(clause, str(found), allowed)))

    def _check_malformed(self, sender: str, receiver: str, violation: Violation) -> None:
        """What cannot be read is an answer if one is due, or else it will be answered as a request is."""
        self._verdicts.append(PlayerVerdict(sender, violation))
        if self._pending_requests[receiver, sender]:
            self._pending_requests[receiver, sender].popleft()
        else:
            self._pending_requests[sender, receiver].append(None)

    def _check_answer(self, sender: str, receiver: str, request: Request | None, answer: Reply | Standing) -> None:
        """Somebody answers a request."""
        if sender == TABLE:
            match request, answer:
                case Join(), Reply("ok", players=tuple(listed)):
                    self._check_player_list(receiver, listed)
                case _ if receiver in self.players:
                    self._check_table_answer(self.players[receiver], request, answer)
                case _, Reply("error"):
                    pass
                case _:
                    self._blame(TABLE, "oldmaid-4.6", f"{answer} to who is in no game", "an error")
        elif self._turn_checker and sender in self.players and receiver in self.players and request is not None:
            self._turn_checker.on_answer(self.players[sender], self.players[receiver], request, answer)

    # The table.

    def _check_unsolicited(self, nick: str, said: Reply | Standing) -> None:
        """The table says something of its own: that the game is void, if it is to somebody in it (oldmaid-1.8)."""
        if said != Reply("error", said.message if isinstance(said, Reply) else None):
            self._blame(TABLE, "oldmaid-1.8", said, "an answer, or an error before the end")
        elif self.game is not None and nick in self.players and self.game.is_inside[self.players[nick].seat]:
            self.game.stop()

    def _check_player_list(self, nick: str, listed: Sequence[ListedPlayer]) -> None:
        """The table lists the players (oldmaid-3.2)."""
        nicks = [nick for _, nick in listed]
        if not self.players:
            if len({*nicks}) < len(nicks) or not MIN_PLAYERS <= len(nicks) <= MAX_PLAYERS:
                self._blame(
                    TABLE, "oldmaid-3.19", ", ".join(nicks), f"{MIN_PLAYERS} to {MAX_PLAYERS} players, each with a nick"
                )
                return
            self._player_list = tuple(listed)
            self.game = TableGame(1, nicks, self._deck, 0.0)
            self.players = {nick: Observed(nick, seat) for seat, nick in enumerate(nicks)}
            self._turn_checker = TurnChecker(self.game, self.players, self._blame, strict=self._strict)
            self._unlisted_nicks = {*nicks}
        if nick not in self._unlisted_nicks:
            self._rejoined_nicks.add(nick)
            return
        self._unlisted_nicks.remove(nick)
        if self._player_list != tuple(listed):
            self._blame(TABLE, "oldmaid-3.2", "another list for another player", "the same for all of them")

    def _check_table_answer(self, known: Observed, request: Request | None, answer: Reply | Standing) -> None:
        assert self.game is not None, "who is known plays"
        accepted = isinstance(answer, Reply) and answer.result != "error"
        match request, answer:
            case Draw(), Reply():
                self._check_draw(known, self.game, answer)
            case Discard(), Reply():
                self._check_discard(known, self.game, request, accepted=accepted)
            case OutOfCards(), Reply():
                self._check_out_of_cards(known, self.game, accepted=accepted)
            case Status(), Standing():
                if answer != self.game.standing:
                    self._blame(TABLE, "oldmaid-6.6", answer, f"{self.game.standing}")
            case Status(), Reply("error"):
                self._blame(TABLE, "oldmaid-6.5", answer, f"{self.game.standing}")
            case ((None | Join()), Reply("error")):
                pass
            case _:
                self._blame(TABLE, "oldmaid-2.3", f"{answer} as the answer to {request}", "an answer to it")

    def _check_draw(self, known: Observed, game: TableGame, answer: Reply) -> None:
        if answer.result == "error":
            if not game.is_over and game.drawn_count < CARD_COUNT and game.drawer == known.seat:
                self._blame(TABLE, "oldmaid-4.2", f"no card for {known.nick!r}, who is to draw", "one")
            known.turn = None
            return
        card = CARD_NUMBERS.get(answer.card) if answer.card is not None else None
        if card is None:
            self._blame(TABLE, "oldmaid-2.4", answer, "a card of the pack")
            return
        if card in self._dealt_cards:
            self._blame(TABLE, "oldmaid-4.1", f"{card_name(card)}, dealt before", "every card once")
        self._dealt_cards.add(card)
        self._deck.card = card
        self._apply_action(lambda: game.draw(known.seat, 0.0), accepted=True, clause="oldmaid-4.2")
        last = answer.result == "last_card"
        if last != (game.drawn_count == CARD_COUNT):
            self._blame(
                TABLE,
                "oldmaid-4.4",
                f"{answer.result} with card {game.drawn_count}",
                f"last_card with card {CARD_COUNT}",
            )
        known.hand.add(card)
        known.is_deck_empty = known.is_deck_empty or last
        known.turn = "offer" if last else "pass"

    def _check_discard(self, known: Observed, game: TableGame, discard: Discard, *, accepted: bool) -> None:
        wrong = self._apply_action(
            lambda: game.discard(known.seat, *discard.cards, 0.0), accepted=accepted, clause="oldmaid-5.2"
        )
        a, b = (CARD_NUMBERS.get(card, -1) for card in discard.cards)
        if not ({a, b} <= known.hand and is_pair(a, b)):
            if wrong is None:
                found = f"{known.nick!r} throws away {card_name(a)} with {card_name(b)}"
                wrong = Violation("oldmaid-5.7", found, "cards of his own")
            if wrong.clause != GAME_OVER_CLAUSE:
                self._verdicts.append(PlayerVerdict(known.nick, wrong))
        known.last_received = None
        if accepted:
            known.hand -= {a, b}
        else:
            known.refused_pairs.add(min(a, b))

    def _check_out_of_cards(self, known: Observed, game: TableGame, *, accepted: bool) -> None:
        wrong = self._apply_action(
            lambda: game.finish(known.seat, 0.0, is_trusted=accepted), accepted=accepted, clause="oldmaid-6.1"
        )
        late = wrong is not None and wrong.clause == GAME_OVER_CLAUSE
        if wrong is not None and not late:
            self._verdicts.append(PlayerVerdict(known.nick, wrong))
        elif not known.check_count(0) and not late:
            held = ", ".join(map(card_name, sorted(known.hand)))
            self._blame(known.nick, "oldmaid-7.12", f"out_of_cards with {held}", "it with no cards")
        known.is_out = known.is_out or accepted or late

    def _apply_action(self, deed: Callable[[], object], *, accepted: bool, clause: str) -> Violation | None:
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
