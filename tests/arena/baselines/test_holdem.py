"""Tests of the baseline of hold'em: its tables, its profiles, and that its corrections have the mean 0."""

from collections.abc import Iterator, Sequence
from itertools import permutations
from random import Random
from statistics import fmean, pvariance, stdev

import numpy as np
import pytest

from croupier.arena.baselines.holdem.baseline import learn_profiles
from croupier.arena.baselines.holdem.history import Decision, history_of
from croupier.arena.baselines.holdem.profiles import (
    LEVELS,
    STREETS,
    LevelDecision,
    Profile,
    learn,
    rounds_of,
)
from croupier.arena.baselines.holdem.strengths import board_streets, evaluate
from croupier.arena.baselines.holdem.values import CardLuck, Runouts, values_of
from croupier.arena.heads_up import PlayedHand
from croupier.core.rules import Turn
from croupier.rooms.holdem.bots import hand_strength
from croupier.rooms.holdem.cards import parse_cards
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.ranks import rank

STACK = 2000
BIG_BLIND = 20
BLINDS = (0.5, 1.0)


def deals(count: int, seed: int) -> Iterator[tuple[int, ...]]:
    luck = Random(seed)
    for _ in range(count):
        yield tuple(luck.sample(range(52), 9))


def played(cards: Sequence[int], moves: str = "") -> Hand:
    """A hand after these moves."""
    hand = Hand([STACK, STACK])
    hand.deal_from(cards)
    for move in moves.split():
        if move == "fold":
            hand.fold()
        else:
            hand.bet(int(move))
    return hand


def arbitrary_profile(seed: int) -> Profile:
    """A profile like that of no bot: corrections have the mean 0 with every one."""
    random = np.random.default_rng(seed)
    choices = random.random((STREETS, 4, LEVELS, 4)) ** 3
    return Profile(choices / choices.sum(axis=-1, keepdims=True), (0.9, 0.6))


ROUNDS = rounds_of((arbitrary_profile(1), arbitrary_profile(2)), BLINDS)


def always(choice: int, size: float = 0.75) -> Profile:
    choices = np.zeros((STREETS, 4, LEVELS, 4))
    choices[..., choice] = 1
    return Profile(choices, (size, size))


def test_ranks_on_many_boards_are_those_of_each_hand() -> None:
    cards = np.array([*deals(3000, 1)])
    for street in board_streets(cards[:, 4:]):
        ranks, _ = evaluate(street, cards[:, 0], cards[:, 2])
        assert ranks.tolist() == [rank([row[0], row[2], *row[4 : 4 + street.size]]) for row in cards.tolist()]


def test_strengths_are_near_the_fraction_of_beaten_hands() -> None:
    cards = np.array([*deals(120, 2)])
    for street in board_streets(cards[:, 4:]):
        _, strengths = evaluate(street, cards[:, 0], cards[:, 2])
        exact = [hand_strength([row[0], row[2]], row[4 : 4 + street.size]) for row in cards.tolist()]
        errors = np.abs(strengths - exact)
        assert errors.mean() < 0.02
        assert (errors < 0.05).mean() > 0.95


def test_a_history_has_the_chips_before_each_street_and_what_the_players_faced() -> None:
    hand = played(range(9), "10 0 40 120 fold")
    assert history_of(hand) == (
        [0, 20],
        [
            Decision(0, 0, 1, 1, 0.0),
            Decision(0, 1, 0, 1, 0.0),
            Decision(1, 1, 0, 2, 1.0),
            Decision(1, 0, 1, 2, 80 / 120),
            Decision(1, 1, 2, 0, 0.0),
        ],
    )


def test_a_raise_by_much_more_than_the_pot_counts_as_all_in() -> None:
    history = history_of(played(range(9), "1990 1980"))
    assert history.paid == [0, 2000, 2000, 2000]
    assert [(one.situation, one.choice) for one in history.decisions] == [(1, 3), (3, 1)]


def test_a_profile_is_learned_from_decisions() -> None:
    decisions = [LevelDecision(Decision(2, 0, 0, 2, 0.5), 19)] * 200 + [LevelDecision(Decision(2, 0, 0, 1, 0), 3)] * 200
    profile = learn(decisions)
    assert profile.choices.sum(axis=-1) == pytest.approx(1)
    assert profile.choices[2, 0, 19, 2] > 0.95
    assert profile.choices[2, 0, 3, 1] > 0.95
    assert profile.choices[3, 0, 19, 2] > 0.9  # other streets are filled up with this one
    assert profile.raises == (0.75, 0.5)


def test_rounds_of_callers_only_add_the_blinds() -> None:
    rounds = rounds_of((always(1), always(1)), BLINDS)
    assert (rounds.stakes == 1).all()
    assert not rounds.folds.any()
    assert not rounds.all_ins.any()


def test_rounds_of_players_who_fold_lose_what_they_have_put_in() -> None:
    rounds = rounds_of((always(0), always(2)), BLINDS)
    assert (rounds.folds[0] == -0.5).all()  # the button folds the small blind
    assert (rounds.folds[1:] == -1).all()  # it folds to a bet
    assert not rounds.stakes.any()


def test_rounds_with_a_raise_and_a_call_have_both_at_stake() -> None:
    rounds = rounds_of((always(1), always(2)), BLINDS)
    assert rounds.stakes[0] == pytest.approx(1 + 0.75 * 2)  # a raise by 75 % of two big blinds
    assert rounds.stakes[1:] == pytest.approx(1 + 0.75 * 2)
    all_in = rounds_of((always(1), always(3)), BLINDS)
    assert (all_in.all_ins == 1).all()


def test_values_are_what_the_profiles_win() -> None:
    cards = parse_cards("AsKdAhKc2c7d9hJs3s")  # the button has aces
    runouts = Runouts.of(np.array([cards]))
    call, bet = always(1), always(2)
    assert runouts.outcomes.tolist() == [1]
    assert values_of(runouts, rounds_of((call, call), BLINDS), 0, BIG_BLIND, STACK).tolist() == [BIG_BLIND]
    assert values_of(runouts, rounds_of((call, bet), BLINDS), 2, 100, STACK) == pytest.approx([100 * 2.5**2])
    assert values_of(runouts, rounds_of((call, bet), BLINDS), 1, 1000, STACK).tolist() == [STACK]


def corrections(cards: Sequence[int], paid: Sequence[int], seed: int = 0) -> Sequence[float]:
    return CardLuck(cards, np.random.default_rng(seed)).corrections(paid, ROUNDS, BIG_BLIND, STACK)


HOLES = parse_cards("AsKdQhJc")
HOLES_AND_FLOP = (*HOLES, *parse_cards("2c7s9s"))
UNSEEN = [card for card in range(52) if card not in HOLES_AND_FLOP]


def test_corrections_for_the_turn_have_exactly_the_mean_0() -> None:
    each = [corrections((*HOLES_AND_FLOP, turn, UNSEEN[turn == UNSEEN[0]]), [0, 20, 60])[2] for turn in UNSEEN]
    assert fmean(each) == pytest.approx(0, abs=1e-9)
    assert stdev(each) > 5


def test_corrections_for_the_river_have_exactly_the_mean_0() -> None:
    turn, *rivers = UNSEEN
    each = [corrections((*HOLES_AND_FLOP, turn, river), [0, 20, 60, 90])[3] for river in rivers]
    assert fmean(each) == pytest.approx(0, abs=1e-9)
    assert stdev(each) > 5


def pairs_bet(hand: Hand) -> Hand:
    """Play a hand to its end: after the flop, players with a pair or better bet the pot once and call, others fold."""
    while hand.turn is not Turn.OVER:
        assert isinstance(hand.turn, int)
        cards = [card // 4 for card in (*hand.holes[hand.turn], *hand.board)]
        legal = hand.legal
        if not hand.board or not (legal.to_call or len({*cards}) < len(cards)):
            hand.bet(legal.call)
        elif len({*cards}) == len(cards):
            hand.fold()
        else:
            hand.bet(legal.call if legal.to_call else legal.pot_sized() or 0)
    return hand


def anything(hand: Hand, luck: Random) -> Hand:
    """Play a hand to its end with random moves, mostly calls."""
    while hand.turn is not Turn.OVER:
        move = luck.choice([hand.legal.call, hand.legal.call, *hand.fcpa])
        if move == "fold":
            hand.fold()
        else:
            hand.bet(move)
    return hand


@pytest.mark.extended
def test_results_keep_their_mean_exactly_over_all_turns_and_rivers() -> None:
    pilot = [PlayedHand(cards, pairs_bet(played(cards))) for cards in deals(100, 3)]
    rounds = rounds_of(learn_profiles((pilot, pilot)), BLINDS)
    luck = CardLuck((*HOLES_AND_FLOP, *UNSEEN[:2]), np.random.default_rng(0))
    plain, adjusted = [], []
    for turn, river in permutations(UNSEEN, 2):
        cards = (*HOLES_AND_FLOP, turn, river)
        hand = pairs_bet(played(cards))
        luck._cards = np.array(cards)  # with the same flop, what is enumerated stays the same
        _, _, *later = luck.corrections(history_of(hand).paid, rounds, BIG_BLIND, STACK)
        plain.append(hand.payoff()[0])
        adjusted.append(hand.payoff()[0] + sum(later))
    assert fmean(adjusted) == pytest.approx(fmean(plain), abs=1e-9)
    assert pvariance(adjusted) < 0.6 * pvariance(plain)


@pytest.mark.extended
@pytest.mark.parametrize("hands", [400, pytest.param(100_000, marks=pytest.mark.slow)])
def test_each_correction_has_the_mean_0(hands: int) -> None:
    luck = Random(hands)
    by_street: list[list[float]] = [[], [], [], []]
    for nth, cards in enumerate(deals(hands, hands)):
        paid = history_of(anything(played(cards), luck)).paid
        for street, correction in enumerate(corrections(cards, paid, seed=nth)):
            by_street[street].append(correction)
    for corrected in by_street:
        assert len(corrected) > hands / 2
        assert abs(fmean(corrected)) < 3.5 * stdev(corrected) / len(corrected) ** 0.5
