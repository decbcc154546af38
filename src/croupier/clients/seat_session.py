"""A stay of a client in one game of hold'em, from joining it until it leaves or has to."""

from http import HTTPStatus

from croupier.clients.holdem_api import BUSY, FIRST_PAUSE, PACE, Errand, Errands, Lookout, Pause, Place, Refusal
from croupier.core.errors import Violation
from croupier.core.referee import HOUSE
from croupier.core.session import Chose, Event, Left, Said, Settle, Tell
from croupier.rooms.holdem.engine.legal import Move
from croupier.rooms.holdem.player import Options, Player
from croupier.rooms.holdem.wire import Act, Game


class Stay:
    """A stay in one game, from joining it until we leave or have to. `settled` has what every finished hand brought."""

    def __init__(self, errands: Errands, place: Place) -> None:
        self.place = place
        self.player = Player(Options(errands.user, place.player))
        self.settled: list[int] = []
        self.lookout = Lookout(errands, place.game)
        self._errands = errands

    def news(self) -> Errand[Game | None]:
        """What is to be seen next; None when we have no seat any more."""
        if self.player.spent:
            return None
        try:
            game = yield from self.lookout.next()
            while self.lookout.public and self.player.listed(game) is not None:  # we have just been given a seat
                yield Pause(PACE)
                self.lookout.again()
                game = yield from self.lookout.next()
        except Refusal as refusal:
            self._lost(refusal)
            return None
        self._hear(Said(HOUSE, game))
        return game

    def say(self, move: Move | Act) -> Errand[str]:
        """Make a move: why it was a fold or came to nothing, "" if it is done.

        When it came to nothing `news` tells what there is to be decided now: perhaps the same. Raises IllegalMove, and
        sends nothing then.
        """
        act = move if isinstance(move, Act) else self.player.act(move)
        self._hear(Chose(act))
        try:
            return (yield from self._errands.act(act))
        except ConnectionError as error:
            self._doubt()
            return str(error)
        except Refusal as refusal:
            if refusal.status in BUSY:
                yield Pause(FIRST_PAUSE if refusal.wait is None else min(refusal.wait, self._errands.patience))
                self._doubt()
            elif refusal.status in {HTTPStatus.FORBIDDEN, HTTPStatus.CONFLICT}:  # it is not our turn any more
                self.lookout.again()
            else:
                self._lost(refusal)
            return str(refusal)

    def leave(self) -> Errand[None]:
        """Leave, unless we have no seat any more."""
        player = self.place.player or self.player.guid
        if player and not self.player.spent:
            yield from self._errands.leave(Place(self.place.game, player))

    def _doubt(self) -> None:
        """Look at once: there may be no change to wait for."""
        self.player.unsay()
        self.lookout.again()

    def _lost(self, refusal: Refusal) -> None:
        """We are not there any more, or the game is not; raises what does not mean that."""
        if refusal.status != HTTPStatus.NOT_FOUND:
            raise refusal
        self._hear(Left(HOUSE, str(refusal)))

    def _hear(self, event: Event[Game | Act]) -> None:
        for effect in self.player.on(event, 0.0):
            match effect:
                case Tell(Violation() as violation):
                    raise violation
                case Settle(net=net):
                    self.settled.append(net)
                case _:
                    pass
