"""What a terminal says about a table besides the texts of the presenter."""

from typing import Final

from croupier.core.presentation import Amount, TableView, Text, listed, text
from croupier.tui.cards import cards_text

LINES_HELP: Final = text("Type a key and Enter. ? and Enter reads the rules, Enter alone reads the table.")
"""How to play with lines of text."""

GENERAL_HELP: Final = (
    text("A number is entered with digits and Enter. Backspace, Esc and the arrows up and down change it."),
    text("Ctrl-C leaves at once. ? shows this text, any key goes back to the table."),
)
"""How to play on a screen."""


def board_text(view: TableView) -> Text | None:
    """Return the cards on the board, None if there are none."""
    return text("Board: {cards}", cards=cards_text(card.face for card in view.board)) if view.board else None


def money_text(view: TableView) -> Text | None:
    """Return the pots and the purse, None if there are none."""
    parts = [text("{name}: {coins}", name=pot.name, coins=pot.coins) for pot in view.pots]
    if view.purse is not None:
        parts.append(text("Purse: {coins}", coins=view.purse))
    return listed(parts) if parts else None


def time_text(view: TableView) -> Text | None:
    """Return the time that is left for the next action, None if it is not limited or unknown."""
    return None if view.deadline is None else text("Time left: {seconds} s", seconds=max(0, int(view.deadline)))


def presets_text(amount: Amount) -> Text | None:
    """Return the usual numbers of an action, None if there are none."""
    presets = [text("{name} {number}", name=name, number=value) for name, value in amount.presets]
    return listed(presets) if presets else None
