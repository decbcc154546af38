"""What the presenters of all games against a house have in common."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from typing import ClassVar, Final, NamedTuple

from croupier.core.client_session import ClientSession, FinishedGame
from croupier.core.presentation import (
    LEAVE,
    MAX_RESULTS,
    ActionView,
    Announcements,
    PotView,
    SeatView,
    TableCommand,
    TableView,
    Text,
    counted,
    find_action,
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
    """An action with its result: a message or a command, or for an action with a number what `make_message` returns."""

    view: ActionView
    result: M | TableCommand | None = None
    make_message: Callable[[int], M] | None = None


class HousePresenter[M, G: FinishedGame](ABC):
    """Presents a game against a house; see `Presenter`.

    Subclasses describe messages (`_describe`), the seats (`_seats`), the actions (`_offers`) and a finished game
    (`_result`), which ends with certain messages (`_ends_game`).
    """

    title: ClassVar[Text]
    rules: ClassVar[Text]
    welcome: ClassVar[Text]

    def __init__(self) -> None:
        self._player: ClientSession[M, G]
        self._balance: int | None = None
        self._announcements = Announcements()
        self._results: deque[Text] = deque(maxlen=MAX_RESULTS)
        self._game_count = 0
        self._won = 0
        self._last_game: G | None = None
        self._end_reason: Text | None = None

    def sit(self, player: ClientSession[M, G], purse: int | None = None) -> M | None:
        """Start a connection; the results of earlier ones are kept."""
        self._player = player
        self._balance = purse
        self._last_game = None
        self._announcements = Announcements()
        self._announcements.add(self.welcome)
        return None

    def received(self, message: M) -> None:
        """Announce a message of the house."""
        self._announcements.add(*self._describe(message))
        self._add_finished_game(message)

    def sent(self, message: M) -> None:
        """Announce a message of the person; the next announcement replaces those before it."""
        self._announcements.expire()
        self._announce_sent(message)
        self._add_finished_game(message)

    def ended(self, reason: Text) -> None:
        """Note that nothing more will happen, and why; an unfinished game costs the bet, not the purse."""
        self._end_reason = reason
        if self._is_playing:
            self._announcements.add(UNFINISHED)

    def table(self, now: float) -> TableView:  # noqa: ARG002 -- houses do not announce their time limits
        """Return the table as the person sees it."""
        player, ended = self._player, self._end_reason
        game = player.game or player.last_game
        actions = () if ended else tuple(offer.view for offer in self._all_offers())
        is_waiting = ended is None and len(actions) == 1
        return TableView(
            title=self.title,
            seats=() if game is None else tuple(self._seats(game)),
            pots=() if game is None else self._pots(game),
            status=ended or self._status(),
            announcements=self._announcements.texts,
            actions=actions,
            blocked=WAITING if is_waiting else None,
            purse=self._purse(),
            score=counted(
                "{count} game, coins won: {coins}",
                "{count} games, coins won: {coins}",
                self._game_count,
                coins=f"{self._won:+d}",
            ),
            results=tuple(self._results),
            is_over=ended is not None,
        )

    def move(self, action: str, amount: int | None = None) -> M | TableCommand:
        """Return the message or the command of an action. Raises UnknownAction."""
        offers = {offer.view.id: offer for offer in self._all_offers()}
        offered = find_action([offer.view for offer in offers.values()], action, amount)
        result = offers[offered.id].result
        make_message = offers[offered.id].make_message
        if make_message is not None:
            assert amount is not None, "find_action has checked the number"
            return make_message(amount)
        assert result is not None, "an offer has a result or makes a message"
        return result

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
        """Return what the game waits for, None if the actions say it."""
        return None if self._is_playing else BETWEEN_GAMES

    def _announce_sent(self, message: M) -> None:  # noqa: B027 -- most houses answer every message
        """Announce a message of the person that the house does not answer."""

    # Shared by all games against a house.

    @property
    def _is_playing(self) -> bool:
        return self._player.game is not None

    @property
    def _is_going_on(self) -> bool:
        """Whether a game is being played that can still end."""
        return self._is_playing and self._end_reason is None

    def _all_offers(self) -> list[Offer[M]]:
        return [*self._offers(), Offer(FORFEIT if self._is_playing else LEAVE, TableCommand.LEAVE)]

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
