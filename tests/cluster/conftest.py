"""Fixtures of the tests of clusters."""

from collections.abc import Iterator

import pytest

from tests.conformance.mutants.simulated_time import SimulatedTimeLoop
from tests.net.raw_client import Run


@pytest.fixture
def run_simulated() -> Iterator[Run]:
    """Runs a coroutine in simulated time: no lease of a node lapses because the machine is busy."""
    running = Run(SimulatedTimeLoop)
    yield running
    assert running.faults == [], "the event loop reported errors"
