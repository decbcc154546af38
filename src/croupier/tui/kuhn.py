"""Kuhn poker on the terminal."""

from collections.abc import Iterator

from rich.columns import Columns
from rich.console import RenderableType
from rich.text import Text

from croupier.rooms.kuhn import Actn, Card, Disc, Fail, Strt
from croupier.rooms.kuhn.referee import Game
from croupier.rooms.kuhn.rules import ANTE, BETTING, COST, P_1
from croupier.rooms.kuhn.wire import Message
from croupier.tui.cards import card
from croupier.tui.scene import Choice, Scene
from croupier.tui.table_action import Wish

NAMES = {"J": "the jack", "Q": "the queen", "K": "the king"}
DEEDS = {"CHK": "check", "BET": "bet a coin", "CAL": "call", "FLD": "fold"}
KEYS = {"CHK": "c", "BET": "b", "CAL": "c", "FLD": "f"}


class KuhnScene(Scene[Message, Game]):
    """See `Scene`."""

    TITLE = "Kuhn poker"
    WELCOME = "Welcome. Choose your seat: P_1 acts first."

    def said(self, message: Message) -> None:  # noqa: ARG002 -- whatever it was
        """A fold ends a game without a word from the house."""
        self._finish()

    def _hear(self, message: Message) -> None:
        match message:
            case Card(rank) if self._playing:
                self._told = f"You are dealt {NAMES[rank]}."
            case Card(rank):
                self._told = f"The house shows {NAMES[rank]}."
            case Actn(action):
                deed = {"CHK": "checks", "BET": "bets a coin", "FLD": "folds"}[action]
                self._told = f"{self._told} The house {deed}." if self._fresh() else f"The house {deed}."
            case Fail("N_C") if self.spent:
                self._told = "Refused, N_C: there is no coin left in your purse for the ante (kuhn-7.2)."
            case Fail("N_C"):
                self._told = "Refused, N_C: there is no coin left in your purse for that (kuhn-7.3)."
            case Disc():
                self._told = "The house says goodbye (DISC)."
            case _:
                self._told = str(message)
        self._finish()

    def _choices(self) -> Iterator[Choice[Message]]:
        if self.spent:
            yield Choice("n", "a new purse", Wish.AGAIN)
            return
        for message in self._player.legal:
            match message:
                case Strt(player):
                    yield Choice(player[-1], f"play as {player}", message)
                case Actn(action):
                    yield Choice(KEYS[action], DEEDS[action], message)
                case _:
                    pass

    def _table(self, game: Game | None) -> list[RenderableType]:
        """Both cards, the pot, and what was done."""
        if game is None:
            return []
        seat = "P_1, first to act" if game.seat == P_1 else "P_2"
        return [
            Columns([card(game.card, lively=self._playing), card(game.shown)], padding=(0, 4)),
            Text(f"{'you':^9}     {'house':^9}", style="dim"),
            Text(f"You are {seat}.  Pot: {pot(game)}.  {line(game)}"),
        ]

    def _row(self, game: Game) -> str:
        shown = f"against {game.shown}" if game.shown else "no showdown"
        return f"{game.card} {shown:<12} {line(game):<48}"

    def _fresh(self) -> bool:
        """Whether the card has only just been dealt, with the house to act first."""
        game = self._player.game
        return game is not None and len(game.history) == 1 and game.seat != P_1


def pot(game: Game) -> int:
    """The coins on the table: both antes, and what was bet."""
    return 2 * ANTE + sum(COST[action] for action in game.history)


def line(game: Game) -> str:
    """What was done, in words."""
    done = []
    for turn, action in enumerate(game.history):
        who = "you" if BETTING[game.history[:turn]][0] == game.seat else "house"
        done.append(f"{who} {DEEDS[action].split()[0]}{'' if who == 'you' else 's'}")
    return ", ".join(done)
