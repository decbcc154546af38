"""Tests of the no-limit hold'em rules by examples: forced bets, turns, legal bets and awards."""

from collections.abc import Sequence
from typing import Any

import pytest

from croupier.core.errors import IllegalMove
from croupier.core.rules import Turn
from croupier.rooms.holdem.cards import parse_cards
from croupier.rooms.holdem.engine.awards import Award, Pot
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import FOLD, Move
from croupier.rooms.holdem.engine.stakes import Stakes
from tests.rooms.holdem.rules import HOLDEM

PACK = tuple(range(52))


def act(hand: Hand, *moves: Move) -> Hand:
    """Play moves in order."""
    for move in moves:
        if move == FOLD:
            hand.fold()
        else:
            hand.bet(move)
    return hand


def holding(hands: Sequence[str], stacks: Sequence[int], **settings: Any) -> Hand:
    """Return a hand with given hole cards by seat."""
    hand = Hand(stacks, **settings)
    held, seats = [parse_cards(text) for text in hands], len(stacks)
    order = [(hand.small_blind + at) % seats for at in range(seats)]
    hand.deal([held[seat][first] for first in (0, 1) for seat in order])
    assert [tuple(hole) for hole in hand.holes] == held
    return hand


def dealt(stacks: Sequence[int], **settings: Any) -> Hand:
    """Return a hand with arbitrary hole cards dealt."""
    hand = Hand(stacks, **settings)
    hand.deal(PACK[: hand.cards_due])
    return hand


def repr_of(value: object) -> str:
    """Return a test id; it also works for integers that `repr` refuses to format."""
    return "huge" if isinstance(value, int) and value > 2**70 else repr(value)


def run_out(hand: Hand, board: str) -> Hand:
    """Deal the board to a hand without further betting."""
    left = list(parse_cards(board))
    while hand.turn is Turn.CHANCE:
        wanted = hand.cards_due
        hand.deal(left[:wanted])
        del left[:wanted]
    assert not left
    return hand


# Blinds, antes and the order of acting


def test_the_small_blind_is_left_of_the_button_and_the_big_blind_next() -> None:
    hand = Hand([1000] * 4, button=2)
    assert (hand.small_blind, hand.big_blind) == (3, 0)
    assert hand.bets == [20, 0, 0, 10]
    assert hand.stacks == [980, 1000, 1000, 990]
    assert (hand.to_match, hand.min_raise, hand.turn, hand.cards_due) == (20, 20, Turn.CHANCE, 8)


def test_first_to_act_is_left_of_the_big_blind_preflop_and_of_the_button_postflop() -> None:
    hand = dealt([1000] * 4, button=2)
    order = []
    while hand.street == 0:
        assert isinstance(hand.turn, int)
        order.append(hand.turn)
        hand.bet(hand.legal.call)
    hand.deal(PACK[8:11])
    assert order == [1, 2, 3, 0]
    assert hand.turn == 3


def test_heads_up_the_button_is_small_blind_and_acts_first_preflop_only() -> None:
    hand = dealt([1000, 1000], button=1)
    assert (hand.small_blind, hand.big_blind, hand.turn) == (1, 0, 1)
    act(hand, 10, 0).deal(PACK[4:7])
    assert hand.turn == 0
    act(hand, 0)
    assert hand.turn == 1


def test_cards_are_dealt_one_at_a_time_from_the_small_blind_without_burning() -> None:
    hand = Hand([1000] * 3, button=0)
    hand.deal(parse_cards("2c3c4c5c6c7c"))
    assert hand.holes == [list(parse_cards("4c7c")), list(parse_cards("2c5c")), list(parse_cards("3c6c"))]
    act(hand, 20, 10, 0).deal(parse_cards("8c9cTc"))
    act(hand, 0, 0, 0).deal(parse_cards("Jc"))
    act(hand, 0, 0, 0).deal(parse_cards("Qc"))
    assert hand.board == list(parse_cards("8c9cTcJcQc"))


def test_heads_up_the_button_is_dealt_the_first_card() -> None:
    hand = Hand([1000, 1000], button=1)
    hand.deal(parse_cards("2c3c4c5c"))
    assert hand.holes == [list(parse_cards("3c5c")), list(parse_cards("2c4c"))]


def test_cards_may_be_dealt_in_portions() -> None:
    hand = Hand([1000, 1000])
    for count, card in enumerate(PACK[:4]):
        assert (hand.turn, hand.cards_due) == (Turn.CHANCE, 4 - count)
        hand.deal([card])
    assert hand.turn == 0
    act(hand, 10, 0).deal(PACK[4:6])
    assert (hand.turn, hand.cards_due, hand.board) == (Turn.CHANCE, 1, [4, 5])
    hand.deal(PACK[6:7])
    assert hand.log == [
        *[("deal", at % 2, (card,)) for at, card in enumerate(PACK[:4])],
        ("bet", 0, 10),
        ("bet", 1, 0),
        ("deal", None, PACK[4:7]),
    ]


def test_the_big_blind_has_the_option_to_raise() -> None:
    hand = act(dealt([1000] * 3), 20, 10)
    assert (hand.turn, hand.street) == (2, 0)
    assert hand.legal.call == 0
    assert hand.legal.raise_range == (20, 980)
    act(hand, 40)
    assert (hand.turn, hand.to_match) == (0, 60)


def test_antes_are_not_bets() -> None:
    hand = dealt([1000] * 3, stakes=Stakes(ante=5))
    assert (hand.paid, hand.bets, hand.stacks) == ([5, 15, 25], [0, 10, 20], [995, 985, 975])
    assert hand.legal.call == 20


def test_a_player_all_in_by_the_ante_plays_for_the_antes() -> None:
    hand = holding(["AsAh", "KsKh", "QsQh"], [3, 1000, 1000], button=2, stakes=Stakes(10, 20, ante=5))
    assert (hand.small_blind, hand.paid, hand.turn) == (0, [3, 25, 5], 2)
    act(hand, 20, 0)
    assert hand.pots == [Pot(9, (0, 1, 2), (0, 1, 2)), Pot(44, (1, 2), (1, 2))]
    hand.deal(parse_cards("2c3d7h"))
    assert hand.turn == 1
    act(hand, 0, FOLD)
    assert run_out(hand, "8sJc").payoff() == (6, 19, -25)


def test_the_seat_left_of_the_big_blind_straddles_and_acts_last() -> None:
    hand = dealt([1000] * 4, stakes=Stakes(straddle=40))
    assert hand.bets == [0, 10, 20, 40]
    assert (hand.turn, hand.to_match, hand.min_raise) == (0, 40, 40)
    assert hand.legal.raise_range == (80, 1000)
    act(hand, 40, 30, 20)
    assert (hand.turn, hand.legal.call, hand.legal.raise_range) == (3, 0, (40, 960))
    act(hand, 0).deal(PACK[8:11])
    assert (hand.turn, hand.min_raise) == (1, 20), "after the flop the straddle is forgotten"


def test_three_handed_the_button_straddles_and_heads_up_there_is_no_straddle() -> None:
    assert dealt([1000] * 3, stakes=Stakes(straddle=40)).bets == [40, 10, 20]
    assert dealt([1000] * 3, stakes=Stakes(straddle=40)).turn == 1
    assert dealt([1000] * 2, stakes=Stakes(straddle=40)).bets == [10, 20]


def test_a_short_big_blind_is_all_in_and_the_others_call_the_full_blind() -> None:
    hand = holding(["QsQh", "KsKh", "AsAh"], [1000, 1000, 15])
    assert (hand.bets, hand.to_match) == ([0, 10, 15], 20)
    assert hand.legal.call == 20
    assert hand.legal.raise_range == (40, 1000)
    act(hand, 20, 10)
    assert hand.pots == [Pot(45, (0, 1, 2), (0, 1, 2)), Pot(10, (0, 1), (0, 1))]


def test_heads_up_the_excess_over_a_short_big_blind_is_returned() -> None:
    hand = act(dealt([1000, 15]), 10)
    assert (hand.paid, hand.stacks, hand.cards_due) == ([15, 15], [985, 0], 3)


def test_a_small_blind_covering_a_short_big_blind_has_no_decision() -> None:
    hand = Hand([1000, 7])
    hand.deal(PACK[:4])
    assert (hand.turn, hand.cards_due, hand.street) == (Turn.CHANCE, 3, 1)
    assert (hand.paid, hand.stacks) == ([7, 7], [993, 0])


def test_if_the_blinds_put_all_players_all_in_the_board_is_dealt() -> None:
    hand = holding(["AsAh", "KsKh"], [10, 20])
    assert (hand.paid, hand.stacks) == ([10, 10], [0, 10])
    run_out(hand, "2c3d7h8sJc")
    assert hand.payoff() == (10, -10)


# Legal bets


def test_the_smallest_raise_is_the_last_full_raise() -> None:
    hand = dealt([1000] * 3)
    assert hand.legal.raise_range == (40, 1000)
    act(hand, 70)
    assert (hand.to_match, hand.min_raise) == (70, 50)
    assert hand.legal.raise_range == (110, 990), "10 are in already; 120 in all is the least"
    act(hand, 110, FOLD, FOLD)
    assert hand.turn is Turn.OVER


def test_an_all_in_short_raise_does_not_reopen_the_betting() -> None:
    """Seat 0 raises to 100; seat 2, all in for 150, has raised by less than 80: seat 0 may only call or fold."""
    hand = act(dealt([1000, 1000, 150]), 100, 90, 130)
    assert (hand.turn, hand.to_match, hand.min_raise) == (0, 150, 80)
    assert hand.legal.raise_range is None
    assert hand.legal.moves == (FOLD, 50)
    with pytest.raises(IllegalMove, match=r"^900 is not allowed here; allowed: fold, 50$"):
        hand.bet(900)


def test_players_yet_to_act_may_raise_over_a_short_all_in() -> None:
    hand = act(dealt([1000, 150, 1000]), 100, 140)
    assert (hand.turn, hand.to_match, hand.min_raise) == (2, 150, 80)
    assert hand.legal.raise_range == (210, 980)
    act(hand, 210)
    assert hand.turn == 0
    assert hand.legal.raise_range == (210, 900), "and that reopens it for the first one"


def test_short_all_ins_that_add_up_to_a_full_raise_reopen_the_betting() -> None:
    """100, then all in for 150, then for 200: the player who bet 100 faces 100 more, more than a raise of 80."""
    hand = act(dealt([1000, 150, 200], button=0), 100, 140, 180)
    assert (hand.turn, hand.to_match, hand.min_raise) == (0, 200, 80)
    assert hand.legal.raise_range == (180, 900)


def test_a_second_short_all_in_does_not_reopen_the_betting_either() -> None:
    """Seat 0 raises to 100; 130 and then 179 are all in: 79 more than 100, and so less than a full raise of 80."""
    hand = act(dealt([1000, 130, 179]), 100, 120, 159)
    assert (hand.turn, hand.to_match, hand.min_raise) == (0, 179, 80)
    assert hand.legal.moves == (FOLD, 79)


def test_an_all_in_bet_below_the_big_blind_does_not_reopen_the_betting() -> None:
    hand = act(dealt([1000, 1000, 32]), 20, 10, 0)
    hand.deal(PACK[6:9])
    act(hand, 0, 12)
    assert (hand.turn, hand.to_match, hand.min_raise) == (0, 12, 20)
    assert hand.legal.raise_range == (32, 980), "seat 0 has not acted"
    act(hand, 12)
    assert (hand.turn, hand.legal.moves) == (1, (FOLD, 12))


def test_a_bet_after_the_flop_is_at_least_the_big_blind() -> None:
    hand = act(dealt([1000] * 2), 10, 0)
    hand.deal(PACK[4:7])
    assert hand.legal.raise_range == (20, 980)
    assert 19 not in hand.legal
    act(hand, 20)
    assert hand.legal.raise_range == (40, 980)


def test_a_stack_below_the_smallest_raise_may_go_all_in() -> None:
    hand = dealt([35, 1000])
    assert hand.legal.raise_range == (25, 25)
    assert [chips for chips in range(40) if chips in hand.legal] == [10, 25]


def test_a_short_stack_calls_all_in() -> None:
    hand = act(dealt([1000, 50]), 990)
    assert (hand.legal.call, hand.legal.raise_range, hand.legal.moves) == (30, None, (FOLD, 30))
    assert 980 not in hand.legal
    act(hand, 30)
    assert (hand.paid, hand.stacks) == ([50, 50], [950, 0])


def test_the_usual_raises_are_minimum_half_pot_pot_and_all_in() -> None:
    hand = act(dealt([1000] * 3), 60)
    assert hand.legal.moves == (FOLD, 50, 90, 50 + (90 + 50) // 2, 50 + 90 + 50, 990)
    assert [*hand.legal] == list(hand.legal.moves)
    assert (len(hand.legal), hand.legal[-1], hand.legal[:2]) == (6, 990, (FOLD, 50))
    assert (hand.legal.pot, hand.legal.to_call) == (90, 50)
    assert hand.legal.pot_sized(2) == 50 + 2 * 140
    assert hand.legal.pot_sized(100) is None


def test_fcpa_has_fold_call_pot_raise_and_all_in() -> None:
    hand = dealt([1000] * 3)
    assert hand.fcpa == (FOLD, 20, 20 + 30 + 20, 1000)
    assert act(hand, 70).fcpa == (FOLD, 60, 60 + 100 + 60, 990)
    act(hand, 60, 50).deal(PACK[6:9])
    assert hand.fcpa == (0, 210, 930), "a check is better than a fold"
    assert act(hand, 500).fcpa == (FOLD, 500, 930), "a raise by the pot is omitted if the stack is not larger"
    assert act(hand, 930).fcpa == (FOLD, 930)
    assert act(hand, FOLD).fcpa == (FOLD, 430)
    assert act(hand, 430).fcpa == ()


def test_a_raise_that_no_opponent_can_answer_counts_as_a_call() -> None:
    hand = act(dealt([100, 1000]), 90)
    assert (hand.turn, hand.legal.call) == (1, 80)
    assert hand.legal.moves == (FOLD, 80), "so it is of no interest"
    assert hand.legal.raise_range == (160, 980)
    act(hand, 980)
    assert (hand.paid, hand.stacks, hand.log[-1]) == ([100, 100], [0, 900], ("bet", 1, 80))


def test_less_than_a_full_raise_that_no_opponent_can_answer_counts_as_a_call() -> None:
    hand = act(dealt([100, 1000]), 90)
    assert [chips for chips in (79, 80, 81, 159, 160, 980, 981) if chips in hand.legal] == [80, 81, 159, 160, 980]
    assert act(hand.copy(), 81) == act(hand.copy(), 159) == act(hand, 80)


def test_a_bet_over_a_short_all_in_that_no_opponent_can_answer_counts_as_a_call() -> None:
    hand = act(dealt([1000, 150]), 90, 130)
    assert (hand.turn, hand.legal.to_call, hand.min_raise) == (0, 50, 80), "the betting has not been reopened"
    assert hand.legal.moves == (FOLD, 50)
    assert all(chips in hand.legal for chips in (51, 130, 900))
    assert act(hand.copy(), 51) == act(hand.copy(), 900) == act(hand, 50)


@pytest.mark.parametrize(
    "chips", [-1, 1, 19, 21, 39, 1001, 2**70, True, False, 20.0, "20", None, "fold", 10**5000], ids=repr_of
)
def test_an_illegal_bet_changes_nothing_and_lists_the_allowed_moves(chips: Any) -> None:
    hand = dealt([1000] * 3)
    before = hand.copy()
    assert chips == "fold" or chips not in hand.legal
    with pytest.raises(
        IllegalMove, match=r"allowed: fold, 20, 40, 45, 70, 1000, any raise from 40 to 1000$"
    ) as refusal:
        hand.bet(chips)
    assert (type(refusal.value.found), refusal.value.found) == (type(chips), chips)
    assert refusal.value.allowed == (FOLD, 20, 40, 45, 70, 1000)
    assert hand == before
    assert hand.legal.call == 20


def test_no_bets_or_folds_while_cards_are_due_or_after_the_end() -> None:
    for hand in (Hand([100] * 2), act(dealt([100] * 2), FOLD)):
        before = hand.copy()
        assert 0 not in hand.legal
        assert (FOLD in hand.legal, tuple(hand.legal), hand.legal.raise_range) == (False, (), None)
        with pytest.raises(IllegalMove, match=r"^0 is not allowed here; allowed: nothing$"):
            hand.bet(0)
        with pytest.raises(IllegalMove, match=r"^fold is not allowed here; allowed: nothing$"):
            hand.fold()
        assert hand == before


@pytest.mark.parametrize("strange", [[], [0, 0], [52], [-1], range(5), ["AS"], [None]])
def test_undue_and_duplicate_cards_are_refused(strange: Any) -> None:
    hand = Hand([100] * 2)
    with pytest.raises(IllegalMove):
        hand.deal(strange)
    assert hand == Hand([100] * 2)
    hand.deal(PACK[:3])
    with pytest.raises(IllegalMove, match=r"^a deal of 2 is not allowed here; allowed: 3, 4, "):
        hand.deal([2])
    hand.deal([3])
    with pytest.raises(IllegalMove, match=r"^a deal of 1 cards is not allowed here; allowed: nothing$"):
        hand.deal([4])


def test_a_hand_with_a_deck_deals_automatically() -> None:
    hand = Hand([1000] * 3)
    hand.deal_from(parse_cards("AcKcQcAdKdQd2h3h4h5h9s"))
    assert (hand.turn, hand.cards_due, hand.holes[1], hand.board) == (0, 0, [*parse_cards("AcAd")], [])
    act(hand, 20, 10, 0)
    assert (hand.turn, hand.board) == (1, [*parse_cards("2h3h4h")])
    act(hand, 0, 980)
    assert act(hand, 980, FOLD).board == [*parse_cards("2h3h4h5h9s")], "no more betting is possible"
    assert hand.payoff() == (-1000, -20, 1020)


def test_a_deck_may_be_given_in_the_middle_of_a_hand() -> None:
    hand = act(dealt([1000] * 2), 10)
    hand.deal_from(range(4, 52))
    assert act(hand, 0).board == [4, 5, 6]
    hand.deal_from(range(51, 6, -1))
    assert act(hand, 0, 0).board == [4, 5, 6, 51]
    with pytest.raises(IllegalMove, match=r"^a deal of 1 cards is not allowed here; allowed: nothing$"):
        hand.deal([7])


@pytest.mark.parametrize("strange", [[], range(1, 8), range(8), [*range(8), 8, 8], [*range(8), 52], [*range(8), "AS"]])
def test_invalid_decks_are_refused(strange: Any) -> None:
    hand = Hand([100] * 2)
    with pytest.raises(IllegalMove, match=r"^a deck of \[.*allowed: 9 or more of \[0, 1, 2"):
        hand.deal_from(strange)
    assert (hand, hand.cards_due) == (Hand([100] * 2), 4)
    hand = dealt([100] * 2)
    with pytest.raises(IllegalMove, match=r"allowed: 5 or more of \[4, 5, "):
        hand.deal_from(range(3, 20))
    with pytest.raises(IllegalMove, match=r"allowed: nothing$"):
        act(hand, FOLD).deal_from(range(4, 52))


@pytest.mark.parametrize(
    ("stacks", "settings", "found"),
    [
        ([100], {}, r"found the stacks \[100\]; allowed: 2 to 10 stacks"),
        ([100] * 11, {}, "allowed: 2 to 10 stacks"),
        ([100, 0], {}, "stacks of 1 chip or more"),
        ([100, -5], {}, "stacks of 1 chip or more"),
        ([100, 100], {"button": 2}, "found the button at seat 2; allowed: 0 to 1"),
        ([100, 100], {"button": -1}, "found the button at seat -1; allowed: 0 to 1"),
        ([100, 100], {"stakes": Stakes(20, 10)}, "found the blinds 20/10; allowed"),
        ([100, 100], {"stakes": Stakes(0, 0)}, "found the blinds 0/0; allowed"),
        ([100, 100], {"stakes": Stakes(-1, 10)}, "found the blinds -1/10; allowed"),
        ([100, 100], {"stakes": Stakes(ante=-1)}, "found an ante of -1; allowed: 0 or more"),
        ([100, 100, 100], {"stakes": Stakes(straddle=39)}, "found a straddle of 39; allowed: 0, or 40 or more"),
    ],
)
def test_invalid_hand_arguments_are_refused(stacks: Sequence[int], settings: Any, found: str) -> None:
    with pytest.raises(ValueError, match=found):
        Hand(stacks, **settings)


# Pots, odd chips and the showdown


def test_the_best_hand_wins_and_the_last_to_raise_shows_first() -> None:
    hand = holding(["AsAh", "KsKh", "QsQh"], [1000] * 3)
    act(hand, 20, 10, 0).deal(parse_cards("2c3d7h"))
    act(hand, 0, 50, 50, 50).deal(parse_cards("8s"))
    act(hand, 0, 0, 0).deal(parse_cards("Jc"))
    act(hand, 0, 0, 100, 100, FOLD)
    assert hand.turn is Turn.OVER
    assert hand.payoff() == (240, -170, -70)
    assert hand.showdown_order == [0, 1]
    assert [(award.pot, award.seat, award.chips) for award in hand.awards] == [(0, 0, 410)]
    assert hand.awards[0].rank is not None


def test_after_a_checked_last_round_the_first_left_of_the_button_shows_first() -> None:
    hand = holding(["AsAh", "KsKh", "QsQh"], [1000] * 3, button=0)
    act(hand, 60, 50, 40).deal(parse_cards("2c3d7h"))
    act(hand, 0, 0, 0).deal(parse_cards("8s"))
    act(hand, 0, 0, 0).deal(parse_cards("Jc"))
    act(hand, 0, 0, 0)
    assert hand.showdown_order == [1, 2, 0]


def test_after_an_all_in_raise_the_raiser_shows_first() -> None:
    hand = holding(["AsAh", "KsKh", "QsQh"], [1000] * 3)
    act(hand, 20, 990, FOLD, 980)
    assert run_out(hand, "2c3d7h8sJc").showdown_order == [1, 0]


def test_the_last_player_wins_without_showing_and_gets_the_uncalled_bet_back() -> None:
    hand = act(dealt([1000] * 3), 500, FOLD, FOLD)
    assert hand.turn is Turn.OVER
    assert hand.payoff() == (30, -10, -20)
    assert (hand.paid, hand.showdown_order) == ([20, 10, 20], [])
    assert hand.awards == [Award(0, 0, 50, None)]
    assert hand.pots == [Pot(50, (0,), (0, 1, 2))]


def test_the_big_blind_wins_the_small_blind_when_all_fold() -> None:
    hand = act(dealt([1000] * 3), FOLD, FOLD)
    assert hand.payoff() == (0, -10, 10)
    assert hand.awards == [Award(0, 2, 20, None)]


def test_the_uncalled_part_of_a_bet_is_returned() -> None:
    hand = holding(["AsAh", "KsKh"], [1000, 300])
    act(hand, 990, 280)
    assert (hand.paid, hand.stacks, hand.turn, hand.cards_due) == ([300, 300], [700, 0], Turn.CHANCE, 3)
    assert run_out(hand, "2c3d7h8sJc").payoff() == (300, -300)


def test_when_all_are_all_in_the_board_is_dealt_street_by_street() -> None:
    hand = act(dealt([500, 500]), 490, 480)
    wanted = []
    for count in (3, 1, 1):
        wanted.append((hand.turn, hand.cards_due, hand.street))
        hand.deal(PACK[10 + 5 * hand.street :][:count])
    assert wanted == [(Turn.CHANCE, 3, 1), (Turn.CHANCE, 1, 2), (Turn.CHANCE, 1, 3)]
    assert (hand.turn, hand.cards_due) == (Turn.OVER, 0)


def three_all_in() -> Hand:
    """All players go all in; the shortest stack has the best hand, the next one the second best."""
    hand = holding(["QsQh", "AsAh", "KsKh"], [1000, 100, 400])
    return act(hand, 1000, 90, 380)


def test_an_all_in_player_wins_at_most_their_own_bet_from_each_opponent() -> None:
    hand = three_all_in()
    assert hand.stacks == [600, 0, 0], "what the others cannot match comes back"
    main, side = Pot(300, (0, 1, 2), (0, 1, 2)), Pot(600, (0, 2), (0, 2))
    assert hand.pots == [main, side]
    run_out(hand, "2c3d7h8sJc")
    assert hand.pots == [main, side]
    assert [(award.pot, award.seat, award.chips) for award in hand.awards] == [(0, 1, 300), (1, 2, 600)]
    assert hand.payoff() == (-400, 200, 200)


def test_a_folded_players_bets_stay_in_the_pots() -> None:
    hand = holding(["QsQh", "AsAh", "KsKh", "JsJh"], [1000, 100, 400, 1000], button=0)
    act(hand, 200, FOLD, 90, 380)
    assert (hand.turn, hand.to_match) == (3, 400)
    act(hand, FOLD)
    assert hand.turn is Turn.CHANCE
    assert hand.pots == [Pot(300, (1, 2), (1, 2, 3)), Pot(200, (2,), (2, 3))]
    assert run_out(hand, "2c3d7h8s5c").payoff() == (0, 200, 0, -200)


def test_a_player_yet_to_call_can_still_win_the_pot() -> None:
    hand = act(dealt([1000, 1000, 100]), 20, 10, 80)
    assert hand.pots == [Pot(140, (0, 1, 2), (0, 1, 2))]
    act(hand, 200)
    assert hand.pots == [Pot(220, (0, 1, 2), (0, 1, 2)), Pot(120, (0, 1), (0,))]


def test_a_tie_is_split() -> None:
    hand = holding(["AsKs", "AhKh"], [1000, 1000])
    act(hand, 990, 980)
    run_out(hand, "2c3d7h8sJc")
    assert hand.payoff() == (0, 0)
    assert [(award.seat, award.chips) for award in hand.awards] == [(1, 1000), (0, 1000)]


def test_odd_chips_go_to_the_first_winner_left_of_the_button() -> None:
    """Three of four split 100 and the small blind's 1: the remainder is 2, and all of it goes to one."""
    hand = holding(["AsKs", "AhKh", "2s2h", "AdKd"], [1000] * 4, button=1, stakes=Stakes(2, 33))
    act(hand, 33, 33, FOLD, 0)
    for street in ("4cTd9h", "8s", "Jc"):
        hand.deal(parse_cards(street))
        act(hand, 0, 0, 0)
    assert sum(hand.paid) == 101
    assert [(award.seat, award.chips) for award in hand.awards] == [(3, 35), (0, 33), (1, 33)]


def test_each_pot_has_odd_chips_of_its_own() -> None:
    """5 + 5 + 1 and then 2 × 7 chips: the main pot of 15 leaves one for seat 1, the side pot of 14 leaves none."""
    hand = holding(["AsKs", "AhKh", "2s3h"], [12, 12, 5], button=2, stakes=Stakes(1, 2))
    act(hand, 5, 11, 10)
    run_out(hand, "4cTd9h8sJc")
    assert [(award.pot, award.seat, award.chips) for award in hand.awards] == [
        (0, 0, 8),
        (0, 1, 7),
        (1, 0, 7),
        (1, 1, 7),
    ]


# Leaving


def test_a_player_who_leaves_out_of_turn_is_folded_and_his_bet_stays() -> None:
    hand = dealt([1000] * 4)
    hand.leave(2)
    assert (hand.turn, hand.folded, hand.paid) == (3, [False, False, True, False], [0, 10, 20, 0])
    act(hand, 20, 20, 10)
    assert hand.street == 1, "the big blind is not asked"
    assert hand.log[-4] == ("leave", 2)


def test_a_player_who_leaves_in_turn_passes_the_turn_on() -> None:
    hand = dealt([1000] * 4)
    hand.leave(3)
    assert hand.turn == 0


def test_the_last_remaining_player_wins_in_or_out_of_turn() -> None:
    hand = act(dealt([1000] * 3), 300)
    hand.leave(0)
    assert hand.turn == 1
    hand.leave(2)
    assert hand.turn is Turn.OVER
    assert hand.payoff() == (-300, 320, -20), "who leaves gets nothing back (H6)"


def test_players_may_leave_while_cards_are_due() -> None:
    hand = Hand([1000] * 3)
    hand.deal(PACK[:2])
    hand.leave(0)
    assert (hand.turn, hand.cards_due) == (Turn.CHANCE, 4)
    hand.leave(1)
    assert (hand.turn, hand.cards_due, hand.payoff()) == (Turn.OVER, 0, (0, -10, 10))


def test_a_player_who_is_all_in_may_leave_as_well() -> None:
    hand = act(dealt([100, 1000, 1000]), 100, 90, 80)
    hand.leave(0)
    assert hand.pots == [Pot(300, (1, 2), (0, 1, 2))]
    hand.deal(PACK[6:9])
    assert hand.turn == 1


def test_the_unmatched_bet_of_a_departed_player_is_won_with_the_last_pot() -> None:
    hand = holding(["QsQh", "AsAh", "KsKh"], [1000, 100, 300])
    act(hand, 500)
    hand.leave(0)
    assert (hand.turn, hand.to_match) == (1, 500)
    act(hand, 90, 280)
    assert hand.pots == [Pot(300, (1, 2), (0, 1, 2)), Pot(600, (2,), (0, 2))]
    assert run_out(hand, "2c3d7h8sJc").payoff() == (-500, 200, 300)


def test_only_players_in_the_hand_can_leave_it() -> None:
    hand = dealt([1000] * 3)
    hand.leave(0)
    for seat in (0, 3, -1, True):
        with pytest.raises(
            IllegalMove, match=f"^seat {seat} leaving is not allowed here; allowed: seat 1 leaving, seat 2"
        ):
            hand.leave(seat)
    hand.leave(1)
    with pytest.raises(IllegalMove, match="allowed: nothing"):
        hand.leave(2)


# Saving


def test_a_hand_is_saved_as_readable_json() -> None:
    hand = act(dealt([1000] * 3, stakes=Stakes(ante=1)), 20, FOLD)
    hand.leave(0)
    data = hand.to_json()
    assert data == (
        b'{"stacks":[1000,1000,1000],"button":0,"blinds":[10,20],"ante":1,"straddle":0,'
        b'"log":[["2C","2D","2H","2S","3C","3D"],20,"fold",{"leave":0}]}'
    )
    assert Hand.from_json(data) == hand
    assert eval(repr(hand)) == hand


def test_known_cards_to_come_are_saved() -> None:
    hand = Hand([1000] * 2)
    hand.deal_from(PACK[:10])
    act(hand, 10, 0)
    assert hand.to_json().endswith(b'"log":[["2C","2D","2H","2S"],10,0,["3C","3D","3H"]],"deck":["3S","4C","4D"]}')
    assert act(Hand.from_json(hand.to_json()), 0, 0).board == [*PACK[4:8]]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b'{"stacks":[100],"button":0,"blinds":[1,2],"ante":0,"straddle":0,"log":[]}',
        b'{"stacks":[100,100],"button":0,"blinds":[1,2],"ante":0,"straddle":0,"log":[5]}',
        b'{"stacks":[100,100],"button":0,"blinds":[1,2],"ante":0,"straddle":0,"log":["raise"]}',
        b'{"stacks":[100,100],"button":0,"blinds":[1,2],"ante":0,"straddle":0,"log":[["1C"]]}',
        b'{"stacks":[100,100],"button":0,"blinds":[1,2],"ante":0,"straddle":0,"log":[{"leave":7}]}',
        b'{"stacks":[100,100],"button":0,"blinds":[1,2],"ante":0,"straddle":0,"log":[],"more":1}',
        b'{"stacks":[100,100],"button":0,"blinds":[1,2],"ante":0,"straddle":0,"log":[{}]}',
        b'{"stacks":[100,100],"button":0,"blinds":[1,2],"ante":0,"straddle":0,"log":[true]}',
        b'{"stacks":[100.5,100],"button":0,"blinds":[1,2],"ante":0,"straddle":0,"log":[]}',
        b'{"stacks":[100,100],"button":0,"blinds":[1,2],"ante":0,"straddle":0,"log":[],"deck":["AS"]}',
        b'{"stacks":[100,100],"button":0,"blinds":[1,2],"ante":0,"straddle":0,"log":[],"deck":["1C"]}',
    ],
)
def test_malformed_json_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        Hand.from_json(data)


def test_an_illegal_log_is_refused() -> None:
    hand = act(dealt([1000] * 3), 20)
    with pytest.raises(IllegalMove, match=r"^a move of seat 0 is not allowed here; allowed: one of 1$"):
        dealt([1000] * 3, button=1).replay(hand.log)


# Holdem


def test_the_rules_deal_one_card_at_a_time_by_name() -> None:
    state = HOLDEM.start()
    for card in ("AS", "KS", "AH", "KH"):
        assert state.turn is Turn.CHANCE
        state = HOLDEM.play(state, card)
    assert state.holes == [list(parse_cards("AsAh")), list(parse_cards("KsKh"))]
    assert HOLDEM.turn(state) == 0
    over = HOLDEM.play(state, FOLD)
    assert (HOLDEM.turn(over), HOLDEM.payoff(over)) == (Turn.OVER, (-10, 10))
    assert HOLDEM.play(state, 10).turn == 1
    assert HOLDEM.turn(state) == 0, "the state before it is as it was"
