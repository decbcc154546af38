"""A user's seat in one hold'em game: from joining the game until leaving it."""

from http import HTTPStatus
from types import TracebackType
from typing import Self

from croupier.clients.blocking import BlockingProxy, ClientAttribute, blocking
from croupier.clients.game_watcher import POLL_INTERVAL_SECONDS, GameWatcher
from croupier.clients.holdem_api import (
    FIRST_RETRY_DELAY_SECONDS,
    RETRYABLE_STATUSES,
    HoldemApi,
    JoinedGame,
    NoAnswerError,
    Refusal,
)
from croupier.core.errors import Violation
from croupier.core.referee import HOUSE
from croupier.core.session import Event, Left, Notify, Received, Submitted
from croupier.rooms.holdem.engine.legal import Move
from croupier.rooms.holdem.player import Options, Player
from croupier.rooms.holdem.wire import Act, Game, Guid


class HoldemSeat:
    """A seat at a table: entering the context joins the game, leaving it leaves the game.

    `async for game in seat` yields the states of the game while the user has the seat. `joined_game` is the game, with
    the user's GUID in it. `player` is the session that follows the game: `player.view` is the meaning of the latest
    Game for the user, `player.legal` the moves that are allowed now. `nets` are the results of the finished hands, in
    chips.

    Example, with `croupier serve holdem` running:
        >>> import asyncio
        >>> from croupier.holdem import HoldemClient
        >>> async def sit_down():
        ...     async with HoldemClient("http://127.0.0.1:8080", "ann", "secret") as client:
        ...         guid = await client.register()
        ...         seat: HoldemSeat = client.sit()
        ...         async with seat:
        ...             game = await seat.next_game()
        ...     return [player.handle for player in game.table]
        >>> asyncio.run(sit_down())
        ['ann']
    """

    joined_game: JoinedGame
    player: Player

    def __init__(self, api: HoldemApi, game: Guid | None = None) -> None:
        self.nets: list[int] = []
        self._api = api
        self._game = game
        self._watcher: GameWatcher

    async def __aenter__(self) -> Self:
        self.joined_game = await self._api.join(self._game)
        self.player = Player(Options(self._api.user, self.joined_game.player))
        self.nets = self.player.nets
        self._watcher = GameWatcher(self._api, self.joined_game.game)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._watcher.close()
        if not isinstance(error, ConnectionError | Refusal):
            await self.leave()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Game:
        game = await self.next_game()
        if game is None:
            raise StopAsyncIteration
        return game

    async def next_game(self) -> Game | None:
        """Return the next state of the game, or None if the user has lost its seat."""
        if self.player.is_exhausted:
            return None
        try:
            game = await self._watcher.next_game()
            # A public view with our seat in it is outdated: the seat was assigned meanwhile.
            while self._watcher.is_public and self.player.find_seat(game) is not None:
                await self._api.exchange.wait(POLL_INTERVAL_SECONDS)
                self._watcher.refresh()
                game = await self._watcher.next_game()
        except Refusal as refusal:
            self._on_refusal(refusal)
            return None
        self._handle(Received(HOUSE, game))
        return game

    async def make_move(self, move: Move | Act) -> str | None:
        """Fold, or bet a number of chips. Returns None, or the reason why the move was treated as a fold or not made.

        If it was not made, `next_game` returns the current state, perhaps with the same decision. Raises IllegalMove if
        the move is not in `player.legal`; nothing is sent then.
        """
        failure = await self.try_move(move)
        return None if failure is None else str(failure)

    async def try_move(self, move: Move | Act) -> str | Refusal | NoAnswerError | None:
        """Make a move like `make_move`. Returns the error itself if the move was not made."""
        act = move if isinstance(move, Act) else self.player.act(move)
        self._handle(Submitted(act))
        try:
            return await self._api.act(act)
        except NoAnswerError as error:
            self._recheck()
            return error
        except Refusal as refusal:
            if refusal.status in RETRYABLE_STATUSES:
                await self._api.exchange.wait(
                    FIRST_RETRY_DELAY_SECONDS
                    if refusal.retry_after_seconds is None
                    else min(refusal.retry_after_seconds, self._api.retry_timeout)
                )
                self._recheck()
            elif refusal.status in {HTTPStatus.FORBIDDEN, HTTPStatus.CONFLICT}:  # it is no longer our turn
                self._watcher.refresh()
            else:
                self._on_refusal(refusal)
            return refusal

    async def leave(self) -> None:
        """Leave the game, unless the seat is lost already."""
        player = self.joined_game.player or self.player.guid
        if player and not self.player.is_exhausted:
            await self._api.leave(JoinedGame(self.joined_game.game, player))

    def _recheck(self) -> None:
        """Request the state at once, because it may not have changed since."""
        self.player.mark_unconfirmed()
        self._watcher.refresh()

    def _on_refusal(self, refusal: Refusal) -> None:
        """Handle a 404: the seat or the game is gone. Any other refusal is raised."""
        if refusal.status != HTTPStatus.NOT_FOUND:
            raise refusal
        self._handle(Left(HOUSE, str(refusal)))

    def _handle(self, event: Event[Game | Act]) -> None:
        for effect in self.player.on(event, 0.0):
            if isinstance(effect, Notify) and isinstance(effect.notice, Violation):
                raise effect.notice


class BlockingHoldemSeat(BlockingProxy[HoldemSeat]):
    """The synchronous counterpart of HoldemSeat: enter it with `with`, iterate over it with `for game in seat`.

    Example, with `croupier serve holdem` running:
        >>> from croupier.holdem import BlockingHoldemClient
        >>> with BlockingHoldemClient("http://127.0.0.1:8080", "ann", "secret") as client:
        ...     guid = client.register()
        ...     seat: BlockingHoldemSeat = client.sit()
        ...     with seat:
        ...         game = seat.next_game()
        >>> [player.handle for player in game.table]
        ['ann']
    """

    next_game = blocking(HoldemSeat.next_game)
    make_move = blocking(HoldemSeat.make_move)
    joined_game = ClientAttribute[JoinedGame]()
    player = ClientAttribute[Player]()
    nets = ClientAttribute[list[int]]()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Game:
        game = self.next_game()
        if game is None:
            raise StopIteration
        return game
