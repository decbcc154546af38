"""Comparison of whole hands with PokerKit: the same cards and bets lead to the same stacks.

PokerKit numbers the seats from the small blind (heads-up from the big blind), so the lowest index is the first seat
left of the button. It differs from H7 in these points, and the adapter here compensates for them:

- Odd chips: before paying, PokerKit removes beaten players from the pots and merges pots with the same remaining
  players, so that two odd chips may become an even amount. The adapter pays each original pot separately.
- The bet to match is the largest bet, not the blind: over a short big blind or straddle, a full call is a raise of a
  size that PokerKit would refuse. Its record of short all-ins bars some players who face a full raise; the adapter
  clears it.
- The first player to act is left of the largest post. That is not the big blind's post if both blinds are equal
  heads-up, or if an ante took the whole stack of the big blind.
- Players with chips must check even if all opponents have gone all in or folded in this round.

PokerKit has no players who leave out of turn.
"""

import warnings
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

import pytest

from croupier.rooms.holdem.cards import CARDS
from croupier.rooms.holdem.engine.hand import Hand
from tests.rooms.holdem.random_hands import begin, end
from tests.sampling import extended

AUTOMATIC = (
    "ANTE_POSTING",
    "BET_COLLECTION",
    "BLIND_OR_STRADDLE_POSTING",
    "RUNOUT_COUNT_SELECTION",
    "HOLE_CARDS_SHOWING_OR_MUCKING",
    "CHIPS_PUSHING",
    "CHIPS_PULLING",
)
"""What PokerKit does by itself, by the names of its automations."""


def card_texts(cards: Sequence[int]) -> str:
    return "".join(CARDS[card][0] + CARDS[card][1].lower() for card in cards)


class PokerKitAdapter:
    """PokerKit's state of a hand, with our seat numbers and rules."""

    def __init__(self, hand: Hand, stacks: Sequence[int]) -> None:
        from pokerkit import Automation, Mode, NoLimitTexasHoldem  # takes half a second

        seats = len(stacks)
        self.first = hand.big_blind if seats == 2 else hand.small_blind
        self.seats = seats
        forced = [chips for _, chips in hand.blinds]
        self.exact = max(hand.bets) == max(forced) and len(forced) == 2
        self.state: Any = NoLimitTexasHoldem.create_state(
            tuple(Automation[name] for name in AUTOMATIC),
            True,
            hand.stakes.ante,
            tuple(forced),
            hand.stakes.big_blind if self.exact else 1,
            tuple(stacks[self.seat(at)] for at in range(seats)),
            seats,
            mode=Mode.CASH_GAME,
        )

    def seat(self, at: int) -> int:
        """Return our seat for a PokerKit index."""
        return (self.first + at) % self.seats

    def deal(self, seat: int | None, cards: Sequence[int]) -> None:
        if seat is None:
            self.settle()
            if self.state.can_burn_card():
                self.state.burn_card("??")
            self.state.deal_board(card_texts(cards))
        else:
            self.state.deal_hole(card_texts(cards), (seat - self.first) % self.seats)

    def first_to_act(self, seat: int) -> None:
        """Set the first player to act before the flop."""
        at = (seat - self.first) % self.seats
        self.state.actor_indices.rotate(-self.state.actor_indices.index(at))

    def bet(self, seat: int, chips: int) -> None:
        state, at = self.state, (seat - self.first) % self.seats
        total = state.bets[at] + chips
        assert state.actor_index == at
        if total > max(state.bets) and not state.can_complete_bet_or_raise_to(total):
            state.consecutive_short_all_in_amounts.clear()
            if not self.exact:
                state.completion_betting_or_raising_amount = 0
        if total > max(state.bets) and state.can_complete_bet_or_raise_to(total):
            state.complete_bet_or_raise_to(total)
        else:
            state.check_or_call()

    def fold(self, seat: int) -> None:
        assert self.seat(self.state.actor_index) == seat
        self.state.fold()

    def stacks(self) -> list[int]:
        """Return the stacks by our seats after all pots are paid."""
        state = self.state
        stacks = list(state.stacks)
        if state.can_kill_hand():
            for pot in state.pots:
                hands = {at: state.get_hand(at, 0, 0) for at in pot.player_indices}
                winners = [at for at in pot.player_indices if hands[at] == max(hands.values())]
                chips, odd = divmod(pot.amount, len(winners))
                for at in winners:
                    stacks[at] += chips
                stacks[winners[0]] += odd
        else:
            assert not state.status
        return [stacks[(seat - self.first) % self.seats] for seat in range(self.seats)]

    def compare(self, hand: Hand) -> None:
        """Compare the call and, if both allow a raise, the smallest and the largest one."""
        state, legal = self.state, hand.legal
        bet = state.bets[state.actor_index]
        assert state.checking_or_calling_amount == legal.call
        if legal.raise_range is not None and state.can_complete_bet_or_raise_to():
            low, high = legal.raise_range
            assert state.min_completion_betting_or_raising_to_amount == bet + low
            assert state.max_completion_betting_or_raising_to_amount == bet + high

    def settle(self) -> None:
        """Check for players without a decision."""
        while self.state.actor_index is not None:
            assert self.state.checking_or_calling_amount == 0
            self.state.check_or_call()


def replayed(hand: Hand) -> list[int]:
    """Replay the log of a hand in PokerKit, comparing the legal bets at each step. Return the final stacks by seat."""
    ours = hand.replay([])
    adapter = PokerKitAdapter(ours, [stack - won for stack, won in zip(hand.stacks, hand.payoff(), strict=True)])
    acted = False
    for entry in hand.log:
        if entry[0] != "deal" and not acted:
            adapter.first_to_act(entry[1])
            acted = True
        if entry[0] != "deal" and adapter.exact:
            adapter.compare(ours)
        match entry:
            case ("deal", seat, cards):
                adapter.deal(seat, cards)
                ours.deal(cards)
            case ("bet", seat, chips):
                adapter.bet(seat, chips)
                ours.bet(chips)
            case (_, seat):
                adapter.fold(seat)
                ours.fold()
    adapter.settle()
    return adapter.stacks()


def agree(seeds: Iterable[int]) -> None:
    compared = 0
    for seed in seeds:
        luck = Random(seed)
        hand = end(begin(luck), luck)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about folds without a bet to call, and unknown burnt cards
            assert replayed(hand) == hand.stacks, f"seed {seed}: {hand}"
        compared += 1
    assert compared


@pytest.mark.parametrize("seeds", extended([range(15), range(15, 100), range(100, 300)], 3), ids=str)
def test_random_hands_end_with_the_stacks_of_pokerkit(seeds: range) -> None:
    agree(seeds)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_20000_more_random_hands_end_with_the_stacks_of_pokerkit(part: int) -> None:
    agree(range(1_000 * (part + 1), 1_000 * (part + 2)))
