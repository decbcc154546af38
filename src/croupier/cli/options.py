"""What the options of several commands share: their ranges, and the command line that repeats them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields
from typing import Any


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
