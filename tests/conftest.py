"""Laws are tried without a stop-watch: a slow machine is no failure. No test finds what another one has kept."""

import signal
from itertools import count

import pytest
from hypothesis import settings

# Whoever is begun behind a shell's back has SIGINT ignored, and so would have all whom the tests start, and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

NUMBERS = count()


@pytest.fixture(autouse=True)
def nothing_kept(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A room that is not told where it is kept finds nothing there."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.getbasetemp() / f"data-{next(NUMBERS)}"))
