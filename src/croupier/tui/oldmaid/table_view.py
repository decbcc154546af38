"""View of an Old Maid game: the ring of players, the player's cards, and the offered cards face down."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import JOKER, WIRE_CARDS, Card
from croupier.rooms.oldmaid.player import Player
from croupier.rooms.oldmaid.rules import others_in_ring
from croupier.tui.cards import FRENCH_RANKS, FRENCH_SUITS, Face, encodable_or, fan_lines
from croupier.tui.frame import terminal_text
from croupier.tui.holdem.hand_history import truncate

OTHER_LINES: Final = 12
"""Lines of the screen without players, hand and card backs."""

MIN_CARD_COLUMNS: Final = 40
"""Columns needed to draw cards; in fewer, cards are printed as text."""

BACK_WIDTH_COLUMNS: Final = 4
"""Columns of a card back, including the gap after it."""

MAX_NICK_COLUMNS: Final = 24

SUIT_SYMBOLS: Final = {name: encodable_or(symbol, letter) for letter, (symbol, name) in FRENCH_SUITS.items()}


def card_face(card: Card) -> Face:
    """Return the face of a card."""
    value, suit = WIRE_CARDS[card]
    if card == JOKER:
        return Face("old", "maid", "the old maid")
    return Face(value, SUIT_SYMBOLS[suit], f"the {FRENCH_RANKS.get(value, value)} of {suit}")


def cards_text(cards: Iterable[Card]) -> str:
    """Return cards as text, separated by spaces."""
    return " ".join(
        f"{value}{SUIT_SYMBOLS[suit]}" if suit in SUIT_SYMBOLS else "joker"
        for value, suit in (WIRE_CARDS[c] for c in cards)
    )


def display_nick(nick: str) -> str:
    """Return a nick, shortened and safe to print."""
    return truncate(terminal_text(nick), MAX_NICK_COLUMNS)


def right_neighbour(player: Player, absent: Sequence[Seat]) -> Seat | None:
    """Return the nearest seat before the player that is not in `absent`: the one that offers its hand. None if none."""
    if player.seat is None:
        return None
    others = reversed(others_in_ring(range(len(player.players)), player.seat))
    return next((seat for seat in others if seat not in absent), None)


def render_backs(count: int, chosen_position: int, width: int) -> list[str]:
    """Draw `count` numbered cards face down in `width` columns. The chosen card is drawn one line higher."""
    row = max(1, width // BACK_WIDTH_COLUMNS)
    lines: list[str] = []
    for first in range(0, count, row):
        columns = [_render_back(at, lifted=at == chosen_position) for at in range(first, min(first + row, count))]
        lines += ["".join(column[at] for column in columns).rstrip() for at in range(len(columns[0]))]
    return lines


def _render_back(at: int, *, lifted: bool) -> list[str]:
    top, inside, bottom = (
        encodable_or(f"{sign} ", f"{plain} ") for sign, plain in (("╭─╮", "+-+"), ("│░│", "|#|"), ("╰─╯", "+-+"))
    )
    card = (
        [top, inside, bottom, " " * BACK_WIDTH_COLUMNS] if lifted else [" " * BACK_WIDTH_COLUMNS, top, inside, bottom]
    )
    return [*card, f"{at + 1:^3} "]


class OldMaidTableView:
    """A game as a player sees it.

    `unreachable` are the seats of players who are gone, `chosen_position` is the offered card to pick. Cards are drawn
    if the terminal is large enough, and printed as text otherwise.
    """

    def __init__(self, player: Player, unreachable: Sequence[Seat], chosen_position: int) -> None:
        self._player = player
        self._out_seats = player.view.out_seats
        self._unreachable = unreachable
        self._right_seat = right_neighbour(player, (*unreachable, *self._out_seats))
        self._chosen_position = chosen_position

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        player, width = self._player, options.max_width
        yield self._render_ring(width)
        hand = (
            fan_lines([card_face(card) for card in player.hand], width)
            if player.hand and width >= MIN_CARD_COLUMNS
            else []
        )
        offered = render_backs(player.offer_size or 0, self._chosen_position, width)
        free = console.height - OTHER_LINES - len(player.players)
        if hand and len(hand) + len(offered) <= free:
            yield Text("\n".join(hand), no_wrap=True)
        elif player.hand:
            yield Text(f"Your hand: {cards_text(player.hand)}")
        if len(offered) < free:
            yield from (Text(line, no_wrap=True) for line in offered)
        if offered:
            yield Text(f"Card {self._chosen_position + 1} of {player.offer_size}")

    def _render_ring(self, width: int) -> RenderableType:
        """Return a table of the players in seat order, with a marker at the player who offers a hand."""
        player = self._player
        grid = Table.grid(padding=(0, 1, 0, 0))
        for _ in range(3):
            grid.add_column(no_wrap=True)
        relations = [self._relation_text(seat, nick) for seat, (_, nick) in enumerate(player.players)]
        nick_width = max(1, width - max(map(len, relations), default=0) - len("> ") - 1)
        for seat, (_, nick) in enumerate(player.players):
            offers = player.offer_size is not None and seat == self._right_seat
            away = seat in self._out_seats or seat in self._unreachable
            style = "bold" if seat == player.seat else "dim" if away else ""
            grid.add_row(
                ">" if offers else " ",
                Text(truncate(display_nick(nick), nick_width)),
                truncate(relations[seat], width - 4),
                style=style,
            )
        return grid

    def _relation_text(self, seat: Seat, nick: str) -> str:
        """Return the relation of a seat to the player: left or right neighbour, out, gone, or ""."""
        player = self._player
        if seat in self._unreachable:
            return "gone"
        if seat == player.seat:
            return "you, out" if seat in self._out_seats else f"you, {card_count_text(len(player.hand))}"
        if seat in self._out_seats:
            return "out"
        match nick == player.left_nick, seat == self._right_seat:
            case True, True:
                return "left and right"
            case True, False:
                return "left neighbour"
            case False, True:
                return "right neighbour"
            case _:
                return ""


def card_count_text(cards: int) -> str:
    """Return a number of cards as text: `1 card`, `2 cards`."""
    return f"{cards} card{'s' * (cards != 1)}"
