"""Rules of seven and a half: the automaton against the naive rules, raises, and probabilities."""

import random
from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.bank import BANK_SEAT, CLIENT_SEAT, BankNode, bank_cards, client_cards
from croupier.core.errors import IllegalMove
from croupier.core.rules import Turn
from croupier.rooms.sevenhalf.rules import (
    CARDS,
    LENIENT_RULES,
    MAX_TOTAL_BET,
    PACK,
    SEVENHALF,
    SevenHalf,
    payout_in_bets,
    score,
    total,
)
from tests.rooms.sevenhalf import naive_rules
from tests.rooms.sevenhalf.naive_rules import GOAL, bank_goes_on, gain, points
from tests.rooms.sevenhalf.tables import state_after
from tests.sampling import in_one_test

RULES = {False: SEVENHALF, True: LENIENT_RULES}
dialects = pytest.mark.parametrize("lenient", [False, True], ids=["document", "lenient"])

FACES = [rank + "o" for rank in "1234567s"]
"""One card of each value."""

type NaiveState = tuple[str, Fraction, Fraction, int]
"""A state of the naive rules: phase, the client's points, the bank's points, and the bank's card count."""


def naive_step(description: NaiveState, move: str) -> NaiveState:
    """The state after a move by the naive rules."""
    phase, own, banks, drawn = description
    if phase == "bank":
        return (phase, own, banks + points(move), drawn + 1)
    if phase == "deal":
        own += points(move)
        return ("bank" if own > GOAL else "hand", own, banks, drawn)
    return ({"DRAW": "deal", "PASS": "bank"}[move], own, banks, drawn)


def paths(*, lenient: bool) -> Iterator[tuple[BankNode, NaiveState]]:
    """Every node with each naive state that reaches it, over all paths from the start."""
    start = (RULES[lenient].start().node, ("bet", Fraction(0), Fraction(0), 0))
    seen, row = {start}, deque([start])
    while row:
        node, description = row.popleft()
        yield node, description
        after = []
        if node.turn is Turn.CHANCE:
            after = [(node.successors[card], naive_step(description, card)) for card in FACES]
        elif node.turn == CLIENT_SEAT:
            after = [(node.successors[move], naive_step(description, str(move))) for move in node.moves]
            if node.after_raise is not None:
                after.append((node.after_raise, ("raised", *description[1:])))
        for both in after:
            if both not in seen:
                seen.add(both)
                row.append(both)


@dialects
def test_automaton_matches_the_naive_rules_on_every_path(lenient: bool) -> None:
    count = 0
    for node, (phase, own, banks, drawn) in paths(lenient=lenient):
        count += 1
        if phase == "deal":
            assert (node.turn, node.card_receiver, node.after_raise) == (Turn.CHANCE, CLIENT_SEAT, None)
        elif phase != "bank":
            passes = lenient or phase == "hand"
            assert node.turn == CLIENT_SEAT
            assert node.moves == (("DRAW", "PASS") if passes else ("DRAW",))
            assert (node.after_raise is not None) == (lenient or phase != "bet")
        elif bank_goes_on(own, banks, drawn):
            assert (node.turn, node.card_receiver, node.after_raise) == (Turn.CHANCE, BANK_SEAT, None)
        else:
            assert node.turn is Turn.OVER
            assert Fraction(node.payoff_half_bets, 2) == gain(1, own, banks)
            assert not node.successors
    assert count > 500


@pytest.mark.extended
@dialects
def test_successors_depend_on_the_value_only(lenient: bool) -> None:
    """All twelve figures are equivalent, and suits are irrelevant."""
    for node, _ in paths(lenient=lenient):
        if node.turn is Turn.CHANCE:
            assert set(node.successors) == set(CARDS)
            for card in CARDS:
                alike = next(face for face in FACES if points(face) == points(card))
                assert node.successors[card] is node.successors[alike]


@pytest.mark.parametrize("games", [400, pytest.param(40_000, marks=pytest.mark.slow)], ids=["quick", "soak"])
@dialects
def test_random_games_match_the_naive_rules(lenient: bool, games: int) -> None:
    luck = random.Random(7)
    rules = RULES[lenient]
    for _ in range(games):
        game = naive_rules.Game(naive_rules.shuffled(luck), luck.choice([1, 10, 100, 1000]), lenient=lenient)
        state = rules.start(game.bet)
        while not game.over:
            legal = rules.legal(state)
            assert {"ANTE" if isinstance(move, int) else move for move in legal} == game.allowed
            act = luck.choice(sorted(game.allowed))
            if act == "ANTE":
                coins = luck.choice([1, 5, 100])
                game.ante(coins)
                state = rules.play(state, coins)
                continue
            state = rules.play(state, act)
            if act == "DRAW":
                game.draw()
                state = rules.play(state, game.own[-1])
            else:
                game.stop()
        for card in game.banks:
            assert rules.turn(state) is Turn.CHANCE
            state = rules.play(state, card)
        assert rules.turn(state) is Turn.OVER
        assert rules.payoff(state) == (game.net, -game.net)
        assert (client_cards(state), bank_cards(state)) == (tuple(game.own), tuple(game.banks))
        assert state.bet == game.bet
        assert score(total(game.banks)) == naive_rules.written(points(*game.banks))


def test_the_deck_is_the_forty_cards_there_are() -> None:
    assert sorted(CARDS) == sorted(naive_rules.DECK)
    assert PACK.names == SEVENHALF.cards == CARDS
    assert len(set(CARDS)) == 40


@in_one_test
@pytest.mark.parametrize("card", CARDS)
def test_card_values(card: str) -> None:
    assert Fraction(total([card]), 2) == points(card)


def test_every_score_is_written_in_four_characters() -> None:
    for halves in range(81):
        assert score(halves) == naive_rules.written(Fraction(halves, 2))
        assert len(score(halves)) == 4
        assert score(halves)[-1] in "05"
    assert (score(15), score(1), score(22), score(0)) == ("07.5", "00.5", "11.0", "00.0")


@pytest.mark.parametrize(
    ("client", "bank", "description"),
    [
        *((28, 1, -1), (16, 15, -1), (16, 16, -1), (14, 16, 1), (1, 28, 1), (14, 15, -1), (2, 4, -1)),
        *((15, 16, 2), (15, 1, 2), (15, 15, 0), (0, 2, -1), (10, 4, 1)),
    ],
)
def test_the_payments_are_those_of_the_table(client: int, bank: int, description: int) -> None:
    """Section 5; the last case cannot occur, because the bank draws until it is ahead."""
    assert payout_in_bets(client, bank) == description


EXAMPLES = {
    "DRAW 7o PASS 7c cc": (100, ("07.5", -100)),
    "DRAW 1c DRAW se DRAW rb DRAW 2b DRAW 4o 2o": (50, ("02.0", -50)),
    "DRAW 2c 10 DRAW sc 10 DRAW 4b DRAW 1c PASS 6c 1o 4c": (10, ("11.0", 60)),
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_of_the_document(example: str) -> None:
    bet, expected = EXAMPLES[example]
    state = SEVENHALF.start(bet)
    for move in example.split():
        state = SEVENHALF.play(state, int(move) if move.isdecimal() else move)
    assert SEVENHALF.turn(state) is Turn.OVER
    assert (score(total(bank_cards(state))), SEVENHALF.payoff(state)[CLIENT_SEAT]) == expected


# Raises.


def test_twice_the_largest_bet_fits_a_number() -> None:
    assert 2 * MAX_TOTAL_BET <= 2**31 - 1 < 2 * (MAX_TOTAL_BET + 1)
    assert SEVENHALF.max_bet == LENIENT_RULES.max_bet == MAX_TOTAL_BET == 2**30 - 1


@given(st.integers(1, MAX_TOTAL_BET), st.integers(1, MAX_TOTAL_BET), st.integers(-(2**31), 2**31 - 1))
def test_every_raise_within_the_limit_is_legal_and_no_other_is(limit: int, bet: int, coins: int) -> None:
    rules = SevenHalf(max(limit, bet))
    state = state_after("DRAW", "3o", rules=rules, bet=bet)
    allowed = 0 < coins <= rules.max_bet - bet
    assert (coins in rules.legal(state)) == allowed
    if allowed:
        assert rules.play(state, coins).bet == bet + coins
    else:
        with pytest.raises(IllegalMove):
            rules.play(state, coins)


def test_the_highest_raise_is_the_only_one_listed_and_stands_last() -> None:
    assert tuple(SEVENHALF.legal(state_after("DRAW", "3o"))) == ("DRAW", "PASS", MAX_TOTAL_BET - 100)
    assert tuple(SEVENHALF.legal(state_after("DRAW", "3o", 1))) == ("DRAW", MAX_TOTAL_BET - 101)
    assert tuple(SEVENHALF.legal(state_after("DRAW", "3o", MAX_TOTAL_BET - 100))) == ("DRAW",)
    assert tuple(LENIENT_RULES.legal(state_after(rules=LENIENT_RULES))) == ("DRAW", "PASS", MAX_TOTAL_BET - 100)
    assert tuple(SevenHalf(100).legal(state_after("DRAW", "3o", rules=SevenHalf(100)))) == ("DRAW", "PASS")


def test_legal_contains_all_raises_and_moves() -> None:
    legal = SEVENHALF.legal(state_after("DRAW", "3o"))
    assert all(move in legal for move in ("DRAW", "PASS", 1, 2, 1000, MAX_TOTAL_BET - 100))
    assert not any(move in legal for move in ("STRT", "ANTE", "draw", 0, -1, MAX_TOTAL_BET - 99, None, (), "3o"))


def test_raises_add_up_and_change_nothing_else() -> None:
    state = state_after("DRAW", "3o", 1, 10, 100)
    assert (state.bet, state.cards, state.bank_card_count) == (211, ("3o",), 0)
    assert state.node is state_after("DRAW", "3o", 5).node


def test_nothing_can_be_raised_before_the_first_card_or_by_the_bank() -> None:
    for moves in ((), ("DRAW",), ("DRAW", "7o", "PASS"), ("DRAW", "7o", "PASS", "7c"), ("DRAW", "7o", "DRAW", "7c")):
        with pytest.raises(IllegalMove):
            SEVENHALF.play(state_after(*moves), 1)


def test_payoff_is_based_on_the_total_bet() -> None:
    ends = {"7o PASS 7c cc": -1, "7o PASS 4c 4e": 1, "7o DRAW so PASS 4c 4e": 2, "7o DRAW so PASS 7c cc": 0}
    for moves, times in ends.items():
        first, *rest = moves.split()
        state = state_after("DRAW", first)
        assert SEVENHALF.payoff(state_after("DRAW", first, *rest)) == (100 * times, -100 * times)
        if rest[0] == "DRAW":
            state = state_after("DRAW", first, 37, *rest)
            assert SEVENHALF.payoff(state) == (137 * times, -137 * times)
    assert SEVENHALF.payoff(state_after("DRAW", "7o", 37, "DRAW", "7c", "1o")) == (-137, 137)


def test_a_card_that_has_been_drawn_cannot_be_drawn_again() -> None:
    state = state_after("DRAW", "3o", "DRAW")
    assert len(SEVENHALF.legal(state)) == 39
    for gone in ("3o", "8o", "", "DRAW", None):
        with pytest.raises(IllegalMove):
            SEVENHALF.play(state, gone)


# Chances.


def outcome_probabilities(rules: SevenHalf, stand: Fraction) -> dict[int, Fraction]:
    """The probability of each net by the rules, for a client that draws up to a threshold in points."""
    left = {face: 12 if face[0] == "s" else 4 for face in FACES}

    @cache
    def gains(node: BankNode, own: Fraction, gone: tuple[int, ...]) -> dict[int, Fraction]:
        if node.turn is Turn.OVER:
            return {node.payoff_half_bets: Fraction(1)}
        if node.turn == CLIENT_SEAT:
            return gains(node.successors["PASS" if own >= stand and "PASS" in node.moves else "DRAW"], own, gone)
        found: dict[int, Fraction] = {}
        whole = 40 - sum(gone)
        for at, face in enumerate(FACES):
            if chance := Fraction(left[face] - gone[at], whole):
                after = own + points(face) if node.card_receiver == CLIENT_SEAT else own
                taken = (*gone[:at], gone[at] + 1, *gone[at + 1 :])
                for net, odds in gains(node.successors[face], after, taken).items():
                    found[net] = found.get(net, Fraction(0)) + chance * odds
        return found

    return gains(rules.start().node, Fraction(0), (0,) * len(FACES))


def naive_probabilities(stand: Fraction) -> dict[int, Fraction]:
    """The same by the naive rules."""
    counts = dict.fromkeys((Fraction(worth) for worth in range(1, 8)), 4) | {Fraction(1, 2): 12}
    worths = tuple(counts)

    @cache
    def goes(own: Fraction, banks: Fraction, drawn: int, gone: tuple[int, ...]) -> dict[int, Fraction]:
        clients = drawn == 0 and own < stand and own <= GOAL
        if not clients and not bank_goes_on(own, banks, drawn):
            return {gain(2, own, banks): Fraction(1)}
        found: dict[int, Fraction] = {}
        for at, worth in enumerate(worths):
            if chance := Fraction(counts[worth] - gone[at], 40 - sum(gone)):
                taken = (*gone[:at], gone[at] + 1, *gone[at + 1 :])
                after = goes(own + worth, banks, 0, taken) if clients else goes(own, banks + worth, drawn + 1, taken)
                for net, odds in after.items():
                    found[net] = found.get(net, Fraction(0)) + chance * odds
        return found

    return goes(Fraction(0), Fraction(0), 0, (0,) * len(worths))


@pytest.mark.extended
@pytest.mark.parametrize("stand", [GOAL, Fraction(5), Fraction(1, 2), Fraction(4), Fraction(11, 2)], ids=str)
def test_outcome_probabilities_match_the_naive_rules(stand: Fraction) -> None:
    """The probabilities also sum to 1."""
    found = outcome_probabilities(SEVENHALF, stand)
    assert found == naive_probabilities(stand)
    assert sum(found.values()) == 1
    assert set(found) <= {-2, 0, 2, 4}
    assert outcome_probabilities(LENIENT_RULES, stand) == found


@given(st.integers(0, 2**32))
def test_remaining_cards_are_equally_likely(seed: int) -> None:
    luck = random.Random(seed)
    state = SEVENHALF.play(SEVENHALF.start(), "DRAW")
    while SEVENHALF.turn(state) is not Turn.OVER:
        if SEVENHALF.turn(state) is Turn.CHANCE:
            odds = SEVENHALF.odds(state)
            assert set(odds) == set(CARDS) - set(state.cards)
            assert set(odds.values()) == {Fraction(1, 40 - len(state.cards))}
            assert sum(odds.values()) == 1
        else:
            assert SEVENHALF.odds(state) == {}
        state = SEVENHALF.play(state, luck.choice([move for move in SEVENHALF.legal(state) if isinstance(move, str)]))


def test_no_hand_exceeds_fourteen_cards() -> None:
    """sevenhalf-3.3: all twelve figures, an ace, and the card that busts or stops the bank."""

    @cache
    def longest(points_left: int, figures: int, aces: int) -> int:
        """The most cards with a total up to a number of halves, lowest values first."""
        if figures and points_left >= 1:
            return 1 + longest(points_left - 1, figures - 1, aces)
        if aces and points_left >= 2:
            return 1 + longest(points_left - 2, figures, aces - 1)
        return 0

    assert longest(15, 12, 4) == 13
    order = [rank + suit for suit in "oceb" for rank in "scr"] + ["1o", "1c"]
    client = state_after(*(move for card in order for move in ("DRAW", card)))
    assert (len(client.cards), client.node.turn, client.node.card_receiver) == (14, Turn.CHANCE, BANK_SEAT)
    bank = state_after("DRAW", "7o", "PASS", *order)
    assert (len(bank_cards(bank)), bank.node.turn) == (14, Turn.OVER)


@dialects
def test_state_is_fully_observable(lenient: bool) -> None:
    state = state_after("DRAW", "3o", 10, rules=RULES[lenient])
    assert RULES[lenient].view(state, CLIENT_SEAT) == RULES[lenient].view(state, BANK_SEAT) == state
