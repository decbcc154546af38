"""The felt of Old Maid: who sits in the ring, our own cards, and the backs of those that we may pick from."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import JOKER, WIRE_CARDS, Card
from croupier.rooms.oldmaid.player import Player
from croupier.tui.cards import FRENCH_RANKS, FRENCH_SUITS, Face, encodable_or, fan_lines
from croupier.tui.frame import terminal_text
from croupier.tui.holdem.hand_history import truncate

OTHER_LINES: Final = 12
"""What stands above and below the players, the hand and the backs takes so many lines."""

MIN_CARD_COLUMNS: Final = 40
"""Cards are drawn in so many columns, and spelt in fewer."""

BACK_WIDTH_COLUMNS: Final = 4
"""The columns of a back, with the gap behind it."""

MAX_NICK_COLUMNS: Final = 24
"""Nicks are cut to so many columns."""

SUIT_SYMBOLS: Final = {name: encodable_or(symbol, letter) for letter, (symbol, name) in FRENCH_SUITS.items()}


def card_face(card: Card) -> Face:
    """What is printed on a card, and how people call it."""
    value, suit = WIRE_CARDS[card]
    if card == JOKER:
        return Face("old", "maid", "the old maid")
    return Face(value, SUIT_SYMBOLS[suit], f"the {FRENCH_RANKS.get(value, value)} of {suit}")


def cards_text(cards: Iterable[Card]) -> str:
    """Cards in a line."""
    return " ".join(
        f"{value}{SUIT_SYMBOLS[suit]}" if suit in SUIT_SYMBOLS else "joker"
        for value, suit in (WIRE_CARDS[c] for c in cards)
    )


def display_nick(nick: str) -> str:
    """A nick, of which the terminal obeys nothing."""
    return truncate(terminal_text(nick), MAX_NICK_COLUMNS)


def right_neighbour(player: Player, absent: Sequence[Seat]) -> Seat | None:
    """Who offers to a player, as far as he knows: the one before him who is neither out nor gone."""
    if player.seat is None:
        return None
    seats = len(player.players)
    before = ((player.seat - step) % seats for step in range(1, seats))
    return next((seat for seat in before if seat not in absent), None)


def render_backs(count: int, chosen_position: int, width: int) -> list[str]:
    """So many cards face down in so many columns, with their numbers; the chosen one is drawn out a little."""
    row = max(1, width // BACK_WIDTH_COLUMNS)
    lines: list[str] = []
    for first in range(0, count, row):
        columns = [_render_back(at, lifted=at == chosen_position) for at in range(first, min(first + row, count))]
        lines += ["".join(column[at] for column in columns).rstrip() for at in range(len(columns[0]))]
    return lines


def _render_back(at: int, *, lifted: bool) -> list[str]:
    """A card face down, with its number below."""
    top, inside, bottom = (
        encodable_or(f"{sign} ", f"{plain} ") for sign, plain in (("╭─╮", "+-+"), ("│░│", "|#|"), ("╰─╯", "+-+"))
    )
    card = (
        [top, inside, bottom, " " * BACK_WIDTH_COLUMNS] if lifted else [" " * BACK_WIDTH_COLUMNS, top, inside, bottom]
    )
    return [*card, f"{at + 1:^3} "]


class OldMaidTableView:
    """What is to be seen of a game by a player, who may be about to pick the card at the position `chosen`.

    `gone` are the seats that could not be reached any more. Cards are drawn where the terminal is large enough; where
    it is not they are spelt.
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
        """Everybody in the order of sitting; the marker is at who offers us his hand."""
        player = self._player
        grid = Table.grid(padding=(0, 1, 0, 0))
        for _ in range(3):
            grid.add_column(no_wrap=True)
        told = [self._relation_text(seat, nick) for seat, (_, nick) in enumerate(player.players)]
        left = max(1, width - max(map(len, told), default=0) - len("> ") - 1)
        for seat, (_, nick) in enumerate(player.players):
            offers = player.offer_size is not None and seat == self._right_seat
            away = seat in self._out_seats or seat in self._unreachable
            style = "bold" if seat == player.seat else "dim" if away else ""
            grid.add_row(
                ">" if offers else " ",
                Text(truncate(display_nick(nick), left)),
                truncate(told[seat], width - 4),
                style=style,
            )
        return grid

    def _relation_text(self, seat: Seat, nick: str) -> str:
        """What a seat is to us."""
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
    """So many cards."""
    return f"{cards} card{'s' * (cards != 1)}"
