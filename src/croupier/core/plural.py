"""Numbers of things, for people: `1 game`, `2 games`."""


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun in the singular or the plural, which adds an s unless `many` is given."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
