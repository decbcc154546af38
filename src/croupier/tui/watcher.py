"""Watching a table of hold'em: a seat without a player, and its presenter."""

from typing import Any, Final

from msgspec.structs import replace

from croupier.clients.game_watcher import GameWatcher
from croupier.core.presentation import ActionView, TableCommand, TableView, Text, find_action, text
from croupier.rooms.holdem.player import Player
from croupier.rooms.holdem.presenter import HoldemPresenter
from croupier.rooms.holdem.wire import Act, Game
from croupier.tui.holdem_seat import HoldemPlace

STOP: Final = ActionView("leave", text("Stop watching"), "q", text("leaves the table to its players"))


class WatchingPresenter(HoldemPresenter):
    """Presents a table to a person who only watches it."""

    def sit(self, player: Player | None, purse: int | None = None) -> None:
        """Begin to watch."""

    def table(self, now: float) -> TableView:
        """Return the table as everybody may see it."""
        view = super().table(now)
        return view if view.is_over else replace(view, actions=(STOP,))

    def move(self, action: str, amount: int | None = None) -> Act | TableCommand:
        """Return the command of the only action. Raises UnknownAction."""
        find_action((STOP,), action, amount)
        return TableCommand.LEAVE


class WatcherPlace(HoldemPlace[GameWatcher]):
    """A place beside a table, from which its public states are seen."""

    @property
    def player(self) -> None:
        """Nobody plays."""
        return

    async def receive(self) -> Game:
        """See `Seat.receive`."""
        return await self._client.next_game()

    async def submit(self, move: Any) -> Text | None:
        """Raise TypeError: a watcher has no moves."""
        raise TypeError(f"a watcher has submitted {move}")
