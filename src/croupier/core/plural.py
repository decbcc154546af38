"""Formatting of counts with their nouns: `1 game`, `2 games`."""


def format_count(number: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun; the plural adds an s unless `plural` is given.

    >>> format_count(1, "game"), format_count(1200, "match", "matches")
    ('1 game', '1,200 matches')
    """
    return f"{number:,} {singular if number == 1 else plural or f'{singular}s'}"
