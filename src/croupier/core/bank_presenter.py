"""What the presenters of games between one client and a bank have in common."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from croupier.core.bank import ObservedBankGame
from croupier.core.house_presenter import HousePresenter
from croupier.core.presentation import CardView, SeatView, Text, text


class BankPresenter[M, G: ObservedBankGame](HousePresenter[M, G]):
    """Presents a game of one client against a bank; see `HousePresenter`.

    `card_views` are the cards by their codes on the wire. Subclasses describe the total of cards (`_total`).
    """

    card_views: ClassVar[Mapping[str, CardView]]

    @abstractmethod
    def _total(self, cards: Sequence[str]) -> Text:
        """Describe the total of some cards."""

    def _seats(self, game: G) -> Iterator[SeatView]:
        yield SeatView(
            name=text("Bank"), cards=self._views(game.bank), caption=self._total(game.bank) if game.bank else None
        )
        yield SeatView(
            name=text("You"),
            cards=self._views(game.cards),
            caption=self._total(game.cards) if game.cards else None,
            bet=game.bet,
            status="to act" if self._is_going_on and any(True for _ in self._offers()) else "",
            is_viewer=True,
        )

    def _staked(self) -> int:
        game = self._player.game
        return 0 if game is None else game.bet

    def _result(self, game: G) -> Text:
        return text(
            "you {own}; bank {bank}; bet {bet}",
            own=self._total(game.cards),
            bank=self._total(game.bank),
            bet=game.bet,
        )

    def _views(self, cards: Sequence[str]) -> tuple[CardView, ...]:
        return tuple(self.card_views[card] for card in cards)
