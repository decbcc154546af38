"""A game as a story: what has happened, step by step, and how the table looked then."""

from collections.abc import Sequence
from typing import NamedTuple


class ReplayStep(NamedTuple):
    """Something that has happened, in words, and the lines in which the table is shown after it."""

    text: str
    table_lines: Sequence[str] = ()


class GameReplay(NamedTuple):
    """A game, or several. `title` says which."""

    title: str
    steps: Sequence[ReplayStep]


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of words as lines whose words stand below each other; those of digits to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        words = zip(row, widths, strict=True)
        lines.append("  ".join(word.rjust(width) if word.isdecimal() else word.ljust(width) for word, width in words))
    return [line.rstrip() for line in lines]
