"""Property tests of the whole game of Old Maid, and a comparison with a naive second implementation."""

from collections.abc import Sequence
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.errors import IllegalMove
from croupier.core.rules import Turn
from croupier.rooms.oldmaid.cards import CARD_NAMES, JOKER, is_pair
from tests.rooms.oldmaid.brute_force import Chain
from tests.rooms.oldmaid.ring_game import OldMaid, RingGame
from tests.sampling import example_count

LONGEST = 5_000
"""The number of picks after which a game must be over; 180 are typical with eight players."""

ALL = {*range(53)}

players = pytest.mark.parametrize("players", range(2, 9))
seeds = st.integers(0, 2**32)
tables = st.integers(2, 8)


def check_conservation(ring: RingGame) -> None:
    """Check that each card is in one place, sizes are right, and seats that are out have no cards."""
    thrown = [card for pair in ring.discarded_pairs for card in pair]
    held = [card for hand in ring.hands for card in hand]
    cards = [*held, *thrown, *ring.deck] if ring.turn is Turn.CHANCE else held + thrown
    assert len(cards) == len({*cards} & ALL) == 53
    assert all(is_pair(a, b) for a, b in ring.discarded_pairs[-1:])
    assert len(ring.discarders) == len(ring.discarded_pairs)
    if ring.turn is not Turn.CHANCE:
        assert sorted(ring.out_seats) == [seat for seat, hand in enumerate(ring.hands) if not hand]


def check_settled(ring: RingGame) -> None:
    """Check that no pair is due and that the picker and the offerer have cards."""
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
    """Play a whole game and check the invariants after every step."""
    ring = RingGame(players)
    for card in luck.sample(range(53), 53):
        ring.deal(card)
        check_conservation(ring)
    picks = 0
    while True:
        for seat, a, b in luck.sample(ring.due_pairs, len(ring.due_pairs)):
            ring.discard(seat, a, b)
            check_conservation(ring)
        check_settled(ring)
        if not isinstance(ring.turn, int):
            break
        ring.pick(luck.randrange(len(ring.hands[ring.offerer])))
        check_conservation(ring)
        picks += 1
        assert picks < LONGEST
    return ring


@pytest.mark.hypothesis
@players
@pytest.mark.parametrize("games", [50, pytest.param(10_000, marks=pytest.mark.slow)])
def test_26_pairs_are_discarded_and_the_loser_has_the_joker(players: int, games: int) -> None:
    for seed in range(example_count(games)):
        ring = play(players, Random(f"{seed}/{players}"))
        assert ring.turn is Turn.OVER
        assert len(ring.discarded_pairs) == len({*ring.discarded_pairs}) == 26
        assert ring.loser is not None
        assert [hand for hand in ring.hands if hand] == [ring.hands[ring.loser]] == [[JOKER]]
        assert sorted([*ring.out_seats, ring.loser]) == [*range(players)]


def naive(players: int, deck: Sequence[str], picks: Sequence[float]) -> list[int]:
    """The naive rules with card names and a queue of players. Returns the seats out, in order, and then the loser."""
    hands = [[*deck[seat::players]] for seat in range(players)]
    colour = {"spades": "black", "clubs": "black", "diamonds": "red", "hearts": "red", "maid": "maid"}
    out: list[int] = []

    def discard_pairs(seat: int) -> None:
        kinds = [(name.split()[0], colour[name.split()[1]]) for name in hands[seat]]
        hands[seat] = [name for name, kind in zip(hands[seat], kinds, strict=True) if kinds.count(kind) == 1]
        if not hands[seat] and seat not in out:
            out.append(seat)

    for seat in range(players):
        discard_pairs(seat)
    queue = [(52 + at) % players for at in range(players)]
    for pick in picks:
        queue = [seat for seat in queue if hands[seat]]
        if len(queue) == 1:
            break
        giver, taker, *others = queue
        hands[taker].append(hands[giver].pop(int(pick * len(hands[giver]))))
        discard_pairs(giver)
        discard_pairs(taker)
        queue = [taker, *others, giver]
    return [*out, *queue]


EVEN = {2: {0, 1}, 3: {0}, 4: {*()}, 5: {2, 3, 4}, 6: {4, 5}, 7: {0, 1, 2}, 8: {4, 5, 6, 7}}
"""Whether each seat has an even hand after its offers, by the number of players: a table of docs/solutions.md."""


@given(tables, seeds)
def test_hand_parity_after_each_offer_while_all_are_in(players: int, seed: int) -> None:
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
def test_games_match_the_naive_rules(players: int, seed: int) -> None:
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
    """A game after a number of moves, or at its end."""
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
        check_conservation(after)
        if after.turn is not Turn.CHANCE:
            check_settled(after)


@given(tables, seeds, st.integers(0, 200))
def test_illegal_moves_are_refused_with_the_legal_ones(players: int, seed: int, moves: int) -> None:
    rules, state = OldMaid(players), stopped(players, seed, moves)
    legal = rules.legal(state)
    for move in {*CARD_NAMES, "no card", "", "3 SPADES"} - {*legal}:
        with pytest.raises(IllegalMove) as refusal:
            rules.play(state, move)
        assert (refusal.value.found, refusal.value.allowed) == (move, legal)


@given(tables, seeds, st.integers(0, 200))
def test_odds_are_uniform_until_the_end(players: int, seed: int, moves: int) -> None:
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
def test_view_does_not_reveal_other_hands(players: int, seed: int, moves: int, data: st.DataObject) -> None:
    """Redealing all hidden cards to hands of the same sizes does not change the view."""
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
def test_view_does_not_reveal_other_hand_sizes(players: int, seed: int, moves: int, data: st.DataObject) -> None:
    state = stopped(players, seed, moves)
    seat = data.draw(st.integers(0, players - 1))
    other = state.copy()
    for at, hand in enumerate(other.hands):
        if at != seat and not (at == state.offerer and state.turn == seat):
            other.hands[at] = hand * 2
    assert other.view(seat) == state.view(seat)


@given(tables, seeds, st.integers(0, 200), st.integers(0, 20))
def test_copy_is_independent(players: int, seed: int, moves: int, more: int) -> None:
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
    check_conservation(state)
    assert (twin == state) == (more == 0 or state.turn is Turn.OVER)


@pytest.mark.parametrize(("players", "pairs_in"), [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 2), (5, 2)])
def test_from_every_state_there_is_a_way_to_the_end(players: int, pairs_in: int) -> None:
    """There are finitely many states, so a game ends with probability 1."""
    assert Chain(players, pairs_in).endless() == 0
