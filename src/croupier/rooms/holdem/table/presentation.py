"""Conversion of a table's hand to the Game object of the protocol (docs/protocols/holdem.md, 5)."""

from collections.abc import Container, Mapping, Sequence

from msgspec import Struct, UnsetType

from croupier.core.rules import Seat
from croupier.core.rules import Turn as Whose
from croupier.rooms.holdem.cards import card_names
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.ranks import best_five
from croupier.rooms.holdem.engine.streets import split_board
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.table.seats import Participant
from croupier.rooms.holdem.wire import NO_POT, NO_TURN, Cards, Game, Guid, Player, PlayerStatus, Pot, Turn, Winner

type HoleNames = tuple[str, ...] | None
type Winners = Sequence[Winner] | UnsetType


class TableView(Struct, frozen=True):
    """Everything that a table shows to anybody. It never changes; see `Table` for the fields that it shares.

    `public` is the game as the public sees it, `holes` are the hole cards of each user who was dealt in, and `guids`
    the GUIDs of all users at the table, seated or queued.
    """

    guid: Guid
    number: int
    version: int
    has_free_seat: bool
    public: Game
    holes: Mapping[str, tuple[str, ...]]
    guids: Mapping[str, Guid]
    hands: Mapping[int, FinishedHand]

    def view(self, user: str | None = None) -> Game:
        """Return the game as a user sees it, with their own hole cards (holdem-5.6); None: the public view."""
        public = self.public
        hole = None if user is None else self.holes.get(user)
        if hole is None:
            return public
        cards = public.cards
        own = Cards(hole, cards.flop, cards.turn, cards.river)
        return Game(public.game_id, public.table, public.turn, own, public.pots, public.last_winners)


def idle_game(guid: Guid, seated: Sequence[Participant], hole: HoleNames, winners: Winners) -> Game:
    """Return a game without a running hand (holdem-5.16)."""
    table = [
        Player(participant.guid, participant.user, "active", participant.chips, 0, False) for participant in seated
    ]
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
    """Return a game with its hand. `expiry` is the end of the current turn; it is omitted if no player is to act."""
    table, seat = visible_players(hand, dealt, acted), hand.turn
    if not isinstance(seat, int):
        return Game(guid, table, NO_TURN, visible_cards(hand, hole), NO_POT, winners)
    turn = Turn(dealt[seat].guid, hand.bets[seat], hand.to_match, hand.min_raise, expiry)
    return Game(guid, table, turn, visible_cards(hand, hole), visible_pots(hand, dealt), winners)


def visible_players(hand: Hand, dealt: Sequence[Participant], acted: Container[Seat]) -> list[Player]:
    """Return the players who were dealt in and have not left. `acted` are the seats that acted in this round."""
    return [
        Player(
            participant.guid,
            participant.user,
            _player_status(hand, seat, acted),
            hand.stacks[seat],
            hand.bets[seat],
            seat == hand.small_blind,
        )
        for seat, participant in enumerate(dealt)
        if participant.chair is not None
    ]


def _player_status(hand: Hand, seat: Seat, acted: Container[Seat]) -> PlayerStatus:
    """Return the state of a player (holdem-5.9)."""
    if hand.folded[seat]:
        return "folded"
    return "called" if seat in acted or not hand.stacks[seat] or hand.turn is Whose.OVER else "active"


def visible_cards(hand: Hand, hole: HoleNames) -> Cards:
    """Return the board and the given hole cards."""
    return Cards(hole, *(street or None for street in split_board(card_names(hand.board))))


def visible_pots(hand: Hand, dealt: Sequence[Participant]) -> list[Pot]:
    """Return the pots with their payers."""
    return [Pot(pot.size, [dealt[seat].guid for seat in pot.payers]) for pot in hand.pots]


def showdown_winners(hand: Hand, dealt: Sequence[Participant]) -> tuple[Winner, ...]:
    """Return the winners of the showdown with their best five cards (holdem-7.8); empty without a showdown."""
    seats = {award.seat for award in hand.awards} if hand.showdown_order else set()
    return tuple(
        Winner(dealt[seat].guid, card_names(best_five(hand.holes[seat] + hand.board))) for seat in sorted(seats)
    )
