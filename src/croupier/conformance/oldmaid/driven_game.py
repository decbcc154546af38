"""A game at a table under test whose players are all ours: they draw, throw away, and pass cards on to each other."""

from collections.abc import Awaitable, Callable, Sequence
from random import Random
from typing import Literal, NamedTuple

from croupier.conformance.oldmaid.answers import Heard
from croupier.conformance.oldmaid.findings import Broken
from croupier.conformance.oldmaid.scripted_player import MOMENT, Guest, Said, parsed
from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import WIRES, Card, wire
from croupier.rooms.oldmaid.referee import TABLE, Referee
from croupier.rooms.oldmaid.ring.observed import Known
from croupier.rooms.oldmaid.table.game import CARDS, Game
from croupier.rooms.oldmaid.wire import OK, Discard, Draw, Offer, OutOfCards, Pick, Reply, Seated, Standing, Status

PICKS = 600
"""After so many picks a game is no longer played: somebody may have gone with a card that has a partner."""

TRIES = 40
"""So often it is asked whether the table has noticed that somebody is gone."""

type Between = Callable[["Sitting"], Awaitable[None]]
"""What is done between two steps of a game."""


class Deed(NamedTuple):
    """Something that was done in a game: a card is drawn by whose turn it is, or picked; or somebody throws away a pair
    of his, is out of cards, leaves, or says something else.
    """

    kind: Literal["draw", "throw", "out", "pick", "leave", "say"]
    seat: Seat = 0
    said: Said = b""


class Sitting:
    """A game with its guests in the order of the list, and the referee who knows what everybody has.

    `deeds` is all that was done in it, so that it can be done again in another game, whatever cards are dealt there.
    `hasty`: who gives away his last card says that he is out before anything else is said; None leaves it to luck.
    """

    def __init__(self, guests: Sequence[Guest], referee: Referee, random: Random, heard: Heard) -> None:
        """`heard` is the table's list."""
        message = heard.message
        assert isinstance(message, Reply), "a list is an answer"
        self.listed: Sequence[Seated] = message.players or ()
        self.guests = tuple(guests)
        self.referee = referee
        self.hasty: bool | None = None
        self.deeds: list[Deed] = []
        self._random = random
        self._offerer: Seat | None = None
        for guest in guests:
            guest.witness = self._note

    @property
    def game(self) -> Game:
        """The game as a table has to know it."""
        assert self.referee.game is not None, "who sits has a list"
        return self.referee.game

    @property
    def taker(self) -> Guest:
        """Who draws the next card."""
        return self.guests[self.game.taker]

    @property
    def idler(self) -> Guest:
        """Somebody who is in and does not draw the next card."""
        return next(
            guest for seat, guest in enumerate(self.guests) if self.game.inside[seat] and seat != self.game.taker
        )

    @property
    def others(self) -> Sequence[Guest]:
        """Those who are in."""
        return [guest for guest, inside in zip(self.guests, self.game.inside, strict=True) if inside]

    def known(self, guest: Guest) -> Known:
        """What the referee knows of a guest."""
        return self.referee.players[guest.nick]

    def hand(self, guest: Guest) -> set[Card]:
        """The cards that a guest has."""
        return self.known(guest).hand

    def discard(self, guest: Guest) -> Discard | None:
        """The request that throws away a pair of a guest; None when he has none."""
        pair = self.known(guest).pair
        last = len(self.hand(guest)) == 2 and self.game.drawn == CARDS
        return pair and Discard((wire(pair[0]), wire(pair[1])), "true" if last else "false")

    # Drawing.

    async def draw(self, count: int = CARDS, *, throw: bool = True, between: Between | None = None) -> None:
        """Draw cards in turn until so many are drawn, and throw away every pair at once."""
        while self.game.drawn < count and not self.game.over:
            guest = self.taker
            await self._draws(guest)
            if throw:
                await self.throw(guest)
            if between is not None:
                await between(self)

    async def _draws(self, guest: Guest) -> None:
        """A guest draws a card. Raises Broken; when others are gone, that he is not let is their clause."""
        try:
            await guest.ask(Draw())
        except Broken as broken:
            if self.game.gone and broken.clause == "oldmaid-4.2":
                raise Broken("oldmaid-9.2", broken.actual, broken.expected, got=broken.got) from None
            raise

    async def draw_until(self, found: Callable[[], object | None], *, throw: bool = False) -> bool:
        """Draw cards in turn until something has been found; whether it was."""
        while found() is None and self.game.drawn < CARDS:
            await self.draw(self.game.drawn + 1, throw=throw)
        return found() is not None

    async def throw(self, guest: Guest) -> None:
        """A guest throws away all his pairs."""
        while (pair := self.discard(guest)) is not None:
            await guest.ask(pair)

    async def throw_all(self) -> None:
        """Everybody does."""
        for guest in self.others:
            await self.throw(guest)

    # Passing on.

    async def play(self, until: Callable[[], bool] = lambda: False, between: Between | None = None) -> None:
        """Go on until the game is over, or something is so: who has no cards says it, and cards are picked."""
        for _ in range(PICKS):
            await self._leave_off(until)
            if self.game.over or until():
                return
            await self._pick()
            if between is not None:
                await between(self)

    async def _leave_off(self, until: Callable[[], bool]) -> None:
        """Whoever has no cards any more tells it."""
        for guest in self.others:
            if not self.hand(guest) and not self.game.over and not until():
                await guest.ask(OutOfCards())

    async def _pick(self) -> None:
        """The next one picks a card of the offerer, throws away its pair, and offers."""
        giver, picker = self._passed()
        hasty = bool(self._random.randrange(2)) if self.hasty is None else self.hasty
        if not self.hand(giver) and hasty:
            await giver.ask(OutOfCards())
        if not self.game.over or self.known(picker).pair:
            await self.throw(picker)

    def _passed(self) -> tuple[Guest, Guest]:
        """A card is passed on, of which the table hears nothing: who has given it, and who has picked it."""
        self.deeds.append(Deed("pick"))
        if self._offerer is None:  # who has drawn the last card offers
            self._offerer = [deed[1] for deed in self.game.course if deed[0] == "drew"][-1]
        seats = len(self.guests)
        inside = [(self._offerer + step) % seats for step in range(seats)]
        inside = [seat for seat in inside if self.game.inside[seat]]
        giver, picker = (self.guests[seat] for seat in inside[:2])
        self._offerer = inside[1]
        hand = sorted(self.hand(giver))
        at = self._random.randrange(len(hand))
        for sender, receiver, said in (
            (giver, picker, Offer(len(hand))),
            (picker, giver, OK),
            (picker, giver, Pick(at)),
            (giver, picker, Reply("ok", card=WIRES[hand[at]])),
        ):
            self.referee.heard(sender.nick, receiver.nick, said)
        return giver, picker

    # Leaving.

    async def leave(self, guest: Guest, *, reset: bool = False) -> None:
        """A guest hangs up; goes on when the table has noticed it, or should have."""
        self.deeds.append(Deed("leave", self.guests.index(guest)))
        guest.hang_up(reset=reset)
        self.referee.lost(TABLE, guest.nick)
        asker = next((other for other in self.guests if not other.gone), None)
        for _ in range(TRIES):
            if asker is None:
                break
            await asker.say(Status(), judged=False)
            heard = await asker.answer("oldmaid-6.5")
            if not isinstance(heard.message, Standing) or guest.nick in heard.message.outside:
                break
            await asker.quiet("oldmaid-1.8", MOMENT / 2)

    async def status(self, guest: Guest) -> Heard:
        """Ask for the status, as the referee allows it."""
        return await guest.ask(Status())

    # Once more.

    def _note(self, guest: Guest, said: Said) -> None:
        """Somebody is about to say something: what he does by that."""
        seat = self.guests.index(guest)
        if said == Draw() and self.game.drawn < CARDS and not self.game.over and guest is self.taker:
            self.deeds.append(Deed("draw"))
        elif isinstance(said, Discard) and said == self.discard(guest):
            self.deeds.append(Deed("throw", seat))
        elif said == OutOfCards() and self._spent(guest):
            self.deeds.append(Deed("out", seat))
        else:
            self.deeds.append(Deed("say", seat, said))

    def _spent(self, guest: Guest) -> bool:
        """Whether somebody has to say that he has no cards any more."""
        inside = self.game.inside[self.guests.index(guest)]
        return inside and self.game.drawn == CARDS and not self.game.over and not self.hand(guest)

    async def again(self, deeds: Sequence[Deed]) -> None:
        """Do what was done in another game, as far as it can be done in this one. Raises Broken."""
        for deed in deeds:
            guest = self.guests[deed.seat % len(self.guests)]
            match deed.kind:
                case "draw" if self.game.drawn < CARDS and not self.game.over:
                    await self._draws(self.taker)
                case "throw" if not guest.gone and (pair := self.discard(guest)) is not None:
                    await guest.ask(pair)
                case "out" if not guest.gone and self._spent(guest):
                    await guest.ask(OutOfCards())
                case "pick" if self._passable:
                    self._passed()
                case "leave" if not guest.gone:
                    await self.leave(guest)
                case "say" if not guest.gone and parsed(deed.said) is not None:
                    await guest.tried(deed.said)
                case _:
                    pass  # it cannot be done with these cards

    @property
    def _passable(self) -> bool:
        """Whether a card can be passed on: all who are in have some."""
        return self.game.drawn == CARDS and not self.game.over and all(self.hand(guest) for guest in self.others)
