"""A user's seat in one hold'em game, as request flows: from joining the game until leaving it."""

from http import HTTPStatus

from croupier.clients.holdem_api import (
    FIRST_RETRY_DELAY_SECONDS,
    POLL_INTERVAL_SECONDS,
    RETRYABLE_STATUSES,
    Delay,
    GameWatcher,
    HoldemApi,
    JoinedGame,
    Refusal,
    RequestFlow,
)
from croupier.core.errors import Violation
from croupier.core.referee import HOUSE
from croupier.core.session import Event, Left, Notify, Received, Settle, Submitted
from croupier.rooms.holdem.engine.legal import Move
from croupier.rooms.holdem.player import Options, Player
from croupier.rooms.holdem.wire import Act, Game


class SeatSession:
    """A user's seat in one game. `nets` are the results of the finished hands."""

    def __init__(self, api: HoldemApi, joined_game: JoinedGame) -> None:
        self.joined_game = joined_game
        self.player = Player(Options(api.user, joined_game.player))
        self.nets: list[int] = []
        self.watcher = GameWatcher(api, joined_game.game)
        self._api = api

    def next_game(self) -> RequestFlow[Game | None]:
        """Return the next state of the game, or None if the user has lost its seat."""
        if self.player.is_exhausted:
            return None
        try:
            game = yield from self.watcher.next_game()
            # A public view with our seat in it is outdated: the seat was assigned meanwhile.
            while self.watcher.is_public and self.player.find_seat(game) is not None:
                yield Delay(POLL_INTERVAL_SECONDS)
                self.watcher.refresh()
                game = yield from self.watcher.next_game()
        except Refusal as refusal:
            self._on_refusal(refusal)
            return None
        self._handle(Received(HOUSE, game))
        return game

    def make_move(self, move: Move | Act) -> RequestFlow[str | None]:
        """Make a move. Returns None, or the reason why it was treated as a fold or not made.

        If it was not made, `next_game` returns the current state, perhaps with the same decision. Raises IllegalMove if
        the move is not allowed; nothing is sent then.
        """
        act = move if isinstance(move, Act) else self.player.act(move)
        self._handle(Submitted(act))
        try:
            return (yield from self._api.act(act))
        except ConnectionError as error:
            self._recheck()
            return str(error)
        except Refusal as refusal:
            if refusal.status in RETRYABLE_STATUSES:
                yield Delay(
                    FIRST_RETRY_DELAY_SECONDS
                    if refusal.retry_after_seconds is None
                    else min(refusal.retry_after_seconds, self._api.retry_timeout)
                )
                self._recheck()
            elif refusal.status in {HTTPStatus.FORBIDDEN, HTTPStatus.CONFLICT}:  # it is no longer our turn
                self.watcher.refresh()
            else:
                self._on_refusal(refusal)
            return str(refusal)

    def leave(self) -> RequestFlow[None]:
        """Leave the game, unless the seat is lost already."""
        player = self.joined_game.player or self.player.guid
        if player and not self.player.is_exhausted:
            yield from self._api.leave(JoinedGame(self.joined_game.game, player))

    def _recheck(self) -> None:
        """Request the state at once, because it may not have changed since."""
        self.player.mark_unconfirmed()
        self.watcher.refresh()

    def _on_refusal(self, refusal: Refusal) -> None:
        """Handle a 404: the seat or the game is gone. Any other refusal is raised."""
        if refusal.status != HTTPStatus.NOT_FOUND:
            raise refusal
        self._handle(Left(HOUSE, str(refusal)))

    def _handle(self, event: Event[Game | Act]) -> None:
        for effect in self.player.on(event, 0.0):
            match effect:
                case Notify(Violation() as violation):
                    raise violation
                case Settle(net=net):
                    self.nets.append(net)
                case _:
                    pass
