"""Transcripts are replayed with the blinds and stacks of the server under test."""

import pytest

from croupier.conformance.holdem.chips import scale, scale_text
from croupier.rooms.holdem.engine.stakes import STAKES, Stakes


@pytest.mark.parametrize(("chips", "scaled"), [(20, 10), (9990, 995), (10_000, 1000), (20_000, 2000), (10**30, 10**30)])
def test_stacks_stay_stacks_and_the_rest_is_counted_in_blinds(chips: int, scaled: int) -> None:
    assert scale(chips, Stakes(5, 10), 1000) == scaled


@pytest.mark.parametrize(
    ("chips", "stakes", "stack"), [(25, Stakes(5, 10), 1000), (300, STAKES, 500), (20, Stakes(5, 20), 500)]
)
def test_amounts_that_are_not_possible_are_not_scaled(chips: int, stakes: Stakes, stack: int) -> None:
    assert scale(chips, stakes, stack) is None


def test_all_amounts_of_a_line_are_scaled() -> None:
    line = 'POST /acts/ {"action": 1, "bet_amount": 40, "betAmount": 9980}'
    assert (
        scale_text(line, Stakes(50, 100), 50_000) == 'POST /acts/ {"action": 1, "bet_amount": 200, "betAmount": 49900}'
    )
    assert scale_text(line, Stakes(1, 3), 50_000) is None


def test_an_odd_chip_does_not_grow_with_the_blinds() -> None:
    assert scale(10_031, Stakes(50, 100), 10_000) is None
    assert scale(10_030, Stakes(50, 100), 10_000) == 10_150
