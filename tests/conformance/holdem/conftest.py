"""Fixtures of the tests of the hold'em tester."""

import pytest

from croupier.conformance.holdem import walks

ENOUGH_SECONDS = 120.0


@pytest.fixture(autouse=True)
def whole_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all walks run, however busy the machine is."""
    monkeypatch.setattr(walks, "MAX_WALK_SECONDS", ENOUGH_SECONDS)
