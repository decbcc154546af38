"""The presenter of Kuhn poker describes games in words, and its actions are exactly the legal messages."""

from croupier.core.presentation import PotView, TableCommand
from croupier.rooms.kuhn import ROOM
from croupier.rooms.kuhn.wire import ACTN, CARD, NO_COINS
from tests.presentation import Conversation, action_keys, announcements


def test_a_showdown_is_described_from_the_deal_to_the_result() -> None:
    talk = Conversation(ROOM, purse=10)
    assert action_keys(talk.table) == ["1 first", "2 second", "q leave"]

    waiting = talk.press("second")
    assert str(waiting.blocked) == "Waiting for the house."
    assert action_keys(waiting) == ["q leave"]

    bet = talk.hear_at_once(CARD["K"], ACTN["BET"])
    assert announcements(bet) == ["You are dealt the king.", "The house bets a coin."]
    assert action_keys(bet) == ["c call", "f fold", "q leave"]
    assert str(bet.actions[-1].help) == "ends the session, and you lose what you have bet"
    assert [(str(seat.name), seat.bet, seat.status, seat.cards[0].face) for seat in bet.seats] == [
        ("House", 2, "", None),
        ("You", 1, "to act", "K"),
    ]
    assert (bet.pots, bet.purse, bet.blocked) == ((PotView(3),), 9, None)

    talk.press("call")
    won = talk.hear(CARD["Q"])
    assert announcements(won) == ["The house shows the queen.", "You win 2 coins."]
    assert [str(text) for text in won.results] == ["the king against the queen: +2"]
    assert (won.purse, str(won.score)) == (12, "1 game, coins won: +2")


def test_a_house_that_checks_behind_shows_its_card() -> None:
    talk = Conversation(ROOM)
    talk.press("first")
    talk.hear(CARD["J"])
    talk.press("check")
    assert announcements(talk.hear(CARD["K"])) == ["The house shows the king.", "You lose 1 coin."]


def test_a_fold_ends_the_game_at_once() -> None:
    talk = Conversation(ROOM, purse=10)
    talk.press("second")
    talk.hear(CARD["J"], ACTN["BET"])
    folded = talk.press("fold")
    assert announcements(folded) == ["You lose 1 coin."]
    assert [seat.status for seat in folded.seats] == ["", "folded"]
    assert [str(text) for text in folded.results] == ["the jack, no showdown: -1"]
    assert str(folded.actions[-1].help) == "ends the session"


def test_an_empty_purse_offers_a_new_one() -> None:
    talk = Conversation(ROOM, purse=0)
    talk.press("first")
    refused = talk.hear(NO_COINS)
    assert announcements(refused) == ["Refused (N_C): your purse has no coin left for the ante (kuhn-7.2)."]
    assert action_keys(refused) == ["n rejoin", "q leave"]
    assert talk.presenter.move("rejoin") is TableCommand.REJOIN
    assert announcements(talk.sit()) == ["Welcome. Choose your seat: P_1 acts first."]
