"""How a person sees a table and acts at it: on a screen, or in lines of text."""

from typing import Protocol, Self

from croupier.core.presentation import TableView, Text
from croupier.tui.table_keys import Choice


class Display(Protocol):
    """Shows the views of a table, and returns what the person chooses. Enter it with `async with`."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *error: object) -> None: ...

    def show(self, view: TableView) -> None:
        """Show a view, which replaces the one before."""
        ...

    def notify(self, notice: Text | None) -> None:
        """Show a notice about the connection or about the person's last action; None: there is none any more."""
        ...

    async def choose(self) -> Choice:
        """Wait for the next choice of the person. Leaving has the id `leave`."""
        ...


def open_display(place: str, rules: Text, view: TableView, *, plain: bool) -> Display:
    """Return the display of a table at a place, the address of its server, with its first view."""
    if plain:
        from croupier.tui.plain import PlainDisplay

        return PlainDisplay(place, rules, view)
    from croupier.tui.table_screen import TableScreen

    return TableScreen(place, rules, view)
