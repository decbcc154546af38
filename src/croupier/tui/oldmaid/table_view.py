"""The felt of Old Maid: who sits in the ring, our own cards, and the backs of those that we may pick from."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import JOKER, WIRES, Card
from croupier.rooms.oldmaid.player import Player
from croupier.tui.cards import FRENCH, FRENCH_SUITS, Face, either, fan
from croupier.tui.frame import printable
from croupier.tui.holdem.hand_history import cut

OTHER_LINES: Final = 12
"""What stands above and below the players, the hand and the backs takes so many lines."""

WIDE: Final = 40
"""Cards are drawn in so many columns, and spelt in fewer."""

BACK: Final = 4
"""The columns of a back, with the gap behind it."""

LONGEST: Final = 24
"""Nicks are cut to so many columns."""

SUITS: Final = {name: either(symbol, letter) for letter, (symbol, name) in FRENCH_SUITS.items()}


def face(card: Card) -> Face:
    """What is printed on a card, and how people call it."""
    value, suit = WIRES[card]
    if card == JOKER:
        return Face("old", "maid", "the old maid")
    return Face(value, SUITS[suit], f"the {FRENCH.get(value, value)} of {suit}")


def spelt(cards: Iterable[Card]) -> str:
    """Cards in a line."""
    return " ".join(f"{value}{SUITS[suit]}" if suit in SUITS else "joker" for value, suit in (WIRES[c] for c in cards))


def named(nick: str) -> str:
    """A nick, of which the terminal obeys nothing."""
    return cut(printable(nick), LONGEST)


def right_of(player: Player, away: Sequence[Seat]) -> Seat | None:
    """Who offers to a player, as far as he knows: the one before him who is neither out nor gone."""
    if player.seat is None:
        return None
    seats = len(player.players)
    before = ((player.seat - step) % seats for step in range(1, seats))
    return next((seat for seat in before if seat not in away), None)


def backs(count: int, chosen: int, width: int) -> list[str]:
    """So many cards face down in so many columns, with their numbers; the chosen one is drawn out a little."""
    row = max(1, width // BACK)
    lines: list[str] = []
    for first in range(0, count, row):
        columns = [_back(at, lifted=at == chosen) for at in range(first, min(first + row, count))]
        lines += ["".join(column[at] for column in columns).rstrip() for at in range(len(columns[0]))]
    return lines


def _back(at: int, *, lifted: bool) -> list[str]:
    """A card face down, with its number below."""
    top, inside, bottom = (
        either(f"{sign} ", f"{plain} ") for sign, plain in (("╭─╮", "+-+"), ("│░│", "|#|"), ("╰─╯", "+-+"))
    )
    card = [top, inside, bottom, " " * BACK] if lifted else [" " * BACK, top, inside, bottom]
    return [*card, f"{at + 1:^3} "]


class Felt:
    """What is to be seen of a game by a player, who may be about to pick the card at the position `chosen`.

    `gone` are the seats that could not be reached any more. Cards are drawn where the terminal is large enough; where
    it is not they are spelt.
    """

    def __init__(self, player: Player, gone: Sequence[Seat], chosen: int) -> None:
        self._player = player
        self._outside = player.view.out
        self._gone = gone
        self._right = right_of(player, (*gone, *self._outside))
        self._chosen = chosen

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        player, width = self._player, options.max_width
        yield self._ring(width)
        hand = fan([face(card) for card in player.hand], width) if player.hand and width >= WIDE else []
        offered = backs(player.offered or 0, self._chosen, width)
        free = console.height - OTHER_LINES - len(player.players)
        if hand and len(hand) + len(offered) <= free:
            yield Text("\n".join(hand), no_wrap=True)
        elif player.hand:
            yield Text(f"Your hand: {spelt(player.hand)}")
        if len(offered) < free:
            yield from (Text(line, no_wrap=True) for line in offered)
        if offered:
            yield Text(f"Card {self._chosen + 1} of {player.offered}")

    def _ring(self, width: int) -> RenderableType:
        """Everybody in the order of sitting; the marker is at who offers us his hand."""
        player = self._player
        grid = Table.grid(padding=(0, 1, 0, 0))
        for _ in range(3):
            grid.add_column(no_wrap=True)
        told = [self._told(seat, nick) for seat, (_, nick) in enumerate(player.players)]
        left = max(1, width - max(map(len, told), default=0) - len("> ") - 1)
        for seat, (_, nick) in enumerate(player.players):
            offers = player.offered is not None and seat == self._right
            away = seat in self._outside or seat in self._gone
            style = "bold" if seat == player.seat else "dim" if away else ""
            grid.add_row(">" if offers else " ", Text(cut(named(nick), left)), cut(told[seat], width - 4), style=style)
        return grid

    def _told(self, seat: Seat, nick: str) -> str:
        """What a seat is to us."""
        player = self._player
        if seat in self._gone:
            return "gone"
        if seat == player.seat:
            return "you, out" if seat in self._outside else f"you, {many(len(player.hand))}"
        if seat in self._outside:
            return "out"
        match nick == player.left, seat == self._right:
            case True, True:
                return "left and right"
            case True, False:
                return "left neighbour"
            case False, True:
                return "right neighbour"
            case _:
                return ""


def many(cards: int) -> str:
    """So many cards."""
    return f"{cards} card{'s' * (cards != 1)}"
