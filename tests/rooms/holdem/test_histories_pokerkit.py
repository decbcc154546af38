"""Tests of PHH interoperability: PokerKit replays our files, and we read files written by PokerKit."""

import re
from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest

from croupier.core.rules import Turn
from croupier.rooms.holdem.cards import parse_cards
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.stakes import Stakes
from croupier.rooms.holdem.histories import from_phh, to_phh
from croupier.rooms.holdem.histories.notation import seat_order
from tests.rooms.holdem.random_hands import begin, end
from tests.sampling import extended

if TYPE_CHECKING:
    from pokerkit import State  # the tests import it on first use, because that takes half a second

pytestmark = pytest.mark.filterwarnings("ignore:There is no reason for this player to fold")

BATCHES = extended((range(5), range(5, 60), range(60, 120)), 3)
DONE = {"Folding", "CheckingOrCalling", "CompletionBettingOrRaisingTo", "HoleCardsShowingOrMucking"}
"""PokerKit's operations that are actions of players."""


def replayed(text: str) -> "State":
    """Return PokerKit's final state of a file, checking that every action of a player comes from the file."""
    from pokerkit import HandHistory

    history = HandHistory.loads(text)
    *_, state = history
    assert sum(type(operation).__name__ in DONE for operation in state.operations) == sum(
        action.startswith("p") for action in history.actions
    )
    assert not state.status
    return state


def check(hand: Hand, text: str) -> None:
    """Check that the file ends with the stacks of the hand.

    PokerKit merges pots with the same winners before it divides them, so that odd chips may differ (H7).
    """
    final = list(replayed(text).stacks)
    stacks = [hand.stacks[seat] for seat in seat_order(len(hand.stacks), hand.button)]
    assert sum(final) == sum(stacks)
    winners = Counter(award.pot for award in hand.awards)
    odd = sum(count - 1 for count in winners.values()) if sum(count > 1 for count in winners.values()) > 1 else 0
    assert all(abs(found - true) <= odd for found, true in zip(final, stacks, strict=True)), text
    match = re.search(r"^finishing_stacks = (.*)$", text, re.MULTILINE)
    assert match is not None
    assert match[1] == str(stacks)


def check_seed(seed: int, leaving: float) -> None:
    luck = Random(seed)
    hand = end(begin(luck), luck, leaving)
    check(hand, to_phh(hand))
    check(hand, to_phh(hand, open_seats=hand.showdown_order))


@pytest.mark.parametrize("seeds", BATCHES, ids=str)
def test_pokerkit_replays_our_hands_to_the_same_stacks(seeds: range) -> None:
    for seed in seeds:
        check_seed(seed, 0)


@pytest.mark.parametrize("seeds", BATCHES, ids=str)
def test_pokerkit_replays_hands_in_which_players_left_out_of_turn_to_the_same_stacks(seeds: range) -> None:
    for seed in seeds:
        check_seed(1_000 + seed, 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("leaving", [0, 0.01, 0.1, 0.4])
def test_pokerkit_replays_thousands_of_our_hands_to_the_same_stacks(leaving: float) -> None:
    for seed in range(1_000):
        check_seed(10_000 + seed, leaving)


def heads_up(*stacks: int) -> Hand:
    """Return a heads-up hand; seat 0 has the button, and the big blind is the first player of the file."""
    hand = Hand(stacks)
    hand.deal(parse_cards("AhAdKhKd"))  # the small blind, which is the button, is dealt first
    return hand


def actions(text: str) -> list[str]:
    """Return the actions after the deal of the hole cards."""
    from pokerkit import HandHistory

    return [action for action in HandHistory.loads(text).actions if " dh " not in action]


def test_the_big_blind_that_leaves_first_is_called_and_folds() -> None:
    hand = heads_up(1_000, 1_000)
    hand.leave(1)
    text = to_phh(hand)
    assert actions(text) == ["p2 cc", "p1 f # leaves"]
    assert '_actions = [\n  "d dh p1 AdKd",\n  "d dh p2 AhKh",\n  "p1 f # leaves",\n]\n' in text
    check(hand, text)


def test_a_player_who_leaves_all_in_mucks_at_an_added_showdown() -> None:
    hand = heads_up(1_000, 1_000)
    hand.bet(990)
    hand.leave(0)
    text = to_phh(hand, open_seats=())
    assert actions(text)[:4] == ["p2 cbr 1000", "p1 cc", "p1 sm ????", "p2 sm ????"]
    assert actions(text)[-2:] == ["p2 sm", "p1 sm ????"]
    check(hand, text)


def test_a_forfeited_uncallable_bet_is_moved_before_the_hand() -> None:
    hand = heads_up(1_000, 50)
    hand.bet(590)
    hand.leave(0)  # the opponent has 30 left to call 580
    assert hand.stacks == [400, 650]
    text = to_phh(hand)
    assert "\n_starting_stacks = [50, 1000]\n" in text
    check(hand, text)


def test_a_raise_over_a_short_big_blind_is_replayed() -> None:
    hand = Hand([100, 100, 5], button=0)
    hand.deal(parse_cards("AhAdAsKhKdKs"))
    hand.bet(20)  # the full blind, of which 5 have been posted
    hand.bet(10)
    assert hand.turn is Turn.CHANCE
    hand.deal(parse_cards("2c3d4h"))
    hand.bet(80)
    hand.fold()
    hand.deal(parse_cards("7c"))
    hand.deal(parse_cards("8c"))
    text = to_phh(hand)
    assert "\nblinds_or_straddles = [10, 20, -20]\n" in text
    assert "\n_blinds_or_straddles = [10, 20, 0]\n" in text
    check(hand, text)


def test_equal_blinds_do_not_change_the_first_player_to_act() -> None:
    hand = Hand([100, 100], stakes=Stakes(10, 10))
    hand.deal(parse_cards("AhAdKhKd"))
    hand.bet(30)
    hand.fold()
    text = to_phh(hand)
    assert actions(text) == ["p2 cbr 40", "p1 f"]
    check(hand, text)


AUTOMATIONS = (
    "ANTE_POSTING",
    "BET_COLLECTION",
    "BLIND_OR_STRADDLE_POSTING",
    "CARD_BURNING",
    "HOLE_DEALING",
    "BOARD_DEALING",
    "RUNOUT_COUNT_SELECTION",
    "HOLE_CARDS_SHOWING_OR_MUCKING",
    "HAND_KILLING",
    "CHIPS_PUSHING",
    "CHIPS_PULLING",
)


def dumped(luck: Random) -> tuple[str, list[int]]:
    """Return a random hand played and written by PokerKit, and its final stacks; beaten players muck."""
    from pokerkit import Automation, HandHistory, Mode, NoLimitTexasHoldem

    count = luck.randint(2, 9)
    automations = tuple(Automation[name] for name in AUTOMATIONS)
    game = NoLimitTexasHoldem(automations, False, luck.choice([0, 0, 2]), (10, 20), 20, mode=Mode.CASH_GAME)
    state = game([luck.choice([60, 200, 1_000]) for _ in range(count)], count)
    while state.status:
        least, most = (
            state.min_completion_betting_or_raising_to_amount,
            state.max_completion_betting_or_raising_to_amount,
        )
        chance = luck.random()
        if chance < 0.2 and state.can_complete_bet_or_raise_to():
            state.complete_bet_or_raise_to(luck.choice([least, most]))
        elif chance < 0.4 and state.checking_or_calling_amount:
            state.fold()
        else:
            state.check_or_call()
    return HandHistory.from_game_state(game, state).dumps(), list(state.stacks)


@pytest.mark.parametrize("seeds", extended([range(25), range(25, 100)], 2), ids=str)
def test_hands_written_by_pokerkit_end_with_its_stacks(seeds: range) -> None:
    for seed in seeds:
        text, stacks = dumped(Random(seed))
        hand = from_phh(text)
        assert hand.turn is Turn.OVER
        winners = Counter(award.pot for award in hand.awards)
        odd = sum(winners.values()) - len(winners)
        assert all(abs(found - true) <= odd for found, true in zip(hand.stacks, stacks, strict=True)), text
