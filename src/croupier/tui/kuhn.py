"""Screen of Kuhn poker."""

from collections.abc import Iterator

from rich.columns import Columns
from rich.console import RenderableType
from rich.text import Text

from croupier.rooms.kuhn.referee import WireGame
from croupier.rooms.kuhn.rules import ACTION_COST, ANTE, BETTING_TREE, P_1
from croupier.rooms.kuhn.wire import Actn, Card, Disc, Fail, Message, Strt
from croupier.tui.cards import render_card
from croupier.tui.house_scene import HouseScene
from croupier.tui.scene import Choice, TableAction

CARD_NAMES = {"J": "the jack", "Q": "the queen", "K": "the king"}
ACTION_TEXTS = {"CHK": "check", "BET": "bet a coin", "CAL": "call", "FLD": "fold"}
ACTION_KEYS = {"CHK": "c", "BET": "b", "CAL": "c", "FLD": "f"}


class KuhnScene(HouseScene[Message, WireGame]):
    """The screen of Kuhn poker; see `HouseScene`."""

    TITLE = "Kuhn poker"
    WELCOME = "Welcome. Choose your seat: P_1 acts first."

    def on_sent(self, message: Message) -> None:  # noqa: ARG002 -- the message does not matter
        """Add the game to the history: after a fold the house sends nothing."""
        self._add_finished_game()

    def _show_message(self, message: Message) -> None:
        match message:
            case Card(rank) if self._is_playing:
                self._notice = f"You are dealt {CARD_NAMES[rank]}."
            case Card(rank):
                self._notice = f"The house shows {CARD_NAMES[rank]}."
            case Actn(action):
                move = {"CHK": "checks", "BET": "bets a coin", "FLD": "folds"}[action]
                self._notice = f"{self._notice} The house {move}." if self._is_just_dealt() else f"The house {move}."
            case Fail("N_C") if self.is_spent:
                self._notice = "Refused (N_C): your purse has no coin left for the ante (kuhn-7.2)."
            case Fail("N_C"):
                self._notice = "Refused (N_C): your purse has no coin left for that (kuhn-7.3)."
            case Disc():
                self._notice = "The house ends the session (DISC)."
            case _:
                self._notice = str(message)
        self._add_finished_game()

    def _choices(self) -> Iterator[Choice[Message]]:
        if self.is_spent:
            yield Choice("n", "a new purse", TableAction.REJOIN)
            return
        for message in self._player.legal:
            match message:
                case Strt(player):
                    yield Choice(player[-1], f"play as {player}", message)
                case Actn(action):
                    yield Choice(ACTION_KEYS[action], ACTION_TEXTS[action], message)
                case _:
                    pass

    def _render_game(self, game: WireGame | None) -> list[RenderableType]:
        if game is None:
            return []
        seat = "P_1, first to act" if game.seat == P_1 else "P_2"
        return [
            Columns([render_card(game.card, is_active=self._is_playing), render_card(game.house_card)], padding=(0, 4)),
            Text(f"{'you':^9}     {'house':^9}", style="dim"),
            Text(f"You are {seat}.  Pot: {pot_size(game)}.  {actions_text(game)}"),
        ]

    def _history_row(self, game: WireGame) -> str:
        shown = f"against {game.house_card}" if game.house_card else "no showdown"
        return f"{game.card} {shown:<12} {actions_text(game):<48}"

    def _is_just_dealt(self) -> bool:
        """Return whether the house's first action follows the deal, so that the notice about the card stays."""
        game = self._player.game
        return game is not None and len(game.history) == 1 and game.seat != P_1


def pot_size(game: WireGame) -> int:
    """Return the coins in the pot: both antes and the bets."""
    return 2 * ANTE + sum(ACTION_COST[action] for action in game.history)


def actions_text(game: WireGame) -> str:
    """Return the actions of a game as text."""
    actions = []
    for turn, action in enumerate(game.history):
        side = "you" if BETTING_TREE[game.history[:turn]][0] == game.seat else "house"
        actions.append(f"{side} {ACTION_TEXTS[action].split()[0]}{'' if side == 'you' else 's'}")
    return ", ".join(actions)
