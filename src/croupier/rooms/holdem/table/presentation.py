"""Conversion of a table's hand to the Game object of the protocol (docs/protocols/holdem.md, 5)."""

from collections.abc import Callable, Mapping, Sequence, Set
from functools import cached_property

from msgspec import Struct, UnsetType
from msgspec.structs import replace

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


class Rendered(Struct, frozen=True, gc=False):
    """What a table shows as Game objects have it; see `ShownTable`."""

    public: Game
    holes: Mapping[str, tuple[str, ...]]


class TableState(Struct, frozen=True):
    """The state of a table but for its game.

    `guids` are the GUIDs of all users at the table, seated or queued, `chairs` the number of seats, and `away` the
    people who are not there (holdem-9.15). `is_playing`: a hand is running, or shown. See `Table` for the other fields.
    """

    guid: Guid
    number: int
    version: int
    chairs: int
    finished_count: int
    guids: Mapping[str, Guid]
    away: Set[Guid]
    is_playing: bool


class ShownTable(TableState, frozen=True, dict=True):
    """What a table shows to anybody, whichever server runs it. It never changes when the table does.

    `hands` are those of the `finished_count` finished hands that are kept here, by number. `render` is called once,
    when somebody looks.
    """

    hands: Mapping[int, FinishedHand]
    render: Callable[[], Rendered]

    @property
    def has_free_seat(self) -> bool:
        """Whether the next player to join gets a seat (holdem-3.1)."""
        return len(self.guids) < self.chairs

    @cached_property
    def rendered(self) -> Rendered:
        """The table as somebody sees it."""
        return self.render()

    @property
    def public(self) -> Game:
        """The game as the public sees it."""
        return self.rendered.public

    @property
    def holes(self) -> Mapping[str, tuple[str, ...]]:
        """The hole cards in the hand of each user who is still here."""
        return self.rendered.holes

    def view(self, user: str | None = None) -> Game:
        """Return the game as a user sees it, with their own hole cards (holdem-5.6); None: the public view."""
        public, hole = self.public, None if user is None else self.holes.get(user)
        return public if hole is None else replace(public, cards=replace(public.cards, hole=hole))


def render_table(
    guid: Guid,
    hand: Hand | None,
    players: Sequence[ShownPlayer],
    *,
    turn_ends: int,
    hidden: HoleNames,
    winners: Winners,
) -> Rendered:
    """Render a table. `players` are those of the hand by seat, or the seated ones while there is none.

    `hidden` stands for hole cards that the viewer may not see.
    """
    if hand is None:  # (holdem-5.16)
        idle = [Player(player.guid, player.user, "active", player.chips, 0, False) for player in players]
        return Rendered(Game(guid, idle, NO_TURN, Cards(hidden), NO_POT, winners), {})
    seat, turn = hand.turn, NO_TURN
    pots: Sequence[Pot] = NO_POT
    if isinstance(seat, int):
        expiry = format_expiry(turn_ends)
        turn = Turn(players[seat].guid, hand.bets[seat], hand.to_match, hand.min_raise, expiry)
        pots = visible_pots(hand, players)
    game = Game(guid, visible_players(hand, players), turn, visible_cards(hand, hidden), pots, winners)
    dealt = zip(players, hand.holes, strict=True)
    return Rendered(game, {player.user: card_names(hole) for player, hole in dealt if player.is_here})


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
