"""What everybody may see of a hand that is played at a table (docs/protocols/holdem.md, 5)."""

from collections.abc import Container, Sequence

from msgspec import UnsetType

from croupier.core.rules import Seat
from croupier.core.rules import Turn as Whose
from croupier.rooms.holdem.cards import card_names
from croupier.rooms.holdem.engine.ranks import best_five
from croupier.rooms.holdem.rules import Hand
from croupier.rooms.holdem.table.seats import Participant
from croupier.rooms.holdem.wire import NO_POT, NO_TURN, Cards, Game, Guid, Player, PlayerStatus, Pot, Turn, Winner

type HoleNames = tuple[str, ...] | None
type Winners = Sequence[Winner] | UnsetType


def idle_game(guid: Guid, seated: Sequence[Participant], hole: HoleNames, winners: Winners) -> Game:
    """A game in which no hand is running (holdem-5.16)."""
    table = [Player(one.guid, one.user, "active", one.chips, 0, False) for one in seated]
    return Game(guid, table, NO_TURN, Cards(hole), NO_POT, winners)


def running_game(
    guid: Guid,
    hand: Hand,
    dealt: Sequence[Participant],
    acted: Container[Seat],
    *,
    expiry: str,
    hole: HoleNames,
    winners: Winners,
) -> Game:
    """A game with its hand. `expiry` is when the open turn ends; of nobody's turn it is not shown."""
    table, turn = visible_players(hand, dealt, acted), hand.turn
    if not isinstance(turn, int):
        return Game(guid, table, NO_TURN, visible_cards(hand, hole), NO_POT, winners)
    asked = Turn(dealt[turn].guid, hand.bets[turn], hand.to_match, hand.min_raise, expiry)
    return Game(guid, table, asked, visible_cards(hand, hole), visible_pots(hand, dealt), winners)


def visible_players(hand: Hand, dealt: Sequence[Participant], acted: Container[Seat]) -> list[Player]:
    """Those who were dealt in and have not left. `acted` are the seats that have acted in this betting round."""
    return [
        Player(
            one.guid,
            one.user,
            _player_status(hand, seat, acted),
            hand.stacks[seat],
            hand.bets[seat],
            seat == hand.small_blind,
        )
        for seat, one in enumerate(dealt)
        if one.chair is not None
    ]


def _player_status(hand: Hand, seat: Seat, acted: Container[Seat]) -> PlayerStatus:
    """Whether a player has still to act (holdem-5.9)."""
    if hand.folded[seat]:
        return "folded"
    return "called" if seat in acted or not hand.stacks[seat] or hand.turn is Whose.OVER else "active"


def visible_cards(hand: Hand, hole: HoleNames) -> Cards:
    """The board, and these hole cards."""
    board = card_names(hand.board)
    return Cards(hole, board[:3] or None, board[3:4] or None, board[4:5] or None)


def visible_pots(hand: Hand, dealt: Sequence[Participant]) -> list[Pot]:
    """The pots, and who has paid into them."""
    return [Pot(pot.size, [dealt[seat].guid for seat in pot.payers]) for pot in hand.pots]


def showdown_winners(hand: Hand, dealt: Sequence[Participant]) -> tuple[Winner, ...]:
    """Who has won at the showdown, if there was one, and with which five cards (holdem-7.8)."""
    seats = {award.seat for award in hand.awards} if hand.showdown_order else set()
    return tuple(
        Winner(dealt[seat].guid, card_names(best_five(hand.holes[seat] + hand.board))) for seat in sorted(seats)
    )
