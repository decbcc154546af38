"""Sampling of parameters: some cases in every run, all of them in slow runs."""

from collections.abc import Iterable

import pytest


def sampled(cases: Iterable[object], of: int) -> list[object]:
    """Keep every `of`-th case, and mark the others as slow."""
    return [
        case if number % of == 0 else pytest.param(*_values(case), marks=pytest.mark.slow)
        for number, case in enumerate(cases)
    ]


def _values(case: object) -> tuple[object, ...]:
    """The values of a case; a named tuple is a single value."""
    return case if type(case) is tuple else (case,)
