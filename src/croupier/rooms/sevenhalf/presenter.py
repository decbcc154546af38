"""What a person sees of seven and a half, in words and cards."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from croupier.core.bank_presenter import BankPresenter
from croupier.core.card_names import SPANISH_CARDS
from croupier.core.client_session import ClientSession
from croupier.core.house_presenter import Offer
from croupier.core.presentation import ActionView, Amount, Text, listed, presets_within, text, verbatim
from croupier.rooms.sevenhalf.interpretation import WireGame
from croupier.rooms.sevenhalf.rules import MAX_TOTAL_BET, TARGET_HALVES, total
from croupier.rooms.sevenhalf.wire import (
    CLOSING,
    DRAW,
    FULL,
    NO_COINS,
    PASS,
    STRT,
    TIMED_OUT,
    Ante,
    Bksc,
    Bstg,
    Card,
    Erro,
    Gain,
    Message,
    Stbt,
)

ACTION_VIEWS: Final[Mapping[Message, ActionView]] = {
    STRT: ActionView("start", text("Start a game"), "s", text("puts down the starting bet of the house")),
    DRAW: ActionView("draw", text("Draw"), "d", text("takes a card")),
    PASS: ActionView("pass", text("Pass"), "p", text("ends your turn, and the bank draws")),
}
NEXT_GAME: Final = ActionView("rejoin", text("Next game"), "s", text("sits down again and starts a game"))
HOUSE_ERRORS: Final = {
    TIMED_OUT: text("Your time is up (ERRO)."),
    CLOSING: text("The room closes (ERRO)."),
    FULL: text("No seat is free (ERRO)."),
    NO_COINS: text("Your coins do not suffice for the starting bet (ERRO)."),
}


class SevenHalfPresenter(BankPresenter[Message, WireGame]):
    """Presents seven and a half; see `Presenter`.

    Some houses close the connection after each game; the next game then starts on a new connection.
    """

    title = text("Seven and a half")
    rules = text(
        "Draw cards as long as you like, and pass to let the bank draw. The ranks 1 to 7 count their number; sota, "
        "cavall and rei count one half. Over seven and a half you lose your bet. The bank draws until it has more than "
        "you, exactly seven and a half, or too much. If it has too much, you win your bet. Exactly seven and a half "
        "wins twice your bet, unless the bank has it, too. You may raise your bet after a card; then you have to draw."
    )
    welcome = text("Welcome. Get close to seven and a half without going over.")
    card_views = SPANISH_CARDS

    def __init__(self) -> None:
        super().__init__()
        self._starting_bet = 1
        self._is_seated = False

    def sit(self, player: ClientSession[Message, WireGame], purse: int | None = None) -> Message | None:
        """Start a connection. A person who sits down again starts the next game at once."""
        super().sit(player, purse)
        has_sat_before, self._is_seated = self._is_seated, True
        return STRT if has_sat_before else None

    def _describe(self, message: Message) -> Iterator[Text]:
        match message:
            case Stbt(coins):
                self._starting_bet = coins
                yield text("You bet {coins}. Draw your first card.", coins=coins)
            case Card(card):
                yield text("You draw {card}.", card=SPANISH_CARDS[card].name)
            case Bstg():
                yield text("That is too much.")
            case Bksc(cards):
                yield text("The bank draws {cards}.", cards=listed(SPANISH_CARDS[card].name for card in cards))
            case Gain():
                pass
            case Erro(error):
                known = HOUSE_ERRORS.get(message)
                yield known or text("The house reports an error: {error}.", error=verbatim(error or "ERRO"))
            case _:
                yield verbatim(str(message))

    def _announce_sent(self, message: Message) -> None:
        game = self._player.game
        if isinstance(message, Ante) and game is not None:
            self._announcements.add(
                text("You raise by {coins}, to {bet}. Now you have to draw.", coins=message.coins, bet=game.bet)
            )
            self._announcements.expire()

    def _ends_game(self, message: Message) -> bool:
        return isinstance(message, Gain)

    def _offers(self) -> Iterator[Offer[Message]]:
        if self._player.is_exhausted:
            yield Offer(NEXT_GAME)
            return
        legal, game = self._player.legal, self._player.game
        for message, view in ACTION_VIEWS.items():
            if message in legal:
                yield Offer(view, message)
        if game is not None and Ante(1) in legal and (max_raise := self._max_raise(game)):
            yield Offer(self._raise_view(game, max_raise), make_message=Ante)

    def _max_raise(self, game: WireGame) -> int:
        purse = self._purse()
        limit = MAX_TOTAL_BET - game.bet
        return limit if purse is None else max(0, min(limit, purse))

    def _raise_view(self, game: WireGame, max_raise: int) -> ActionView:
        presets = (
            (text("Starting bet"), self._starting_bet),
            (text("Double the bet"), game.bet),
        )
        return ActionView(
            "raise",
            text("Raise"),
            "a",
            text("adds to your bet, and then you have to draw"),
            Amount(1, max_raise, presets_within(presets, 1, max_raise), min(self._starting_bet, max_raise)),
        )

    def _status(self) -> Text | None:
        return text("The house has closed this table.") if self._player.is_exhausted else super()._status()

    def _total(self, cards: Sequence[str]) -> Text:
        return score_text(total(cards))


def score_text(halves: int) -> Text:
    """Return a total in halves as a text, marked if it is over seven and a half.

    >>> str(score_text(15)), str(score_text(1)), str(score_text(22))
    ('7½', '½', '11, over')
    """
    whole, half = divmod(halves, 2)
    score = f"{whole or ''}½" if half else str(whole)
    return text("{total}, over", total=score) if halves > TARGET_HALVES else verbatim(score)
