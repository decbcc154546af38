"""What the options of several commands share: ranges, durations, and the command line that repeats them."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields
from math import inf
from typing import Any, Final

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
