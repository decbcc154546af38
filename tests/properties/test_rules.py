"""Properties of rules: turns, legal moves, payoffs, odds and views."""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import islice
from typing import Any

import pytest
from hypothesis import strategies as st

from croupier.core.errors import IllegalMove
from croupier.core.room import HouseRoom
from croupier.core.rules import Rules, Turn
from croupier.rooms import HOUSE_ROOMS
from tests.properties.every_room import every_room, property_test

MAX_INITIAL_STATES = 500
RANDOM_GAMES = 100
"""The sample: the first states in breadth-first order, and all states of random games."""

MAX_MOVES = 2_000
"""The maximum number of moves of a game."""


def moves(rules: Rules[Any, Any], state: Any) -> Sequence[Any]:
    legal = rules.legal(state)
    assert isinstance(legal, Sequence), "a game with lazy moves needs a sample of them here"
    return legal


def walk(rules: Rules[Any, Any]) -> Iterator[Any]:
    """All states in breadth-first order."""
    row = [rules.start()]
    while row:
        yield from row
        row = [rules.play(state, move) for state in row for move in moves(rules, state)]


def states(room: HouseRoom) -> Sequence[Any]:
    """A sample of states: the first in breadth-first order, and those of random games."""
    return sample(room.name)


@cache
def sample(name: str) -> Sequence[Any]:
    rules, generator = HOUSE_ROOMS[name].rules, random.Random(1)
    found = [*islice(walk(rules), MAX_INITIAL_STATES)]
    for _ in range(RANDOM_GAMES):
        found.append(rules.start())
        while rules.turn(found[-1]) is not Turn.OVER:
            found.append(rules.play(found[-1], generator.choice(moves(rules, found[-1]))))
    return found


def all_moves(room: HouseRoom) -> set[Any]:
    """All moves that are legal in a state of the sample."""
    return {move for state in states(room) for move in moves(room.rules, state)}


@every_room
def test_legal_moves_can_be_played_and_do_not_change_their_state(room: HouseRoom) -> None:
    rules = room.rules
    for state in states(room):
        before = (rules.turn(state), tuple(moves(rules, state)), [rules.view(state, s) for s in range(rules.seats)])
        for move in moves(rules, state):
            assert rules.play(state, move) is not state
        after = (rules.turn(state), tuple(moves(rules, state)), [rules.view(state, s) for s in range(rules.seats)])
        assert after == before


@every_room
def test_illegal_moves_raise_illegal_move(room: HouseRoom) -> None:
    candidates = [*all_moves(room), "no move", None, 0, ()]
    for state in states(room):
        legal = moves(room.rules, state)
        for move in (move for move in candidates if move not in legal):
            with pytest.raises(IllegalMove) as refusal:
                room.rules.play(state, move)
            assert refusal.value.found == move
            assert refusal.value.allowed == tuple(legal)
            assert all(str(allowed) in str(refusal.value) for allowed in legal)


@every_room
def test_states_have_legal_moves_until_they_are_over(room: HouseRoom) -> None:
    for state in states(room):
        is_over = room.rules.turn(state) is Turn.OVER
        assert is_over == (len(moves(room.rules, state)) == 0)
        assert room.rules.turn(state) in {Turn.OVER, Turn.CHANCE, *range(room.rules.seats)}


@every_room
def test_payoffs_sum_to_0(room: HouseRoom) -> None:
    ends = [state for state in states(room) if room.rules.turn(state) is Turn.OVER]
    assert ends
    for state in ends:
        payoff = room.rules.payoff(state)
        assert len(payoff) == room.rules.seats
        assert sum(payoff) == 0


@every_room
def test_odds_are_exact_and_only_for_chance(room: HouseRoom) -> None:
    for state in states(room):
        odds = room.rules.odds(state)
        if room.rules.turn(state) is Turn.CHANCE:
            assert sum(odds.values()) == 1
            assert all(isinstance(chance, Fraction | int) and chance > 0 for chance in odds.values())
            assert set(odds) == set(moves(room.rules, state))
        else:
            assert not odds


@every_room
def test_equal_views_have_equal_legal_moves(room: HouseRoom) -> None:
    """Legal moves must not reveal anything that is not in the view."""
    legal_by_view: dict[tuple[int, Any], set[Any]] = defaultdict(set)
    for state in states(room):
        if isinstance(seat := room.rules.turn(state), int):
            legal_by_view[seat, room.rules.view(state, seat)].add(tuple(moves(room.rules, state)))
    assert legal_by_view
    assert all(len(legal) == 1 for legal in legal_by_view.values())


@every_room
def test_views_do_not_reveal_hidden_cards(room: HouseRoom) -> None:
    """At each view several views of the other seats are possible, unless the game has no hidden information."""
    rules = room.rules
    if all(rules.view(state, 0) == rules.view(state, s) for state in states(room) for s in range(rules.seats)):
        return
    others_by_view: dict[tuple[int, Any], set[Any]] = defaultdict(set)
    for state in states(room):
        if isinstance(seat := rules.turn(state), int):
            others_by_view[seat, rules.view(state, seat)].add(
                tuple(rules.view(state, s) for s in range(rules.seats) if s != seat)
            )
    assert others_by_view
    assert all(len(others) > 1 for others in others_by_view.values())


@every_room
def test_own_moves_are_visible_in_the_view(room: HouseRoom) -> None:
    for state in states(room):
        if isinstance(seat := room.rules.turn(state), int):
            seen = [room.rules.view(room.rules.play(state, move), seat) for move in moves(room.rules, state)]
            assert len(set(seen)) == len(seen)


@property_test(200, lambda room: st.data())
def test_every_game_ends(room: HouseRoom, data: st.DataObject) -> None:
    state = room.rules.start()
    generator = data.draw(st.randoms(use_true_random=False))
    for _ in range(MAX_MOVES):
        if room.rules.turn(state) is Turn.OVER:
            break
        state = room.rules.play(state, generator.choice(moves(room.rules, state)))
    assert room.rules.turn(state) is Turn.OVER


@every_room
def test_dealt_cards_are_in_dealing_order(room: HouseRoom) -> None:
    """The verification of a dealer's record needs cards of the pack, each at most once."""
    for state in states(room):
        dealt = room.dealt_cards(state)
        assert set(dealt) <= set(room.pack.names)
        assert len(set(dealt)) == len(dealt)
        for move in moves(room.rules, state):
            after = room.dealt_cards(room.rules.play(state, move))
            assert tuple(after[: len(dealt)]) == tuple(dealt)
            assert len(after) > len(dealt) or room.rules.turn(state) is not Turn.CHANCE
