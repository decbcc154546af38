"""The presenter of blackjack describes rounds in words, and its purse is the balance of the house."""

import pytest

from croupier.core.presentation import Amount, TableCommand, TableView, UnknownAction, verbatim
from croupier.rooms.blackjack import ROOM
from croupier.rooms.blackjack.wire import CRD, ERRORS, LEAVING, NO_COINS, STP, TRN, Mon, Res
from tests.presentation import Conversation, action_keys, announcements, captions

DEAL = (CRD["C"]["8S"], CRD["C"]["TH"], CRD["S"]["9C"], TRN)


def bet_amount(view: TableView) -> Amount:
    assert view.actions[0].amount is not None
    return view.actions[0].amount


def dealt(bet: int = 10) -> Conversation:
    """A conversation in which the person has 18 against the bank's 9."""
    talk = Conversation(ROOM)
    assert action_keys(talk.table) == ["p play", "q leave"]
    talk.press("play")
    betting = talk.hear(Mon(1000))
    assert announcements(betting) == ["You have 1000 coins. How much do you bet?"]
    assert (action_keys(betting), betting.status) == (["b bet", "q leave"], None), "the announcement asks already"
    assert (bet_amount(betting).low, bet_amount(betting).high, bet_amount(betting).initial) == (1, 1000, 10)
    assert talk.press("bet", bet).purse == 1000 - bet
    talk.hear_at_once(*DEAL)
    return talk


def test_a_round_is_won() -> None:
    talk = dealt()
    view = talk.table
    assert announcements(view) == [
        "You get the 8 of spades.",
        "You get the 10 of hearts.",
        "The bank gets the 9 of clubs.",
    ]
    assert captions(view) == ["Bank: 9", "You: 18"]
    assert [seat.status for seat in view.seats] == ["", "to act"]
    assert action_keys(view) == ["h hit", "s stand", "r surrender", "q leave"]
    assert (view.purse, view.seats[1].bet) == (990, 10)
    talk.press("stand")
    won = talk.hear_at_once(CRD["S"]["8D"], Res("W", 20))
    assert announcements(won) == ["The bank gets the 8 of diamonds.", "You win 10 coins."]
    assert [str(text) for text in won.results] == ["you 18; bank 17; bet 10: +10"]
    assert (won.purse, str(won.score)) == (1010, "1 game, coins won: +10")


def test_totals_are_soft_or_over() -> None:
    talk = Conversation(ROOM)
    talk.press("play")
    talk.hear(Mon(1000))
    talk.press("bet", 7)
    soft = talk.hear_at_once(CRD["C"]["AS"], CRD["C"]["6H"], CRD["S"]["TC"], TRN)
    assert captions(soft) == ["Bank: 10", "You: 17, soft"]
    talk.press("hit")
    talk.hear_at_once(CRD["C"]["9H"], TRN)
    talk.press("hit")
    over = talk.hear_at_once(CRD["C"]["TD"], Res("L", 0))
    assert captions(over) == ["Bank: 10", "You: 26, over"]
    assert announcements(over) == ["You get the 10 of diamonds.", "You lose 7 coins."]


def test_the_last_bet_becomes_the_initial_one() -> None:
    talk = dealt(25)
    talk.press("surrender")
    lost = talk.hear(Res("L", 12))
    assert (announcements(lost), lost.purse) == (["You lose 13 coins."], 987)
    talk.press("play")
    amount = bet_amount(talk.hear(Mon(987)))
    assert (amount.initial, amount.presets[0][1], amount.presets[1][1]) == (25, 493, 987)
    for bet in (0, 988):
        with pytest.raises(UnknownAction, match=f"found bet {bet}; allowed: 1 to 987"):
            talk.press("bet", bet)


@pytest.mark.parametrize(
    ("coins", "reason"), [(0, "Your purse is empty."), (2**31 - 1, "Your purse is too full for another bet.")]
)
def test_a_purse_that_allows_no_bet_can_be_replaced(coins: int, reason: str) -> None:
    talk = Conversation(ROOM)
    talk.press("play")
    view = talk.hear(Mon(coins))
    assert (announcements(view), str(view.status)) == ([reason], reason)
    assert action_keys(view) == ["n rejoin", "q leave"]
    assert talk.presenter.move("rejoin") is TableCommand.REJOIN


def test_a_purse_is_empty_as_soon_as_the_last_coins_are_lost() -> None:
    talk = dealt(1000)
    assert action_keys(talk.table) == ["h hit", "s stand", "r surrender", "q leave"]
    talk.press("stand")
    lost = talk.hear_at_once(CRD["S"]["TS"], Res("L", 0))
    assert (lost.purse, action_keys(lost)) == (0, ["n rejoin", "q leave"])
    assert action_keys(talk.sit()) == ["p play", "q leave"]


def test_an_unfinished_round_costs_the_bet_only() -> None:
    talk = dealt(300)
    talk.hear(LEAVING, STP)
    talk.presenter.ended(verbatim("The house has closed the connection."))
    view = talk.table
    assert announcements(view)[-3:] == [
        "The house reports ERR 300: it is about to close the connection.",
        "The house ends the session (STP).",
        "The game is not finished. What you have bet in it is lost, unless the house has stopped it.",
    ]
    assert (str(view.status), view.purse, view.actions) == ("The house has closed the connection.", 700, ())


def test_errors_and_the_goodbye_are_described() -> None:
    talk = Conversation(ROOM)
    assert announcements(talk.hear(LEAVING, STP))[1:] == [
        "The house reports ERR 300: it is about to close the connection.",
        "The house ends the session (STP).",
    ]
    assert announcements(Conversation(ROOM).hear(NO_COINS))[1:] == [
        "The house reports ERR 400: the bet cannot be paid."
    ]
    for error in ERRORS:
        Conversation(ROOM).hear(error)
