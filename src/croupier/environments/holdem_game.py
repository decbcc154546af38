"""No-limit hold'em as numbers, with a few sizes of raises."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from croupier.core.bots import BotSpec
from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.core.rules import Seat, Turn
from croupier.rooms.holdem.cards import CARDS, card_names
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import FOLD, Legal, Move
from croupier.rooms.holdem.engine.stakes import STAKES
from croupier.rooms.holdem.engine.streets import STREET_CARDS
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.views import View

MAX_SEATS: Final = 6

POT: Final = (100,)
"""The raises of the fcpa betting abstraction: fold, call, pot, all-in."""

SEAT_FEATURES: Final = ("stack", "bet", "in the hand", "button")


class HoldemGame:
    """No-limit hold'em with equal stacks, where seat 0 has the button. See `EncodedGame`.

    The actions are to fold, to call or check, to raise by some percents of the pot after the call, and to go all in.
    Folding is no action where checking is free. Raises ValueError for a bad option.
    """

    name = "holdem"
    unit = "big blinds"

    def __init__(
        self,
        bots: Mapping[str, BotSpec[Any, Any]],
        *,
        seats: int = 2,
        stack: int = Settings.stack,
        raises: Sequence[int] = POT,
    ) -> None:
        if not 2 <= seats <= MAX_SEATS:
            raise ValueError(f"found {seats} seats; allowed: 2 to {MAX_SEATS}")
        if any(percent < 1 for percent in raises) or any(low >= high for low, high in pairwise(raises)):
            raise ValueError(f"found the raises {(*raises,)}; allowed: percents of the pot in ascending order")
        self.bots = bots
        self.seats = seats
        self.raises = tuple(raises)
        self.big_blind = STAKES.big_blind
        self.start = Hand([stack] * seats, button=0, stakes=STAKES)
        self.max_loss: float = stack / self.big_blind
        self.action_names: Sequence[str] = ("FOLD", "CALL", *(f"RAISE_{percent}" for percent in raises), "ALL_IN")
        chips = seats * self.max_loss
        self.feature_names: Sequence[str] = (
            *(f"hole {card}" for card in CARDS),
            *(f"board {card}" for card in CARDS),
            *(f"street {number}" for number in range(len(STREET_CARDS))),
            *(f"seat +{place} {feature}" for place in range(seats) for feature in SEAT_FEATURES),
            "pot",
            "to call",
        )
        self.feature_highs: Sequence[float] = (
            *((1.0,) * (2 * len(CARDS) + len(STREET_CARDS))),
            *(seats * (chips, chips, 1.0, 1.0)),
            chips,
            chips,
        )

    def deal(self, seed: int, number: int) -> "HoldemHand":
        """See `EncodedGame`."""
        dealer = FairDealer(derive_server_seed(seed, f"{self.name} environment", number))
        hand = self.start.copy()
        hand.deal_from(dealer.next_deck(len(CARDS)))
        return HoldemHand(self, hand)


class HoldemHand:
    """A hand of hold'em. See `EncodedHand`. Numbers of chips are observed in big blinds, seats from one's own on."""

    def __init__(self, game: HoldemGame, hand: Hand) -> None:
        self._game = game
        self._hand = hand

    @property
    def turn(self) -> Seat | None:
        """See `EncodedHand`."""
        return None if isinstance(self._hand.turn, Turn) else self._hand.turn

    @property
    def moves(self) -> Mapping[int, Move]:
        """See `EncodedHand`."""
        if self.turn is None:
            return {}
        legal = self.legal
        moves: dict[int, Move] = {1: legal.call}
        if legal.to_call > 0:
            moves[0] = FOLD
        if legal.raise_range is not None and legal.can_be_answered:
            all_in = legal.raise_range[1]
            for action, percent in enumerate(self._game.raises, start=2):
                chips = legal.pot_sized(percent, 100)
                if chips is not None and chips < all_in:
                    moves[action] = chips
            moves[len(self._game.action_names) - 1] = all_in
        return moves

    @property
    def legal(self) -> Legal:
        """See `EncodedHand`."""
        return self._hand.legal

    def play(self, move: Move) -> None:
        """See `EncodedHand`."""
        self._hand.play(move)

    def view(self, seat: Seat) -> View:
        """See `EncodedHand`."""
        return View.of(self._hand, seat)

    def observe(self, seat: Seat) -> Sequence[float]:
        """See `EncodedHand`."""
        hand, big_blind, seats = self._hand, self._game.big_blind, self._game.seats
        hole, board = hand.hole_of(seat), hand.shown_board
        features: list[float] = []
        for seen in (hole, board):
            features.extend(float(card in seen) for card in range(len(CARDS)))
        features.extend(float(street == hand.street) for street in range(len(STREET_CARDS)))
        for place in range(seats):
            other = (seat + place) % seats
            features += [
                hand.stacks[other] / big_blind,
                hand.bets[other] / big_blind,
                float(hand.live >> other & 1),
                float(other == hand.button),
            ]
        return [*features, hand.pot / big_blind, self.view(seat).call / big_blind]

    def describe(self, seat: Seat) -> str:
        """See `EncodedHand`."""
        view = self.view(seat)
        return (
            f"{seat} [{' '.join(card_names(view.hole))}] [{' '.join(card_names(view.board))}] "
            f"stacks {' '.join(map(str, view.stacks))}, bets {' '.join(map(str, view.bets))}, pot {view.pot}"
        )

    def rewards(self) -> Sequence[float]:
        """See `EncodedHand`."""
        return [chips / self._game.big_blind for chips in self._hand.payoff()]
