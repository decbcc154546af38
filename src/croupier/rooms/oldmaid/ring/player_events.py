"""What a player of Old Maid gets to know while the ring plays: for people to read, and for programs to follow."""

from typing import Literal

from msgspec import Struct

from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import Card
from croupier.rooms.oldmaid.wire import ListedPlayer, Standing


class PlayerResult(Struct, frozen=True, gc=False):
    """How the game has ended for a player.

    He has got rid of his cards (out), all others have (lost), or the game could not be finished (ended), for the
    `reason` that is given then. `place` counts from 1, the winner; None where nobody has told it.
    """

    outcome: Literal["out", "lost", "ended"]
    place: int | None = None
    reason: str = ""


class SeatTaken(Struct, frozen=True, gc=False):
    """The game has started: the table's list, and where we are in it (oldmaid-3.16)."""

    players: tuple[ListedPlayer, ...]
    seat: Seat


class CardDrawn(Struct, frozen=True, gc=False):
    """We have drawn a card; behind the `last` one there are none (oldmaid-4.2, oldmaid-4.4)."""

    card: Card
    is_last: bool


class PairDiscarded(Struct, frozen=True, gc=False):
    """We have thrown away a pair (oldmaid-5.2)."""

    a: Card
    b: Card


class PairRefused(Struct, frozen=True, gc=False):
    """The table has not taken a pair of ours, for a reason: we keep it (oldmaid-8.1)."""

    a: Card
    b: Card
    reason: str


class OfferReceived(Struct, frozen=True, gc=False):
    """We are to pick one of so many cards; with none of them the turn is ours at once (oldmaid-7.2, oldmaid-7.10)."""

    num_cards: int


class OfferWithdrawn(Struct, frozen=True, gc=False):
    """Who was to give us a card is gone: the turn is ours without it (oldmaid-9.8)."""


class CardPicked(Struct, frozen=True, gc=False):
    """We have picked this card (oldmaid-7.5)."""

    card: Card


class OfferMade(Struct, frozen=True, gc=False):
    """We offer our hand of so many cards to the left neighbour (oldmaid-7.2)."""

    nick: str
    num_cards: int


class CardGiven(Struct, frozen=True, gc=False):
    """The left neighbour has picked this card of ours (oldmaid-7.5)."""

    card: Card
    nick: str


class NeighbourSkipped(Struct, frozen=True, gc=False):
    """The left neighbour is out, or gone; the next one in the list is it from now on (oldmaid-7.9, 9.5, 9.6)."""

    nick: str
    reason: Literal["out", "gone"]


class HandEmptied(Struct, frozen=True, gc=False):
    """We have no cards any more, and are out (oldmaid-7.12)."""


class PlaceAnnounced(Struct, frozen=True, gc=False):
    """The table has told our place among those who are out, 1 for the winner (oldmaid-6.6)."""

    place: int


class StandingChanged(Struct, frozen=True, gc=False):
    """The table has told who is in and who is out, and it is not as it was (oldmaid-6.5)."""

    standing: Standing


class PlayerFinished(Struct, frozen=True, gc=False):
    """The game is over for us."""

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
