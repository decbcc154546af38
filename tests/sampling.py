"""Parameters of tests: samples of them, the rest in other runs, and loops over them in one test."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from hypothesis import settings

FULL_EXAMPLES = settings.get_profile("default").max_examples


def example_count(number: int) -> int:
    """The number of examples of a random test: `number` in `make test-all`, fewer in `make test`."""
    return max(1, number * settings().max_examples // FULL_EXAMPLES)


def looped[T](
    cases: Iterable[T], name: Callable[[T], object] = str
) -> Callable[[Callable[[T], None]], Callable[[], None]]:
    """Make one test of a check that is quick: it checks every case, and a failure names its case."""

    def decorate(check: Callable[[T], None]) -> Callable[[], None]:
        def test() -> None:
            for case in found:
                try:
                    check(case)
                except BaseException as error:
                    error.add_note(f"the case is {name(case)}")
                    raise

        found = [*cases]
        test.__name__ = test.__qualname__ = check.__name__
        test.__doc__, test.__module__ = check.__doc__, check.__module__
        return test

    return decorate


def in_one_test(check: Callable[..., None]) -> Callable[[], None]:
    """Make one test of a quick check with many parameters (`pytest.mark.parametrize` below this decorator).

    A test costs more than such a check. A failure names its case.
    """
    rows: list[dict[str, object]] = [{}]
    for mark in check.pytestmark:  # type: ignore[attr-defined]  # parametrize adds it
        names, values = mark.args
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
        cases = [dict(zip(names, parameter_values(case, len(names)), strict=True)) for case in values]
        rows = [row | case for row in rows for case in cases]

    def check_case(row: dict[str, object]) -> None:
        check(**row)

    check_case.__name__, check_case.__doc__, check_case.__module__ = check.__name__, check.__doc__, check.__module__
    return looped(rows)(check_case)


def parameter_values(case: Any, count: int) -> Sequence[object]:
    """The values of a case of a parametrization by `count` names."""
    if isinstance(case, type(pytest.param())):
        assert not case.marks, "all cases are one test"
        return case.values
    return [case] if count == 1 else case


def sampled(cases: Iterable[object], of: int, *, first_of: int = 1) -> list[object]:
    """Keep every `of`-th case for `make test-all`, every `first_of`-th of these for `make test`; the rest is slow."""

    def mark(number: int) -> pytest.MarkDecorator:
        return pytest.mark.extended if number % of == 0 else pytest.mark.slow

    return [
        case if number % (of * first_of) == 0 else pytest.param(*_values(case), marks=mark(number))
        for number, case in enumerate(cases)
    ]


def extended(cases: Iterable[object], of: int) -> list[object]:
    """Keep every `of`-th case for `make test`, and mark the others as extended: `make test-all` runs them."""
    return [
        case if number % of == 0 else pytest.param(*_values(case), marks=pytest.mark.extended)
        for number, case in enumerate(cases)
    ]


def one_for_each[T](
    cases: Iterable[T], clauses: Callable[[T], Iterable[str]], of: int, *, first_of: int = 1
) -> list[object]:
    """Keep the first case of each clause for `make test-all`, and every `first_of`-th of these for `make test`.

    Of the others, every `of`-th is extended, too, and the rest is slow (`make fuzz`).
    """
    found: list[object] = []
    shown: set[str] = set()
    first_count = 0
    for number, case in enumerate(cases):
        own = {*clauses(case)}
        is_first = bool(own - shown)
        is_quick = is_first and first_count % first_of == 0
        mark = pytest.mark.extended if is_first or number % of == 0 else pytest.mark.slow
        found.append(pytest.param(*_values(case), marks=() if is_quick else mark))
        first_count += is_first
        shown |= own
    return found


def _values(case: object) -> tuple[object, ...]:
    """The values of a case; a named tuple is a single value."""
    return case if type(case) is tuple else (case,)
