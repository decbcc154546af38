"""Scripted opponents of the bot under test, one per playing style."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from croupier.conformance.holdem.test_server import HoldemTestServer
from croupier.core.dealer import Luck
from croupier.core.referee import HOUSE
from croupier.core.session import Received, Submitted
from croupier.rooms.holdem.engine.legal import FOLD, Move
from croupier.rooms.holdem.player import Options, Player
from croupier.rooms.holdem.table.views import View
from croupier.rooms.holdem.wire import ACTION_FOLD, Act, Join, Leave, Open

type OpponentStyle = Callable[[View, Luck], Move]
"""Chooses a move for a view."""

RAISES_UP_TO_BIG_BLINDS: Final = 40


def raises(view: View, luck: Luck) -> Move:  # noqa: ARG001 -- an OpponentStyle
    """Raise by the minimum until the bet is 40 big blinds."""
    raise_range = view.legal.raise_range
    is_small = view.to_match < RAISES_UP_TO_BIG_BLINDS * view.big_blind
    return raise_range[0] if raise_range is not None and is_small else view.call


STYLES: Final[Mapping[str, OpponentStyle]] = {
    "calls": lambda view, _: view.call,
    "folds": lambda view, _: view.check_or_fold,
    "gives-up": lambda *_: FOLD,
    "shoves": lambda view, _: view.legal.raise_range[1] if view.legal.raise_range is not None else view.call,
    "raises": raises,
    "bets-pots": lambda view, _: view.raise_by_percent(100),
    "gambles": lambda view, luck: view.legal.moves[luck.below(len(view.legal.moves))],
}
"""Styles by name. A player of any other style calls: "thinks" delays acts; "leaves" and "comes-and-goes" leave every
second turn, the latter rejoins.
"""

REJOIN_DELAY_SECONDS: Final = 0.2
"""How long a broke player waits before joining again, unless it is to be all-in in most hands."""

THINKING_SECONDS: Final = 0.4
"""How long the style "thinks" delays each act."""


class Opponent:
    """An opponent in a game of the test server, who brings `chips`, or the stack of the settings."""

    def __init__(
        self, test_server: HoldemTestServer, name: str, style: str, luck: Luck, chips: int | None = None
    ) -> None:
        self.name = name
        self._chips = chips
        self._test_server = test_server
        self._service = test_server.service.house_service
        self._style = style
        self._luck = luck
        self._player = Player(Options(name))
        self._turns = 0

    def sit(self, game: str) -> None:
        """Join a game, and bring other chips than the settings have unless the next hand begins at once."""
        self._service.submit(Join(self.name, game))
        table = self._test_server.house.game(game)
        player = None if table is None else table.seats.by_user(self.name)
        if self._chips is not None and player is not None and player.hand_seat is None:
            player.chips = self._chips

    def open_game(self) -> None:
        """Open a game and take a seat in it."""
        self._service.submit(Open(self.name))

    def leave(self, game: str) -> None:
        """Leave a game."""
        self._service.submit(Leave(self.name, game, self._service.house.guid_of(self.name)))

    def fold(self, game: str) -> None:
        """Fold in one's turn."""
        self._service.submit(Act(self.name, game, self._service.house.guid_of(self.name), ACTION_FOLD, 0))

    async def play(self, game: str) -> None:
        """Play until the game no longer exists, or the style leaves it."""
        while (table := self._service.house.game(game)) is not None:
            if table.player_guid(self.name) is None:  # broke, or left
                await asyncio.sleep(REJOIN_DELAY_SECONDS if self._chips is None else 0.0)
                self._player = Player(Options(self.name))
                self.sit(game)
                continue
            self._player.on(Received(HOUSE, table.view(self.name)), 0.0)
            view = self._player.view
            if view is None or not self._player.legal:
                await self._test_server.activity.wait()
                continue
            self._turns += 1
            if self._style == "thinks":
                await asyncio.sleep(THINKING_SECONDS)
            if self._style in {"leaves", "comes-and-goes"} and self._turns % 2 == 0:
                self.leave(game)
                if self._style == "leaves":
                    return
                continue
            act = self._player.act(STYLES.get(self._style, STYLES["calls"])(view, self._luck))
            self._player.on(Submitted(act), 0.0)
            self._service.submit(act)
            await asyncio.sleep(0)
