"""What a person sees of blackjack, in words and cards."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from croupier.core.bank_presenter import BankPresenter
from croupier.core.card_names import FRENCH_CARDS
from croupier.core.house_presenter import NEW_PURSE, Offer
from croupier.core.presentation import ActionView, Amount, Text, counted, presets_within, text, verbatim
from croupier.rooms.blackjack.referee import WireGame
from croupier.rooms.blackjack.rules import TARGET_TOTAL, hand_total, largest_bet
from croupier.rooms.blackjack.wire import MOV, PLY, SRD, Bet, Crd, Err, Message, Mon, Res, Stp, Trn

ACTION_VIEWS: Final[Mapping[Message, ActionView]] = {
    PLY: ActionView("play", text("Play a round"), "p", text("shows your balance, and then you bet")),
    MOV["H"]: ActionView("hit", text("Hit"), "h", text("takes a card")),
    MOV["S"]: ActionView("stand", text("Stand"), "s", text("ends your turn, and the bank draws")),
    SRD: ActionView("surrender", text("Surrender"), "r", text("gives up half of your bet")),
}
ERRORS: Final = {
    300: text("it is about to close the connection"),
    400: text("the bet cannot be paid"),
    500: text("a field is wrong"),
    501: text("this is not expected now"),
    502: text("there is no such frame"),
}


class BlackjackPresenter(BankPresenter[Message, WireGame]):
    """Presents blackjack."""

    title = text("Blackjack")
    rules = text(
        "You bet, and get two cards; the bank gets one. Hit to take a card, or stand to let the bank draw; it draws to "
        "17 or more. An ace counts 1 or 11; jack, queen and king count 10. Over 21 you lose your bet, and a hit to "
        "exactly 21 wins at once. Otherwise the higher total wins. A tie is yours, except at 21, where the bank wins. "
        "Every win pays your bet once. If you surrender, you lose half of it."
    )
    welcome = text("Welcome. Get closer to 21 than the bank without going over.")
    card_views = FRENCH_CARDS

    def __init__(self) -> None:
        super().__init__()
        self._last_bet: int | None = None

    def _describe(self, message: Message) -> Iterator[Text]:
        match message:
            case Mon(coins):
                self._balance = coins
                if self._allows_bets:
                    yield counted(
                        "You have {count} coin. How much do you bet?",
                        "You have {count} coins. How much do you bet?",
                        coins,
                    )
                else:
                    yield self._useless_purse()
            case Crd("C", card):
                yield text("You get {card}.", card=FRENCH_CARDS[card].name)
            case Crd(_, card):
                yield text("The bank gets {card}.", card=FRENCH_CARDS[card].name)
            case Trn() | Res():
                pass
            case Err(number):
                yield text("The house reports ERR {number}: {error}.", number=number, error=ERRORS[number])
            case Stp():
                yield text("The house ends the session (STP).")
            case _:
                yield verbatim(str(message))

    def _announce_sent(self, message: Message) -> None:
        if isinstance(message, Bet):
            self._last_bet = message.coins

    def _ends_game(self, message: Message) -> bool:
        return isinstance(message, Res)

    def _offers(self) -> Iterator[Offer[Message]]:
        if not self._is_playing and not self._allows_bets:
            yield Offer(NEW_PURSE)
            return
        legal = self._player.legal
        for message, view in ACTION_VIEWS.items():
            if message in legal:
                yield Offer(view, message)
        for message in legal:
            if isinstance(message, Bet) and self._balance is not None:  # None: MON has not been presented yet
                yield Offer(
                    self._bet_view(self._last_bet or message.coins, largest_bet(self._balance)), make_message=Bet
                )

    def _bet_view(self, usual_bet: int, max_bet: int) -> ActionView:
        presets = ((text("Half"), max_bet // 2), (text("All"), max_bet))
        return ActionView(
            "bet",
            text("Bet"),
            "b",
            text("puts coins on this round"),
            Amount(1, max_bet, presets_within(presets, 1, max_bet), min(usual_bet, max_bet)),
        )

    def _status(self) -> Text | None:
        if self._is_playing:
            return None
        if not self._allows_bets:
            return self._useless_purse()
        is_betting = any(isinstance(message, Bet) for message in self._player.legal)
        return None if is_betting else super()._status()  # the newest announcement asks for the bet

    @property
    def _allows_bets(self) -> bool:
        """Whether the purse allows a bet, as far as it is known."""
        return self._balance is None or largest_bet(self._balance) > 0

    def _useless_purse(self) -> Text:
        return text("Your purse is too full for another bet.") if self._balance else text("Your purse is empty.")

    def _total(self, cards: Sequence[str]) -> Text:
        return total_text(cards)


def total_text(cards: Sequence[str]) -> Text:
    """Return the total of a hand as text, marked as soft if an ace counts 11, or as over 21.

    >>> str(total_text(["AS", "6H"]))
    '17, soft'
    """
    hand = hand_total(cards)
    if hand.is_soft:
        return text("{total}, soft", total=hand.total)
    return text("{total}, over", total=hand.total) if hand.total > TARGET_TOTAL else verbatim(str(hand.total))
