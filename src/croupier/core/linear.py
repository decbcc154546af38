"""A table as lines of text, in the order in which a person needs them."""

from collections.abc import Iterator
from typing import Final

from croupier.core.presentation import ActionView, SeatView, TableView, Text, counted, listed, text

STATUS_TEXTS: Final = {
    "to act": text("to act"),
    "folded": text("folded"),
    "all in": text("all in"),
    "away": text("away"),
    "out": text("out"),
}


def linear_text(view: TableView) -> Iterator[Text]:
    """Yield the lines of a table: what has happened, the seats, what is on the table, and what can be done."""
    yield view.title
    yield from view.announcements
    yield from table_content(view)
    if view.blocked is not None and view.blocked != view.status:
        yield view.blocked
    for action in view.actions:
        yield action_line(action)
    yield from purse_and_score(view)


def table_content(view: TableView) -> Iterator[Text]:
    """Yield the lines of the seats, of what is on the table, and of the status."""
    yield from map(seat_line, view.seats)
    if (board := board_line(view)) is not None:
        yield board
    for pot in view.pots:
        yield text("{name}: {coins}", name=pot.name, coins=pot.coins)
    if view.status is not None:
        yield view.status


def purse_and_score(view: TableView) -> Iterator[Text]:
    """Yield the lines of the viewer's purse and of the score."""
    if view.purse is not None:
        yield counted("{count} coin in your purse", "{count} coins in your purse", view.purse)
    if view.score is not None:
        yield view.score


def board_line(view: TableView) -> Text | None:
    """Return the cards on the table by their names, None if there are none."""
    return text("On the table: {cards}", cards=listed(card.name for card in view.board)) if view.board else None


def seat_line(seat: SeatView) -> Text:
    """Return everything that is known of a seat."""
    details = [listed(card.name for card in seat.cards)] if seat.cards else []
    details += seat_details(seat)
    return text("{name}: {details}", name=seat.name, details=listed(details)) if details else seat.name


def seat_details(seat: SeatView) -> list[Text]:
    """Return what is known of a seat besides its name and its cards."""
    details = []
    if seat.is_dealer:
        details.append(text("dealer"))
    if seat.caption is not None:
        details.append(seat.caption)
    if seat.chips is not None:
        details.append(counted("{count} chip", "{count} chips", seat.chips))
    if seat.bet and seat.chips is not None:
        details.append(counted("{count} chip bet", "{count} chips bet", seat.bet))
    elif seat.bet:
        details.append(counted("{count} coin bet", "{count} coins bet", seat.bet))
    if seat.is_viewer and seat.status == "to act":
        details.append(text("your turn"))
    elif seat.status:
        details.append(STATUS_TEXTS[seat.status])
    return details


def action_line(action: ActionView) -> Text:
    """Return the key, the label and the consequence of an action, and the range of its number if it has one."""
    if action.amount is None:
        return text("[{key}] {label}: {help}", key=action.key, label=action.label, help=action.help)
    return text(
        "[{key}] {label}, {low} to {high}: {help}",
        key=action.key,
        label=action.label,
        low=action.amount.low,
        high=action.amount.high,
        help=action.help,
    )
