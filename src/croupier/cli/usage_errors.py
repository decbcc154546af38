"""Describes errors of the command line of which the texts of cyclopts do not say what to do."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclopts import App, CycloptsError


def format_usage_error(error: "CycloptsError") -> Any:
    """What to print for an error of the command line."""
    from cyclopts import CycloptsPanel, UnknownOptionError, UnusedCliTokensError

    description: object = None
    if isinstance(error, UnusedCliTokensError):
        command = " ".join(("croupier", *(error.command_chain or ())))
        surplus = ", ".join(map(repr, error.unused_tokens or ()))
        description = f"found {surplus}, which is too much; see `{command} --help`"
    elif isinstance(error, UnknownOptionError) and error.command_chain == ("serve",) and error.app is not None:
        description = _describe_room_option(error.app, error.token.value.partition("=")[0])
    return CycloptsPanel(description or error)


def _describe_room_option(serve: "App", option: str) -> str | None:
    """How to set an option of one room for a server of all. None if no room has it."""
    from croupier.cli.settings import SERVE_PREFIX, setting_names
    from croupier.rooms import ROOMS

    name = option.removeprefix("--")
    rooms = [room for room in ROOMS if name in setting_names(serve[room].assemble_argument_collection())]
    if not rooms:
        return None
    variable = f"{SERVE_PREFIX}{rooms[0]}_{name}".upper().replace("-", "_")
    setting = f"{variable}, or {name} in [serve.{rooms[0]}] of the --config file"
    return f"found {option}, an option of {', '.join(rooms)}; allowed for a server of all rooms: {setting}"
