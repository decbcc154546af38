"""A player of Old Maid, for a person, a bot or a program: a client of the table, and a peer in the ring.

He draws, throws away pairs, offers his hand to the left and picks from the right; all that he decides is which card to
pick (docs/protocols/oldmaid.md, 3 to 9).
"""

from collections.abc import Sequence
from typing import Literal

from croupier.core.bots import Mind
from croupier.core.dealer import Luck
from croupier.core.errors import IllegalMove, Violation
from croupier.core.rules import Seat
from croupier.core.session import Chose, Drop, Effect, Event, Garbled, Halted, Joined, Left, Peer, Rang, Said, Tell
from croupier.rooms.oldmaid.cards import NUMBERS, Card, wire
from croupier.rooms.oldmaid.ring.connections import SWALLOWED, Links
from croupier.rooms.oldmaid.ring.neighbour import AGAIN, Neighbour
from croupier.rooms.oldmaid.ring.player_events import (
    Gave,
    News,
    Offered,
    Offering,
    Over,
    Passed,
    Picked,
    Result,
    Withdrawn,
)
from croupier.rooms.oldmaid.ring.table_client import TABLE, Effects, Options, Place, Step
from croupier.rooms.oldmaid.ring.turn import Held, Stage, Turn
from croupier.rooms.oldmaid.rules import View
from croupier.rooms.oldmaid.wire import (
    OK,
    OUT,
    Message,
    Offer,
    Pick,
    Reply,
    Seated,
    Standing,
    YourTurn,
    refusal,
)

__all__ = ["TABLE", "Options", "Player"]


class Player:
    """Plays one game; another one wants a new Player. See `Session`, and `Client` for `legal` and `decide`.

    Peer 0 is the table, whom the shell has called; the numbers of those whom the player calls himself (Call) are below
    0, and those of who calls him above. Chose(Pick) is what he decides, and Halted makes him leave; Tell has News.

    `result` is how the game has ended. He is `spent` when he has hung up on everybody.
    """

    def __init__(self, options: Options, luck: Luck, *, strict: bool = False) -> None:
        self.options = options
        self.result: Result | None = None
        self.spent = False
        self._strict = strict
        self._effects: Effects = []
        self._place = Place(options, luck, self._effects)
        self._at_table = False
        self._links = Links(self._effects)
        self._neighbour = Neighbour((), 0.0)
        self._turn = Turn(options.retry_seconds)
        self._told_out = 0  # so many others have answered out
        self._held: Held | None = None
        self._ends_at: float | None = None

    # What people and programs may know.

    @property
    def hand(self) -> list[Card]:
        """The cards that he has, in an order that only luck knows."""
        return self._place.hand

    @property
    def players(self) -> tuple[Seated, ...]:
        """The table's list; empty before the game."""
        return self._place.players

    @property
    def seat(self) -> Seat | None:
        """His place in the list, from 0; None before the game."""
        return self._place.seat

    @property
    def offered(self) -> int | None:
        """How many cards he has to pick one from; None while he has not."""
        return None if self._held is None else self._held.num_cards

    @property
    def standing(self) -> Standing | None:
        """What the table has told last about who is in and who is out."""
        return self._place.standing

    @property
    def left(self) -> str | None:
        """The nick of the left neighbour; None while, or when, there is none."""
        return self._neighbour.nick

    @property
    def view(self) -> View:
        """What he knows of the game."""
        place = self._place
        return View(tuple(place.hand), tuple(place.discarded), tuple(place.outside), self.offered)

    @property
    def alarm(self) -> float | None:
        """When the next thing is to be done."""
        if self.spent:
            return None
        held = self._to_pick
        picks = None if held is None else held.since
        calls = self._neighbour.again if self._needs_left else None
        times = (picks, calls, self._turn.resumes_at, self._place.looks_at, self._ends_at)
        return min((time for time in times if time is not None), default=None)

    @property
    def legal(self) -> Sequence[Pick]:
        """The cards that he may pick now."""
        return () if self._held is None else self._held.legal

    def decide(self, mind: Mind[View, int], luck: Luck, game: int = 0) -> Pick | None:  # noqa: ARG002 -- every game is played alike
        """The card that a mind picks now, None while there is nothing to pick."""
        legal = self.legal
        return legal[mind.choose(self.view, range(len(legal)), luck)] if legal else None

    # What happens.

    def on(self, event: Event[Message], now: float) -> Sequence[Effect[Message | News]]:
        """What the player does about an event. Raises IllegalMove on a Chose that is not `legal`."""
        match event:
            case Joined(peer) if self.spent:
                return [Drop(peer)]
            case Chose(message):
                self._chose(message)
            case _ if self.spent:
                return []
            case Said(peer, message):
                self._said(peer, message, now)
            case Garbled(peer, violation):
                self._garbled(peer, violation)
            case Joined(peer):
                self._joined(peer)
            case Left(peer, reason):
                self._left(peer, reason, now)
            case Rang():
                self._rang(now)
            case Halted():
                self._end(Result("ended", reason="we have left"))
        self._go_on(now)
        effects = self._effects[:]
        self._effects.clear()
        return effects

    def _joined(self, peer: Peer) -> None:
        if peer == TABLE:
            self._at_table = True
            self._place.join()
        elif peer > TABLE:
            self._links.join(peer)
        elif peer == self._neighbour.peer:
            self._links.join(peer)
            self._neighbour.open = True
        else:
            self._effects.append(Drop(peer))

    def _left(self, peer: Peer, reason: str, now: float) -> None:
        if peer == TABLE and self._at_table:
            self._at_table = False
            why = self._place.word or ("" if reason == "hung up" else reason)
            self._end(Result("ended", reason=f"the table hung up{': ' * bool(why)}{why}"))
        elif peer in self._links:
            self._links.leave(peer)
            self._gone(peer)
        elif peer == self._neighbour.peer and not self._neighbour.failed(now):
            self._skip("gone")

    def _chose(self, message: Message) -> None:
        if self._held is None or not isinstance(message, Pick) or message not in self._held.legal:
            raise IllegalMove(message, self.legal)
        self._held.choice = message

    def _rang(self, now: float) -> None:
        if self._ends_at is not None and self._ends_at <= now:
            self._hang_up()
            return
        if self._place.looks_at is not None and self._place.looks_at <= now:
            self._place.look()
        if self._turn.resumes(now):
            if self._place.drawn:
                self._turn.stage = Stage.PASSING
            else:
                self._draw()

    def _said(self, peer: Peer, message: Message, now: float) -> None:
        if peer == TABLE and self._at_table:
            self._do(self._place.said(message, now), now)
        elif peer in self._links:
            try:
                self._answer(peer, message, now)
            except Violation as violation:
                self._links.say(peer, refusal(violation))

    def _garbled(self, peer: Peer, violation: Violation) -> None:
        if peer == TABLE and self._at_table:
            if self._place.waits or violation.clause not in SWALLOWED:
                self._end(Result("ended", reason=str(violation)))
        elif peer in self._links and self._links.garbled(peer, violation):
            self._lose(peer)

    # Where the turn is.

    def _do(self, step: Step | Result | None, now: float) -> None:
        """Do what follows from what the table has said."""
        match step:
            case Step.SAT:
                self._sit()
            case Step.SETTLED if self._turn.stage is Stage.TAKING:
                self._turn.stage = Stage.PASSING
            case Step.VOID:
                self._turn.refused(now, self.seat or 0, drawn=self._place.drawn)
            case Result("out"):
                # Who still has cards may be about to ask us whether we have any: he is to hear it (oldmaid-7.16).
                self._conclude(step)
                self._ends_at = now + self.options.look
            case Result():
                self._end(step)

    def _sit(self) -> None:
        """The game begins (oldmaid-3.16, oldmaid-4.7)."""
        seat, players = self._place.seat, self._place.players
        assert seat is not None, "who sits has a seat"
        self._neighbour = Neighbour((*players[seat + 1 :], *players[:seat]), self.options.retry_seconds)
        if self._turn.ours or seat == 0:
            self._turn.begin(Stage.TAKING)
            self._draw()
        else:  # the first turn is as if the last one had passed it on
            self._turn.lent = seat == len(players) - 1

    def _draw(self) -> None:
        self._turn.stage = Stage.TAKING
        self._place.draw()

    def _go_on(self, now: float) -> None:
        """Call the left neighbour, pass the turn on to him, pick: whatever is due and can be done."""
        neighbour = self._neighbour
        if self._needs_left:
            if self.left is None:
                self._alone()
            elif not neighbour.open and (call := neighbour.call(now)) is not None:
                self._effects.append(call)
            elif neighbour.peer is not None and self._links.free(neighbour.peer):
                self._pass_on(neighbour.peer, now)
        held = self._to_pick
        if held is not None and held.choice is not None and held.since <= now:
            self._links.request(held.giver, held.choice)

    @property
    def _needs_left(self) -> bool:
        """Whether he has to have a left neighbour: who is out needs one only to pass a turn on."""
        in_game = self.seat is not None and self.result is None
        return in_game and (not self._place.out or self._turn.stage is Stage.PASSING)

    @property
    def _to_pick(self) -> Held | None:
        """The hand from which a card is to be picked now, for it is decided which; who owes an answer is not asked."""
        held = self._held
        return held if held is not None and held.choice is not None and self._links.free(held.giver) else None

    def _alone(self) -> None:
        """Nobody else is left (oldmaid-7.11, oldmaid-9.10)."""
        if self._place.out:
            self._turn.stage = Stage.AWAY
        elif self._told_out == len(self.players) - 1:
            self._end(Result("lost", len(self.players)))
        else:
            self._end(Result("ended", reason="nobody is left to play with"))

    def _pass_on(self, peer: Peer, now: float) -> None:
        """Pass the turn on to the left neighbour, if it is ours, or offer him the hand (oldmaid-4.7, oldmaid-7.2)."""
        if self._turn.stage is not Stage.PASSING:
            return
        if not self._place.drawn:
            self._turn.lend()
            self._links.request(peer, YourTurn())
            if self._turn.denied:  # the table will tell whose turn it is
                self._turn.resumes_at = now + AGAIN
            return
        self._turn.stage = Stage.OFFERING
        self._links.request(peer, Offer(len(self.hand)))
        self._tell(Offering(self.left or "", len(self.hand)))

    def _gone(self, peer: Peer) -> None:
        if self._held is not None and peer == self._held.giver:  # the turn is ours (oldmaid-9.8)
            self._held = None
            self._turn.stage = Stage.PASSING
            self._tell(Withdrawn())
        if peer == self._neighbour.peer:
            self._skip("gone")

    def _skip(self, why: Literal["out", "gone"]) -> None:
        """The left neighbour is the next one; a turn that may have been lost is taken up (oldmaid-9.6, 9.7, 9.9)."""
        self._tell(Passed(self.left or "", why))
        self._neighbour.skip()
        self._turn.recall()

    # What the others say.

    def _answer(self, peer: Peer, message: Message, now: float) -> None:
        """Answer a request, or go on with what was answered. Raises Violation."""
        match message:
            case YourTurn():
                self._take_turn(peer)
            case Offer(num_cards):
                self._take_offer(peer, num_cards, now)
            case Pick(position):
                self._give(peer, position)
            case _:
                self._answered(peer, message, now)

    def _take_turn(self, peer: Peer) -> None:
        """It is our turn to draw (oldmaid-4.8)."""
        if self._turn.ours or self._place.drawn:
            self._turn.denied = True
            raise Violation("oldmaid-4.11", "your_turn in a turn, or when all cards are drawn", "offer, pick")
        self._links.say(peer, OK)
        self._turn.begin(Stage.TAKING)
        if self.seat is not None:  # otherwise he draws when the list is there (oldmaid-4.10)
            self._draw()

    def _take_offer(self, peer: Peer, num_cards: int, now: float) -> None:
        """A hand is offered to us (oldmaid-7.2)."""
        place, turn = self._place, self._turn
        if place.seat is None:
            raise Violation("oldmaid-7.14", "offer before the table has listed the players", "your_turn")
        if not place.drawn and turn.stage is Stage.PASSING:
            turn.stage = Stage.AWAY  # to draw, and there is nothing to draw any more
        place.drawn = True
        if place.out or (not place.hand and turn.stage is not Stage.TAKING):
            self._links.say(peer, OUT)
            turn.lent = False
            if not place.out:
                place.leave()
            return
        if turn.ours:
            turn.denied = True
            raise Violation("oldmaid-7.13", "offer to a player who has the turn already", "pick")
        self._links.say(peer, OK)
        turn.begin(Stage.TAKING if num_cards else Stage.PASSING)  # (oldmaid-7.10)
        self._tell(Offered(num_cards))
        if num_cards:
            self._held = Held(peer, num_cards, now + self.options.pause)

    def _give(self, peer: Peer, position: int) -> None:
        """The left neighbour picks a card (oldmaid-7.5)."""
        if self._turn.stage is not Stage.GIVING or peer != self._neighbour.peer:
            raise Violation("oldmaid-7.7", "pick without an offer", "offer, your_turn")
        card = self._place.picked(position, strict=self._strict)
        self._turn.lend()
        self._links.say(peer, Reply("ok", card=wire(card)))
        self._tell(Gave(card, self.left or ""))
        self._place.give(card)

    def _answered(self, peer: Peer, message: Message, now: float) -> None:
        match self._links.answered(peer), message:
            case None, Reply():
                pass  # (oldmaid-2.11)
            case None, _:
                raise Violation("oldmaid-8.5", str(message), "an object with the key cmd")
            case YourTurn(), Reply("ok"):
                pass
            case YourTurn(), Reply("error"):
                self._turn.lent = False
            case Offer(), Reply("ok") if self.hand:
                self._turn.stage = Stage.GIVING
            case Offer(), Reply("ok"):
                self._turn.lend()
            case Offer(), Reply("out"):
                self._is_out(peer)
            case Offer(), Reply("error"):
                self._turn.refused(now, self.seat or 0, drawn=self._place.drawn)
            case Pick(), Reply("ok", card=tuple(told)) if self._place.lacks(told):
                self._held = None
                self._tell(Picked(NUMBERS[told]))
                self._do(self._place.take(NUMBERS[told]), now)
            case Pick(), Reply("error") if self._held is not None and self._held.refused():
                pass  # and then he picks once more
            case _:
                self._lose(peer)

    def _is_out(self, peer: Peer) -> None:
        """The left neighbour is out, for good (oldmaid-7.9)."""
        self._told_out += 1
        self._place.is_out(self.left or "")
        self._links.drop(peer)
        self._skip("out")

    # What he says.

    def _tell(self, news: News) -> None:
        self._effects.append(Tell(news))

    def _lose(self, peer: Peer) -> None:
        """Hang up on somebody who cannot be played with; he counts as gone (oldmaid-8.11)."""
        self._links.drop(peer)
        self._gone(peer)

    def _conclude(self, result: Result) -> None:
        self.result = result
        self._place.looks_at = None
        self._tell(Over(result))
        if self._at_table:
            self._at_table = False
            self._effects.append(Drop(TABLE))

    def _end(self, result: Result) -> None:
        """Say how it has ended, and hang up on everybody."""
        if self.result is None:
            self._conclude(result)
        self._hang_up()

    def _hang_up(self) -> None:
        self._links.hang_up()
        self._held = None
        self.spent = True
