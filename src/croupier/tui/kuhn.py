"""Kuhn poker on the terminal."""

from collections import deque
from collections.abc import Mapping
from typing import Any, cast

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.panel import Panel
from rich.text import Text

from croupier.rooms.kuhn import Actn, Card, Disc, Fail, Player, Strt
from croupier.rooms.kuhn.referee import Game as Hand
from croupier.rooms.kuhn.rules import ANTE, BETTING, COST, P_1
from croupier.shell.client import Game
from croupier.tui.cards import card
from croupier.tui.wish import Wish

NAMES = {"J": "the jack", "Q": "the queen", "K": "the king"}
DEEDS = {"CHK": "check", "BET": "bet a coin", "CAL": "call", "FLD": "fold"}
KEYS = {"CHK": "c", "BET": "b", "CAL": "c", "FLD": "f"}
WIDTH = 72
PAST = 8
"""How many finished games the history shows."""


class KuhnScene:
    """See `Scene`."""

    def __init__(self, house: str) -> None:
        self._house = house
        self._player: Player
        self._settled: list[int] = []
        self._before = 0
        self._past: deque[str] = deque(maxlen=PAST)
        self._told = ""
        self._over = False
        self._hands = 0

    def sit(self, game: Game) -> None:
        """A new purse of coins, and a new count of what it has won."""
        self._before += sum(self._settled)
        self._player = cast(Player, game.player)
        self._settled = game.settled
        self._told = "Welcome. Choose your seat: P_1 acts first."
        self._hands = 0

    def heard(self, message: Any) -> None:
        """Say what the house has done."""
        match message:
            case Card(rank) if self._player.game is not None:
                self._told = f"You are dealt {NAMES[rank]}."
            case Card(rank):
                self._told = f"The house shows {NAMES[rank]}."
            case Actn(action):
                deed = {"CHK": "checks", "BET": "bets a coin", "FLD": "folds"}[action]
                self._told = f"{self._told} The house {deed}." if self._fresh() else f"The house {deed}."
            case Fail("N_C") if self._player.spent:
                self._told = "Refused, N_C: there is no coin left in your purse for the ante (kuhn-7.2)."
            case Fail("N_C"):
                self._told = "Refused, N_C: there is no coin left in your purse for that (kuhn-7.3)."
            case Disc():
                self._told = "The house says goodbye (DISC)."
            case _:
                self._told = str(message)
        self._remember()

    def ended(self, reason: str) -> None:
        """Keep the last word."""
        self._told = reason
        self._over = True

    def keys(self) -> Mapping[str, Any]:
        """The legal messages by their keys, and the wishes."""
        found: dict[str, Any] = {"q": Wish.LEAVE}
        if self._player.spent:
            return found | {"n": Wish.NEW_PURSE}
        for message in self._player.legal:
            match message:
                case Strt(player):
                    found[player[-1]] = message
                case Actn(action):
                    found[KEYS[action]] = message
                case _:
                    pass
        return found

    def puzzled(self, key: str) -> None:
        """Say that a key means nothing here."""
        self._told = f"{key!r} does nothing now."

    def draw(self) -> RenderableType:
        """Both cards, the pot, the coins, what was done, and what may be done."""
        self._remember()
        hand = self._player.game or self._player.last
        won = self._before + sum(self._settled)
        parts: list[RenderableType] = []
        if hand is not None:
            playing = self._player.game is not None
            parts.append(Columns([card(hand.card, lively=playing), card(hand.shown)], padding=(0, 4)))
            parts.append(Text(f"{'you':^9}     {'house':^9}", style="dim"))
            seat = "P_1, first to act" if hand.seat == P_1 else "P_2"
            parts.append(Text(f"You are {seat}.  Pot: {pot(hand)}.  {line(hand)}"))
        parts.append(Text(self._told, style="bold"))
        parts.append(Text(f"Games: {len(self._settled)}   Coins won: {won:+d}"))
        if self._past:
            parts.append(Text("\n".join(self._past), style="dim"))
        if not self._over:
            parts.append(Text(self._hint(), style="reverse"))
        return Constrain(Panel(Group(*parts), title=f"Kuhn poker at {self._house}", title_align="left"), WIDTH)

    def _fresh(self) -> bool:
        """Whether the card has only just been dealt, with the house to act first."""
        game = self._player.game
        return game is not None and len(game.history) == 1 and game.seat != P_1

    def _remember(self) -> None:
        """Add a game that has just ended to the history."""
        last = self._player.last
        if last is None or len(self._settled) == self._hands:
            return
        self._hands = len(self._settled)
        shown = f"against {last.shown}" if last.shown else "no showdown"
        self._past.append(f"{last.card} {shown:<12} {line(last):<48} {last.net:+d}")
        how = "You win" if last.net > 0 else "You lose"
        self._told = f"{self._told} {how} {abs(last.net)}.".strip()

    def _hint(self) -> str:
        """The keys that do something now."""
        told = []
        for key, wish in self.keys().items():
            match wish:
                case Strt(player):
                    told.append(f"[{key}] play as {player}")
                case Actn(action):
                    told.append(f"[{key}] {DEEDS[action]}")
                case Wish.NEW_PURSE:
                    told.append(f"[{key}] a new purse")
                case _:
                    told.append(f"[{key}] leave")
        return "  ".join(told[1:] + told[:1]) if len(told) > 1 else "Waiting for the house …  [q] leave"


def pot(hand: Hand) -> int:
    """The coins on the table: both antes, and what was bet."""
    return 2 * ANTE + sum(COST[action] for action in hand.history)


def line(hand: Hand) -> str:
    """What was done, in words."""
    done = []
    for turn, action in enumerate(hand.history):
        who = "you" if BETTING[hand.history[:turn]][0] == hand.seat else "house"
        done.append(f"{who} {DEEDS[action].split()[0]}{'' if who == 'you' else 's'}")
    return ", ".join(done)
