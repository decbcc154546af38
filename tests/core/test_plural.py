"""Formatting of counts."""

import pytest

from croupier.core.plural import format_count


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 games"), (1, "1 game"), (2, "2 games"), (1000, "1,000 games")], ids=str
)
def test_count_of_one_has_the_singular(number: int, text: str) -> None:
    assert format_count(number, "game") == text
