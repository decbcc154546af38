"""Settings that no flag sets: from CROUPIER_… environment variables, then from a TOML file."""

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cyclopts import App, Argument, ArgumentCollection, UnknownOptionError
from cyclopts.config import Dict, Env

from croupier.rooms import ROOMS

SERVE_PREFIX: Final = "CROUPIER_SERVE_"

ROOM_COMMANDS = ("serve", "play", "load")
"""The commands whose tables have a table for each room."""


@dataclass(frozen=True)
class SettingsFile:
    """The settings of a TOML file, as a source for cyclopts.

    A setting in [serve] applies to every room that does not set it in [serve.ROOM].
    """

    path: Path
    settings: Mapping[str, Any]

    def __call__(self, app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
        """Set the arguments of a command. Raises ValueError if the command has no such setting."""
        self._set(app, commands, arguments, self.settings, commands)
        if commands[:1] == ("serve",) and len(commands) > 1:
            shared = {key: value for key, value in self.settings.get("serve", {}).items() if key not in ROOMS}
            self._set(app, commands, arguments, {"serve": {commands[1]: shared}}, commands[:1])

    def _set(
        self,
        app: App,
        commands: tuple[str, ...],
        arguments: ArgumentCollection,
        settings: Mapping[str, Any],
        table: tuple[str, ...],
    ) -> None:
        """Set the arguments that have no value yet from settings, which stand in `table` of the file."""
        place = ".".join(table)
        try:
            Dict({**settings}, source=f"[{place}] in {self.path}")(app, commands, arguments)
        except UnknownOptionError as error:
            key = (error.token.keyword or "")[1:].partition("]")[0]
            remedy = _remedy(key, commands, error.argument_collection)
            raise ValueError(f"{self.path}: found {key!r} in [{place}]; {remedy}") from None


@dataclass(frozen=True)
class ServeVariables:
    """A source for cyclopts that sets nothing, but refuses variables for `croupier serve` that would set nothing.

    `root` is the app with all commands.
    """

    root: App

    def __call__(self, _: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
        """Raise ValueError if the name of a variable is misspelt. Variables of other rooms are left alone."""
        if commands[:1] != ("serve",):
            return
        for variable in sorted(os.environ):
            if not variable.startswith(SERVE_PREFIX):
                continue
            key = variable.removeprefix(SERVE_PREFIX).lower().replace("_", "-")
            room = key.partition("-")[0]
            if room in ROOMS:
                key = key.removeprefix(f"{room}-")
                is_known = commands != ("serve", room) or key in setting_names(arguments)
            else:
                is_known = key in setting_names(arguments) or any(key in self._names_in(each) for each in ROOMS)
            if not is_known:
                raise ValueError(f"found the variable {variable}; {_remedy(key, commands, arguments)}")

    def _names_in(self, room: str) -> list[str]:
        return setting_names(self.root["serve"][room].assemble_argument_collection())


def setting_names(arguments: Iterable[Argument]) -> list[str]:
    """The names of settings, as in a TOML file."""
    return [name.removeprefix("--") for each in arguments for name in each.names]


def _remedy(key: str, commands: Iterable[str], arguments: Iterable[Argument]) -> str:
    """Name the setting of a command that is nearest to a misspelt one."""
    from difflib import get_close_matches

    nearest = get_close_matches(key, setting_names(arguments), n=1)
    command = " ".join(("croupier", *commands))
    return f"the nearest setting of `{command}` is {nearest[0]!r}" if nearest else f"see `{command} --help`"


def config_sources(file: Path | None, app: App) -> list[Any]:
    """Return the sources of settings for cyclopts: the environment first, then the file, with tables for its commands.

    Raises ValueError if the file cannot be read, or has a table for no command or no room.
    """
    sources: list[Any] = [
        ServeVariables(app),
        Env("CROUPIER_", show=False),
        Env(SERVE_PREFIX, command=False, show=False),
    ]
    if file is None:
        return sources
    try:
        settings = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"cannot read {file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} is not valid TOML: {error}") from None
    commands = [name for name in app if not name.startswith("-")]
    for name in settings:
        if name not in commands:
            allowed = ", ".join(f"[{command}]" for command in commands)
            raise ValueError(f"{file}: found {name!r}; allowed: the tables {allowed}")
    for command in ROOM_COMMANDS:
        table = settings.get(command, {})
        if not isinstance(table, dict):
            raise ValueError(f"{file}: found {command} = {table!r}; allowed: a table [{command}]")  # noqa: TRY004 -- an error of the file, not of a type
        for name, value in table.items():
            if name in ROOMS and not isinstance(value, dict):
                raise ValueError(f"{file}: found {name} = {value!r}; allowed: a table [{command}.{name}]")
            if name not in ROOMS and isinstance(value, dict):
                allowed = ", ".join(f"[{command}.{room}]" for room in ROOMS)
                raise ValueError(f"{file}: found [{command}.{name}]; allowed: the tables {allowed}")
    return [*sources, SettingsFile(file, settings)]
