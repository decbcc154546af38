"""Wrong values of cards explain the answers of a house that counts like this, and no others."""

import asyncio
from unittest.mock import Mock

import pytest

from croupier.conformance.channel.delivery import WHOLE
from croupier.conformance.conversation import DialogueLine
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.results import Failure, Outcome
from croupier.conformance.servers.blackjack_values import READINGS
from croupier.conformance.servers.conversing import Conversations
from croupier.conformance.servers.experiments import Experiments
from croupier.conformance.suite import Attempt, Config, find_suite
from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.blackjack import ROOM
from croupier.rooms.blackjack.wire import CRD, MOV, TRN, Bet, Message, Res

RIGHT = "counts every card rightly"


def explaining(*messages: Message) -> set[str]:
    """The readings, without "it", that explain a round with a bet of 10."""
    lines = lines_of(*messages)
    return {reading.title.removeprefix("it ") for reading in READINGS if reading.explains(lines)}


def lines_of(*messages: Message) -> list[DialogueLine]:
    """The lines of a round with a bet of 10."""
    said = [Bet(10), *messages]
    return [
        DialogueLine(CLIENT if message in {*MOV.values(), said[0]} else HOUSE, b"", message, 0.0) for message in said
    ]


def dealt(*cards: str) -> list[Message]:
    """The deal of these cards, the last one to the bank."""
    *client, bank = cards
    return [*(CRD["C"][card] for card in client), CRD["S"][bank], TRN]


def test_a_bank_that_stops_too_early_counts_a_figure_too_high() -> None:
    found = explaining(*dealt("9H", "8S", "6D"), MOV["S"], CRD["S"]["JH"], Res("W", 20))
    alike = {
        f"counts {ranks} as {value}" for ranks in ("J", "J, Q, K", "T, J, Q, K") for value in ("11", "more than 21")
    }
    assert found == {*alike, "counts J, Q and K as 11, 12 and 13"}
    assert RIGHT not in found


@pytest.mark.parametrize(
    ("result", "ace"),
    [(Res("L", 0), "counts every ace as 11"), (TRN, RIGHT), (Res("W", 20), "counts T, J, Q, K as 11")],
)
def test_an_ace_after_a_hit_shows_how_aces_are_counted(result: Message, ace: str) -> None:
    found = explaining(*dealt("9H", "TS", "6D"), MOV["H"], CRD["C"]["AH"], result)
    assert ace in found
    assert (RIGHT in found) == (ace == RIGHT)


def test_a_misreading_that_was_found_explains_later_failures_without_another_experiment() -> None:
    data = find_suite(ROOM, "server").test_data
    conversations = Conversations(data, Mock(), Config())
    conversations.misreading = next(each for each in READINGS if each.title == "it counts every ace as 11")
    experiments = Experiments(data, conversations, Mock(), Config(), has_time=lambda: False)
    lines = lines_of(*dealt("9H", "TS", "QD"), MOV["S"], CRD["S"]["2H"], CRD["S"]["AC"], Res("W", 20))
    failure = Failure("blackjack-3.8", "CRD S and a card", "RES W 20", cause=Cause("it leaves out CRD"))
    attempt = Attempt(Outcome.FAIL, failure=failure, dialogue=lines)
    found = asyncio.run(experiments.explain("blackjack-2.7", WHOLE, attempt, Mock()))
    assert found.failure is not None
    assert (found.failure.clause, str(found.failure.cause)) == ("blackjack-3.2", "it counts every ace as 11")


def test_a_right_round_with_an_ace_refutes_the_other_values_of_aces() -> None:
    found = explaining(*dealt("9H", "8S", "AD"), MOV["S"], CRD["S"]["6H"], Res("W", 20))
    assert RIGHT in found
    assert "counts every ace as 1" not in found
    assert "counts every ace as 11" in found, "it is the same here"


def test_a_hand_of_three_aces_shows_that_only_one_of_them_is_counted_as_1() -> None:
    aces = [*dealt("AH", "AD", "6D"), MOV["H"], CRD["C"]["5C"], TRN, MOV["H"], CRD["C"]["AS"], Res("L", 0)]
    assert explaining(*aces) == {"counts only one ace of a hand as 1, and the others as 11"}


def test_a_bank_may_count_its_own_aces_wrongly_and_those_of_the_client_rightly() -> None:
    wrong = [*dealt("9H", "8S", "9D"), MOV["S"], CRD["S"]["6H"], CRD["S"]["AH"], Res("W", 20)]
    assert "counts every ace as 11, in the bank's hand only" in explaining(*wrong)
    right = [*dealt("9H", "5S", "9D"), MOV["H"], CRD["C"]["AH"], TRN, *wrong[4:]]
    assert explaining(*right) == {"counts every ace as 11, in the bank's hand only"}


def test_a_single_card_may_count_more_than_21() -> None:
    """Such is the letter T whose code is taken for that of a digit."""
    wrong = [*dealt("9H", "8S", "TD"), MOV["S"], Res("W", 20)]
    assert explaining(*wrong) == {"counts T as more than 21", "counts T, J, Q, K as more than 21"}


def test_an_amount_that_no_value_explains_is_explained_by_none() -> None:
    assert explaining(*dealt("9H", "8S", "TD"), MOV["S"], CRD["S"]["7H"], Res("W", 15)) == set()
