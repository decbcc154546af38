"""Screen of blackjack."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from croupier.clients.game import GameClient
from croupier.rooms.blackjack.referee import WireGame
from croupier.rooms.blackjack.rules import TARGET_TOTAL, hand_total, largest_bet
from croupier.rooms.blackjack.wire import MOV, PLY, SRD, Bet, Crd, Err, Message, Mon, Res, Stp, Trn
from croupier.tui.cards import TwoHands, french_face
from croupier.tui.house_scene import HouseScene
from croupier.tui.keys import ENTER
from croupier.tui.scene import Choice, NumberPrompt, TableAction

ERROR_TEXTS = {
    300: "it is about to close the connection",
    400: "the bet cannot be paid",
    500: "a field is wrong",
    501: "this is not expected now",
    502: "there is no such frame",
}
MOVE_KEYS = (("h", "hit", MOV["H"]), ("s", "stand", MOV["S"]), ("r", "surrender", SRD))


class BlackjackScene(HouseScene[Message, WireGame]):
    """The screen of blackjack; see `HouseScene`. The balance is None until the house has sent it."""

    TITLE = "Blackjack"
    WELCOME = "Welcome. Get closer to 21 than the bank without going over."

    def __init__(self, place: str) -> None:
        super().__init__(place)
        self._balance: int | None = None
        self._last_bet: int | None = None
        self._is_purse_unusable = False

    @property
    def is_spent(self) -> bool:
        """Whether this connection allows no further game, also if the purse allows no further bet."""
        return super().is_spent or self._is_purse_unusable

    def sit(self, client: GameClient) -> Message | None:
        """Start to show a connection; the balance of its purse is not known yet."""
        self._balance = None
        self._is_purse_unusable = False
        return super().sit(client)

    def on_sent(self, message: Message) -> None:
        """Deduct a bet from the balance."""
        super().on_sent(message)
        if isinstance(message, Bet) and self._balance is not None:
            self._last_bet = message.coins
            self._balance -= message.coins

    def _show_message(self, message: Message) -> None:
        match message:
            case Mon(coins):
                self._set_balance(coins)
                if not self._is_purse_unusable:
                    self._add_notice("How much do you bet?")
            case Crd("C", card):
                self._add_notice(f"You get {french_face(card).name}.")
            case Crd(_, card):
                self._add_notice(f"The bank gets {french_face(card).name}.")
            case Trn():
                pass
            case Res(_, coins):
                self._add_finished_game()
                self._set_balance((self._balance or 0) + coins)
            case Err(number):
                self._goodbye = self._notice = f"The house reports ERR {number}: {ERROR_TEXTS[number]}."
            case Stp():
                self._add_notice("The house ends the session (STP).")
                self._goodbye = self._notice
            case _:
                self._add_notice(str(message))

    def _set_balance(self, coins: int) -> None:
        """Set the balance, and note whether it allows another bet."""
        self._balance = coins
        self._is_purse_unusable = largest_bet(coins) == 0
        if self._is_purse_unusable:
            self._add_notice(f"Your purse is {'too full for another bet' if coins else 'empty'}.")

    def _choices(self) -> Iterator[Choice[Message]]:
        if self.is_spent:
            yield Choice("n", "a new purse", TableAction.REJOIN)
            return
        legal = self._player.legal
        if PLY in legal:
            yield Choice(f"p{ENTER}", "play a round", PLY)
        for message in legal:
            if isinstance(message, Bet):
                bet = min(self._last_bet or message.coins, largest_bet(self._balance or 0))
                yield Choice(ENTER, f"bet {bet}", Bet(bet))
        for key, label, move in MOVE_KEYS:
            if move in legal:
                yield Choice(key, label, move)

    def _number_prompt(self) -> NumberPrompt[Message] | None:
        if self.is_spent or Bet(1) not in self._player.legal:
            return None
        maximum = largest_bet(self._balance or 0)
        allowed = f"1 to {maximum}" if maximum else "no more"
        return NumberPrompt("bet", "another bet", allowed, lambda coins: self._legal_or_none(Bet(coins)))

    def _render_game(self, game: WireGame | None) -> list[RenderableType]:
        balance = "" if self._balance is None else f"Balance: {self._balance}"
        if game is None:
            return [Text(balance)] if balance else []
        return [
            TwoHands(
                ([french_face(card) for card in game.cards], f"you: {total_text(game.cards)}"),
                ([french_face(card) for card in game.bank], f"bank: {total_text(game.bank)}"),
                is_active=self._is_playing,
            ),
            Text(f"Bet: {game.bet}   {balance}"),
        ]

    def _history_row(self, game: WireGame) -> str:
        return f"you {total_text(game.cards):<9} bank {total_text(game.bank):<9} bet {game.bet:<10}"


def total_text(cards: Sequence[str]) -> str:
    """Return the total of a hand as text, marked as soft if an ace counts 11, or as over 21.

    >>> total_text(["AS", "6H"])
    '17 soft'
    """
    hand = hand_total(cards)
    return f"{hand.total}{' soft' if hand.is_soft else ', over' if hand.total > TARGET_TOTAL else ''}"
