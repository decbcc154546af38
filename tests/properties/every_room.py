"""Decorators for tests that run for every house room."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy, tuples

from croupier.core.room import HouseRoom
from croupier.rooms import HOUSE_ROOMS
from tests.sampling import example_count

every_room = pytest.mark.parametrize("room", HOUSE_ROOMS.values(), ids=HOUSE_ROOMS)

type Draw = Callable[[HouseRoom], SearchStrategy[Any]]


def property_test(examples: int, *draws: Draw) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a Hypothesis test of `check(room, *drawn)` for every room, with this many examples (slow: times 100)."""

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        @pytest.mark.hypothesis
        @pytest.mark.parametrize("times", [1, pytest.param(100, marks=pytest.mark.slow)], ids=["quick", "soak"])
        @every_room
        def test(room: HouseRoom, times: int) -> None:
            @settings(max_examples=example_count(examples) * times, deadline=None)
            @given(tuples(*(draw(room) for draw in draws)))
            def example(drawn: tuple[Any, ...]) -> None:
                check(room, *drawn)

            example()

        test.__name__ = test.__qualname__ = check.__name__
        test.__module__ = check.__module__
        return test

    return decorate
