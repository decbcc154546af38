"""Wrong values of figures explain the answers of a house that counts like this, and no others."""

import pytest

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.servers.sevenhalf_values import READINGS
from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.sevenhalf.wire import BSTG, CARD, DRAW, PASS, Ante, Bksc, Gain, Message, Stbt

RIGHT = "counts every card rightly"


def explaining(*messages: Message) -> set[str]:
    """The readings, without "it", that explain a game with a starting bet of 100."""
    said = [Stbt(100), *messages]
    lines = [
        DialogueLine(CLIENT if message in {DRAW, PASS} or isinstance(message, Ante) else HOUSE, b"", message, 0.0)
        for message in said
    ]
    return {reading.title.removeprefix("it ") for reading in READINGS if reading.explains(lines)}


@pytest.mark.parametrize(
    ("bank", "reading"),
    [
        (Bksc(("5o", "re"), "05.5"), RIGHT),
        (Bksc(("5o", "re"), "06.0"), "counts r as 1"),
        (Bksc(("5o", "re"), "17.0"), "counts s, c, r as 10 and more"),
    ],
)
def test_the_score_of_the_bank_shows_what_it_counts(bank: Bksc, reading: str) -> None:
    is_over = bank.score == "17.0"
    found = explaining(DRAW, CARD["4c"], Ante(10), DRAW, CARD["1e"], PASS, bank, Gain(110 if is_over else -110))
    assert reading in found
    assert (RIGHT in found) == (reading == RIGHT)


def test_scores_without_their_half_are_no_figures_that_count_nothing() -> None:
    game = (DRAW, CARD["4c"], PASS)
    readings = {"cuts off the half of a score", "counts s, c, r as 0"}
    assert readings & explaining(*game, Bksc(("re", "5o"), "05.0"), Gain(-100)) == readings
    other = explaining(*game, Bksc(("re", "so", "5o"), "06.0"), Gain(-100))
    assert readings & other == {"cuts off the half of a score"}


def test_a_client_that_is_over_too_early_has_a_figure_that_counts_too_much() -> None:
    end = [BSTG, Bksc(("7o",), "07.0"), Gain(-100)]
    assert "counts s as 4" in explaining(DRAW, CARD["4c"], DRAW, CARD["so"], *end)
    assert RIGHT in explaining(DRAW, CARD["4c"], DRAW, CARD["5o"], *end)
    assert "counts s as 4" not in explaining(DRAW, CARD["4c"], DRAW, CARD["so"], DRAW, CARD["1e"])


def test_a_client_that_is_not_over_has_a_suit_that_counts_as_a_figure() -> None:
    found = explaining(DRAW, CARD["7c"], DRAW, CARD["2e"], PASS, Bksc(("3o",), "03.0"), Gain(-100))
    assert found == {"counts all copes as 0.5, like the cavalls: both are a c"}


def test_a_bank_that_stands_too_early_is_explained_by_no_figure_that_was_not_dealt() -> None:
    assert explaining(DRAW, CARD["6c"], PASS, Bksc(("5o",), "05.0"), Gain(100)) == set()
