"""Those who sit at a table of ours with a bot under test, and bring it into one situation or another."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from croupier.conformance.holdem.test_server import Stand
from croupier.core.dealer import Luck
from croupier.core.referee import HOUSE
from croupier.core.session import Chose, Said
from croupier.rooms.holdem.engine.legal import FOLD, Move
from croupier.rooms.holdem.player import Options, Player
from croupier.rooms.holdem.table.views import View
from croupier.rooms.holdem.wire import Join, Leave, Open

type Style = Callable[[View, Luck], Move]
"""What somebody does in his turn."""


def calls(view: View, luck: Luck) -> Move:  # noqa: ARG001 -- nothing is left to luck
    """He calls whatever it is."""
    return view.call


def folds(view: View, luck: Luck) -> Move:  # noqa: ARG001 -- nothing is left to luck
    """He folds to every bet, and checks else."""
    return view.check_or_fold


def gives_up(view: View, luck: Luck) -> Move:  # noqa: ARG001 -- nothing is left to luck
    """He folds, always."""
    return FOLD


def shoves(view: View, luck: Luck) -> Move:  # noqa: ARG001 -- nothing is left to luck
    """He bets everything."""
    return view.legal.bounds[1] if view.legal.bounds is not None else view.call


def raises(view: View, luck: Luck) -> Move:  # noqa: ARG001 -- nothing is left to luck
    """He raises by as little as he may, as long as that is not much."""
    bounds = view.legal.bounds
    return bounds[0] if bounds is not None and view.to_match < 40 * view.big_blind else view.call


def bets_pots(view: View, luck: Luck) -> Move:  # noqa: ARG001 -- nothing is left to luck
    """He bets the pot."""
    return view.raising(100)


def gambles(view: View, luck: Luck) -> Move:
    """He does anything that is allowed."""
    moves = view.legal.moves
    return moves[luck.below(len(moves))]


STYLES: Final[Mapping[str, Style]] = {
    "calls": calls,
    "folds": folds,
    "gives-up": gives_up,
    "shoves": shoves,
    "raises": raises,
    "bets-pots": bets_pots,
    "gambles": gambles,
    "thinks": calls,
    "leaves": calls,
    "comes-and-goes": calls,
}
"""How opponents play, by what they do. Who thinks takes his time, and who leaves does so in his second turn."""

AWAY: Final = 0.2
"""After so many seconds comes back who is broke."""

THOUGHT: Final = 0.4
"""So many seconds somebody thinks."""


class Opponent:
    """One of them, at a game of a stand."""

    def __init__(self, stand: Stand, name: str, style: str, luck: Luck) -> None:
        self.name = name
        self._stand = stand
        self._style = style
        self._luck = luck
        self._player = Player(Options(name))
        self._turns = 0

    def sit(self, game: str) -> None:
        """Take a seat, or a place in the queue."""
        self._stand.service.desk.ask(Join(self.name, game))

    def open(self) -> None:
        """Make a game of his own, and sit there."""
        self._stand.service.desk.ask(Open(self.name))

    def leave(self, game: str) -> None:
        """Leave."""
        desk = self._stand.service.desk
        desk.ask(Leave(self.name, game, desk.house.guid(self.name)))

    async def play(self, game: str) -> None:
        """Play as long as there is anything to play."""
        desk = self._stand.service.desk
        while (table := desk.house.game(game)) is not None:
            self._player.on(Said(HOUSE, table.view(self.name)), 0.0)
            view = self._player.view
            if view is None or not self._player.legal:
                await asyncio.sleep(0.005)
                if table.seat_of(self.name) is None:  # broke, or gone for a moment
                    await asyncio.sleep(AWAY)
                    self._player = Player(Options(self.name))
                    self.sit(game)
                continue
            self._turns += 1
            if self._style == "thinks":
                await asyncio.sleep(THOUGHT)
            if self._style in {"leaves", "comes-and-goes"} and self._turns % 2 == 0:
                self.leave(game)
                if self._style == "leaves":
                    return
                continue
            act = self._player.act(STYLES[self._style](view, self._luck))
            self._player.on(Chose(act), 0.0)
            desk.ask(act)
            await asyncio.sleep(0)
