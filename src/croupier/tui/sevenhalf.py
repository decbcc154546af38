"""Seven and a half on the terminal."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from croupier.clients.game import Game as Talk
from croupier.rooms.sevenhalf import Ante, Bksc, Bstg, Card, Erro, Gain, Stbt
from croupier.rooms.sevenhalf.referee import Game
from croupier.rooms.sevenhalf.rules import BEST, MOST, bank_cards, client_cards, total
from croupier.rooms.sevenhalf.wire import DRAW, PASS, STRT, Message
from croupier.tui.cards import Hands, either, spanish
from croupier.tui.keys import ENTER
from croupier.tui.scene import Ask, Choice, Scene
from croupier.tui.table_action import Wish


class SevenHalfScene(Scene[Message, Game]):
    """See `Scene`. Many houses close after each game; the next one is then begun on a new connection."""

    TITLE = "Seven and a half"
    WELCOME = "Welcome. Draw towards seven and a half, and not over it."

    def __init__(self, house: str) -> None:
        super().__init__(house)
        self._start = 0

    def sit(self, game: Talk) -> Message | None:
        """Whoever comes back has asked for the next game already."""
        back = self._seated
        super().sit(game)
        return STRT if back else None

    def said(self, message: Message) -> None:
        """A raise is not answered."""
        super().said(message)
        if isinstance(message, Ante) and self._player.game is not None:
            self._tell(f"You raise by {message.coins}, to {self._player.game.bet}. Now you have to draw.")
            self._stale = True

    def _hear(self, message: Message) -> None:
        match message:
            case Stbt(coins):
                self._start = coins
                self._tell(f"You bet {coins}. Draw your first card.")
            case Card(card):
                self._tell(f"You draw {spanish(card).name}.")
            case Bstg():
                self._tell("That is too much.")
            case Bksc(cards):
                self._tell(f"The bank draws {', '.join(spanish(card).name for card in cards)}.")
            case Gain():
                self._finish()
            case Erro(text):
                self._farewell = self._told = f"The house says: {text or 'ERRO'}."
            case _:
                self._tell(str(message))

    def _choices(self) -> Iterator[Choice[Message]]:
        if self.spent:
            yield Choice(f"s{ENTER}", "the next game", Wish.AGAIN)
            return
        legal = self._player.legal
        if STRT in legal:
            yield Choice(f"s{ENTER}", "start a game", STRT)
        if DRAW in legal:
            yield Choice("d", "draw", DRAW)
        if PASS in legal:
            yield Choice("p", "pass", PASS)
        if Ante(self._start) in legal:
            yield Choice("a", f"raise by {self._start}", Ante(self._start))

    def _ask(self) -> Ask[Message] | None:
        game = self._player.game
        if game is None or Ante(1) not in self._player.legal:
            return None
        return Ask("raise by", "another raise", MOST - game.bet, Ante)

    def _table(self, game: Game | None) -> list[RenderableType]:
        """Both hands with their scores, and the bet."""
        if game is None:
            return []
        own, bank = client_cards(game.state), bank_cards(game.state)
        return [
            Hands(
                ([spanish(card) for card in own], f"you: {points(own)}"),
                ([spanish(card) for card in bank], f"bank: {points(bank)}" if bank else "bank"),
                lively=self._playing,
            ),
            Text(f"Bet: {game.bet}"),
        ]

    def _row(self, game: Game) -> str:
        own, bank = points(client_cards(game.state)), points(bank_cards(game.state))
        return f"you {own:<9} bank {bank:<9} bet {game.bet:<10}"


def points(cards: Sequence[str]) -> str:
    """The score of a hand, and whether it is too much."""
    halves = total(cards)
    half = either("½", ".5") if halves % 2 else ""
    whole = "" if halves == 1 and half == "½" else str(halves // 2)
    return f"{whole}{half}{', over' if halves > BEST else ''}"
