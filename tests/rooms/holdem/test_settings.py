"""Tests of the settings of a hold'em house and their validation."""

from typing import Any

import pytest

from croupier.rooms.holdem import Settings, Stakes
from tests.sampling import in_one_test


def test_default_settings_are_those_of_the_document() -> None:
    """holdem-3.1, holdem-4.15, holdem-6.3, holdem-6.17"""
    settings = Settings()
    assert (settings.stakes, settings.stack, settings.seats) == (Stakes(10, 20), 10_000, 10)
    assert (settings.turn_seconds, settings.pause_seconds) == (15.0, 0.0)
    assert (settings.ante, settings.straddle, settings.dialect) == (0, 0, "readme")


@pytest.mark.parametrize(
    ("blinds", "forced"), [("0/1", (0, 1)), ("1/2", (1, 2)), ("5/5", (5, 5)), ("1000000000000/1000000000000", None)]
)
def test_blinds_are_two_amounts(blinds: str, forced: tuple[int, int] | None) -> None:
    assert Settings(blinds=blinds).stakes == Stakes(*(forced or (10**12, 10**12)))


@in_one_test
@pytest.mark.parametrize(
    "wrong",
    [
        {"blinds": ""},
        {"blinds": "10"},
        {"blinds": "10/"},
        {"blinds": "/20"},
        {"blinds": "20/10"},
        {"blinds": "0/0"},
        {"blinds": "-10/20"},
        {"blinds": "10/20/40"},
        {"blinds": "1.5/3"},
        {"blinds": "٣/٤"},  # digits that are not ASCII
        {"blinds": "10/" + "9" * 5000},
        {"stack": 0},
        {"stack": -1},
        {"stack": 10**12 + 1},
        {"seats": 1},
        {"seats": 11},
        {"ante": -1},
        {"straddle": 39},
        {"straddle": -40},
        {"straddle": 10**13},
        {"turn_seconds": 0.0},
        {"turn_seconds": float("nan")},
        {"turn_seconds": float("inf")},
        {"pause_seconds": -1.0},
        {"pause_seconds": float("inf")},
        {"games": 0},
        {"history": -1},
        {"requests_per_minute": 0},
    ],
    ids=repr,
)
def test_invalid_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^found .*; allowed: "):
        Settings(**wrong).check()
