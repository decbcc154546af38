"""The presenter of seven and a half describes games in words, with the names of the document's cards."""

import pytest

from croupier.core.presentation import UnknownAction
from croupier.rooms.sevenhalf import ROOM
from croupier.rooms.sevenhalf.wire import BSTG, CARD, CLOSING, TIMED_OUT, Bksc, Erro, Gain, Stbt
from tests.presentation import Conversation, action_keys, announcements, captions


def started(bet: int = 100, purse: int | None = None) -> Conversation:
    """A conversation in which the person has drawn the 7 of oros."""
    talk = Conversation(ROOM, purse)
    assert action_keys(talk.table) == ["s start", "q leave"]
    talk.press("start")
    assert announcements(talk.hear(Stbt(bet))) == [f"You bet {bet}. Draw your first card."]
    talk.press("draw")
    assert announcements(talk.hear(CARD["7o"])) == ["You draw the 7 of oros."]
    return talk


def test_a_game_is_won_with_seven_and_a_half() -> None:
    talk = started()
    assert action_keys(talk.table) == ["d draw", "p pass", "a raise", "q leave"]
    talk.press("draw")
    assert captions(talk.hear(CARD["sc"])) == ["Bank: None", "You: 7½"]
    talk.press("pass")
    won = talk.hear_at_once(Bksc(("5e", "6e"), "11.0"), Gain(200))
    assert announcements(won) == ["The bank draws the 5 of espases, the 6 of espases.", "You win 200 coins."]
    assert [str(text) for text in won.results] == ["you 7½; bank 11, over; bet 100: +200"]
    assert (str(won.score), str(won.status)) == ("1 game, coins won: +200", "Between two games.")
    assert [[card.face for card in seat.cards] for seat in won.seats] == [["5e", "6e"], ["7o", "sc"]]


def test_too_much_loses_the_bet() -> None:
    talk = started(purse=1000)
    assert talk.table.purse == 900
    talk.press("draw")
    lost = talk.hear_at_once(CARD["4o"], BSTG, Bksc(("cc",), "00.5"), Gain(-100))
    assert announcements(lost) == [
        "You draw the 4 of oros.",
        "That is too much.",
        "The bank draws the cavall of copes.",
        "You lose 100 coins.",
    ]
    assert captions(lost) == ["Bank: ½", "You: 11, over"]
    assert lost.purse == 900


def test_after_a_raise_the_player_must_draw() -> None:
    talk = started()
    raised = talk.press("raise", 20)
    assert announcements(raised) == ["You raise by 20, to 120. Now you have to draw."]
    assert action_keys(raised) == ["d draw", "a raise", "q leave"]
    assert raised.seats[-1].bet == 120
    amount = raised.actions[1].amount
    assert amount is not None
    assert (amount.low, amount.high, amount.initial) == (1, 2**30 - 1 - 120, 100)
    assert [(str(name), coins) for name, coins in amount.presets] == [("Starting bet", 100), ("Double the bet", 120)]
    with pytest.raises(UnknownAction, match="found raise 0; allowed: 1 to"):
        talk.press("raise", 0)


def test_presets_with_the_same_number_are_offered_once() -> None:
    amount = started().table.actions[2].amount
    assert amount is not None
    assert [(str(name), coins) for name, coins in amount.presets] == [("Double the bet", 100)]


def test_a_raise_is_no_larger_than_the_purse() -> None:
    talk = started(purse=150)
    amount = talk.table.actions[2].amount
    assert amount is not None
    assert (amount.high, amount.presets, amount.initial) == (50, (), 50)
    assert action_keys(talk.press("raise", 50)) == ["d draw", "q leave"]


def test_a_refused_raise_is_quoted() -> None:
    talk = started()
    talk.press("raise", 100)
    refused = talk.hear(Erro("ANTE 100 refused; allowed: 1 to 50"))
    assert announcements(refused) == ["The house reports an error: ANTE 100 refused; allowed: 1 to 50."]
    assert (refused.seats[-1].bet, action_keys(refused)) == (100, ["d draw", "p pass", "a raise", "q leave"])


def test_error_texts_of_the_house_are_escaped() -> None:
    talk = started()
    talk.press("raise", 100)
    refused = talk.hear(Erro("\x1b[2Jÿ\n"))
    assert announcements(refused) == ["The house reports an error: \\x1b[2Jÿ\\n."]


def test_the_reason_of_a_closing_house_is_described() -> None:
    assert announcements(Conversation(ROOM).hear(TIMED_OUT))[-1] == "Your time is up (ERRO)."
    assert announcements(Conversation(ROOM).hear(CLOSING))[-1] == "The room closes (ERRO)."


def test_the_next_game_starts_on_a_new_connection_by_itself() -> None:
    talk = started()
    talk.press("pass")
    talk.hear(Bksc(("7e", "6e"), "13.0"), Gain(100))
    closed = talk.lose_connection()
    assert str(closed.status) == "The house has closed this table."
    assert action_keys(closed) == ["s rejoin", "q leave"]
    assert str(talk.sit().blocked) == "Waiting for the house."
    assert announcements(talk.hear(Stbt(100))) == ["You bet 100. Draw your first card."]
    assert str(talk.table.score) == "1 game, coins won: +100"
