"""Tests of the switchboard run on both loops, and fail when a loop was told of an error that they did not expect."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from tests.shell.callers import LOOPS, Run


@pytest.fixture(params=LOOPS.values(), ids=LOOPS.keys())
def loop_factory(request: pytest.FixtureRequest) -> Callable[[], asyncio.AbstractEventLoop]:
    return request.param


@pytest.fixture
def run(loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> Iterator[Run]:
    running = Run(loop_factory)
    yield running
    assert running.faults == [], "the loop was told of errors"
