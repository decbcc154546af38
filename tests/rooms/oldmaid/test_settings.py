"""Settings of an Old Maid table."""

from typing import Any

import pytest

from croupier.rooms.oldmaid.house import House
from croupier.rooms.oldmaid.settings import Settings
from tests.rooms.oldmaid.tables import TableHarness


def test_default_settings_are_those_of_the_protocol() -> None:
    """oldmaid-3.10, oldmaid-3.11, oldmaid-6.10"""
    assert Settings() == Settings(players=4, join_window=10.0, stuck_seconds=120.0, dialect="document")
    Settings().check()


@pytest.mark.parametrize(
    "wrong",
    [
        {"players": 1},
        {"players": 9},
        {"join_window": -0.1},
        {"join_window": float("nan")},
        {"join_window": float("inf")},
        {"stuck_seconds": 0.0},
        {"stuck_seconds": float("nan")},
        {"stuck_seconds": float("inf")},
    ],
    ids=repr,
)
def test_invalid_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^found .*; allowed: "):
        Settings(**wrong).check()
    with pytest.raises(ValueError, match=r"^found .*; allowed: "):
        TableHarness(**wrong)


@pytest.mark.parametrize("right", [{"players": 2}, {"players": 8}, {"join_window": 0.0}, {"stuck_seconds": 0.001}])
def test_the_least_and_the_most_are_allowed(right: dict[str, Any]) -> None:
    assert isinstance(TableHarness(**right).house, House)
