"""What holds in every game of Old Maid, whatever luck does; and a second telling of the rules that agrees."""

from collections.abc import Sequence
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.errors import IllegalMove
from croupier.core.rules import Turn
from croupier.rooms.oldmaid.cards import CARD_NAMES, JOKER, is_pair
from croupier.rooms.oldmaid.rules import OldMaid, RingGame
from tests.rooms.oldmaid.brute_force import Chain

LONGEST = 5_000
"""Picks after which a game has to be over; with eight players 180 are usual."""

ALL = {*range(53)}

players = pytest.mark.parametrize("players", range(2, 9))
seeds = st.integers(0, 2**32)
tables = st.integers(2, 8)


def conserved(ring: RingGame) -> None:
    """Every card is in one place, hands and deck are as long as they should be, and nobody is out who has cards."""
    thrown = [card for pair in ring.discarded_pairs for card in pair]
    held = [card for hand in ring.hands for card in hand]
    cards = [*held, *thrown, *ring.deck] if ring.turn is Turn.CHANCE else held + thrown
    assert len(cards) == len({*cards} & ALL) == 53
    assert all(is_pair(a, b) for a, b in ring.discarded_pairs[-1:])
    assert len(ring.discarders) == len(ring.discarded_pairs)
    if ring.turn is not Turn.CHANCE:
        assert sorted(ring.out_seats) == [seat for seat, hand in enumerate(ring.hands) if not hand]


def settled(ring: RingGame) -> None:
    """Nobody has a pair left, the one who picks has cards, and so has the one who offers."""
    assert ring.due_pairs == []
    for hand in ring.hands:
        assert len({card // 2 for card in hand}) == len(hand)
    if isinstance(ring.turn, int):
        assert ring.turn != ring.offerer
        assert ring.hands[ring.turn]
        assert ring.hands[ring.offerer]
        between = range(ring.offerer + 1, ring.turn + len(ring.hands) * (ring.turn < ring.offerer))
        assert not any(ring.hands[seat % len(ring.hands)] for seat in between)


def play(players: int, luck: Random) -> RingGame:
    """A whole game, whose laws are looked at after every step."""
    ring = RingGame(players)
    for card in luck.sample(range(53), 53):
        ring.deal(card)
        conserved(ring)
    picks = 0
    while True:
        for seat, a, b in luck.sample(ring.due_pairs, len(ring.due_pairs)):
            ring.discard(seat, a, b)
            conserved(ring)
        settled(ring)
        if not isinstance(ring.turn, int):
            break
        ring.pick(luck.randrange(len(ring.hands[ring.offerer])))
        conserved(ring)
        picks += 1
        assert picks < LONGEST
    return ring


@players
@pytest.mark.parametrize("games", [50, pytest.param(10_000, marks=pytest.mark.slow)])
def test_26_pairs_are_discarded_and_one_player_has_lost_who_has_the_joker(players: int, games: int) -> None:
    for seed in range(games):
        ring = play(players, Random(f"{seed}/{players}"))
        assert ring.turn is Turn.OVER
        assert len(ring.discarded_pairs) == len({*ring.discarded_pairs}) == 26
        assert ring.loser is not None
        assert [hand for hand in ring.hands if hand] == [ring.hands[ring.loser]] == [[JOKER]]
        assert sorted([*ring.out_seats, ring.loser]) == [*range(players)]


def naive(players: int, deck: Sequence[str], picks: Sequence[float]) -> list[int]:
    """A game told with names of cards and a queue of players: who is out, in that order, and then the loser."""
    hands = [[*deck[seat::players]] for seat in range(players)]
    colour = {"spades": "black", "clubs": "black", "diamonds": "red", "hearts": "red", "maid": "maid"}
    out: list[int] = []

    def throw(seat: int) -> None:
        kinds = [(name.split()[0], colour[name.split()[1]]) for name in hands[seat]]
        hands[seat] = [name for name, kind in zip(hands[seat], kinds, strict=True) if kinds.count(kind) == 1]
        if not hands[seat] and seat not in out:
            out.append(seat)

    for seat in range(players):
        throw(seat)
    queue = [(52 + at) % players for at in range(players)]
    for pick in picks:
        queue = [seat for seat in queue if hands[seat]]
        if len(queue) == 1:
            break
        giver, taker, *others = queue
        hands[taker].append(hands[giver].pop(int(pick * len(hands[giver]))))
        throw(giver)
        throw(taker)
        queue = [taker, *others, giver]
    return [*out, *queue]


EVEN = {2: {0, 1}, 3: {0}, 4: {*()}, 5: {2, 3, 4}, 6: {4, 5}, 7: {0, 1, 2}, 8: {4, 5, 6, 7}}
"""Who is even after he has offered, by the number of players: a table of docs/solutions.md."""


@given(tables, seeds)
def test_as_long_as_nobody_is_out_a_player_is_even_each_time_he_has_offered_or_odd(players: int, seed: int) -> None:
    ring, luck = RingGame(players), Random(seed)
    for card in luck.sample(range(53), 53):
        ring.deal(card)
    ring.discard_all()
    while isinstance(ring.turn, int) and not ring.out_seats:
        offerer = ring.offerer
        ring.pick(luck.randrange(len(ring.hands[offerer])))
        assert (len(ring.hands[offerer]) % 2 == 0) == (offerer in EVEN[players])
        ring.discard_all()


@given(tables, seeds)
def test_a_game_goes_as_the_naive_telling_has_it(players: int, seed: int) -> None:
    luck = Random(seed)
    deck = luck.sample(range(53), 53)
    draws = [luck.random() for _ in range(LONGEST)]
    expected = naive(players, [CARD_NAMES[card] for card in deck], draws)
    ring, used = RingGame(players), iter(draws)
    for card in deck:
        ring.deal(card)
    ring.discard_all()
    while isinstance(ring.turn, int):
        ring.pick(int(next(used) * len(ring.hands[ring.offerer])))
        ring.discard_all()
    assert [*ring.out_seats, ring.loser] == expected


def stopped(players: int, seed: int, moves: int) -> RingGame:
    """A game after so many moves, or at its end."""
    rules, luck = OldMaid(players), Random(seed)
    state = rules.start()
    for _ in range(moves):
        if rules.turn(state) is Turn.OVER:
            break
        state = rules.play(state, luck.choice(rules.legal(state)))
    return state


@given(tables, seeds, st.integers(0, 200))
def test_every_legal_move_can_be_played_and_leaves_its_state_as_it_was(players: int, seed: int, moves: int) -> None:
    rules, state = OldMaid(players), stopped(players, seed, moves)
    before = state.copy()
    for move in rules.legal(state):
        after = rules.play(state, move)
        assert after != state
        assert state == before
        conserved(after)
        if after.turn is not Turn.CHANCE:
            settled(after)


@given(tables, seeds, st.integers(0, 200))
def test_every_other_move_is_refused_by_saying_what_is_allowed(players: int, seed: int, moves: int) -> None:
    rules, state = OldMaid(players), stopped(players, seed, moves)
    legal = rules.legal(state)
    for move in {*CARD_NAMES, "no card", "", "3 SPADES"} - {*legal}:
        with pytest.raises(IllegalMove) as refusal:
            rules.play(state, move)
        assert (refusal.value.found, refusal.value.allowed) == (move, legal)


@given(tables, seeds, st.integers(0, 200))
def test_luck_moves_every_card_with_the_same_odds_until_it_is_over(players: int, seed: int, moves: int) -> None:
    rules, state = OldMaid(players), stopped(players, seed, moves)
    odds = rules.odds(state)
    assert tuple(odds) == rules.legal(state)
    if rules.turn(state) is Turn.OVER:
        assert odds == {}
        assert sorted(rules.payoff(state)) == [-1] + [0] * (players - 1)
        assert rules.payoff(state).index(-1) == state.loser
    else:
        assert {*odds.values()} == {Fraction(1, len(odds))}
        assert rules.payoff(state) == (0,) * players


@given(tables, seeds, st.integers(0, 200), st.data())
def test_a_seat_is_not_told_what_others_hold(players: int, seed: int, moves: int, data: st.DataObject) -> None:
    """All that is hidden from it is dealt anew, to hands as long as they were: it sees the same."""
    state = stopped(players, seed, moves)
    seat = data.draw(st.integers(0, players - 1))
    other = state.copy()
    hidden = [card for at, hand in enumerate(state.hands) if at != seat for card in hand] + [*state.deck]
    thrown = [at for at, who in enumerate(state.discarders) if who != seat]
    hidden += [card for at in thrown for card in state.discarded_pairs[at]]
    anew = data.draw(st.permutations(hidden))
    for at, hand in enumerate(other.hands):
        if at != seat:
            other.hands[at] = [anew.pop() for _ in hand]
    for at in thrown:
        other.discarded_pairs[at] = (anew.pop(), anew.pop())
    assert other.view(seat) == state.view(seat)


@given(tables, seeds, st.integers(53, 200), st.data())
def test_a_seat_is_told_no_size_of_a_hand_that_is_not_offered_to_it(
    players: int, seed: int, moves: int, data: st.DataObject
) -> None:
    state = stopped(players, seed, moves)
    seat = data.draw(st.integers(0, players - 1))
    other = state.copy()
    for at, hand in enumerate(other.hands):
        if at != seat and not (at == state.offerer and state.turn == seat):
            other.hands[at] = hand * 2
    assert other.view(seat) == state.view(seat)


@given(tables, seeds, st.integers(0, 200), st.integers(0, 20))
def test_a_copy_goes_its_own_way(players: int, seed: int, moves: int, more: int) -> None:
    state = stopped(players, seed, moves)
    before, twin = repr(state), state.copy()
    assert twin == state
    for _ in range(more):
        if twin.turn is Turn.CHANCE:
            twin.deal(twin.deck[0])
        elif twin.turn is not Turn.OVER:
            twin.discard_all()
            twin.pick(0)
        twin.discard_all()
    assert repr(state) == before
    conserved(state)
    assert (twin == state) == (more == 0 or state.turn is Turn.OVER)


@pytest.mark.parametrize(("players", "pairs_in"), [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 2), (5, 2)])
def test_from_every_state_there_is_a_way_to_the_end(players: int, pairs_in: int) -> None:
    """States are finitely many, so a game ends with probability 1."""
    assert Chain(players, pairs_in).endless() == 0
