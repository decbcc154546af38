"""Laws are tried without a stop-watch: a slow machine is no failure. No test finds what another one has kept."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from itertools import count

import pytest
from hypothesis import settings

from tests.net.raw_client import LOOPS, Run

# A background job of a shell has SIGINT ignored, and one under nohup SIGHUP; what the tests start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

NUMBERS = count()


@pytest.fixture(autouse=True)
def nothing_kept(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A room that is not told where it is kept finds nothing there."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.getbasetemp() / f"data-{next(NUMBERS)}"))


@pytest.fixture(params=LOOPS.values(), ids=LOOPS.keys())
def loop_factory(request: pytest.FixtureRequest) -> Callable[[], asyncio.AbstractEventLoop]:
    return request.param


@pytest.fixture
def run(loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> Iterator[Run]:
    running = Run(loop_factory)
    yield running
    assert running.faults == [], "the loop was told of errors"
