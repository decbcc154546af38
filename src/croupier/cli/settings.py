"""Where settings come from when no flag sets them: CROUPIER_… variables, then a TOML file."""

import tomllib
from pathlib import Path
from typing import Any

from cyclopts.config import Dict, Env

from croupier.rooms import ROOMS


def config_sources(file: Path | None) -> list[Any]:
    """Variables first, then the file. What is set for `serve` counts for every room, unless the room sets it itself.

    Raises SystemExit with what is wrong with the file.
    """
    found: list[Any] = [Env("CROUPIER_"), Env("CROUPIER_SERVE_", command=False)]
    if file is None:
        return found
    try:
        settings = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SystemExit(f"croupier: cannot read {file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SystemExit(f"croupier: {file} is no TOML: {error}") from None
    serve = settings.get("serve", {})
    if not isinstance(serve, dict):
        raise SystemExit(f"croupier: {file}: found serve = {serve!r}; allowed: a table [serve]")
    shared = {key: value for key, value in serve.items() if key not in ROOMS}
    for room in ROOMS:
        own = serve.get(room, {})
        if not isinstance(own, dict):
            raise SystemExit(f"croupier: {file}: found {room} = {own!r}; allowed: a table [serve.{room}]")
        serve[room] = shared | own
    return [*found, Dict({**settings, "serve": serve}, source=str(file))]
