"""What a person sees of Kuhn poker, in words and cards."""

from collections.abc import Iterator
from typing import Final

from croupier.core.house_presenter import NEW_PURSE, HousePresenter, Offer
from croupier.core.presentation import (
    BACK,
    ActionView,
    CardView,
    PotView,
    SeatStatus,
    SeatView,
    Text,
    text,
    verbatim,
)
from croupier.core.rules import Seat
from croupier.rooms.kuhn.referee import WireGame
from croupier.rooms.kuhn.rules import BETTING_TREE, P_1, P_2, coins_in_pot
from croupier.rooms.kuhn.wire import ACTN, Actn, Card, Disc, Fail, Message, Strt

CARDS: Final = {
    "J": CardView("J", text("the jack")),
    "Q": CardView("Q", text("the queen")),
    "K": CardView("K", text("the king")),
}
HOUSE_ACTIONS: Final = {
    "CHK": text("The house checks."),
    "BET": text("The house bets a coin."),
    "CAL": text("The house calls."),
    "FLD": text("The house folds."),
}
ACTION_VIEWS: Final = {
    "CHK": ActionView("check", text("Check"), "c", text("costs nothing")),
    "BET": ActionView("bet", text("Bet 1"), "b", text("puts a coin into the pot")),
    "CAL": ActionView("call", text("Call"), "c", text("puts a coin into the pot, and the cards are compared")),
    "FLD": ActionView("fold", text("Fold"), "f", text("gives up the pot")),
}
SEAT_VIEWS: Final = {
    "P_1": ActionView("first", text("Play as P_1"), "1", text("you act first")),
    "P_2": ActionView("second", text("Play as P_2"), "2", text("the house acts first")),
}
FOLD: Final = ACTN["FLD"]


class KuhnPresenter(HousePresenter[Message, WireGame]):
    """Presents Kuhn poker."""

    title = text("Kuhn poker")
    rules = text(
        "Three cards, jack, queen and king: you and the house put one coin each into the pot and get one card each. "
        "P_1 checks or bets a coin. A bet is called or folded to; a check is answered with a check or a bet. "
        "If nobody folds, the higher card wins the pot."
    )
    welcome = text("Welcome. Choose your seat: P_1 acts first.")

    def _describe(self, message: Message) -> Iterator[Text]:
        match message:
            case Card(rank) if self._is_playing:
                yield text("You are dealt {card}.", card=CARDS[rank].name)
            case Card(rank):
                yield text("The house shows {card}.", card=CARDS[rank].name)
            case Actn(action):
                yield HOUSE_ACTIONS[action]
            case Fail("N_C") if self._player.is_exhausted:
                self._balance = 0
                yield text("Refused (N_C): your purse has no coin left for the ante (kuhn-7.2).")
            case Fail("N_C"):
                self._balance = self._staked()
                yield text("Refused (N_C): your purse has no coin left for that (kuhn-7.3).")
            case Disc():
                yield text("The house ends the session (DISC).")
            case _:
                yield verbatim(str(message))

    def _ends_game(self, message: Message) -> bool:
        return message == FOLD or (isinstance(message, Card) and not self._is_playing)

    def _offers(self) -> Iterator[Offer[Message]]:
        if self._player.is_exhausted:
            yield Offer(NEW_PURSE)
            return
        for message in self._player.legal:
            match message:
                case Strt(player):
                    yield Offer(SEAT_VIEWS[player], message)
                case Actn(action):
                    yield Offer(ACTION_VIEWS[action], message)
                case _:
                    pass

    def _seats(self, game: WireGame) -> Iterator[SeatView]:
        for seat in (1 - game.seat, game.seat):
            is_viewer = seat == game.seat
            rank = game.card if is_viewer else game.house_card
            yield SeatView(
                name=text("You") if is_viewer else text("House"),
                cards=(BACK if rank is None else CARDS[rank],),
                caption=text("P_1, first to act") if seat == P_1 else text("P_2"),
                bet=coins_in_pot(game.history, seat),
                status=self._seat_status(game, seat),
                is_viewer=is_viewer,
            )

    def _pots(self, game: WireGame) -> tuple[PotView, ...]:
        return (PotView(coins_in_pot(game.history, P_1) + coins_in_pot(game.history, P_2)),)

    def _staked(self) -> int:
        game = self._player.game
        return 0 if game is None else coins_in_pot(game.history, game.seat)

    def _result(self, game: WireGame) -> Text:
        own = CARDS[game.card].name if game.card else text("no card")
        if game.house_card is None:
            return text("{own}, no showdown", own=own)
        return text("{own} against {other}", own=own, other=CARDS[game.house_card].name)

    def _seat_status(self, game: WireGame, seat: Seat) -> SeatStatus:
        if game.history[-1:] == ("FLD",) and seat == BETTING_TREE[game.history[:-1]][0]:
            return "folded"
        return "to act" if self._is_going_on and BETTING_TREE[game.history][0] == seat else ""
