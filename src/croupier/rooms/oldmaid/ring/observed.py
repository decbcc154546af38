"""What a referee of Old Maid knows of one player: his hand, whether it is his turn, and whom he may pass it to."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import CARD_NAMES, JOKER, Card

type TurnAction = Literal["draw", "pass", "offer"]
"""What a player may do in his turn: draw a card, pass the turn on, or offer his hand."""


@dataclass
class ObservedOffer:
    """A hand that is held out to somebody: how many cards were told, and whether he is in, and has picked."""

    to_nick: str
    num_cards: int
    is_accepted: bool = False
    picked_position: int | None = None


@dataclass
class Observed:
    """A player at his seat.

    `turn` is what he may do now, and `offer` how he holds out his hand. `skipped` are those whom he cannot reach, and
    `outside` those who have told him that they are out. `drawn` says that he knows that no more cards are drawn, and
    `out` that he has told the table that he has none. `refused` are pairs that the table did not take from him, by
    their first cards. `excused` says that he may believe that it is his turn. `got` is the card that he was given last,
    and who has given it, until it shows that he has it.
    """

    nick: str
    seat: Seat
    hand: set[Card] = field(default_factory=set)
    turn: TurnAction | None = None
    offer: ObservedOffer | None = None
    unreachable_nicks: set[str] = field(default_factory=set)
    out_nicks: set[str] = field(default_factory=set)
    refused_pairs: set[Card] = field(default_factory=set)
    last_received: tuple[Card, "Observed"] | None = None
    is_deck_empty: bool = False
    is_out: bool = False
    is_excused: bool = False

    @property
    def pair(self) -> tuple[Card, Card] | None:
        """A pair that he has to throw away, if there is one (oldmaid-5.11)."""
        for card in self.hand:
            if not card & 1 and card != JOKER and card | 1 in self.hand and card not in self.refused_pairs:
                return card, card | 1
        return None

    def may_ask(self, other: str, nicks: Sequence[str]) -> bool:
        """Whether somebody is his left neighbour, or became it when others were out or could not be reached."""
        others = (*nicks[self.seat + 1 :], *nicks[: self.seat])
        passed_over = self.out_nicks | self.unreachable_nicks
        return other not in self.out_nicks and other == next(
            (nick for nick in others if nick == other or nick not in passed_over), None
        )

    def lose_contact(self, other: "Observed") -> bool:
        """He notices that he cannot reach somebody any more; whether the turn may be lost by it.

        It is not when one of them has hung up because the other is out; but the other may believe so.
        """
        self.unreachable_nicks.add(other.nick)
        if self.offer is not None and self.offer.to_nick == other.nick:
            self.offer = None
        if self.nick in other.out_nicks:
            self.is_excused = True
            return False
        return other.nick not in self.out_nicks

    def check_count(self, num_cards: int) -> bool:
        """Whether he may say that he has so many cards; it tells whether one was lost with its giver on the way."""
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
    """A card for people."""
    return CARD_NAMES[card] if card >= 0 else "a card that there is not"
