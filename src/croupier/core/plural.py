"""Numbers of things, for people: `1 game`, `2 games`."""


def format_count(number: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun in the singular or the plural, which adds an s unless `many` is given."""
    return f"{number:,} {singular if number == 1 else plural or f'{singular}s'}"
