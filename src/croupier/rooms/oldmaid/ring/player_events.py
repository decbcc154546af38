"""The events of an Old Maid player, which a `Notify` effect carries to user interfaces and programs."""

from typing import Literal

from msgspec import Struct

from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import Card
from croupier.rooms.oldmaid.wire import ListedPlayer, Standing


class PlayerResult(Struct, frozen=True, gc=False):
    """The result of a game for the player.

    The outcome is `out` if the player has no cards left, `lost` if all others are out, and `ended` if the game could
    not be finished; `reason` says why. `place` counts from 1, the winner; it is None if it is unknown.
    """

    outcome: Literal["out", "lost", "ended"]
    place: int | None = None
    reason: str = ""


class SeatTaken(Struct, frozen=True, gc=False):
    """The game has started, with the table's list of players and the player's seat in it (oldmaid-3.16)."""

    players: tuple[ListedPlayer, ...]
    seat: Seat


class CardDrawn(Struct, frozen=True, gc=False):
    """The player drew a card; `is_last` if the deck is now empty (oldmaid-4.2, oldmaid-4.4)."""

    card: Card
    is_last: bool


class PairDiscarded(Struct, frozen=True, gc=False):
    """The player discarded a pair (oldmaid-5.2)."""

    a: Card
    b: Card


class PairRefused(Struct, frozen=True, gc=False):
    """The table refused the player's discard of a pair; the player keeps it (oldmaid-8.1)."""

    a: Card
    b: Card
    reason: str


class OfferReceived(Struct, frozen=True, gc=False):
    """The player is to pick one of `num_cards` cards; with 0 it has the turn at once (oldmaid-7.2, oldmaid-7.10)."""

    num_cards: int


class OfferWithdrawn(Struct, frozen=True, gc=False):
    """The player that made the offer is gone; this player has the turn without a card (oldmaid-9.8)."""


class CardPicked(Struct, frozen=True, gc=False):
    """The player picked a card (oldmaid-7.5)."""

    card: Card


class OfferMade(Struct, frozen=True, gc=False):
    """The player offered its hand of `num_cards` cards to the left neighbour (oldmaid-7.2)."""

    nick: str
    num_cards: int


class CardGiven(Struct, frozen=True, gc=False):
    """The left neighbour picked a card of the player (oldmaid-7.5)."""

    card: Card
    nick: str


class NeighbourSkipped(Struct, frozen=True, gc=False):
    """The left neighbour is out or gone; the next player in the list replaces it (oldmaid-7.9, 9.5, 9.6)."""

    nick: str
    reason: Literal["out", "gone"]


class HandEmptied(Struct, frozen=True, gc=False):
    """The player has no cards left and is out (oldmaid-7.12)."""


class PlaceAnnounced(Struct, frozen=True, gc=False):
    """The table reported the player's place among the players who are out, 1 for the winner (oldmaid-6.6)."""

    place: int


class StandingChanged(Struct, frozen=True, gc=False):
    """The table reported a new standing: who is in and who is out (oldmaid-6.5)."""

    standing: Standing


class PlayerFinished(Struct, frozen=True, gc=False):
    """The game is over for the player."""

    result: PlayerResult


type PlayerEvent = (
    SeatTaken
    | CardDrawn
    | PairDiscarded
    | PairRefused
    | OfferReceived
    | OfferWithdrawn
    | CardPicked
    | OfferMade
    | CardGiven
    | NeighbourSkipped
    | HandEmptied
    | PlaceAnnounced
    | StandingChanged
    | PlayerFinished
)
