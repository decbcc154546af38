"""Blackjack on the terminal."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from croupier.clients.game import Game as Talk
from croupier.rooms.blackjack import Bet, Crd, Err, Mon, Res, Stp, Trn
from croupier.rooms.blackjack.referee import Game
from croupier.rooms.blackjack.rules import BEST, hand, limit
from croupier.rooms.blackjack.wire import MOV, PLY, SRD, Message
from croupier.tui.cards import Hands, french
from croupier.tui.keys import ENTER
from croupier.tui.scene import Ask, Choice, Scene
from croupier.tui.table_action import Wish

ERRORS = {
    300: "it is about to disconnect you",
    400: "the bet cannot be paid",
    500: "a field is wrong",
    501: "this is not expected now",
    502: "there is no such frame",
}
MOVES = (("h", "hit", MOV["H"]), ("s", "stand", MOV["S"]), ("r", "surrender", SRD))


class BlackjackScene(Scene[Message, Game]):
    """See `Scene`. `_balance` is the purse, as far as the house has told, and `_bet` what was bet last."""

    TITLE = "Blackjack"
    WELCOME = "Welcome. Come nearer to 21 than the bank, and not over it."

    def __init__(self, house: str) -> None:
        super().__init__(house)
        self._balance: int | None = None
        self._bet: int | None = None
        self._useless = False

    @property
    def spent(self) -> bool:
        """Also when the purse is seen to pay no more bets before the house has told so."""
        return super().spent or self._useless

    def sit(self, game: Talk) -> Message | None:
        """A new purse, of which nothing is known yet."""
        self._balance = None
        self._useless = False
        return super().sit(game)

    def said(self, message: Message) -> None:
        """The stake leaves the purse."""
        super().said(message)
        if isinstance(message, Bet) and self._balance is not None:
            self._bet = message.coins
            self._balance -= message.coins

    def _hear(self, message: Message) -> None:
        match message:
            case Mon(coins):
                self._holds(coins)
                if not self._useless:
                    self._tell("How much do you bet?")
            case Crd("C", card):
                self._tell(f"You get {french(card).name}.")
            case Crd(_, card):
                self._tell(f"The bank gets {french(card).name}.")
            case Trn():
                pass
            case Res(_, coins):
                self._finish()
                self._holds((self._balance or 0) + coins)
            case Err(number):
                self._farewell = self._told = f"The house says ERR {number}: {ERRORS[number]}."
            case Stp():
                self._tell("The house says goodbye (STP).")
                self._farewell = self._told
            case _:
                self._tell(str(message))

    def _holds(self, coins: int) -> None:
        """The purse holds so many coins now."""
        self._balance = coins
        self._useless = limit(coins) == 0
        if self._useless:
            self._tell(f"Your purse is {'too full for another bet' if coins else 'empty'}.")

    def _choices(self) -> Iterator[Choice[Message]]:
        if self.spent:
            yield Choice("n", "a new purse", Wish.AGAIN)
            return
        legal = self._player.legal
        if PLY in legal:
            yield Choice(f"p{ENTER}", "play a round", PLY)
        for message in legal:
            if isinstance(message, Bet):
                bet = min(self._bet or message.coins, limit(self._balance or 0))
                yield Choice(ENTER, f"bet {bet}", Bet(bet))
        for key, told, move in MOVES:
            if move in legal:
                yield Choice(key, told, move)

    def _ask(self) -> Ask[Message] | None:
        if Bet(1) not in self._player.legal:
            return None
        return Ask("bet", "another bet", limit(self._balance or 0), Bet)

    def _table(self, game: Game | None) -> list[RenderableType]:
        """Both hands with their totals, the bet, and the purse."""
        balance = "" if self._balance is None else f"Balance: {self._balance}"
        if game is None:
            return [Text(balance)] if balance else []
        return [
            Hands(
                ([french(card) for card in game.cards], f"you: {total(game.cards)}"),
                ([french(card) for card in game.bank], f"bank: {total(game.bank)}"),
                lively=self._playing,
            ),
            Text(f"Bet: {game.bet}   {balance}"),
        ]

    def _row(self, game: Game) -> str:
        return f"you {total(game.cards):<9} bank {total(game.bank):<9} bet {game.bet:<10}"


def total(cards: Sequence[str]) -> str:
    """The total of a hand, whether an ace counts 11 in it, and whether it is too much."""
    found = hand(cards)
    return f"{found.total}{' soft' if found.soft else ', over' if found.total > BEST else ''}"
