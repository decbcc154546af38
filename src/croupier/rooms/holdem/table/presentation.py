"""Conversion of a table's hand to the Game object of the protocol (docs/protocols/holdem.md, 5)."""

from collections.abc import Mapping, Sequence, Set
from functools import cached_property

from msgspec import Struct, UnsetType

from croupier.core.rules import Seat
from croupier.rooms.holdem.cards import card_names
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.ranks import best_five
from croupier.rooms.holdem.engine.streets import split_board
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.table.seats import Participant
from croupier.rooms.holdem.table.wording import format_expiry
from croupier.rooms.holdem.wire import NO_POT, NO_TURN, Cards, Game, Guid, Player, PlayerStatus, Pot, Turn, Winner

type HoleNames = tuple[str, ...] | None
type Winners = Sequence[Winner] | UnsetType


class ShownPlayer(Struct, frozen=True, gc=False):
    """A player at a table, or one who was dealt in and has left (not `is_here`). `chips` is the stack between hands."""

    guid: Guid
    user: str
    chips: int
    is_here: bool = True


class ShownTable(Struct, frozen=True):
    """What a table shows to anybody, whichever server runs it. It never changes when the table does.

    `guids` are the GUIDs of all users at the table, seated or queued, `chairs` the number of seats, and `away` the
    people who are not there (holdem-9.15). See `Table` for the other fields.
    """

    guid: Guid
    number: int
    version: int
    chairs: int
    finished_count: int
    guids: Mapping[str, Guid]
    away: Set[Guid]

    @property
    def has_free_seat(self) -> bool:
        """Whether the next player to join gets a seat (holdem-3.1)."""
        return len(self.guids) < self.chairs

    @property
    def is_playing(self) -> bool:
        """Whether a hand is running, or shown."""
        raise NotImplementedError

    @property
    def hands(self) -> Mapping[int, FinishedHand]:
        """Those of the `finished_count` finished hands that are kept, by number."""
        raise NotImplementedError

    @property
    def public(self) -> Game:
        """The game as the public sees it."""
        raise NotImplementedError

    @property
    def holes(self) -> Mapping[str, tuple[str, ...]]:
        """The hole cards in the hand of each user who is still here."""
        raise NotImplementedError

    def view(self, user: str | None = None) -> Game:
        """Return the game as a user sees it, with their own hole cards (holdem-5.6); None: the public view."""
        return game_with_hole(self.public, None if user is None else self.holes.get(user))


class TableView(ShownTable, frozen=True, dict=True):
    """What a table of this process shows, rendered when somebody looks.

    `players` are those of the `hand` by seat, or the seated ones while there is none. `hidden` stands for hole cards
    that the viewer may not see.
    """

    hand: Hand | None
    players: Sequence[ShownPlayer]
    turn_ends: int
    hidden: HoleNames
    winners: Winners
    hands: Mapping[int, FinishedHand]

    @property
    def is_playing(self) -> bool:
        """See `ShownTable`."""
        return self.hand is not None

    @cached_property
    def public(self) -> Game:
        """See `ShownTable`."""
        hand = self.hand
        if hand is None:  # (holdem-5.16)
            idle = [Player(player.guid, player.user, "active", player.chips, 0, False) for player in self.players]
            return Game(self.guid, idle, NO_TURN, Cards(self.hidden), NO_POT, self.winners)
        table, cards = visible_players(hand, self.players), visible_cards(hand, self.hidden)
        seat = hand.turn
        if not isinstance(seat, int):
            return Game(self.guid, table, NO_TURN, cards, NO_POT, self.winners)
        expiry = format_expiry(self.turn_ends)
        turn = Turn(self.players[seat].guid, hand.bets[seat], hand.to_match, hand.min_raise, expiry)
        return Game(self.guid, table, turn, cards, visible_pots(hand, self.players), self.winners)

    @cached_property
    def holes(self) -> Mapping[str, tuple[str, ...]]:
        """See `ShownTable`."""
        holes = () if self.hand is None else zip(self.players, self.hand.holes, strict=True)
        return {player.user: card_names(hole) for player, hole in holes if player.is_here}


def game_with_hole(public: Game, hole: HoleNames) -> Game:
    """Return the game as a player with these hole cards sees it; None: the public view."""
    if hole is None:
        return public
    cards = public.cards
    own = Cards(hole, cards.flop, cards.turn, cards.river)
    return Game(public.game_id, public.table, public.turn, own, public.pots, public.last_winners)


def visible_players(hand: Hand, dealt: Sequence[ShownPlayer]) -> list[Player]:
    """Return the players who were dealt in and have not left."""
    return [
        Player(
            player.guid,
            player.user,
            _player_status(hand, seat),
            hand.stacks[seat],
            hand.bets[seat],
            seat == hand.small_blind,
        )
        for seat, player in enumerate(dealt)
        if player.is_here
    ]


def _player_status(hand: Hand, seat: Seat) -> PlayerStatus:
    """Return the state of a player (holdem-5.9)."""
    if hand.folded[seat]:
        return "folded"
    return "active" if hand.to_act >> seat & 1 and not hand.over else "called"


def visible_cards(hand: Hand, hole: HoleNames) -> Cards:
    """Return the board and the given hole cards."""
    return Cards(hole, *(street or None for street in split_board(card_names(hand.board))))


def visible_pots(hand: Hand, dealt: Sequence[ShownPlayer]) -> list[Pot]:
    """Return the pots with their payers."""
    return [Pot(pot.size, [dealt[seat].guid for seat in pot.payers]) for pot in hand.pots]


def showdown_winners(hand: Hand, dealt: Sequence[Participant]) -> tuple[Winner, ...]:
    """Return the winners of the showdown with their best five cards (holdem-7.8); empty without a showdown."""
    seats = {award.seat for award in hand.awards} if hand.showdown_order else set()
    return tuple(
        Winner(dealt[seat].guid, card_names(best_five(hand.holes[seat] + hand.board))) for seat in sorted(seats)
    )
