"""Formatting of counts with their nouns: `1 game`, `2 games`."""


def format_count(number: int, singular: str) -> str:
    """A number with its noun; the plural adds an s.

    >>> format_count(1, "game"), format_count(1200, "game")
    ('1 game', '1,200 games')
    """
    return f"{number:,} {singular}{'' if number == 1 else 's'}"
