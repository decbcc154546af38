"""Property-based tests of the hold'em rules on random hands."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import islice
from random import Random
from types import GetSetDescriptorType, SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.core.errors import IllegalMove
from croupier.core.rules import Turn
from croupier.rooms.holdem.cards import CARD_NUMBERS, CARDS, PACK
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import FOLD
from croupier.rooms.holdem.engine.play import HandEngine
from croupier.rooms.holdem.engine.stakes import Stakes
from tests.properties import test_rules as rule_properties
from tests.rooms.holdem.random_hands import act, begin, end, move, steps
from tests.rooms.holdem.rules import HOLDEM, Holdem
from tests.sampling import example_count

LEAVING = 0.02


def hands(examples: int, leaving: float = LEAVING) -> Callable[[Callable[[Hand, Random], None]], Callable[..., None]]:
    """Make a test that checks a property at every step of random hands; the slow variant has 50 times as many."""

    def state(check: Callable[[Hand, Random], None]) -> Callable[..., None]:
        @pytest.mark.hypothesis
        @pytest.mark.parametrize("times", [1, pytest.param(50, marks=pytest.mark.slow)], ids=["quick", "soak"])
        def test(times: int) -> None:
            @settings(max_examples=example_count(examples) * times)
            @given(st.integers(0, 2**64))
            def example(seed: int) -> None:
                luck = Random(seed)
                for hand in steps(begin(luck), luck, leaving=leaving):
                    check(hand, luck)

            example()

        test.__name__ = test.__qualname__ = check.__name__
        test.__module__ = check.__module__
        return test

    return state


def initial_stacks(hand: Hand) -> list[int]:
    """Return the stacks before the forced bets, computed from a fresh hand."""
    fresh = hand.replay([])
    return [stack + paid for stack, paid in zip(fresh.stacks, fresh.paid, strict=True)]


@hands(150)
def test_chips_are_conserved(hand: Hand, luck: Random) -> None:
    total = sum(initial_stacks(hand))
    assert min(hand.stacks + hand.bets + hand.paid) >= 0
    assert sum(pot.size for pot in hand.pots) == sum(hand.paid)
    if hand.turn is Turn.OVER:
        assert sum(hand.stacks) == total
        assert sum(hand.payoff()) == 0
        assert hand.payoff() == tuple(now - then for now, then in zip(hand.stacks, initial_stacks(hand), strict=True))
    else:
        assert sum(hand.stacks) + sum(hand.paid) == total
        assert [stack + paid for stack, paid in zip(hand.stacks, hand.paid, strict=True)] == initial_stacks(hand)


@hands(150)
def test_every_pot_is_paid_to_seats_that_could_win_it(hand: Hand, luck: Random) -> None:
    if hand.turn is not Turn.OVER:
        assert not hand.awards
        return
    for number, pot in enumerate(hand.pots):
        awards = [award for award in hand.awards if award.pot == number]
        assert sum(award.chips for award in awards) == pot.size
        assert {award.seat for award in awards} <= set(pot.seats)
        assert max(award.chips for award in awards) - min(award.chips for award in awards) < len(awards)
    assert set(hand.showdown_order) == (
        {seat for pot in hand.pots for seat in pot.seats} if len(hand.showdown_order) > 1 else set()
    )


@hands(100)
def test_the_player_to_act_has_a_decision(hand: Hand, luck: Random) -> None:
    assert (hand.turn is Turn.CHANCE) == (hand.cards_due > 0)
    live = hand.folded.count(False)
    assert live >= 1
    assert live > 1 or hand.turn is Turn.OVER
    if isinstance(hand.turn, int):
        assert not hand.folded[hand.turn]
        assert hand.stacks[hand.turn] > 0
        others = [seat for seat in range(len(hand.stacks)) if seat != hand.turn and not hand.folded[seat]]
        assert hand.legal.call or any(hand.stacks[seat] for seat in others)
        assert max(hand.bets) <= hand.to_match
        assert len(hand.board) == (0, 3, 4, 5)[hand.street]
        assert all(len(hole) == 2 for hole in hand.holes)


@hands(40)
def test_legal_bets_are_accepted_and_others_refused(hand: Hand, luck: Random) -> None:
    legal = hand.legal
    low, high = legal.raise_range or (0, 0)
    deep = max(hand.stacks)
    near = {at + by for at in (0, legal.call, legal.to_call, low, high, deep) for by in (-1, 0, 1)}
    for chips in {*near, luck.randint(0, deep + 1), -(2**70), 2**70}:
        after = hand.copy()
        if chips in legal:
            after.bet(chips)
            assert len(after.log) == len(hand.log) + 1
        else:
            with pytest.raises(IllegalMove):
                after.bet(chips)
            assert after == hand
    assert (FOLD in legal) == isinstance(hand.turn, int)
    assert all(move in legal for move in legal)
    assert len(set(legal)) == len(legal)
    small = {FOLD} if legal.call else set()
    if isinstance(hand.turn, int):
        small |= {legal.call} | ({legal.pot_sized(), high} & {*legal})
    assert (len(hand.fcpa), {*hand.fcpa}) == (len(small), small)
    for strange in (True, False, 0.0, None, "raise", (), float("nan")):
        assert strange not in legal


@hands(60)
def test_play_bet_call_and_fold_make_the_same_moves(hand: Hand, luck: Random) -> None:
    legal = hand.legal
    for chosen in {*legal, move(hand, luck)} if legal else ():
        played, named = hand.copy(), hand.copy()
        played.play(chosen)
        if chosen == FOLD:
            named.fold()
        elif chosen == legal.call:
            named.call()
        else:
            assert isinstance(chosen, int)
            named.bet(chosen)
        assert state_of(played) == state_of(named)
        assert played.log == named.log


@hands(20)
def test_a_hand_without_a_player_to_act_refuses_moves(hand: Hand, luck: Random) -> None:
    assert hand.over == (hand.turn is Turn.OVER)
    before = state_of(hand)
    refused: list[Callable[[], None]] = [partial(hand.play, cast("Any", "raise")), partial(hand.bet, cast("Any", FOLD))]
    if not isinstance(hand.turn, int):
        refused += [hand.call, hand.fold, partial(hand.play, FOLD), partial(hand.play, 0), partial(hand.bet, 0)]
    for refuse in refused:
        with pytest.raises(IllegalMove):
            refuse()
    assert state_of(hand) == before


@hands(40)
def test_a_copy_is_independent(hand: Hand, luck: Random) -> None:
    before = hand.to_json()
    stacks, holes, board = list(hand.stacks), [list(hole) for hole in hand.holes], list(hand.board)
    twin = hand.copy()
    assert twin == hand
    if twin.turn is not Turn.OVER:
        assert end(twin, luck) != hand
    assert hand.to_json() == before
    assert (hand.stacks, hand.holes, hand.board) == (stacks, holes, board)


ATTRIBUTES = sorted(
    {*getattr(Hand([100, 100]), "__dict__", ())}
    | {
        name
        for name, value in vars(HandEngine).items()
        if isinstance(value, GetSetDescriptorType) and name != "legal" and not name.startswith("__")
    }
)
"""All attributes of a hand. In a compiled class they are descriptors, of a type that properties have there, too."""


def state_of(hand: Hand) -> dict[str, object]:
    """Return the complete state of a hand, except the portions in which the cards were dealt."""
    return {name: getattr(hand, name) for name in ATTRIBUTES if name != "compact_log"} | {"log": hand.log}


DECK_ATTRIBUTES = dict.fromkeys(("_cards", "_deck_known"))
"""The attributes that differ between a hand with a known deck and one without."""


@hands(60)
def test_a_hand_can_be_saved_replayed_and_copied_at_any_point(hand: Hand, luck: Random) -> None:
    past = hand.as_of(len(hand.compact_log))
    for other in (Hand.from_json(hand.to_json()), hand.replay(hand.log), past, hand.copy()):
        assert other == hand
        assert state_of(other) == state_of(hand)


@hands(60)
def test_a_hand_with_a_deck_equals_one_dealt_the_same_cards(hand: Hand, luck: Random) -> None:
    if hand.turn is Turn.OVER:
        return
    deck = luck.sample(hand.unseen, len(hand.unseen))
    stacked, left = hand.copy(), iter(deck)
    stacked.deal_from(deck)
    while hand.turn is not Turn.OVER:
        if hand.turn is Turn.CHANCE:
            hand.deal([*islice(left, hand.cards_due)])
            continue
        assert stacked == hand
        assert state_of(stacked) | DECK_ATTRIBUTES == state_of(hand) | DECK_ATTRIBUTES
        for other in (Hand.from_json(stacked.to_json()), stacked.copy()):
            assert state_of(other) == state_of(stacked)
        chosen = move(hand, luck)
        for one in (hand, stacked):
            act(one, chosen)
    assert stacked == hand
    assert (stacked.stacks, stacked.awards, stacked.showdown_order) == (hand.stacks, hand.awards, hand.showdown_order)
    assert Hand.from_json(stacked.to_json()) == stacked


def swapped(hand: Hand, seat: int, luck: Random) -> Hand:
    """Return the same hand with the cards hidden from a seat replaced."""
    seen = {seat, *hand.showdown_order}
    known = {card for each in seen for card in hand.holes[each]} | set(hand.board)
    others = luck.sample([card for card in range(52) if card not in known], 52 - len(known))
    return hand.replay(
        ("deal", entry[1], tuple(others.pop() for _ in entry[2]))
        if entry[0] == "deal" and entry[1] is not None and entry[1] not in seen
        else entry
        for entry in hand.log
    )


@hands(40)
def test_views_do_not_depend_on_hidden_cards(hand: Hand, luck: Random) -> None:
    for seat in range(len(hand.stacks)):
        other = swapped(hand, seat, luck)
        assert HOLDEM.view(hand, seat) == HOLDEM.view(other, seat)
        assert hash(HOLDEM.view(hand, seat)) == hash(HOLDEM.view(other, seat))
        if hand.turn == seat:
            assert tuple(hand.legal) == tuple(other.legal)
            assert hand.legal.raise_range == other.legal.raise_range


@hands(40)
def test_views_have_own_cards_the_board_and_every_action(hand: Hand, luck: Random) -> None:
    for seat in range(len(hand.stacks)):
        view = cast("tuple[Any, ...]", HOLDEM.view(hand, seat))
        entries = [
            entry
            for entry in view
            if isinstance(entry, tuple) and entry and entry[0] in {"deal", "bet", "fold", "leave"}
        ]
        assert len(entries) == len(hand.log)
        for entry, shown in zip(hand.log, entries, strict=True):
            hidden = entry[0] == "deal" and entry[1] is not None and entry[1] not in {seat, *hand.showdown_order}
            assert shown == (entry[:2] if hidden else entry)


# Holdem, by the properties of all rules


def dealt(hand: Hand) -> Sequence[str]:
    return [CARDS[card] for entry in hand.log if entry[0] == "deal" for card in entry[2]]


THREE = Holdem((300, 45, 1000), button=1, stakes=Stakes(ante=1))


@cache
def sample(rules: Holdem) -> Sequence[Hand]:
    """Return the states of the first cards, and those of random games played to their end."""
    luck, states = Random(1), [*islice(rule_properties.walk(rules), 20)]
    for _ in range(25):
        states.append(rules.start())
        while states[-1].turn is not Turn.OVER:
            states.append(rules.play(states[-1], luck.choice(rules.legal(states[-1]))))
    return states


@pytest.fixture(params=[HOLDEM, THREE], ids=["heads-up", "three"])
def room(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a stand-in for a room, with only the attributes that the properties use."""
    monkeypatch.setattr(rule_properties, "states", lambda room: sample(room.rules))
    return SimpleNamespace(name="holdem", rules=request.param, pack=PACK, dealt_cards=dealt)


RULE_PROPERTIES = (
    rule_properties.test_legal_moves_can_be_played_and_do_not_change_their_state,
    rule_properties.test_illegal_moves_raise_illegal_move,
    rule_properties.test_states_have_legal_moves_until_they_are_over,
    rule_properties.test_payoffs_sum_to_0,
    rule_properties.test_odds_are_exact_and_only_for_chance,
    rule_properties.test_equal_views_have_equal_legal_moves,
    rule_properties.test_own_moves_are_visible_in_the_view,
    rule_properties.test_dealt_cards_are_in_dealing_order,
)


@pytest.mark.parametrize("rule_property", RULE_PROPERTIES, ids=lambda rule_property: rule_property.__name__)
def test_the_properties_of_all_rules_hold(rule_property: Callable[[Any], None], room: Any) -> None:
    rule_property(room)


def test_the_rules_agree_with_the_hand() -> None:
    luck = Random(3)
    for _ in range(20):
        state = HOLDEM.start()
        hand = Hand((10_000, 10_000))
        while state.turn is not Turn.OVER:
            move = luck.choice(HOLDEM.legal(state))
            assert HOLDEM.odds(state).get(move, 0) == (Fraction(1, 52 - len(dealt(hand))) if hand.cards_due else 0)
            if hand.turn is Turn.CHANCE:
                hand.deal([CARD_NUMBERS[str(move)]])
            else:
                act(hand, cast("Any", move))
            state = HOLDEM.play(state, move)
            assert state == hand
        assert HOLDEM.payoff(state) == hand.payoff()
        assert HOLDEM.view(state, 0) == HOLDEM.view(hand, 0)
