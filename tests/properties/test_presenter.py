"""Properties of the presenters of house games, in random games of a person against our own house."""

from collections.abc import Iterable, Mapping
from typing import Any

from hypothesis import strategies as st

from croupier.core.errors import Violation
from croupier.core.presentation import ActionView, TableCommand, TableView
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Drop, Joined, Left, Notify, Received, Send, Settle, Submitted
from croupier.core.transcript import Transcript, house_settings, make_hall
from tests.presentation import check_table, other_actions
from tests.properties.every_room import property_test
from tests.properties.random_session import heads

PEER = 1


class PresentedGames:
    """A person with a presenter, connected to our own house, as often as the person sits down.

    With `is_late`, the presenter receives messages after the session has handled all that came with them. `received`
    has the messages of the house in the current connection, `nets` the results of all games as the house settles them.
    """

    def __init__(self, room: HouseRoom, head: Mapping[str, str], *, is_late: bool) -> None:
        self._room = room
        self._transcript = Transcript("sample", "a sample", (), head, ())
        self._is_late = is_late
        settings = house_settings(room, self._transcript)
        self._options = room.options(**{name: getattr(settings, name) for name in ("dialect", "decks") if name in head})
        self._purse = room.initial_purse(settings) if room.has_purse else None
        self.presenter = room.load_extra("presenter")()
        self.nets: list[int] = []
        self.sit()

    def sit(self) -> None:
        self._house = make_hall(self._room, self._transcript)
        self.player: Any = self._room.player(self._options)
        self.won_here = 0
        self.received: list[Any] = []
        self._unseen: list[Any] = []
        self._house.on(Joined(PEER), 0.0)
        self.player.on(Joined(HOUSE), 0.0)
        first = self.presenter.sit(self.player, self._purse)
        if first is not None:
            self._submit(first)

    @property
    def table(self) -> TableView:
        return self.presenter.table(0.0)

    @property
    def purse(self) -> int | None:
        """The coins of the person between two games, as the house counts them; None if it does not."""
        return None if self._purse is None else self._purse + self.won_here

    def press(self, action: str, amount: int | None) -> None:
        """Do an action of the table."""
        result = self.presenter.move(action, amount)
        if result is TableCommand.REJOIN:
            self.sit()
        elif result is not TableCommand.LEAVE:
            self._submit(result)

    def _submit(self, message: Any) -> None:
        effects = self.player.on(Submitted(message), 0.0)
        self.presenter.sent(message)
        self._handle(effects)
        while self._unseen:
            check_table(self.table)
            self.presenter.received(self._unseen.pop(0))

    def _handle(self, effects: Iterable[Any]) -> None:
        """Handle effects of the client."""
        for effect in effects:
            match effect:
                case Send(_, message):
                    self._answer(self._house.on(Received(PEER, message), 0.0))
                case Notify(Left()) | Settle() | Drop():
                    pass
                case Notify(message):
                    assert not isinstance(message, Violation), message
                    self.received.append(message)
                    if self._is_late:
                        self._unseen.append(message)
                    else:
                        self.presenter.received(message)

    def _answer(self, effects: Iterable[Any]) -> None:
        """Handle effects of the house."""
        for effect in effects:
            match effect:
                case Send(_, message):
                    self._handle(self.player.on(Received(HOUSE, message), 0.0))
                case Settle(_, _, _, net):
                    self.nets.append(net)
                    self.won_here += net
                case Drop():
                    self._handle(self.player.on(Left(HOUSE), 0.0))
                case _:
                    pass


def choices(room: HouseRoom) -> st.SearchStrategy[list[tuple[int, int]]]:
    """Random choices of a person: the number of an action, and a number for its amount."""
    return st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2**31)), max_size=20)


def house_heads(room: HouseRoom) -> st.SearchStrategy[dict[str, str]]:
    return heads(room)


def messages_of(games: PresentedGames, action: ActionView) -> list[Any]:
    """The messages of an action: for an amount those of its bounds, its presets and its initial value."""
    amount = action.amount
    if amount is None:
        return [games.presenter.move(action.id)]
    coins = {amount.low, amount.high, *(value for _, value in amount.presets)}
    coins |= set() if amount.initial is None else {amount.initial}
    return [games.presenter.move(action.id, each) for each in coins]


def press_any(games: PresentedGames, choice: int, number: int) -> None:
    """Do one of the actions other than leaving, with any number in its range."""
    offered = other_actions(games.table)
    action = offered[choice % len(offered)]
    amount = action.amount
    games.press(action.id, None if amount is None else amount.low + number % (amount.high - amount.low + 1))


@property_test(40, house_heads, choices, lambda room: st.booleans())
def test_the_actions_are_exactly_the_legal_messages(
    room: HouseRoom, head: Mapping[str, str], picks: list[tuple[int, int]], is_late: bool
) -> None:
    games = PresentedGames(room, head, is_late=is_late)
    for choice, number in picks:
        view = games.table
        check_table(view)
        legal = games.player.legal
        made = [message for action in other_actions(view) for message in messages_of(games, action)]
        if made == [TableCommand.REJOIN]:
            assert games.player.is_exhausted or games.purse is not None
        else:
            assert made, "our house answers at once"
            assert all(message in legal for message in made)
            kinds = {type(message) for message in games.player.FAREWELL_MESSAGES}
            with_amount = {type(message) for message in made if hasattr(message, "coins")}
            assert {message for message in legal if type(message) not in kinds | with_amount} <= {*made}
            assert {type(message) for message in legal} - kinds <= {type(message) for message in made}
        press_any(games, choice, number)


@property_test(40, house_heads, choices, lambda room: st.booleans())
def test_purse_score_and_results_are_those_of_the_house(
    room: HouseRoom, head: Mapping[str, str], picks: list[tuple[int, int]], is_late: bool
) -> None:
    games = PresentedGames(room, head, is_late=is_late)
    for choice, number in picks:
        press_any(games, choice, number)
        view = games.table
        count, total = len(games.nets), sum(games.nets)
        assert str(view.score) == f"{count} game{'' if count == 1 else 's'}, coins won: {total:+d}"
        assert [int(str(text).rpartition(": ")[2]) for text in view.results] == games.nets[-8:]
        if view.purse is not None:
            staked = view.seats[-1].bet if games.player.game is not None else 0
            assert view.purse + staked == games.purse


@property_test(40, house_heads, choices, lambda room: st.integers(0, 99).map(str))
def test_cards_that_the_person_has_not_seen_change_nothing(
    room: HouseRoom, head: Mapping[str, str], picks: list[tuple[int, int]], other_seed: str
) -> None:
    """As long as a house with other cards sends the same messages, the table is the same."""
    games, others = (PresentedGames(room, {**head, "seed": seed}, is_late=False) for seed in (head["seed"], other_seed))
    for choice, number in picks:
        assert games.table == others.table
        for each in (games, others):
            press_any(each, choice, number)
        if games.received != others.received:
            return
