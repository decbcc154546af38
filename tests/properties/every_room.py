"""How a law is stated: once, for every room there is and every room to come."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy, tuples

from croupier.core.room import HouseRoom
from croupier.rooms import HOUSE_ROOMS

every_room = pytest.mark.parametrize("room", HOUSE_ROOMS.values(), ids=HOUSE_ROOMS)

type Draw = Callable[[HouseRoom], SearchStrategy[Any]]


def law(examples: int, *draws: Draw) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a test of what holds in a room for all that is drawn, in so many examples (slow: 100 times as many)."""

    def state(holds: Callable[..., None]) -> Callable[..., None]:
        @pytest.mark.parametrize("times", [1, pytest.param(100, marks=pytest.mark.slow)], ids=["quick", "soak"])
        @every_room
        def test(room: HouseRoom, times: int) -> None:
            @settings(max_examples=examples * times, deadline=None)
            @given(tuples(*(draw(room) for draw in draws)))
            def example(drawn: tuple[Any, ...]) -> None:
                holds(room, *drawn)

            example()

        test.__name__ = test.__qualname__ = holds.__name__
        test.__module__ = holds.__module__
        return test

    return state
