"""Settings that no flag sets: from CROUPIER_… environment variables, then from a TOML file."""

import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from cyclopts.config import Dict, Env

from croupier.rooms import ROOMS


def config_sources(file: Path | None, commands: Collection[str]) -> list[Any]:
    """Return the sources of settings for cyclopts: the environment first, then the file, with tables for `commands`.

    A setting in [serve] applies to every room that does not set it in [serve.ROOM]. Raises ValueError
    if the file cannot be read, or has a table for no command.
    """
    sources: list[Any] = [Env("CROUPIER_"), Env("CROUPIER_SERVE_", command=False)]
    if file is None:
        return sources
    try:
        settings = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"cannot read {file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} is not valid TOML: {error}") from None
    for name in settings:
        if name not in commands:
            allowed = ", ".join(f"[{command}]" for command in commands)
            raise ValueError(f"{file}: found {name!r}; allowed: the tables {allowed}")
    serve = settings.get("serve", {})
    if not isinstance(serve, dict):
        raise ValueError(f"{file}: found serve = {serve!r}; allowed: a table [serve]")  # noqa: TRY004 -- an error of the file, not of a type
    shared = {key: value for key, value in serve.items() if key not in ROOMS}
    for room in ROOMS:
        own = serve.get(room, {})
        if not isinstance(own, dict):
            raise ValueError(f"{file}: found {room} = {own!r}; allowed: a table [serve.{room}]")  # noqa: TRY004 -- see above
        serve[room] = shared | own
    return [*sources, Dict({**settings, "serve": serve}, source=str(file))]
