"""What the presenters of all games against a house have in common."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from croupier.core.client_session import ClientSession, FinishedGame
from croupier.core.presentation import (
    LEAVE,
    ActionView,
    PotView,
    Presenter,
    SeatView,
    TableView,
    Text,
    counted,
    leave_action,
    text,
)

FORFEIT: Final = leave_action(
    text("ends the session, and you lose what you have bet"), text("You lose what you have bet if you leave now.")
)
NEW_PURSE: Final = ActionView("rejoin", text("New purse"), "n", text("sits down again with a new purse"))
WAITING: Final = text("Waiting for the house.")
UNFINISHED: Final = text("The game is not finished. What you have bet in it is lost, unless the house has stopped it.")
BETWEEN_GAMES: Final = text("Between two games.")


class Offer[M](NamedTuple):
    """An action with its message, for one with a number what `make_message` returns; a command has none."""

    view: ActionView
    message: M | None = None
    make_message: Callable[[int], M] | None = None


class HousePresenter[M, G: FinishedGame](Presenter[ClientSession[M, G], M, M]):
    """Presents a game against a house.

    Subclasses describe messages (`_describe`), the seats (`_seats`), the actions (`_offers`) and a finished game
    (`_result`), which ends with certain messages (`_ends_game`).
    """

    def __init__(self) -> None:
        super().__init__()
        self._player: ClientSession[M, G]
        self._balance: int | None = None
        self._game_count = 0
        self._won = 0
        self._last_game: G | None = None

    def sit(self, player: ClientSession[M, G], purse: int | None = None) -> M | None:
        """Start a connection; the results of earlier ones are kept."""
        self._player = player
        self._balance = purse
        self._last_game = None
        return super().sit(player, purse)

    def received(self, message: M) -> None:
        """Announce a message of the house."""
        self._announcements.add(*self._describe(message))
        self._add_finished_game(message)

    def sent(self, message: M) -> None:
        """Announce a message of the person; see `Presenter`."""
        super().sent(message)
        self._announce_sent(message)
        self._add_finished_game(message)

    def ended(self, reason: Text) -> None:
        """Note that nothing more will happen, and why; an unfinished game costs the bet, not the purse."""
        super().ended(reason)
        if self._is_playing:
            self._announcements.add(UNFINISHED)

    def _draw(self, now: float) -> TableView:  # noqa: ARG002 -- houses do not announce their time limits
        game = self._player.game or self._player.last_game
        return TableView(
            title=self.title,
            seats=() if game is None else tuple(self._seats(game)),
            pots=() if game is None else self._pots(game),
            purse=self._purse(),
            score=counted(
                "{count} game, coins won: {coins}",
                "{count} games, coins won: {coins}",
                self._game_count,
                coins=f"{self._won:+d}",
            ),
        )

    def _actions(self) -> Iterator[ActionView]:
        for offer in self._offers():
            yield offer.view
        yield FORFEIT if self._is_playing else LEAVE

    def _message(self, offered: ActionView, amount: int | None) -> M:
        offer = next(offer for offer in self._offers() if offer.view.id == offered.id)
        if offer.make_message is not None:
            assert amount is not None, "find_action has checked the number"
            return offer.make_message(amount)
        assert offer.message is not None, "an offer has a message or makes one"
        return offer.message

    def _blocked(self) -> Text:
        return WAITING

    # Implemented by subclasses.

    @abstractmethod
    def _describe(self, message: M) -> Iterable[Text]:
        """Describe a message of the house that the session has just handled."""

    @abstractmethod
    def _offers(self) -> Iterable[Offer[M]]:
        """Return what the person can do now, without leaving."""

    @abstractmethod
    def _seats(self, game: G) -> Iterable[SeatView]:
        """Return the seats in the current game, or the last one: the person's last."""

    @abstractmethod
    def _result(self, game: G) -> Text:
        """Describe a finished game, without its result in coins."""

    def _pots(self, game: G) -> tuple[PotView, ...]:  # noqa: ARG002 -- not every game has a pot
        """Return the pots of a game."""
        return ()

    @abstractmethod
    def _ends_game(self, message: M) -> bool:
        """Whether a game has ended with this message, which either end has sent."""

    def _status(self) -> Text | None:
        return None if self._is_playing else BETWEEN_GAMES

    def _announce_sent(self, message: M) -> None:
        """Announce a message of the person that the house does not answer."""

    # Shared by all games against a house.

    @property
    def _is_playing(self) -> bool:
        return self._player.game is not None

    @property
    def _is_going_on(self) -> bool:
        """Whether a game is being played that can still end."""
        return self._is_playing and self._end_reason is None

    def _purse(self) -> int | None:
        """Return the coins that the person can still stake, None if unknown."""
        return None if self._balance is None else self._balance - self._staked()

    def _staked(self) -> int:
        """Return the coins of the person in the running game."""
        return 0

    def _add_finished_game(self, message: M) -> None:
        """Announce the result of a game if it has ended with a message."""
        last = self._player.last_game
        if last is None or last is self._last_game or not self._ends_game(message):
            return
        self._last_game = last
        self._game_count += 1
        self._won += last.net
        if self._balance is not None:
            self._balance += last.net
        self._announcements.add(outcome(last.net))
        self._results.append(text("{game}: {net}", game=self._result(last), net=f"{last.net:+d}"))


def outcome(net: int) -> Text:
    """Return a result in coins as a sentence."""
    if net > 0:
        return counted("You win {count} coin.", "You win {count} coins.", net)
    if net < 0:
        return counted("You lose {count} coin.", "You lose {count} coins.", -net)
    return text("Nobody wins.")
