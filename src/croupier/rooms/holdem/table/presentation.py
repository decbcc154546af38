"""What everybody may see of a hand that is played at a table (docs/protocols/holdem.md, 5)."""

from collections.abc import Container, Sequence

from msgspec import UnsetType

from croupier.core.rules import Seat
from croupier.core.rules import Turn as Whose
from croupier.rooms.holdem.cards import names
from croupier.rooms.holdem.engine.ranks import best
from croupier.rooms.holdem.rules import Hand
from croupier.rooms.holdem.table.seats import Sitter
from croupier.rooms.holdem.wire import NO_POT, NOBODY, Cards, Game, Guid, Player, Pot, State, Turn, Winner

type Hole = tuple[str, ...] | None
type Winners = Sequence[Winner] | UnsetType


def idle(guid: Guid, seated: Sequence[Sitter], hole: Hole, winners: Winners) -> Game:
    """A game in which no hand is running (holdem-5.16)."""
    table = [Player(one.guid, one.user, "active", one.chips, 0, False) for one in seated]
    return Game(guid, table, NOBODY, Cards(hole), NO_POT, winners)


def game(
    guid: Guid,
    hand: Hand,
    dealt: Sequence[Sitter],
    acted: Container[Seat],
    *,
    expiry: str,
    hole: Hole,
    winners: Winners,
) -> Game:
    """A game with its hand. `expiry` is when the open turn ends; of nobody's turn it is not shown."""
    table, turn = players(hand, dealt, acted), hand.turn
    if not isinstance(turn, int):
        return Game(guid, table, NOBODY, cards(hand, hole), NO_POT, winners)
    asked = Turn(dealt[turn].guid, hand.bets[turn], hand.to_match, hand.min_raise, expiry)
    return Game(guid, table, asked, cards(hand, hole), pots(hand, dealt), winners)


def players(hand: Hand, dealt: Sequence[Sitter], acted: Container[Seat]) -> list[Player]:
    """Those who were dealt in and have not left. `acted` are the seats that have acted in this betting round."""
    return [
        Player(
            one.guid,
            one.user,
            _state(hand, seat, acted),
            hand.stacks[seat],
            hand.bets[seat],
            seat == hand.small_blind,
        )
        for seat, one in enumerate(dealt)
        if one.chair is not None
    ]


def _state(hand: Hand, seat: Seat, acted: Container[Seat]) -> State:
    """Whether a player has still to act (holdem-5.9)."""
    if hand.folded[seat]:
        return "folded"
    return "called" if seat in acted or not hand.stacks[seat] or hand.turn is Whose.OVER else "active"


def cards(hand: Hand, hole: Hole) -> Cards:
    """The board, and these hole cards."""
    board = names(hand.board)
    return Cards(hole, board[:3] or None, board[3:4] or None, board[4:5] or None)


def pots(hand: Hand, dealt: Sequence[Sitter]) -> list[Pot]:
    """The pots, and who has paid into them."""
    return [Pot(pot.size, [dealt[seat].guid for seat in pot.payers]) for pot in hand.pots]


def winners(hand: Hand, dealt: Sequence[Sitter]) -> tuple[Winner, ...]:
    """Who has won at the showdown, if there was one, and with which five cards (holdem-7.8)."""
    seats = {award.seat for award in hand.awards} if hand.shown else set()
    return tuple(Winner(dealt[seat].guid, names(best(hand.holes[seat] + hand.board))) for seat in sorted(seats))
