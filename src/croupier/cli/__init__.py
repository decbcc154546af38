"""The `croupier` command line. Command modules are imported on demand to keep start-up fast."""

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Group, Parameter

from croupier.cli.help_pages import HelpPages
from croupier.cli.usage_errors import format_usage_error
from croupier.version import __version__

COMPILED_CODE = "croupier__mypyc"
"""The extension module that only the wheel of `make wheel-compiled` has (hatch_build.py)."""


def describe_version() -> str:
    """The version, and whether the engine of hold'em is compiled."""
    return f"{__version__} ({'compiled' if find_spec(COMPILED_CODE) else 'pure Python'})"


app = App(
    name="croupier",
    help="Servers, clients and bots for five card-game protocols.\n\n"
    "Exit status of every command: 0, 1 if it failed, 2 if the command line is wrong, 130 if Ctrl-C ended it early.",
    version=describe_version,
    help_format="plaintext",
    help_formatter=HelpPages(),
    error_formatter=format_usage_error,
    default_parameter=Parameter(negative=()),
)
app.command(
    "croupier.cli.serve:app",
    name="serve",
    help="Serve one room, or all of them.\n\n"
    "Without a room, each is served on its own port; settings of single rooms come from the --config file and from "
    "environment variables.",
)
app.command("croupier.cli.demo:demo", name="demo", help="Open all rooms with bots at every table, and the web app.")
app.command(
    "croupier.cli.play:app",
    name="play",
    help="Play in a room, in the terminal or with a bot.\n\n"
    "Without a room, those of a server are listed, to choose one.",
)
app.command("croupier.cli.watch:app", name="watch", help="Watch a table in the terminal.")
app.command(
    "croupier.cli.verify:verify", name="verify", help="Verify that the hands in a deal record were dealt as promised."
)
app.command("croupier.cli.solve:app", name="solve", help="Compute the value of a game and its optimal play.")
app.command("croupier.cli.exploit:app", name="exploit", help="Measure how exploitable a bot, a house or a client is.")
app.command(
    "croupier.cli.check:check", name="check", help="Test whether a server or a client conforms to its protocol."
)
app.command("croupier.cli.arena:arena", name="arena", help="Let bots play each other: which one is better, and why.")
app.command(
    "croupier.cli.load:app",
    name="load",
    help="Put a server under load, and measure how long its answers take.\n\n"
    "The players connect, play with a cheap bot as fast as they can or at a given rate, leave, and come again. Nothing "
    "limits what you ask for: load only servers whose operators agree.\n\n"
    "Exit status: 0, 1 if there were errors or no act was answered, 2 if this program was too busy to measure.",
)
app.command("croupier.cli.mcp:mcp", name="mcp", help="Let a language model play, as an MCP server.")
app.command("croupier.cli.accounts:app", name="accounts", help="Manage player accounts.")
app.command("croupier.cli.hands:app", name="hands", help="List, show and export recorded hands.")
app.command("croupier.cli.replay:replay", name="replay", help="Replay a recorded game step by step.")
app.command("croupier.cli.db:app", name="db", help="Manage the store: upgrade, check, back up, restore, prune.")
app.command(
    "croupier.cli.tap:tap", name="tap", help="Relay connections between clients and a house, and check both sides."
)
app.command("croupier.cli.matrix:matrix", name="matrix", help="Test every client of a class against every server.")
app.command(
    "croupier.cli.completion:completion", name="completion", help="Complete commands and options in bash, zsh or fish."
)
app.meta.group_parameters = Group("Session", sort_key=0)


@app.meta.default
def launch(
    *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
    config: Annotated[Path | None, Parameter(help="TOML file with settings (docs/settings.md).")] = None,
) -> Any:
    """Run a command. Flags override CROUPIER_… environment variables, and those override the TOML file."""
    from croupier.cli.settings import config_sources

    app.config = config_sources(config, app)
    if tokens[:1] == ("serve",):
        from croupier.cli.serve import COMMAND_LINE, PARSE_ARGUMENTS

        COMMAND_LINE.set([*tokens, *(["--config", str(config)] if config is not None else [])])
        PARSE_ARGUMENTS.set(lambda room: app.parse_args(["serve", room, *tokens[1:]])[1].arguments)
    return app(tokens)


def has_session_options(arguments: Sequence[str]) -> bool:
    """Whether there are options of `launch` to parse or, in a help page, to show, or only the version is asked for."""
    shown = {*app.meta.help_flags, *app.meta.version_flags}
    return not arguments or any(word.startswith("--config") or word in shown for word in arguments)


def describe_fully(words: Sequence[str]) -> None:
    """Describe a command on its help page by its docstring, of which `help` has the line in the list of commands."""
    command = app.parse_commands([word for word in words if word not in app.meta.help_flags])[1][-1]
    subcommands = [name for name in command if not name.startswith("-")]
    if not subcommands and command.default_command is not None and command.default_command.__doc__:
        command.help = command.default_command.__doc__


def main(arguments: list[str] | None = None) -> None:
    """Run a command and exit with its status. `arguments` defaults to those of the process.

    A ValueError or an OSError of a command, and that a library is missing, is printed; see `fail_of` for its status.
    """
    words = sys.argv[1:] if arguments is None else arguments
    try:
        from croupier.cli.output import fail_of, tolerate_output_errors

        with tolerate_output_errors():
            try:
                if has_session_options(words):
                    describe_fully(words)
                    app.meta(words)
                else:  # without the time in which app.meta parses the options of the command as well
                    launch(*words)
            except (ValueError, OSError, ModuleNotFoundError) as error:
                sys.exit(fail_of(error))
    except KeyboardInterrupt:
        sys.exit(130)
