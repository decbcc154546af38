"""Prints help pages: descriptions are wrapped at the width of the terminal, and not where the source wraps them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclopts.help import HelpPanel
    from rich.console import Console, ConsoleOptions, RenderableType


class HelpPages:
    """The formatter of help pages. See `cyclopts.help.protocols.HelpFormatter`."""

    def __call__(self, console: "Console", options: "ConsoleOptions", panel: "HelpPanel") -> None:
        """Print a panel with the descriptions of commands or options."""
        from cyclopts.help import DefaultFormatter

        for entry in panel.entries:
            join_lines(entry.description)
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

        join_lines(description)
        DefaultFormatter().render_description(console, options, description)


def join_lines(description: "RenderableType | None") -> None:
    """Join the lines of each paragraph of a plain text."""
    from cyclopts.help import InlineText
    from rich.text import Text

    if isinstance(description, InlineText) and isinstance(description.primary_renderable, Text):
        paragraphs = description.primary_renderable.plain.split("\n\n")
        text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        description.primary_renderable = Text(text)
