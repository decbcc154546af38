"""Some of many cases in every run, all of them in the long one."""

from collections.abc import Iterable

import pytest


def sampled(cases: Iterable[object], of: int) -> list[object]:
    """One of so many cases as it is; the others are slow."""
    return [
        case if number % of == 0 else pytest.param(*_values(case), marks=pytest.mark.slow)
        for number, case in enumerate(cases)
    ]


def _values(case: object) -> tuple[object, ...]:
    """The values of a case with several of them; a named tuple is one value."""
    return case if type(case) is tuple else (case,)
