"""The events of an Old Maid player, which a `Notify` effect carries to user interfaces and programs."""

from typing import Literal

from msgspec import Struct

from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import Card
from croupier.rooms.oldmaid.wire import ListedPlayer, Standing


class PlayerResult(Struct, frozen=True, gc=False):
    """The result of a game for the player.

    The outcome is `out` if the player has no cards left, `lost` if all others are out, and `ended` if the game could
    not be finished; `reason` says why. `place` counts from 1, the winner; it is None if it is unknown: a player that
    the others left alone with the old maid does not know whether all of them had finished.

    Example:
        >>> result = PlayerResult("out", place=1)
        >>> result.outcome, result.place
        ('out', 1)
    """

    outcome: Literal["out", "lost", "ended"]
    place: int | None = None
    reason: str = ""


class SeatTaken(Struct, frozen=True, gc=False):
    """The game has started, with the table's list of players and the player's seat in it (oldmaid-3.16).

    Example:
        >>> event = SeatTaken(((("127.0.0.1", 5001), "ann"), (("127.0.0.1", 5002), "bob")), 1)
        >>> address, nick = event.players[event.seat]
        >>> nick
        'bob'
    """

    players: tuple[ListedPlayer, ...]
    seat: Seat


class CardDrawn(Struct, frozen=True, gc=False):
    """The player drew a card; `is_last` if the deck is now empty (oldmaid-4.2, oldmaid-4.4).

    Example:
        >>> event = CardDrawn(52, is_last=True)  # the joker
        >>> event.card, event.is_last
        (52, True)
    """

    card: Card
    is_last: bool


class PairDiscarded(Struct, frozen=True, gc=False):
    """The player discarded a pair (oldmaid-5.2).

    Example:
        >>> event = PairDiscarded(4, 5)  # the black threes
        >>> event.a, event.b
        (4, 5)
    """

    a: Card
    b: Card


class PairRefused(Struct, frozen=True, gc=False):
    """The table refused the player's discard of a pair; the player keeps it (oldmaid-8.1).

    Example:
        >>> event = PairRefused(4, 5, "not your cards")
        >>> event.reason
        'not your cards'
    """

    a: Card
    b: Card
    reason: str


class OfferReceived(Struct, frozen=True, gc=False):
    """The player is to pick one of `num_cards` cards; with 0 it has the turn at once (oldmaid-7.2, oldmaid-7.10).

    Example:
        >>> OfferReceived(7).num_cards
        7
    """

    num_cards: int


class OfferWithdrawn(Struct, frozen=True, gc=False):
    """The player that made the offer is gone; this player has the turn without a card (oldmaid-9.8).

    Example:
        >>> isinstance(OfferWithdrawn(), OfferWithdrawn)
        True
    """


class CardPicked(Struct, frozen=True, gc=False):
    """The player picked a card (oldmaid-7.5).

    Example:
        >>> CardPicked(52).card == 52  # the joker
        True
    """

    card: Card


class OfferMade(Struct, frozen=True, gc=False):
    """The player offered its hand of `num_cards` cards to the left neighbour (oldmaid-7.2).

    Example:
        >>> event = OfferMade("ann", 7)
        >>> event.nick, event.num_cards
        ('ann', 7)
    """

    nick: str
    num_cards: int


class CardGiven(Struct, frozen=True, gc=False):
    """The left neighbour picked a card of the player (oldmaid-7.5).

    Example:
        >>> event = CardGiven(52, "ann")
        >>> event.card, event.nick
        (52, 'ann')
    """

    card: Card
    nick: str


class NeighbourSkipped(Struct, frozen=True, gc=False):
    """The left neighbour is out or gone; the next player in the list replaces it (oldmaid-7.9, 9.5, 9.6).

    Example:
        >>> event = NeighbourSkipped("ann", "out")
        >>> event.nick, event.reason
        ('ann', 'out')
    """

    nick: str
    reason: Literal["out", "gone"]


class HandEmptied(Struct, frozen=True, gc=False):
    """The player has no cards left and is out (oldmaid-7.12).

    Example:
        >>> HandEmptied()
        HandEmptied()
    """


class PlaceAnnounced(Struct, frozen=True, gc=False):
    """The table reported the player's place among the players who are out, 1 for the winner (oldmaid-6.6).

    Example:
        >>> PlaceAnnounced(1).place
        1
    """

    place: int


class StandingChanged(Struct, frozen=True, gc=False):
    """The table reported a new standing: who is in and who is out (oldmaid-6.5).

    Example:
        >>> event = StandingChanged(Standing(inside=("ann",), outside=("bob", "eve")))
        >>> event.standing.outside
        ('bob', 'eve')
    """

    standing: Standing


class PlayerFinished(Struct, frozen=True, gc=False):
    """The game is over for the player.

    Example:
        >>> event = PlayerFinished(PlayerResult("lost", place=4))
        >>> event.result.outcome
        'lost'
    """

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
