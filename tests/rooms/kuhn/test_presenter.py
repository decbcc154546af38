"""The presenter of Kuhn poker describes games in words, and its actions are exactly the legal messages."""

from croupier.core.presentation import TableCommand, TableView
from croupier.core.referee import HOUSE
from croupier.core.session import Joined, Received, Submitted
from croupier.rooms.kuhn.player import Player
from croupier.rooms.kuhn.presenter import KuhnPresenter
from croupier.rooms.kuhn.wire import ACTN, CARD, NO_COINS, Message


class Conversation:
    """A person at a table of Kuhn poker whose house is the test."""

    def __init__(self) -> None:
        self.player = Player()
        self.presenter = KuhnPresenter(initial_purse=10)
        self.player.on(Joined(HOUSE, None), 0.0)
        self.presenter.sit(self.player)

    def press(self, action: str) -> TableView:
        """Do an action of the view."""
        message = self.presenter.move(action)
        assert not isinstance(message, TableCommand)
        self.player.on(Submitted(message), 0.0)
        self.presenter.sent(message)
        return self.table

    def hear(self, *messages: Message) -> TableView:
        """Receive messages of the house."""
        for message in messages:
            self.player.on(Received(HOUSE, message), 0.0)
            self.presenter.received(message)
        return self.table

    @property
    def table(self) -> TableView:
        return self.presenter.table(0.0)


def actions(view: TableView) -> list[str]:
    return [f"{action.key} {action.id}" for action in view.actions]


def announcements(view: TableView) -> list[str]:
    return [str(text) for text in view.announcements]


def test_a_showdown_is_told_from_the_deal_to_the_result() -> None:
    talk = Conversation()
    assert actions(talk.table) == ["1 first", "2 second", "q leave"]

    waiting = talk.press("second")
    assert str(waiting.blocked) == "Waiting for the house."
    assert actions(waiting) == ["q leave"]

    bet = talk.hear(CARD["K"], ACTN["BET"])
    assert announcements(bet) == ["You are dealt the king.", "The house bets a coin."]
    assert actions(bet) == ["c call", "f fold", "q leave"]
    assert [(str(seat.name), seat.bet, seat.status, seat.cards[0].face) for seat in bet.seats] == [
        ("House", 2, "", None),
        ("You", 1, "to act", "K"),
    ]
    assert (bet.pots, bet.purse, bet.blocked) == ((3,), 9, None)

    talk.press("call")
    won = talk.hear(CARD["Q"])
    assert announcements(won) == ["The house shows the queen.", "You win 2 coins."]
    assert [str(text) for text in won.results] == ["the king against the queen: +2"]
    assert (won.purse, str(won.score)) == (12, "1 game, coins won: +2")


def test_a_fold_ends_the_game_at_once() -> None:
    talk = Conversation()
    talk.press("second")
    talk.hear(CARD["J"], ACTN["BET"])
    folded = talk.press("fold")
    assert announcements(folded) == ["You lose 1 coin."]
    assert [seat.status for seat in folded.seats] == ["", "folded"]
    assert [str(text) for text in folded.results] == ["the jack, no showdown: -1"]


def test_an_empty_purse_offers_a_new_one() -> None:
    talk = Conversation()
    talk.press("first")
    refused = talk.hear(NO_COINS)
    assert announcements(refused) == ["Refused (N_C): your purse has no coin left for the ante (kuhn-7.2)."]
    assert actions(refused) == ["n rejoin", "q leave"]
    assert talk.presenter.move("rejoin") is TableCommand.REJOIN
    talk.presenter.sit(Player())
    assert announcements(talk.table) == ["Welcome. Choose your seat: P_1 acts first."]
