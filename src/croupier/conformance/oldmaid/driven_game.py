"""A game at a table under test whose players are all ours: they draw, throw away, and pass cards on to each other."""

from collections.abc import Awaitable, Callable, Sequence
from random import Random
from typing import Literal, NamedTuple

from croupier.conformance.oldmaid.answers import ReceivedMessage
from croupier.conformance.oldmaid.outcomes import Failed
from croupier.conformance.oldmaid.scripted_player import QUIET_SECONDS, PlayerInput, ScriptedPlayer, parse_input
from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import WIRE_CARDS, Card, to_wire
from croupier.rooms.oldmaid.referee import TABLE, Referee
from croupier.rooms.oldmaid.ring.observed import Observed
from croupier.rooms.oldmaid.table.game import CARD_COUNT, TableGame
from croupier.rooms.oldmaid.wire import (
    OK,
    Discard,
    Draw,
    ListedPlayer,
    Offer,
    OutOfCards,
    Pick,
    Reply,
    Standing,
    Status,
)

MAX_PICKS = 600
"""After so many picks a game is no longer played: somebody may have gone with a card that has a partner."""

MAX_STATUS_POLLS = 40
"""So often it is asked whether the table has noticed that somebody is gone."""

type BetweenSteps = Callable[["DrivenGame"], Awaitable[None]]
"""What is done between two steps of a game."""


class GameAction(NamedTuple):
    """Something that was done in a game: a card is drawn by whose turn it is, or picked; or somebody throws away a pair
    of his, is out of cards, leaves, or says something else.
    """

    kind: Literal["draw", "throw", "out", "pick", "leave", "say"]
    seat: Seat = 0
    data: PlayerInput = b""


class DrivenGame:
    """A game with its guests in the order of the list, and the referee who knows what everybody has.

    `deeds` is all that was done in it, so that it can be done again in another game, whatever cards are dealt there.
    `hasty`: who gives away his last card says that he is out before anything else is said; None leaves it to luck.
    """

    def __init__(
        self, guests: Sequence[ScriptedPlayer], referee: Referee, random: Random, received: ReceivedMessage
    ) -> None:
        """`heard` is the table's list."""
        message = received.message
        assert isinstance(message, Reply), "a list is an answer"
        self.listed: Sequence[ListedPlayer] = message.players or ()
        self.players = tuple(guests)
        self.referee = referee
        self.announces_out_first: bool | None = None
        self.actions: list[GameAction] = []
        self._random = random
        self._offering_seat: Seat | None = None
        for guest in guests:
            guest.on_send = self._record_action

    @property
    def game(self) -> TableGame:
        """The game as a table has to know it."""
        assert self.referee.game is not None, "who sits has a list"
        return self.referee.game

    @property
    def drawer(self) -> ScriptedPlayer:
        """Who draws the next card."""
        return self.players[self.game.drawer]

    @property
    def waiting_player(self) -> ScriptedPlayer:
        """Somebody who is in and does not draw the next card."""
        return next(
            guest for seat, guest in enumerate(self.players) if self.game.is_inside[seat] and seat != self.game.drawer
        )

    @property
    def players_inside(self) -> Sequence[ScriptedPlayer]:
        """Those who are in."""
        return [guest for guest, inside in zip(self.players, self.game.is_inside, strict=True) if inside]

    def observed(self, player: ScriptedPlayer) -> Observed:
        """What the referee knows of a guest."""
        return self.referee.players[player.nick]

    def hand(self, player: ScriptedPlayer) -> set[Card]:
        """The cards that a guest has."""
        return self.observed(player).hand

    def discard_request(self, player: ScriptedPlayer) -> Discard | None:
        """The request that throws away a pair of a guest; None when he has none."""
        pair = self.observed(player).pair
        last = len(self.hand(player)) == 2 and self.game.drawn_count == CARD_COUNT
        return pair and Discard((to_wire(pair[0]), to_wire(pair[1])), "true" if last else "false")

    # Drawing.

    async def draw(
        self, count: int = CARD_COUNT, *, discards_pairs: bool = True, between: BetweenSteps | None = None
    ) -> None:
        """Draw cards in turn until so many are drawn, and throw away every pair at once."""
        while self.game.drawn_count < count and not self.game.is_over:
            guest = self.drawer
            await self._draw_one(guest)
            if discards_pairs:
                await self.discard_pairs(guest)
            if between is not None:
                await between(self)

    async def _draw_one(self, player: ScriptedPlayer) -> None:
        """A guest draws a card. Raises Broken; when others are gone, that he is not let is their clause."""
        try:
            await player.request(Draw())
        except Failed as broken:
            if self.game.departed_seats and broken.clause == "oldmaid-4.2":
                raise Failed("oldmaid-9.2", broken.actual, broken.expected, got=broken.got) from None
            raise

    async def draw_until(self, found: Callable[[], object | None], *, discards_pairs: bool = False) -> bool:
        """Draw cards in turn until something has been found; whether it was."""
        while found() is None and self.game.drawn_count < CARD_COUNT:
            await self.draw(self.game.drawn_count + 1, discards_pairs=discards_pairs)
        return found() is not None

    async def discard_pairs(self, player: ScriptedPlayer) -> None:
        """A guest throws away all his pairs."""
        while (pair := self.discard_request(player)) is not None:
            await player.request(pair)

    async def discard_all_pairs(self) -> None:
        """Everybody does."""
        for guest in self.players_inside:
            await self.discard_pairs(guest)

    # Passing on.

    async def play(self, until: Callable[[], bool] = lambda: False, between: BetweenSteps | None = None) -> None:
        """Go on until the game is over, or something is so: who has no cards says it, and cards are picked."""
        for _ in range(MAX_PICKS):
            await self._announce_out(until)
            if self.game.is_over or until():
                return
            await self._pick()
            if between is not None:
                await between(self)

    async def _announce_out(self, until: Callable[[], bool]) -> None:
        """Whoever has no cards any more tells it."""
        for guest in self.players_inside:
            if not self.hand(guest) and not self.game.is_over and not until():
                await guest.request(OutOfCards())

    async def _pick(self) -> None:
        """The next one picks a card of the offerer, throws away its pair, and offers."""
        giver, picker = self._pass_card()
        hasty = bool(self._random.randrange(2)) if self.announces_out_first is None else self.announces_out_first
        if not self.hand(giver) and hasty:
            await giver.request(OutOfCards())
        if not self.game.is_over or self.observed(picker).pair:
            await self.discard_pairs(picker)

    def _pass_card(self) -> tuple[ScriptedPlayer, ScriptedPlayer]:
        """A card is passed on, of which the table hears nothing: who has given it, and who has picked it."""
        self.actions.append(GameAction("pick"))
        if self._offering_seat is None:  # who has drawn the last card offers
            self._offering_seat = [deed[1] for deed in self.game.log if deed[0] == "drew"][-1]
        seats = len(self.players)
        inside = [(self._offering_seat + step) % seats for step in range(seats)]
        inside = [seat for seat in inside if self.game.is_inside[seat]]
        giver, picker = (self.players[seat] for seat in inside[:2])
        self._offering_seat = inside[1]
        hand = sorted(self.hand(giver))
        at = self._random.randrange(len(hand))
        for sender, receiver, said in (
            (giver, picker, Offer(len(hand))),
            (picker, giver, OK),
            (picker, giver, Pick(at)),
            (giver, picker, Reply("ok", card=WIRE_CARDS[hand[at]])),
        ):
            self.referee.on_message(sender.nick, receiver.nick, said)
        return giver, picker

    # Leaving.

    async def disconnect(self, player: ScriptedPlayer, *, reset: bool = False) -> None:
        """A guest hangs up; goes on when the table has noticed it, or should have."""
        self.actions.append(GameAction("leave", self.players.index(player)))
        player.disconnect(reset=reset)
        self.referee.on_connection_lost(TABLE, player.nick)
        asker = next((other for other in self.players if not other.is_disconnected), None)
        for _ in range(MAX_STATUS_POLLS):
            if asker is None:
                break
            await asker.send(Status(), is_judged=False)
            heard = await asker.receive_answer("oldmaid-6.5")
            if not isinstance(heard.message, Standing) or player.nick in heard.message.outside:
                break
            await asker.require_silence("oldmaid-1.8", QUIET_SECONDS / 2)

    async def status(self, player: ScriptedPlayer) -> ReceivedMessage:
        """Ask for the status, as the referee allows it."""
        return await player.request(Status())

    # Once more.

    def _record_action(self, player: ScriptedPlayer, said: PlayerInput) -> None:
        """Somebody is about to say something: what he does by that."""
        seat = self.players.index(player)
        if said == Draw() and self.game.drawn_count < CARD_COUNT and not self.game.is_over and player is self.drawer:
            self.actions.append(GameAction("draw"))
        elif isinstance(said, Discard) and said == self.discard_request(player):
            self.actions.append(GameAction("throw", seat))
        elif said == OutOfCards() and self._must_announce_out(player):
            self.actions.append(GameAction("out", seat))
        else:
            self.actions.append(GameAction("say", seat, said))

    def _must_announce_out(self, player: ScriptedPlayer) -> bool:
        """Whether somebody has to say that he has no cards any more."""
        inside = self.game.is_inside[self.players.index(player)]
        return inside and self.game.drawn_count == CARD_COUNT and not self.game.is_over and not self.hand(player)

    async def replay(self, deeds: Sequence[GameAction]) -> None:
        """Do what was done in another game, as far as it can be done in this one. Raises Broken."""
        for deed in deeds:
            guest = self.players[deed.seat % len(self.players)]
            match deed.kind:
                case "draw" if self.game.drawn_count < CARD_COUNT and not self.game.is_over:
                    await self._draw_one(self.drawer)
                case "throw" if not guest.is_disconnected and (pair := self.discard_request(guest)) is not None:
                    await guest.request(pair)
                case "out" if not guest.is_disconnected and self._must_announce_out(guest):
                    await guest.request(OutOfCards())
                case "pick" if self._can_pass_card:
                    self._pass_card()
                case "leave" if not guest.is_disconnected:
                    await self.disconnect(guest)
                case "say" if not guest.is_disconnected and parse_input(deed.data) is not None:
                    await guest.try_input(deed.data)
                case _:
                    pass  # it cannot be done with these cards

    @property
    def _can_pass_card(self) -> bool:
        """Whether a card can be passed on: all who are in have some."""
        return (
            self.game.drawn_count == CARD_COUNT
            and not self.game.is_over
            and all(self.hand(guest) for guest in self.players_inside)
        )
