"""Referee of Old Maid: tracks all hands from the messages of all connections and names the clauses that are broken.

Neither end can check this alone: the table sees no offers, and players see no other hands (docs/protocols/oldmaid.md).
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from croupier.core.errors import Violation
from croupier.core.referee import HOUSE, Disconnected, Observation, Party, Sent, Verdict
from croupier.rooms.oldmaid.cards import CARD_COUNT, CARD_NUMBERS, JOKER, Card, is_pair
from croupier.rooms.oldmaid.ring.observed import Observed, card_name
from croupier.rooms.oldmaid.ring.turn_checks import TurnChecker
from croupier.rooms.oldmaid.rules import MAX_PLAYERS, MIN_PLAYERS
from croupier.rooms.oldmaid.sender_clauses import sender_clause
from croupier.rooms.oldmaid.table.game import TableGame
from croupier.rooms.oldmaid.wire import (
    Discard,
    Draw,
    Join,
    ListedPlayer,
    Message,
    Offer,
    OutOfCards,
    Pick,
    Reply,
    Request,
    Standing,
    Status,
    YourTurn,
)

TABLE: Final = HOUSE
"""The table as a sender or receiver; the players are known by their nicks."""

GAME_OVER_CLAUSE: Final = "oldmaid-6.9"
"""Requests after the end of the game are no fault: the player may not know yet that it is over."""


class Referee:
    """Checks one game from the messages between the table and its players, and between the players.

    See `croupier.core.referee.Referee`. The parties are TABLE and the players, by their nicks. Messages must be
    reported in causal order: each one after the messages that its sender had received. The order in which they were
    sent is one.
    `game` is the state that the table must have, None before its list; `players` maps nicks to observed players.

    When a player that may have had the turn is gone, the others may resume more than one turn, which looks like
    cheating (oldmaid-9.7 to 9.9). `turn_lost` is true from then on, and turns are no longer checked; cards are checked
    to the end.
    """

    deadline: Final = None
    """Players may think as long as the table lets them, so silence proves nothing."""

    def __init__(self, *, strict: bool = False) -> None:
        self.game: TableGame | None = None
        self.players: dict[Party, Observed] = {}
        self._strict = strict
        self._turn_checker: TurnChecker | None = None
        self._player_list: tuple[ListedPlayer, ...] = ()
        self._last_card: Card = JOKER
        self._dealt_cards: set[Card] = set()
        self._pending_requests: dict[tuple[Party, Party], deque[Request | None]] = defaultdict(deque)
        self._unlisted_nicks: set[Party] = set()  # players that have not received the list yet
        self._rejoined_nicks: set[Party] = set()  # players that have joined another game since
        self._verdicts: list[Verdict] = []

    # State.

    @property
    def holders(self) -> Mapping[str, frozenset[Card]]:
        """The cards of each player by nick; players that are gone keep theirs."""
        return {player.nick: frozenset(player.hand) for player in self.players.values()}

    @property
    def loser(self) -> str | None:
        """The nick of the loser by the table's rules; None before the end and for a void game."""
        return self.game.nicks[self.game.ranking[-1]] if self.game is not None and self.game.ranking else None

    @property
    def turn_lost(self) -> bool:
        """Whether the turn may have been lost with a player that is gone."""
        return self._turn_checker is not None and self._turn_checker.turn_lost

    @property
    def last_game(self) -> TableGame | None:
        """The game after its end, None before."""
        return self.game if self.finished_count else None

    @property
    def finished_count(self) -> int:
        """The number of finished games, 0 or 1."""
        return int(self.game is not None and self.game.is_over)

    @property
    def legal(self) -> Sequence[Sent[Message]]:
        """The requests by which the turn goes on, in any order; discards, status and out_of_cards may come between."""
        if self.game is None or self.game.is_over:
            return ()
        return [request for player in self.players.values() for request in self._turn_requests(player)]

    def _turn_requests(self, player: Observed) -> Iterator[Sent[Message]]:
        nicks = [each.nick for each in self.players.values()]
        neighbours = [nick for nick in nicks if nick != player.nick and player.may_ask(nick, nicks)]
        offer = player.offer
        if player.turn == "draw":
            yield Sent(player.nick, TABLE, Draw())
        elif player.turn == "pass":
            yield from (Sent(player.nick, nick, YourTurn()) for nick in neighbours)
        elif player.turn == "offer" and offer is None:
            yield from (Sent(player.nick, nick, Offer(len(player.hand))) for nick in neighbours)
        if offer is not None and offer.is_accepted and offer.picked_position is None:
            yield from (Sent(offer.to_nick, player.nick, Pick(position)) for position in range(offer.num_cards))

    # Events.

    def on(self, event: Observation[Message], now: float = 0.0) -> Sequence[Verdict]:  # noqa: ARG002 -- it has no deadline
        """Check an event, and return the violations that it shows."""
        match event:
            case Sent(sender, receiver, message):
                self._on_message(sender, receiver, message)
            case Disconnected(party, other):
                self._on_disconnected(party, other)
            case _:
                pass
        verdicts, self._verdicts = self._verdicts, []
        return verdicts

    def _on_message(self, sender: Party, receiver: Party, message: Message | Violation) -> None:
        if TABLE in {sender, receiver} and {sender, receiver} & self._rejoined_nicks:
            return
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
                    self._turn_checker.on_draw(self.players[sender], is_asked=self._is_asked(sender))

    def _is_asked(self, nick: Party) -> bool:
        """Whether a player has received `your_turn`, and has not answered it yet."""
        return any(
            isinstance(request, YourTurn)
            for (_, asked), waiting in self._pending_requests.items()
            if asked == nick
            for request in waiting
        )

    def _on_disconnected(self, nick: Party, other: Party) -> None:
        self._pending_requests.pop((other, nick), None)
        player, game = self.players.get(other), self.game
        if player is None or game is None or self._turn_checker is None:
            return
        if nick in self.players:
            self._turn_checker.on_connection_lost(self.players[nick], player)
        elif nick == TABLE and not game.is_over and game.is_inside[player.seat]:
            game.leave(player.seat, 0.0)
            self._turn_checker.turn_lost = True

    def _blame(self, nick: Party, clause: str, found: object, allowed: str) -> None:
        self._verdicts.append(Verdict(nick, Violation(clause, str(found), allowed)))

    def _check_malformed(self, sender: Party, receiver: Party, violation: Violation) -> None:
        """Treat malformed input as an answer if one is pending, otherwise as a request."""
        is_answer = bool(self._pending_requests[receiver, sender])
        self._blame(sender, sender_clause(violation, is_answer=is_answer), violation.found, violation.allowed)
        if is_answer:
            self._pending_requests[receiver, sender].popleft()
        else:
            self._pending_requests[sender, receiver].append(None)

    def _check_answer(self, sender: Party, receiver: Party, request: Request | None, answer: Reply | Standing) -> None:
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

    # Messages of the table.

    def _check_unsolicited(self, nick: Party, message: Reply | Standing) -> None:
        """Check a message of the table that answers nothing: an error to a player in a game voids it (oldmaid-1.8)."""
        if message != Reply("error", message.message if isinstance(message, Reply) else None):
            self._blame(TABLE, "oldmaid-1.8", message, "an answer, or an error before the end")
        elif self.game is not None and nick in self.players and self.game.is_inside[self.players[nick].seat]:
            self.game.stop()

    def _check_player_list(self, nick: Party, listed: Sequence[ListedPlayer]) -> None:
        """Check the table's list of players (oldmaid-3.2)."""
        nicks = [nick for _, nick in listed]
        if not self.players:
            if len({*nicks}) < len(nicks) or not MIN_PLAYERS <= len(nicks) <= MAX_PLAYERS:
                self._blame(
                    TABLE, "oldmaid-3.19", ", ".join(nicks), f"{MIN_PLAYERS} to {MAX_PLAYERS} players, each with a nick"
                )
                return
            self._player_list = tuple(listed)
            deck = iter(lambda: self._last_card, None)  # its next card is always the last one that was seen
            self.game = TableGame(1, nicks, deck, 0.0)
            self.players = {nick: Observed(nick, seat) for seat, nick in enumerate(nicks)}
            self._turn_checker = TurnChecker(self.game, self.players, self._blame, strict=self._strict)
            self._unlisted_nicks = {*nicks}
        if nick not in self._unlisted_nicks:
            self._rejoined_nicks.add(nick)
            return
        self._unlisted_nicks.remove(nick)
        if self._player_list != tuple(listed):
            self._blame(TABLE, "oldmaid-3.2", "another list for another player", "the same for all of them")

    def _check_table_answer(self, player: Observed, request: Request | None, answer: Reply | Standing) -> None:
        assert self.game is not None, "an observed player is in a game"
        accepted = isinstance(answer, Reply) and answer.result != "error"
        match request, answer:
            case Draw(), Reply():
                self._check_draw(player, self.game, answer)
            case Discard(), Reply():
                if accepted and answer.message != "ok":
                    self._blame(TABLE, "oldmaid-2.3", f"{answer} as the answer to a discard", 'the message "ok"')
                self._check_discard(player, self.game, request, accepted=accepted)
            case OutOfCards(), Reply():
                self._check_out_of_cards(player, self.game, accepted=accepted)
            case Status(), Standing():
                if not lists_everybody(answer, self.game.nicks):
                    self._blame(TABLE, "oldmaid-6.5", answer, f"all players once, as in {self.game.standing}")
                elif not self._is_right_standing(answer, self.game):
                    self._blame(TABLE, "oldmaid-6.6", answer, f"{self.game.standing}")
            case Status(), Reply("error"):
                self._blame(TABLE, "oldmaid-6.5", answer, f"{self.game.standing}")
            case ((None | Join()), Reply("error")):
                pass
            case _:
                self._blame(TABLE, "oldmaid-2.3", f"{answer} as the answer to {request}", "an answer to it")

    def _is_right_standing(self, found: Standing, game: TableGame) -> bool:
        """Whether a standing is right; the table may have noticed in another order which players are gone."""
        wanted, places = game.standing, len(game.standing.outside) - len(game.departed_seats)
        return (found.inside, found.outside[:places], sorted(found.outside[places:])) == (
            wanted.inside,
            wanted.outside[:places],
            sorted(wanted.outside[places:]),
        )

    def _check_draw(self, player: Observed, game: TableGame, answer: Reply) -> None:
        if answer.result == "error":
            if not game.is_over and game.drawn_count < CARD_COUNT and game.drawer == player.seat:
                clause = "oldmaid-4.3" if game.drawn_count else "oldmaid-4.2"
                self._blame(TABLE, clause, f"no card for {player.nick!r}, the next player to draw", "a card")
            player.turn = None
            return
        card = CARD_NUMBERS.get(answer.card) if answer.card is not None else None
        if card is None:
            self._blame(TABLE, "oldmaid-2.4", answer, "a card of the pack")
            return
        if card in self._dealt_cards:
            self._blame(TABLE, "oldmaid-4.1", f"{card_name(card)}, dealt before", "every card once")
        self._dealt_cards.add(card)
        self._last_card = card
        self._apply_action(lambda: game.draw(player.seat, 0.0), Draw(), accepted=True, clause="oldmaid-4.2")
        last = answer.result == "last_card"
        if last != (game.drawn_count == CARD_COUNT):
            self._blame(
                TABLE,
                "oldmaid-4.4",
                f"{answer.result} with card {game.drawn_count}",
                f"last_card with card {CARD_COUNT}",
            )
        player.hand.add(card)
        player.is_deck_empty = player.is_deck_empty or last
        player.turn = "offer" if last else "pass"

    def _check_discard(self, player: Observed, game: TableGame, discard: Discard, *, accepted: bool) -> None:
        a, b = (CARD_NUMBERS.get(card, -1) for card in discard.cards)
        holder = f"{player.nick!r} holds both cards" if {a, b} <= player.hand else "any player may hold the cards"
        wrong = self._apply_action(
            lambda: game.discard(player.seat, *discard.cards, 0.0),
            discard,
            accepted=accepted,
            clause=_discard_clause(player, game, discard),
            reason=f"{holder}, and neither has been discarded in this game",
        )
        if not ({a, b} <= player.hand and is_pair(a, b)):
            if wrong is None:
                found = f"{player.nick!r} throws away {card_name(a)} with {card_name(b)}"
                wrong = Violation("oldmaid-5.7", found, "cards of his own")
            if wrong.clause != GAME_OVER_CLAUSE:
                self._verdicts.append(Verdict(player.nick, wrong))
        player.last_received = None
        if accepted:
            player.hand -= {a, b}
            assert self._turn_checker is not None, "it begins with the game"
            self._turn_checker.on_discard(player, discard)
        else:
            player.refused_pairs.add((min(a, b), max(a, b)))

    def _check_out_of_cards(self, player: Observed, game: TableGame, *, accepted: bool) -> None:
        wrong = self._apply_action(
            lambda: game.finish(player.seat, 0.0, is_trusted=accepted),
            OutOfCards(),
            accepted=accepted,
            clause="oldmaid-6.1",
            reason=f"all cards are drawn, and {player.nick!r} may have none left",
        )
        late = wrong is not None and wrong.clause == GAME_OVER_CLAUSE
        if wrong is not None and not late:
            self._verdicts.append(Verdict(player.nick, wrong))
        elif not player.check_count(0) and not late:
            held = ", ".join(map(card_name, sorted(player.hand)))
            self._blame(player.nick, "oldmaid-7.12", f"out_of_cards with {held}", "it with no cards")
        player.is_out = player.is_out or accepted or late

    def _apply_action(
        self, action: Callable[[], object], request: Request, *, accepted: bool, clause: str, reason: str = ""
    ) -> Violation | None:
        """Apply what a player has requested to the game. Returns its violation.

        The table must accept the request if there is none: by this clause, and for this reason.
        """
        try:
            action()
        except Violation as violation:
            if accepted:
                self._blame(TABLE, violation.clause, f"what was asked is accepted: {violation.found}", "an error")
            return violation
        if not accepted:
            self._blame(TABLE, clause, f"an error to {request}", f"ok, because {reason}")
        return None


def lists_everybody(standing: Standing, nicks: Sequence[str]) -> bool:
    """Whether a standing has every player of a game once, in or out (oldmaid-6.5)."""
    return sorted((*standing.inside, *standing.outside)) == sorted(nicks)


def _discard_clause(player: Observed, game: TableGame, discard: Discard) -> str:
    """Return the clause by which a pair is accepted: it may be one of cards that were picked."""
    if game.drawn_count < CARD_COUNT:
        return "oldmaid-5.2"
    drawn = {card for action in game.log if action[0] == "drew" and action[1] == player.seat for card in action[2:]}
    return "oldmaid-5.8" if {CARD_NUMBERS.get(card) for card in discard.cards} <= drawn else "oldmaid-5.7"
