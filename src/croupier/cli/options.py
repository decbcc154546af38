"""What the options of several commands share: ranges, durations, those of a room, and the command line of all."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from math import inf
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from croupier.core.room import Room

UNIT_SECONDS: Final = {"ms": 0.001, "s": 1.0, "": 1.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}
MAX_SECONDS: Final = 1e10
"""Longer durations are refused, because a date may be computed from one."""

DURATION_PATTERN: Final = re.compile(rf"(\d+(?:\.\d+)?) ?({'|'.join(UNIT_SECONDS)})")


def flag(name: str) -> str:
    """The flag of an option.

    >>> flag("max_failures")
    '--max-failures'
    """
    return f"--{name.replace('_', '-')}"


def check_minimum(least: int, **values: float | None) -> None:
    """Raise ValueError if a given option is less than `least`."""
    for name, value in values.items():
        if value is not None and not value >= least:
            raise ValueError(f"found {flag(name)} {value:g}; allowed: {least} or more")


def check_positive(**values: float | None) -> None:
    """Raise ValueError if a given option is not a positive number."""
    for name, value in values.items():
        if value is not None and not 0 < value < float("inf"):
            raise ValueError(f"found {flag(name)} {value:g}; allowed: more than 0")


def parse_duration(
    name: str, given: str, *, least: float = 0.0, allowed: str = "a duration such as 50ms or 1.5s"
) -> float:
    """Return the seconds of a duration, the value of the option `name`. Raises ValueError if it is less than `least`.

    >>> parse_duration("delay", "50ms"), parse_duration("older_than", "30d")
    (0.05, 2592000.0)
    """
    matched = DURATION_PATTERN.fullmatch(given.strip())
    seconds = float(matched[1]) * UNIT_SECONDS[matched[2]] if matched else -inf
    if not least <= seconds <= MAX_SECONDS:
        raise ValueError(f"found {flag(name)} {given!r}; allowed: {allowed}")
    return seconds


def command_line(values: Mapping[str, object]) -> Iterator[str]:
    """Yield the arguments that give options: None and False stand for options that are not given."""
    for name, value in values.items():
        if value is True:
            yield flag(name)
        elif isinstance(value, list):
            yield from (word for each in value for word in (flag(name), str(each)))
        elif value is not None and value is not False:
            yield from (flag(name), str(value))


def changed_values(options: Any, ignored: Collection[str] = ()) -> Mapping[str, Any]:
    """The values of the options of a dataclass that differ from their defaults, by name, without the `ignored` ones."""
    default = type(options)()
    values = {each.name: getattr(options, each.name) for each in fields(options) if each.name not in ignored}
    return {name: value for name, value in values.items() if value != getattr(default, name)}


def changed_options(options: Any) -> Iterator[str]:
    """Yield the arguments that give the options of a dataclass, without those that have their default value."""
    return command_line(changed_values(options))


def build_options(kinds: Sequence[type[Any]], values: Mapping[str, Any], room: "Room") -> Any:
    """Return the first of `kinds` that has all these fields, made from `values`; None if no value is given.

    A value that is None is not given. Raises ValueError on a field that no kind has, and on a value of the wrong type.
    """
    from msgspec import ValidationError, convert

    given = {name: value for name, value in values.items() if value is not None}
    if not given:
        return None
    kind = next((kind for kind in kinds if given.keys() <= _field_names(kind)), kinds[0])
    for name, value in given.items():
        if name not in _field_names(kind):
            raise ValueError(f"found --{name} {value}; allowed: nothing of the kind in {room.title_in_sentence}")
    try:
        return convert(given, kind, strict=False)
    except ValidationError as error:
        raise ValueError(f"found {given}; {error}") from None


def _field_names(kind: type[Any]) -> set[str]:
    return {each.name for each in fields(kind)}
