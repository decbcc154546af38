"""Delta debugging keeps just what is needed to show a fault."""

import asyncio
from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from croupier.conformance.shrink import ddmin


def shortest(
    parts: Sequence[int],
    shows: Callable[[Sequence[int]], bool],
    enough: Callable[[Sequence[int]], bool] = lambda _: False,
) -> tuple[Sequence[int], int]:
    """What is found, and in how many tries."""
    tries = 0

    async def again(rest: Sequence[int]) -> Sequence[int] | None:
        nonlocal tries
        tries += 1
        return rest if shows(rest) else None

    found = asyncio.run(ddmin(parts, lambda found: found, again, enough))
    return found, tries


@given(st.lists(st.integers(0, 5), max_size=40), st.data())
def test_what_is_needed_stays_and_all_else_is_left_out(parts: list[int], data: st.DataObject) -> None:
    kept = sorted(data.draw(st.sets(st.integers(0, len(parts) - 1)))) if parts else []
    needed = [(place, parts[place]) for place in kept]
    places = [*enumerate(parts)]

    async def again(rest: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]] | None:
        return rest if {*needed} <= {*rest} else None

    found: Sequence[tuple[int, int]] = places
    found = asyncio.run(ddmin(found, lambda found: found, again))
    assert [*found] == needed


def test_it_takes_few_tries() -> None:
    found, tries = shortest([*9 * [0], 1, *5 * [0], 2, 0], lambda rest: [part for part in rest if part] == [1, 2])
    assert [*found] == [1, 2]
    assert tries < 40


def test_what_does_not_show_again_is_left_as_it_was() -> None:
    assert shortest([1, 2, 3], lambda _: False)[0] == [1, 2, 3]


def test_it_ends_where_it_is_short_enough() -> None:
    needed = {*range(10)}
    found, tries = shortest([*range(64)], lambda rest: needed <= {*rest}, lambda rest: len(rest) <= 16)
    assert needed < {*found}
    assert len(found) == 16
    assert tries < 10
