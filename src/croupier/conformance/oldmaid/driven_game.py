"""A game at a table under test whose players are all scripted: drawing, discarding, and picking."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import combinations, takewhile
from random import Random
from typing import Final, Literal, NamedTuple

from msgspec import structs

from croupier.conformance.deviations import NotReached
from croupier.conformance.oldmaid.answers import ReceivedMessage
from croupier.conformance.oldmaid.outcomes import Failed
from croupier.conformance.oldmaid.scripted_player import PlayerInput, ScriptedPlayer, parse_input
from croupier.core.errors import FoundKind
from croupier.core.referee import Disconnected, Sent
from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import CARD_COUNT, JOKER, WIRE_CARDS, Card, to_wire
from croupier.rooms.oldmaid.referee import TABLE, Referee
from croupier.rooms.oldmaid.ring.observed import Observed
from croupier.rooms.oldmaid.table.game import TableGame
from croupier.rooms.oldmaid.wire import (
    OK,
    Discard,
    Draw,
    ListedPlayer,
    Offer,
    OutOfCards,
    Pick,
    Reply,
)

MAX_PICKS = 600
"""A game ends after this many picks, as it may go on forever once a player has left with a card."""

REFUSED_DRAW_CLAUSES: Final = frozenset({"oldmaid-4.2", "oldmaid-4.3"})
"""The clauses of a table that refuses the first draw, or another one in turn."""

WRONG_DECK_CLAUSES: Final = frozenset({"oldmaid-4.1", "oldmaid-4.4"})
"""The clauses of a table that deals other cards than it has, or too many of them."""

MIN_ROUNDS: Final = 2
"""After this many rounds a table has shown that it knows the order of draws: then its deck ends where draws end."""

EARLY_DISCARD_CLAUSE: Final = "oldmaid-5.2"
REFUSED_DISCARD_CLAUSES: Final = frozenset({EARLY_DISCARD_CLAUSE, "oldmaid-5.7", "oldmaid-5.8"})
"""The clause of a table that refuses a pair while cards are drawn, and those of one that refuses it at any time."""

type BetweenSteps = Callable[["DrivenGame"], Awaitable[None]]
"""A callback between two steps of a game."""


type Pair = tuple[Card, Card]


class GameAction(NamedTuple):
    """An action in a game.

    "draw" and "pick" are by the player whose turn it is; "throw" (discard a pair), "out", "leave" and "say" (send
    anything else) by `seat`.
    """

    kind: Literal["draw", "throw", "out", "pick", "leave", "say"]
    seat: Seat = 0
    data: PlayerInput = b""


class DrivenGame:
    """A game with its players in the order of the list, and the referee who knows all hands.

    `actions` records everything done, so that it can be repeated in another game with other cards.
    `announces_out_first`: a player who gives away their last card announces it before anything else is sent; None means
    at random.
    """

    def __init__(
        self, players: Sequence[ScriptedPlayer], referee: Referee, random: Random, received: ReceivedMessage
    ) -> None:
        """`received` is the table's list."""
        message = received.message
        assert isinstance(message, Reply), "a list is a reply"
        self.listed: Sequence[ListedPlayer] = message.players or ()
        self.players = tuple(players)
        self.referee = referee
        self.announces_out_first: bool | None = None
        self.actions: list[GameAction] = []
        self._random = random
        self._offering_seat: Seat | None = None
        for player in players:
            player.on_send = self._record_action

    @property
    def game(self) -> TableGame:
        """The game as the table has to know it."""
        assert self.referee.game is not None, "the game begins with the list"
        return self.referee.game

    @property
    def drawer(self) -> ScriptedPlayer:
        """The player who draws the next card."""
        return self.players[self.game.drawer]

    @property
    def waiting_player(self) -> ScriptedPlayer:
        """A player who is in and does not draw the next card."""
        return next(
            player for seat, player in enumerate(self.players) if self.game.is_inside[seat] and seat != self.game.drawer
        )

    @property
    def players_inside(self) -> Sequence[ScriptedPlayer]:
        """The players who are in."""
        return [player for player, inside in zip(self.players, self.game.is_inside, strict=True) if inside]

    @property
    def winner(self) -> ScriptedPlayer:
        """The first player who was out of cards. Raises NotReached if nobody was."""
        if not self.game.finished_seats:
            raise NotReached("no player was out of cards")
        return self.players[self.game.finished_seats[0]]

    def observed(self, player: ScriptedPlayer) -> Observed:
        """Return the referee's knowledge of a player."""
        return self.referee.players[player.nick]

    def hand(self, player: ScriptedPlayer) -> set[Card]:
        """Return the hand of a player."""
        return self.observed(player).hand

    def discard_request(self, player: ScriptedPlayer) -> Discard | None:
        """Return the request that discards a pair of a player, None if they have no pair."""
        pair = self.observed(player).pair
        last = len(self.hand(player)) == 2 and self.game.drawn_count == CARD_COUNT
        return pair and Discard((to_wire(pair[0]), to_wire(pair[1])), "true" if last else "false")

    # Drawing.

    async def draw(
        self, count: int = CARD_COUNT, *, discards_pairs: bool = True, between: BetweenSteps | None = None
    ) -> None:
        """Draw cards in turn until `count` are drawn, and discard pairs at once if `discards_pairs`."""
        while self.game.drawn_count < count and not self.game.is_over:
            player = self.drawer
            await self._draw_one(player)
            if discards_pairs:
                await self.discard_pairs(player)
            if between is not None:
                await between(self)

    async def draw_more(self, count: int | None = None) -> None:
        """Draw this many more cards, by default one for each player, as far as there are any; discard nothing."""
        more = len(self.players) if count is None else count
        await self.draw(min(CARD_COUNT, self.game.drawn_count + more), discards_pairs=False)

    async def _draw_one(self, player: ScriptedPlayer) -> None:
        """Let a player draw. Raises Failed, on the clause that the next draws of all players show."""
        try:
            await player.request(Draw())
        except Failed as failed:
            if failed.failure.kind is not FoundKind.MESSAGE:
                raise
            for other in self.players:  # a player who is gone is no drawer
                await other.require_one_answer_each()
            is_refused, count = failed.failure.clause in REFUSED_DRAW_CLAUSES, self.game.drawn_count
            if self.game.departed_seats and (is_refused or failed.failure.clause in WRONG_DECK_CLAUSES):
                failed.amend(clause="oldmaid-9.2")
            elif is_refused and await self._draws_without_pairs(player):
                found, expected = f"an error to {player.nick!r} as long as it had a pair", "a card: pairs may be kept"
                raise Failed("oldmaid-5.8", found, expected, got=failed.failure.got) from None
            elif is_refused and (drawer := await self._find_drawer()) not in {None, player}:
                found = f"an error to {player.nick!r}, and a card for {drawer.nick!r}"
                raise Failed("oldmaid-4.3", found, f"a card for {player.nick!r}, the next in the list") from None
            elif MIN_ROUNDS * len(self.players) <= count < CARD_COUNT and (
                is_refused or (failed.failure.clause == "oldmaid-4.4" and await self._find_drawer() is None)
            ):
                found = f"a deck of {count} cards: after them nobody can draw"
                raise Failed("oldmaid-4.1", found, f"one of {CARD_COUNT}", got=failed.failure.got) from None
            raise

    async def _draws_without_pairs(self, player: ScriptedPlayer) -> bool:
        """Discard the pairs of a player, without the referee; return whether there were any and it then gets a card."""
        hand = self.hand(player)
        pairs = [(card, card + 1) for card in hand if not card % 2 and card + 1 in hand]
        for first, second in pairs:
            await _is_accepted(player, Discard((to_wire(first), to_wire(second)), "false"))
        return bool(pairs) and await _is_accepted(player, Draw())

    async def _find_drawer(self) -> ScriptedPlayer | None:
        """Let all players draw in turn, without the referee, until one gets a card; return that one, None if none."""
        for player in (*self.players[self.game.drawer :], *self.players[: self.game.drawer]):
            if not player.is_disconnected and await _is_accepted(player, Draw()):
                return player
        return None

    async def draw_until[T](self, find: Callable[[], T | None], reason: str, *, before_last: bool = False) -> T:
        """Draw cards in turn until `find` returns something, and return that. Raises NotReached with the reason.

        `before_last`: there must be cards left then.
        """
        while (found := find()) is None and self.game.drawn_count < CARD_COUNT:
            await self.draw_more(1)
        if found is None or (before_last and self.game.drawn_count == CARD_COUNT):
            raise NotReached(reason)
        return found

    async def draw_pair(
        self, players: Sequence[ScriptedPlayer] | None = None, *, before_last: bool = False
    ) -> tuple[ScriptedPlayer, Pair]:
        """Draw until one of these players has drawn a pair; return both. Raises NotReached."""
        candidates = self.players if players is None else players

        def find() -> tuple[ScriptedPlayer, Pair] | None:
            return next(((player, pair) for player in candidates if (pair := self.observed(player).pair)), None)

        return await self.draw_until(find, "nobody has drawn both cards of a pair", before_last=before_last)

    async def draw_split_pair(self) -> tuple[ScriptedPlayer, ScriptedPlayer, Pair]:
        """Draw until two players have drawn a card each of a pair; return all three. Raises NotReached."""

        def find() -> tuple[ScriptedPlayer, ScriptedPlayer, Pair] | None:
            for one, other in combinations(self.players, 2):
                for card in self.hand(one):
                    if card != JOKER and card ^ 1 in self.hand(other):
                        return one, other, (card, card ^ 1)
            return None

        return await self.draw_until(find, "no pair was drawn by two players", before_last=True)

    async def discard_pairs(self, player: ScriptedPlayer) -> None:
        """Let a player discard all pairs. Raises Failed, on the clause of another request that is accepted."""
        while (pair := self.discard_request(player)) is not None:
            try:
                await player.request(pair)
            except Failed as failed:
                clause = failed.failure.clause
                if clause in REFUSED_DISCARD_CLAUSES:
                    failed.amend(clause=await self._refused_pair_clause(player, pair, clause))
                raise

    async def _refused_pair_clause(self, player: ScriptedPlayer, pair: Discard, clause: str) -> str:
        """Find out why the table refuses a pair; return the clause that it breaks, by default the given one."""
        with suppress(Failed):
            if await _is_accepted(player, structs.replace(pair, last_cards=pair.last_cards == "true")):
                return "oldmaid-2.5"
            await self.draw(discards_pairs=False)
            if clause == EARLY_DISCARD_CLAUSE and await _is_accepted(player, pair):
                return "oldmaid-5.8"
            if self._was_refused(pair) and await self._accepts_another_pair():
                return "oldmaid-8.1"
        return clause

    def _was_refused(self, pair: Discard) -> bool:
        """Whether a discard of one of these cards was refused before, to any player."""
        said = [parse_input(action.data) for action in self.actions if action.kind == "say"]
        return any(isinstance(request, Discard) and {*request.cards} & {*pair.cards} for request in said)

    async def _accepts_another_pair(self) -> bool:
        """Whether the table accepts a pair of which it has refused no card, or has accepted one since the last draw."""
        pairs = [(player, pair) for player in self.players_inside if (pair := self.discard_request(player)) is not None]
        untouched = [(player, pair) for player, pair in pairs if not self._was_refused(pair)]
        if untouched:
            return await _is_accepted(*untouched[0])
        return any(entry[0] == "threw" for entry in takewhile(lambda entry: entry[0] != "drew", self.game.log[::-1]))

    async def discard_all_pairs(self) -> None:
        """Let all players discard all pairs."""
        for player in self.players_inside:
            await self.discard_pairs(player)

    # Picking.

    async def play(self, until: Callable[[], bool] = lambda: False, between: BetweenSteps | None = None) -> None:
        """Play until the game is over, or `until` is true: announce empty hands, and pick cards."""
        for _ in range(MAX_PICKS):
            await self._announce_out(until)
            if self.game.is_over or until():
                return
            await self._pick()
            if between is not None:
                await between(self)

    async def play_until_out(self) -> ScriptedPlayer:
        """Play until a player is out of cards; return that player. Raises NotReached."""
        await self.play(lambda: bool(self.game.finished_seats))
        return self.winner

    async def _announce_out(self, until: Callable[[], bool]) -> None:
        """Announce empty hands."""
        for player in self.players_inside:
            if not self.hand(player) and not self.game.is_over and not until():
                await player.request(OutOfCards())

    async def _pick(self) -> None:
        """Let the next player pick a card of the offering one, and discard its pair unless the game is over by then."""
        giver, picker = self._pass_card()
        announces_first = (
            bool(self._random.randrange(2)) if self.announces_out_first is None else self.announces_out_first
        )
        if not self.hand(giver) and announces_first:
            await giver.request(OutOfCards())
        if not self.game.is_over:
            await self.discard_pairs(picker)

    def _pass_card(self) -> tuple[ScriptedPlayer, ScriptedPlayer]:
        """Pass a card on, which the table does not see; return the giver and the picker."""
        self.actions.append(GameAction("pick"))
        if self._offering_seat is None:  # the player who drew the last card offers first
            self._offering_seat = [entry[1] for entry in self.game.log if entry[0] == "drew"][-1]
        seats = len(self.players)
        inside = [(self._offering_seat + step) % seats for step in range(seats)]
        inside = [seat for seat in inside if self.game.is_inside[seat]]
        giver, picker = (self.players[seat] for seat in inside[:2])
        self._offering_seat = inside[1]
        hand = sorted(self.hand(giver))
        index = self._random.randrange(len(hand))
        for sender, receiver, message in (
            (giver, picker, Offer(len(hand))),
            (picker, giver, OK),
            (picker, giver, Pick(index)),
            (giver, picker, Reply("ok", card=WIRE_CARDS[hand[index]])),
        ):
            self.referee.on(Sent(sender.nick, receiver.nick, message))
        return giver, picker

    # Leaving.

    async def disconnect(self, player: ScriptedPlayer, *, reset: bool = False) -> None:
        """Disconnect a player, and wait until the table has noticed it or should have."""
        self.actions.append(GameAction("leave", self.players.index(player)))
        player.disconnect(reset=reset)
        self.referee.on(Disconnected(TABLE, player.nick))
        observer = next((other for other in self.players if not other.is_disconnected), None)
        if observer is not None:
            await observer.wait_until_out([player.nick])

    # Repeating.

    def _record_action(self, player: ScriptedPlayer, message: PlayerInput) -> None:
        """Record the action that a message is about to perform."""
        seat = self.players.index(player)
        if message == Draw() and self.game.drawn_count < CARD_COUNT and not self.game.is_over and player is self.drawer:
            self.actions.append(GameAction("draw"))
        elif isinstance(message, Discard) and message == self.discard_request(player):
            self.actions.append(GameAction("throw", seat))
        elif message == OutOfCards() and self._must_announce_out(player):
            self.actions.append(GameAction("out", seat))
        else:
            self.actions.append(GameAction("say", seat, message))

    def _must_announce_out(self, player: ScriptedPlayer) -> bool:
        """Whether a player has to announce an empty hand."""
        inside = self.game.is_inside[self.players.index(player)]
        return inside and self.game.drawn_count == CARD_COUNT and not self.game.is_over and not self.hand(player)

    async def replay(self, actions: Sequence[GameAction]) -> None:
        """Repeat actions of another game, as far as the cards allow. Raises Failed."""
        for action in actions:
            player = self.players[action.seat % len(self.players)]
            match action.kind:
                case "draw" if self.game.drawn_count < CARD_COUNT and not self.game.is_over:
                    await self._draw_one(self.drawer)
                case "throw" if not player.is_disconnected and (pair := self.discard_request(player)) is not None:
                    await player.request(pair)
                case "out" if not player.is_disconnected and self._must_announce_out(player):
                    await player.request(OutOfCards())
                case "pick" if self._can_pass_card:
                    self._pass_card()
                case "leave" if not player.is_disconnected:
                    await self.disconnect(player)
                case "say" if not player.is_disconnected and parse_input(action.data) is not None:
                    await player.try_input(action.data)
                case _:
                    pass  # not possible with these cards

    @property
    def _can_pass_card(self) -> bool:
        """Whether a card can be passed on: all who are in have some."""
        return (
            self.game.drawn_count == CARD_COUNT
            and not self.game.is_over
            and all(self.hand(player) for player in self.players_inside)
        )


async def _is_accepted(player: ScriptedPlayer, player_input: PlayerInput) -> bool:
    """Whether the table accepts a request, which the referee does not see."""
    await player.send(player_input, is_judged=False)
    answer = await player.receive_optional_answer()
    return answer is not None and not answer.is_error
