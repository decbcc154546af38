"""The laws of rules: whose turn it is, what may be done, what it is worth, and who may know it."""

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
from tests.properties.every_room import every_room, law

ENOUGH = 500
GAMES = 100
"""So many states are looked at from the top, and all of so many games that were played at random."""

LONGEST = 2_000
"""Moves after which a game has to be over."""


def moves(rules: Rules[Any, Any], state: Any) -> Sequence[Any]:
    legal = rules.legal(state)
    assert isinstance(legal, Sequence), "a game with lazy moves needs a sample of them here"
    return legal


def walk(rules: Rules[Any, Any]) -> Iterator[Any]:
    """All states, the shorter histories first."""
    row = [rules.start()]
    while row:
        yield from row
        row = [rules.play(state, move) for state in row for move in moves(rules, state)]


def states(room: HouseRoom) -> Sequence[Any]:
    """The states of the first moves, and those of games that were played at random to their end."""
    return sample(room.name)


@cache
def sample(name: str) -> Sequence[Any]:
    rules, luck = HOUSE_ROOMS[name].rules, random.Random(1)
    found = [*islice(walk(rules), ENOUGH)]
    for _ in range(GAMES):
        found.append(rules.start())
        while rules.turn(found[-1]) is not Turn.OVER:
            found.append(rules.play(found[-1], luck.choice(moves(rules, found[-1]))))
    return found


def names(room: HouseRoom) -> set[Any]:
    """Every move that is legal anywhere."""
    return {move for state in states(room) for move in moves(room.rules, state)}


@every_room
def test_every_legal_move_can_be_played_and_leaves_its_state_as_it_was(room: HouseRoom) -> None:
    rules = room.rules
    for state in states(room):
        before = (rules.turn(state), tuple(moves(rules, state)), [rules.view(state, s) for s in range(rules.seats)])
        for move in moves(rules, state):
            assert rules.play(state, move) is not state
        after = (rules.turn(state), tuple(moves(rules, state)), [rules.view(state, s) for s in range(rules.seats)])
        assert after == before


@every_room
def test_every_other_move_is_refused_by_saying_what_is_allowed(room: HouseRoom) -> None:
    strange = [*names(room), "no move", None, 0, ()]
    for state in states(room):
        legal = moves(room.rules, state)
        for move in (move for move in strange if move not in legal):
            with pytest.raises(IllegalMove) as refusal:
                room.rules.play(state, move)
            assert refusal.value.found == move
            assert refusal.value.allowed == tuple(legal)
            assert all(str(allowed) in str(refusal.value) for allowed in legal)


@every_room
def test_somebody_has_to_move_until_it_is_over(room: HouseRoom) -> None:
    for state in states(room):
        over = room.rules.turn(state) is Turn.OVER
        assert over == (len(moves(room.rules, state)) == 0)
        assert room.rules.turn(state) in {Turn.OVER, Turn.CHANCE, *range(room.rules.seats)}


@every_room
def test_what_is_won_by_some_is_lost_by_others(room: HouseRoom) -> None:
    ends = [state for state in states(room) if room.rules.turn(state) is Turn.OVER]
    assert ends
    for state in ends:
        payoff = room.rules.payoff(state)
        assert len(payoff) == room.rules.seats
        assert sum(payoff) == 0


@every_room
def test_the_odds_of_chance_are_exact_and_nobody_elses_moves_have_any(room: HouseRoom) -> None:
    for state in states(room):
        odds = room.rules.odds(state)
        if room.rules.turn(state) is Turn.CHANCE:
            assert sum(odds.values()) == 1
            assert all(isinstance(chance, Fraction | int) and chance > 0 for chance in odds.values())
            assert set(odds) == set(moves(room.rules, state))
        else:
            assert not odds


@every_room
def test_a_seat_that_sees_the_same_may_do_the_same(room: HouseRoom) -> None:
    """What is legal must not tell what the view does not."""
    known: dict[tuple[int, Any], set[Any]] = defaultdict(set)
    for state in states(room):
        if isinstance(seat := room.rules.turn(state), int):
            known[seat, room.rules.view(state, seat)].add(tuple(moves(room.rules, state)))
    assert known
    assert all(len(legal) == 1 for legal in known.values())


@every_room
def test_a_seat_that_sees_the_same_never_knows_what_the_other_one_holds(room: HouseRoom) -> None:
    """Whoever decides behind one view may face several holdings of the others, unless nobody holds anything hidden."""
    rules = room.rules
    if all(rules.view(state, 0) == rules.view(state, s) for state in states(room) for s in range(rules.seats)):
        return
    held: dict[tuple[int, Any], set[Any]] = defaultdict(set)
    for state in states(room):
        if isinstance(seat := rules.turn(state), int):
            held[seat, rules.view(state, seat)].add(
                tuple(rules.view(state, s) for s in range(rules.seats) if s != seat)
            )
    assert held
    assert all(len(others) > 1 for others in held.values())


@every_room
def test_a_move_of_a_seat_shows_in_its_own_view(room: HouseRoom) -> None:
    for state in states(room):
        if isinstance(seat := room.rules.turn(state), int):
            seen = [room.rules.view(room.rules.play(state, move), seat) for move in moves(room.rules, state)]
            assert len(set(seen)) == len(seen)


@law(200, lambda room: st.data())
def test_every_game_ends_however_it_is_played(room: HouseRoom, data: st.DataObject) -> None:
    state = room.rules.start()
    luck = data.draw(st.randoms(use_true_random=False))
    for _ in range(LONGEST):
        if room.rules.turn(state) is Turn.OVER:
            break
        state = room.rules.play(state, luck.choice(moves(room.rules, state)))
    assert room.rules.turn(state) is Turn.OVER


@every_room
def test_the_cards_that_were_dealt_are_told_in_the_order_of_the_deal(room: HouseRoom) -> None:
    """The dealer's record is checked against a pack, so it can only hold cards of the pack, and each of them once."""
    for state in states(room):
        dealt = room.dealt_cards(state)
        assert set(dealt) <= set(room.pack.names)
        assert len(set(dealt)) == len(dealt)
        for move in moves(room.rules, state):
            after = room.dealt_cards(room.rules.play(state, move))
            assert tuple(after[: len(dealt)]) == tuple(dealt)
            assert len(after) > len(dealt) or room.rules.turn(state) is not Turn.CHANCE
