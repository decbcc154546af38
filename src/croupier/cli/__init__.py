"""The command line. Commands are imported when they are asked for, so that help comes at once."""

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Group, Parameter

from croupier.version import __version__

app = App(
    name="croupier",
    help="A card room for programs and people: five card-game protocols as servers, clients and bots.",
    version=__version__,
    help_format="plaintext",
    default_parameter=Parameter(negative=()),
)
app.command("croupier.cli.serve:app", name="serve", help="Open rooms: every one there is, or the one that is named.")
app.command("croupier.cli.play:app", name="play", help="Play in a room, yourself or by a bot.")
app.command(
    "croupier.cli.verify:verify", name="verify", help="Check a dealer's record: was every hand dealt as promised?"
)
app.command("croupier.cli.solve:app", name="solve", help="What a game is worth, and how to play it perfectly.")
app.command("croupier.cli.check:check", name="check", help="Test a server or a client: which clause does it break?")
app.command("croupier.cli.accounts:app", name="accounts", help="Players' accounts: open, credit and close them.")
app.command("croupier.cli.hands:app", name="hands", help="Hands that were played: list them, show one, export them.")
app.command("croupier.cli.replay:replay", name="replay", help="Look at a game again, step by step.")
app.command("croupier.cli.db:app", name="db", help="Look after the store: upgrade it, check it, copy it, restore it.")
app.command(
    "croupier.cli.tap:tap", name="tap", help="Listen in on conversations of clients with a house, and judge them."
)
app.command(
    "croupier.cli.matrix:matrix", name="matrix", help="A class: every client plays at every server, and is judged."
)
app.meta.group_parameters = Group("Session", sort_key=0)


@app.meta.default
def launch(
    *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
    config: Annotated[Path | None, Parameter(help="A TOML file that sets what flags set (docs/settings.md).")] = None,
) -> Any:
    """Run a command with its settings from flags, CROUPIER_… variables and a TOML file, in this order."""
    from croupier.cli.settings import config_sources

    app.config = config_sources(config)
    if tokens[:1] == ("serve",):
        from croupier.cli.serve import COMMAND_TOKENS

        COMMAND_TOKENS.set(tokens)
    return app(tokens)


def main(arguments: list[str] | None = None) -> None:
    """The entry point: run the command, and end the process with its exit status."""
    from croupier.cli.output import tolerate_output_errors

    try:
        with tolerate_output_errors():
            app.meta(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        sys.exit(130)
