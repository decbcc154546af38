"""Those who sit at a table of ours with a bot under test, and bring it into one situation or another."""

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
from croupier.rooms.holdem.wire import Join, Leave, Open

type OpponentStyle = Callable[[View, Luck], Move]
"""What somebody does in his turn."""


def calls(view: View, luck: Luck) -> Move:  # noqa: ARG001 -- nothing is left to luck
    """He calls whatever it is."""
    return view.call


def folds(view: View, luck: Luck) -> Move:  # noqa: ARG001 -- nothing is left to luck
    """He folds to every bet, and checks else."""
    return view.check_or_fold


def always_folds(view: View, luck: Luck) -> Move:  # noqa: ARG001 -- nothing is left to luck
    """He folds, always."""
    return FOLD


def goes_all_in(view: View, luck: Luck) -> Move:  # noqa: ARG001 -- nothing is left to luck
    """He bets everything."""
    return view.legal.raise_range[1] if view.legal.raise_range is not None else view.call


def raises(view: View, luck: Luck) -> Move:  # noqa: ARG001 -- nothing is left to luck
    """He raises by as little as he may, as long as that is not much."""
    bounds = view.legal.raise_range
    return bounds[0] if bounds is not None and view.to_match < 40 * view.big_blind else view.call


def bets_pots(view: View, luck: Luck) -> Move:  # noqa: ARG001 -- nothing is left to luck
    """He bets the pot."""
    return view.raise_by_percent(100)


def acts_at_random(view: View, luck: Luck) -> Move:
    """He does anything that is allowed."""
    moves = view.legal.moves
    return moves[luck.below(len(moves))]


STYLES: Final[Mapping[str, OpponentStyle]] = {
    "calls": calls,
    "folds": folds,
    "gives-up": always_folds,
    "shoves": goes_all_in,
    "raises": raises,
    "bets-pots": bets_pots,
    "gambles": acts_at_random,
    "thinks": calls,
    "leaves": calls,
    "comes-and-goes": calls,
}
"""How opponents play, by what they do. Who thinks takes his time, and who leaves does so in his second turn."""

REJOIN_DELAY_SECONDS: Final = 0.2
"""After so many seconds comes back who is broke."""

THINKING_SECONDS: Final = 0.4
"""So many seconds somebody thinks."""


class Opponent:
    """One of them, at a game of a stand."""

    def __init__(self, test_server: HoldemTestServer, name: str, style: str, luck: Luck) -> None:
        self.name = name
        self._test_server = test_server
        self._style = style
        self._luck = luck
        self._player = Player(Options(name))
        self._turns = 0

    def sit(self, game: str) -> None:
        """Take a seat, or a place in the queue."""
        self._test_server.service.service.execute_now(Join(self.name, game))

    def open_game(self) -> None:
        """Make a game of his own, and sit there."""
        self._test_server.service.service.execute_now(Open(self.name))

    def leave(self, game: str) -> None:
        """Leave."""
        desk = self._test_server.service.service
        desk.execute_now(Leave(self.name, game, desk.house.guid_of(self.name)))

    async def play(self, game: str) -> None:
        """Play as long as there is anything to play."""
        desk = self._test_server.service.service
        while (table := desk.house.game(game)) is not None:
            self._player.on(Received(HOUSE, table.view(self.name)), 0.0)
            view = self._player.view
            if view is None or not self._player.legal:
                await asyncio.sleep(0.005)
                if table.player_guid(self.name) is None:  # broke, or gone for a moment
                    await asyncio.sleep(REJOIN_DELAY_SECONDS)
                    self._player = Player(Options(self.name))
                    self.sit(game)
                continue
            self._turns += 1
            if self._style == "thinks":
                await asyncio.sleep(THINKING_SECONDS)
            if self._style in {"leaves", "comes-and-goes"} and self._turns % 2 == 0:
                self.leave(game)
                if self._style == "leaves":
                    return
                continue
            act = self._player.act(STYLES[self._style](view, self._luck))
            self._player.on(Submitted(act), 0.0)
            desk.execute_now(act)
            await asyncio.sleep(0)
