"""Prints help pages: descriptions are wrapped at the width of the terminal, and not where the source wraps them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclopts.help import HelpPanel
    from rich.console import Console, ConsoleOptions, RenderableType


class HelpPages:
    """The formatter of help pages. See `cyclopts.help.protocols.HelpFormatter`."""

    def __call__(self, console: "Console", options: "ConsoleOptions", panel: "HelpPanel") -> None:
        """Print a panel with the descriptions of commands or options."""
        from cyclopts.help import DefaultFormatter, InlineText
        from rich.text import Text

        for entry in panel.entries:
            description = entry.description
            if isinstance(description, InlineText) and isinstance(description.primary_renderable, Text):
                description.primary_renderable = Text(" ".join(description.primary_renderable.plain.split()))
        DefaultFormatter()(console, options, panel)

    def render_usage(self, console: "Console", options: "ConsoleOptions", usage: object) -> None:
        """Print the line with the usage."""
        from cyclopts.help import DefaultFormatter

        DefaultFormatter().render_usage(console, options, usage)

    def render_description(
        self, console: "Console", options: "ConsoleOptions", description: "RenderableType | None"
    ) -> None:
        """Print the description of the command."""
        from cyclopts.help import DefaultFormatter

        DefaultFormatter().render_description(console, options, description)
