"""Screen of seven and a half."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from croupier.clients.game import GameClient
from croupier.core.bank import bank_cards, client_cards
from croupier.rooms.sevenhalf.interpretation import WireGame
from croupier.rooms.sevenhalf.rules import MAX_TOTAL_BET, TARGET_HALVES, total
from croupier.rooms.sevenhalf.wire import DRAW, PASS, STRT, Ante, Bksc, Bstg, Card, Erro, Gain, Message, Stbt
from croupier.tui.cards import TwoHands, encodable_or, spanish_face
from croupier.tui.house_scene import HouseScene
from croupier.tui.keys import ENTER
from croupier.tui.scene import Choice, NumberPrompt, TableAction


class SevenHalfScene(HouseScene[Message, WireGame]):
    """The screen of seven and a half; see `HouseScene`.

    Many houses close the connection after each game; the next game then starts on a new connection.
    """

    TITLE = "Seven and a half"
    WELCOME = "Welcome. Get close to seven and a half without going over."

    def __init__(self, place: str) -> None:
        super().__init__(place)
        self._starting_bet = 0

    def sit(self, client: GameClient) -> Message | None:
        """Start to show a connection. After a reconnect, start the next game at once."""
        is_reconnect = self._is_seated
        super().sit(client)
        return STRT if is_reconnect else None

    def on_sent(self, message: Message) -> None:
        """Show a raise: the house does not answer it."""
        super().on_sent(message)
        if isinstance(message, Ante) and self._player.game is not None:
            self._add_notice(f"You raise by {message.coins}, to {self._player.game.bet}. Now you have to draw.")
            self._is_notice_stale = True

    def _show_message(self, message: Message) -> None:
        match message:
            case Stbt(coins):
                self._starting_bet = coins
                self._add_notice(f"You bet {coins}. Draw your first card.")
            case Card(card):
                self._add_notice(f"You draw {spanish_face(card).name}.")
            case Bstg():
                self._add_notice("That is too much.")
            case Bksc(cards):
                self._add_notice(f"The bank draws {', '.join(spanish_face(card).name for card in cards)}.")
            case Gain():
                self._add_finished_game()
            case Erro(text):
                self._goodbye = self._notice = f"The house reports an error: {text or 'ERRO'}."
            case _:
                self._add_notice(str(message))

    def _choices(self) -> Iterator[Choice[Message]]:
        if self.is_spent:
            yield Choice(f"s{ENTER}", "the next game", TableAction.REJOIN)
            return
        legal = self._player.legal
        if STRT in legal:
            yield Choice(f"s{ENTER}", "start a game", STRT)
        if DRAW in legal:
            yield Choice("d", "draw", DRAW)
        if PASS in legal:
            yield Choice("p", "pass", PASS)
        if Ante(self._starting_bet) in legal:
            yield Choice("a", f"raise by {self._starting_bet}", Ante(self._starting_bet))

    def _number_prompt(self) -> NumberPrompt[Message] | None:
        game = self._player.game
        if game is None or self.is_spent or Ante(1) not in self._player.legal:
            return None
        maximum = MAX_TOTAL_BET - game.bet
        allowed = f"1 to {maximum}" if maximum else "no more"
        return NumberPrompt("raise by", "another raise", allowed, lambda coins: self._legal_or_none(Ante(coins)))

    def _render_game(self, game: WireGame | None) -> list[RenderableType]:
        if game is None:
            return []
        own, bank = client_cards(game.state), bank_cards(game.state)
        return [
            TwoHands(
                ([spanish_face(card) for card in own], f"you: {score_text(own)}"),
                ([spanish_face(card) for card in bank], f"bank: {score_text(bank)}" if bank else "bank"),
                is_active=self._is_playing,
            ),
            Text(f"Bet: {game.bet}"),
        ]

    def _history_row(self, game: WireGame) -> str:
        own, bank = score_text(client_cards(game.state)), score_text(bank_cards(game.state))
        return f"you {own:<9} bank {bank:<9} bet {game.bet:<10}"


def score_text(cards: Sequence[str]) -> str:
    """Return the score of a hand as text, marked if it is over seven and a half."""
    halves = total(cards)
    half = encodable_or("½", ".5") if halves % 2 else ""
    whole = "" if halves == 1 and half == "½" else str(halves // 2)
    return f"{whole}{half}{', over' if halves > TARGET_HALVES else ''}"
