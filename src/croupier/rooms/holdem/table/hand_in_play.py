"""A hand at a table: its players, its deal, and what has happened in it."""

from collections.abc import Sequence
from itertools import islice
from typing import Self

from croupier.core.dealer import Dealer
from croupier.core.rules import Seat
from croupier.core.session import Commit, HandFinished, Reveal
from croupier.rooms.holdem.cards import CARDS
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import FOLD, Move
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.table.seats import Participant
from croupier.rooms.holdem.table.wording import invalid_bet_reason
from croupier.rooms.holdem.wire import Guid


class HandInPlay:
    """A running hand, or a finished one while its end is shown. `number` counts the hands of the house.

    `players` are by seat, including those who have left.
    """

    def __init__(self, number: int, dealer: Dealer, players: Sequence[Participant], hand: Hand) -> None:
        self.number = number
        self.players = players
        self.hand = hand
        self._faults: list[tuple[Seat, str]] = []
        self._dealer = dealer
        self._deck = dealer.next_deck(len(CARDS))

    @classmethod
    def restore(cls, saved: FinishedHand, seated: Sequence[Participant], dealer: Dealer) -> Self:
        """Restore a hand; of its players, those who are `seated` are still here."""
        here = {each.hand_seat: each for each in seated if each.hand_seat is not None}
        absent = map(Participant, saved.players, saved.guids)
        hand = saved.hand
        restored = cls(saved.hand_number, dealer, [here.get(seat, each) for seat, each in enumerate(absent)], hand)
        restored._faults.extend(saved.faults)
        for _ in range(sum(map(len, hand.holes)) + len(hand.board)):
            next(restored._deck)
        return restored

    @property
    def is_over(self) -> bool:
        """Whether only the end of the hand is shown."""
        return self.hand.over

    def done_seats(self) -> tuple[Seat, ...]:
        """Return the seats that need not act in this betting round."""
        return tuple(seat for seat in range(len(self.players)) if not self.hand.to_act >> seat & 1)

    def deal(self) -> None:
        """Deal the due cards."""
        self.hand.deal([*islice(self._deck, self.hand.cards_due)])

    def fold_for(self, move: Move) -> str:
        """Fold the hand of the player to act because of an invalid bet, and return the reason (H5)."""
        seat = self.hand.turn
        assert isinstance(seat, int), "an act while no player is to act"
        assert move != FOLD, "the player to act may fold"
        reason = invalid_bet_reason(move, self.hand.legal)
        self._faults.append((seat, reason))
        self.hand.fold()
        return reason

    def commit(self) -> Commit:
        """Return the dealer's commitment."""
        return Commit.of(self.number, self._dealer)

    def finished(self, table: Guid, number: int) -> FinishedHand:
        """Return the hand as the finished one with this number at its table."""
        users, guids = tuple(each.user for each in self.players), tuple(each.guid for each in self.players)
        return FinishedHand(table, number, self.number, users, guids, self.hand, tuple(self._faults))

    def results(self, finished: FinishedHand, nets: tuple[int, ...]) -> tuple[HandFinished, Reveal]:
        """Return the result of the hand, and the seed of its deal."""
        return HandFinished(self.number, nets, finished), Reveal.of(self.number, self._dealer)
