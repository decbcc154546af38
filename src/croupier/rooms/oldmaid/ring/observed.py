"""A referee's view of one Old Maid player: its hand, its turn and its possible left neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import CARD_NAMES, Card, pair_of
from croupier.rooms.oldmaid.rules import others_in_ring
from croupier.rooms.oldmaid.wire import Discard

type TurnAction = Literal["draw", "pass", "offer"]
"""What a player may do in its turn: draw a card, pass the turn on, or offer its hand."""


@dataclass
class ObservedOffer:
    """An offer to a player: the announced number of cards, whether it was accepted, and the position picked."""

    to_nick: str
    num_cards: int
    is_accepted: bool = False
    picked_position: int | None = None


@dataclass
class Observed:
    """A player as a referee knows it.

    `turn` is what the player may do now, and `offer` its pending offer. `unreachable_nicks` are the players that it
    cannot reach, `out_nicks` those that have answered it with `out`, and `outs_in_turn` those of them that have done so
    in this turn. `refused_pairs` are pairs whose discard the table has refused. `last_received` is the last card given
    to the player and its giver, until the player is known to have received it. `is_deck_empty` says that the player
    knows that the deck is empty, `is_out` that it has reported `out_of_cards`, and `is_excused` that it may believe in
    good faith to have the turn. It `answers_late` if it has drawn, and has not answered the `your_turn` yet.
    `discards_early` and `draws_with_pairs`: while cards were drawn, it has discarded, or has drawn with a pair in its
    hand. `wrong_last_cards` is the first pair that it has called its last cards while it had others that are no
    pairs.
    """

    nick: str
    seat: Seat
    hand: set[Card] = field(default_factory=set)
    turn: TurnAction | None = None
    offer: ObservedOffer | None = None
    unreachable_nicks: set[str] = field(default_factory=set)
    out_nicks: set[str] = field(default_factory=set)
    outs_in_turn: set[str] = field(default_factory=set)
    refused_pairs: set[tuple[Card, Card]] = field(default_factory=set)
    last_received: tuple[Card, "Observed"] | None = None
    is_deck_empty: bool = False
    is_out: bool = False
    is_excused: bool = False
    answers_late: bool = False
    discards_early: bool = False
    draws_with_pairs: bool = False
    wrong_last_cards: Discard | None = None

    @property
    def keeps_pairs(self) -> bool:
        """Whether it keeps its pairs as long as cards are drawn (oldmaid-5.13)."""
        return self.draws_with_pairs and not self.discards_early

    @property
    def pair(self) -> tuple[Card, Card] | None:
        """A pair that the player has to discard, None if it has none (oldmaid-5.11)."""
        for pair in filter(None, map(pair_of, self.hand)):
            if self.hand.issuperset(pair) and pair not in self.refused_pairs:
                return pair
        return None

    @property
    def has_only_pairs(self) -> bool:
        """Whether it can discard all its cards."""
        return all((pair := pair_of(card)) is not None and self.hand.issuperset(pair) for card in self.hand)

    def may_ask(self, other: str, nicks: Sequence[str]) -> bool:
        """Whether `other` may be the left neighbour, given the players that are out or unreachable between them.

        In its next turn the player may ask those again that were out (oldmaid-7.9).
        """
        others = others_in_ring(nicks, self.seat)
        skipped = self.out_nicks | self.unreachable_nicks
        return other not in self.outs_in_turn and other == next(
            (nick for nick in others if nick == other or nick not in skipped), None
        )

    def end_turn(self) -> None:
        """Record that the player no longer has the turn to offer."""
        self.offer = self.turn = None
        self.outs_in_turn.clear()

    def lose_contact(self, other: "Observed") -> bool:
        """Record that this player cannot reach another one. Returns whether the turn may be lost.

        It is not lost if one of the two has disconnected because the other is out, although that one may believe so.
        """
        self.unreachable_nicks.add(other.nick)
        if self.offer is not None and self.offer.to_nick == other.nick:
            self.offer = None
        if self.nick in other.out_nicks:
            self.is_excused = True
            return False
        return other.nick not in self.out_nicks

    def check_count(self, num_cards: int) -> bool:
        """Whether the player has `num_cards` cards. A card that its giver lost on the way is returned to the giver."""
        if (
            self.last_received is not None
            and num_cards == len(self.hand) - 1
            and self.last_received[1].nick in self.unreachable_nicks
        ):
            card, giver = self.last_received
            self.hand.remove(card)
            giver.hand.add(card)
        self.last_received = None
        return num_cards == len(self.hand)


def card_name(card: Card) -> str:
    """The name of a card for messages; any text for an unknown card."""
    return CARD_NAMES[card] if card >= 0 else "a card that there is not"
