"""Numbers of things, for people."""

import pytest

from croupier.core.plural import format_count


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0 games"), (1, "1 game"), (2, "2 games"), (1000, "1,000 games")], ids=str
)
def test_one_thing_is_told_in_the_singular(number: int, told: str) -> None:
    assert format_count(number, "game") == told


def test_a_plural_may_be_given() -> None:
    assert [format_count(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]
