"""What a terminal says about a table besides the texts of the presenter."""

from typing import Final

from croupier.core.presentation import ActionView, Amount, SeatView, TableView, Text, listed, text, verbatim
from croupier.tui.cards import cards_text

STATUS_TEXTS: Final = {
    "to act": text("to act"),
    "folded": text("folded"),
    "all in": text("all in"),
    "away": text("away"),
    "out": text("out"),
}
GENERAL_HELP: Final = (
    text("A number is entered with digits and Enter. Backspace, Esc and the arrows up and down change it."),
    text("Ctrl-C leaves at once. ? shows this text, any key goes back to the table."),
)


def seat_text(seat: SeatView) -> Text:
    """Return what is known of a seat, without its name and its cards."""
    parts = (
        text("dealer") if seat.is_dealer else None,
        seat.caption,
        None if seat.chips is None else text("chips {number}", number=seat.chips),
        text("bet {number}", number=seat.bet) if seat.bet else None,
        STATUS_TEXTS.get(seat.status),
    )
    return listed(part for part in parts if part is not None)


def seat_line(seat: SeatView) -> Text:
    """Return everything that is known of a seat."""
    cards = [verbatim(cards_text(card.face for card in seat.cards))] if seat.cards else []
    about = [about] if str(about := seat_text(seat)) else []
    return text("{name}: {about}", name=seat.name, about=listed([*cards, *about]))


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


def action_help(action: ActionView) -> Text:
    """Return the key, the label and the consequence of an action, and the range of its number if it has one."""
    key, label, consequence = action.key, action.label, action.help
    if action.amount is None:
        return text("[{key}] {label}: {help}", key=key, label=label, help=consequence)
    low, high = action.amount.low, action.amount.high
    return text("[{key}] {label}, {low} to {high}: {help}", key=key, label=label, low=low, high=high, help=consequence)


def presets_text(amount: Amount) -> Text | None:
    """Return the usual numbers of an action, None if there are none."""
    presets = [text("{name} {number}", name=name, number=value) for name, value in amount.presets]
    return listed(presets) if presets else None
