"""Fixtures of the tests of the web app."""

import pytest

from croupier.web import tournament_routes
from tests.web.folder_follower import follow_promptly


@pytest.fixture
def prompt_follower(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process that follows a tournament have the priority of the tests."""
    monkeypatch.setattr(tournament_routes, "follow_folder", follow_promptly)
