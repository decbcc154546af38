"""The whole game of Old Maid by examples: drawing, offering, skipping and losing."""

from collections.abc import Sequence

import pytest

from croupier.core.errors import IllegalMove
from croupier.core.rules import Turn
from croupier.rooms.oldmaid.cards import CARD_NUMBERS, JOKER
from tests.rooms.oldmaid.ring_game import OldMaid, RingGame

SPADE, CLUB, DIAMOND, HEART = (CARD_NUMBERS["2", suit] for suit in ("spades", "clubs", "diamonds", "hearts"))
SPADE3, CLUB3, DIAMOND3, HEART3 = (CARD_NUMBERS["3", suit] for suit in ("spades", "clubs", "diamonds", "hearts"))


def dealt(players: int, cards: Sequence[int], *, settled: bool = True) -> RingGame:
    """A game with a small pack and the cards in the order of drawing."""
    ring = RingGame(players, len(cards) // 2)
    for card in cards:
        ring.deal(card)
    if settled:
        ring.discard_all()
    return ring


@pytest.mark.parametrize("players", range(2, 9))
def test_the_players_draw_in_turn_and_the_last_to_draw_offers_first(players: int) -> None:
    """O6, O9"""
    ring, takers = RingGame(players), []
    for card in range(53):
        assert ring.turn is Turn.CHANCE
        takers.append(ring.drawer)
        ring.deal(card)
    assert takers == [number % players for number in range(53)]
    assert (ring.drawn_count, ring.deck, ring.offerer) == (53, (), takers[-1])
    assert ring.turn == (ring.offerer + 1) % players
    assert [len(hand) for hand in ring.hands] == [takers.count(seat) for seat in range(players)]


def test_picked_card_moves_and_the_picker_offers_next() -> None:
    ring = dealt(3, [SPADE, DIAMOND, JOKER, HEART, CLUB])
    assert (ring.hands, ring.offerer, ring.turn) == ([[SPADE, HEART], [DIAMOND, CLUB], [JOKER]], 1, 2)
    assert ring.pick(1) == CLUB
    assert (ring.hands, ring.offerer, ring.turn) == ([[SPADE, HEART], [DIAMOND], [JOKER, CLUB]], 2, 0)
    assert ring.pick(0) == JOKER
    assert (ring.hands, ring.offerer, ring.turn) == ([[SPADE, HEART, JOKER], [DIAMOND], [CLUB]], 0, 1)
    assert (ring.due_pairs, ring.out_seats, ring.loser) == ([], [], None)


def test_a_game_may_be_over_with_the_deal() -> None:
    ring = dealt(3, [SPADE, DIAMOND, JOKER, CLUB, HEART])
    assert (ring.hands, ring.discarded_pairs) == ([[], [], [JOKER]], [(SPADE, CLUB), (DIAMOND, HEART)])
    assert (ring.turn, ring.out_seats, ring.loser) == (Turn.OVER, [0, 1], 2)


def test_a_pair_is_discarded_before_its_holder_offers() -> None:
    ring = dealt(3, [SPADE, DIAMOND, JOKER, HEART, CLUB])
    ring.pick(1)
    ring.pick(1)
    assert (ring.due_pairs, ring.turn) == ([(0, SPADE, CLUB)], 1)
    with pytest.raises(IllegalMove, match=r"a pick at 0 is not allowed here; .*to discard 2 spades with 2 clubs"):
        ring.pick(0)
    ring.discard(0, CLUB, SPADE)
    assert (ring.due_pairs, ring.discarded_pairs, ring.discarders) == ([], [(SPADE, CLUB)], [0])
    assert (ring.hands, ring.offerer, ring.turn) == ([[HEART], [DIAMOND], [JOKER]], 0, 1)


def test_a_pair_is_discarded_before_its_holder_picks() -> None:
    ring = dealt(2, [SPADE, DIAMOND, CLUB, HEART, JOKER], settled=False)
    assert (ring.offerer, ring.turn) == (0, 1)
    ring.discard(0, SPADE, CLUB)
    with pytest.raises(IllegalMove, match="to discard 2 diamonds with 2 hearts"):
        ring.pick(0)


def test_giver_of_its_last_card_is_out_before_the_picker() -> None:
    ring = dealt(3, [SPADE, DIAMOND, CLUB, JOKER, HEART])
    assert (ring.hands, ring.offerer, ring.turn) == ([[SPADE, JOKER], [], [CLUB]], 2, 0)
    assert ring.out_seats == [1]
    ring.pick(0)
    assert (ring.out_seats, ring.due_pairs) == ([1, 2], [(0, SPADE, CLUB)])
    ring.discard_all()
    assert (ring.turn, ring.out_seats, ring.loser) == (Turn.OVER, [1, 2], 0)


def test_empty_hands_are_skipped_when_picking() -> None:
    ring = dealt(4, [SPADE, CLUB, DIAMOND, HEART, JOKER])
    assert (ring.offerer, ring.turn) == (0, 1)
    ring.pick(0)
    ring.discard_all()
    assert (ring.hands, ring.out_seats) == ([[JOKER], [], [DIAMOND], [HEART]], [1])
    assert (ring.offerer, ring.turn) == (2, 3), "player2 has nothing to offer, and player3 has the turn (O9)"
    ring.pick(0)
    ring.discard_all()
    assert (ring.turn, ring.out_seats, ring.loser) == (Turn.OVER, [1, 2, 3], 0)


def test_last_drawer_without_cards_does_not_offer() -> None:
    """O9"""
    ring = dealt(3, [SPADE, DIAMOND, CLUB, JOKER, HEART], settled=False)
    assert (ring.hands[1], ring.offerer, ring.turn) == ([DIAMOND, HEART], 1, 2)
    ring.discard_all()
    assert (ring.hands[1], ring.offerer, ring.turn) == ([], 2, 0)


def test_empty_hand_during_the_deal_is_not_out() -> None:
    ring = RingGame(2, 2)
    for card in (SPADE, DIAMOND, CLUB, HEART):
        ring.deal(card)
    ring.discard_all()
    assert (ring.hands, ring.out_seats, ring.turn, ring.drawer) == ([[], []], [], Turn.CHANCE, 0)
    ring.deal(JOKER)
    assert (ring.turn, ring.out_seats, ring.loser) == (Turn.OVER, [1], 0)


def test_empty_hands_after_the_deal_are_out_in_seat_order() -> None:
    ring = dealt(4, [JOKER, SPADE, SPADE3, DIAMOND, DIAMOND3, CLUB, CLUB3, HEART, HEART3], settled=False)
    assert ring.out_seats == []
    ring.discard_all()
    assert (ring.out_seats, ring.loser) == ([1, 2, 3], 0)


def test_while_cards_are_drawn_pairs_may_be_discarded() -> None:
    """O7"""
    ring = RingGame(2)
    for card in (SPADE, DIAMOND, CLUB):
        ring.deal(card)
    ring.discard(0, SPADE, CLUB)
    assert (ring.hands, ring.drawer, ring.turn) == ([[], [DIAMOND]], 1, Turn.CHANCE)


@pytest.mark.parametrize("card", [SPADE, 53, -1, 1000])
def test_no_card_is_dealt_twice_and_none_that_does_not_exist(card: int) -> None:
    ring = RingGame(2)
    ring.deal(SPADE)
    before = ring.copy()
    with pytest.raises(IllegalMove) as refusal:
        ring.deal(card)
    assert len(refusal.value.allowed) == 52
    assert ring == before


def test_nothing_is_drawn_from_an_empty_deck_or_picked_before_it_is_empty() -> None:
    ring = RingGame(2, 1)
    with pytest.raises(IllegalMove, match="a pick at 0 is not allowed here; allowed: a card"):
        ring.pick(0)
    for card in (SPADE, CLUB, JOKER):
        ring.deal(card)
    with pytest.raises(IllegalMove, match="allowed: nothing"):
        ring.deal(CLUB)


@pytest.mark.parametrize("position", [-1, 2, 53])
def test_only_cards_that_are_offered_can_be_picked(position: int) -> None:
    ring = dealt(2, [SPADE, CLUB, JOKER])
    before = ring.copy()
    with pytest.raises(IllegalMove, match=f"a pick at {position} is not allowed here; allowed: 0, 1"):
        ring.pick(position)
    assert ring == before


def test_nothing_is_picked_after_the_end() -> None:
    ring = dealt(2, [SPADE, JOKER, CLUB])
    assert ring.turn is Turn.OVER
    with pytest.raises(IllegalMove, match="allowed: nothing"):
        ring.pick(0)


@pytest.mark.parametrize(
    ("seat", "a", "b"),
    [
        (0, SPADE, DIAMOND),
        (0, SPADE, SPADE3),
        (1, SPADE, CLUB),
        (0, DIAMOND, HEART),
        (0, SPADE, JOKER),
        (0, SPADE, SPADE),
        (0, 52, 53),
        (0, -2, -1),
    ],
)
def test_only_own_pairs_can_be_discarded(seat: int, a: int, b: int) -> None:
    ring = dealt(2, [SPADE, DIAMOND, CLUB, JOKER, HEART], settled=False)
    before = ring.copy()
    with pytest.raises(IllegalMove) as refusal:
        ring.discard(seat, a, b)
    assert refusal.value.allowed == (("2 spades with 2 clubs",) if seat == 0 else ())
    assert ring == before


def test_no_pair_is_discarded_twice() -> None:
    ring = dealt(2, [SPADE, DIAMOND, CLUB, JOKER, HEART])
    with pytest.raises(IllegalMove):
        ring.discard(0, SPADE, CLUB)


@pytest.mark.parametrize("players", [-1, 0, 1, 9])
def test_two_to_eight_play(players: int) -> None:
    with pytest.raises(ValueError, match=f"found {players} players; allowed: 2 to 8"):
        RingGame(players)


@pytest.mark.parametrize("pairs_in", [0, 27])
def test_a_small_pack_has_some_of_the_pairs(pairs_in: int) -> None:
    with pytest.raises(ValueError, match=f"found {pairs_in} pairs in the pack; allowed: 1 to 26"):
        RingGame(2, pairs_in)


def test_view_has_own_cards_discards_and_offer_size() -> None:
    ring = dealt(3, [SPADE, DIAMOND, JOKER, HEART, CLUB, SPADE3, CLUB3])
    assert (ring.offerer, ring.turn) == (0, 1)
    assert ring.view(0) == ((SPADE, HEART, CLUB3), (), (), None)
    assert ring.view(1) == ((DIAMOND, CLUB), (), (), 3)
    assert ring.view(2) == ((JOKER, SPADE3), (), (), None)
    ring = dealt(3, [SPADE, DIAMOND, JOKER, CLUB, SPADE3, HEART, CLUB3])
    assert ring.view(0).discarded_pairs == ((SPADE, CLUB),)
    assert ring.view(1).discarded_pairs == ()


def test_game_repr() -> None:
    ring = dealt(3, [SPADE, DIAMOND, CLUB, JOKER, HEART])
    assert repr(ring) == "<0, 2 offers, 2 spades, joker maid; out; 2 clubs>"


def test_rules_use_card_names() -> None:
    rules = OldMaid(2, 1)
    state = rules.start()
    assert rules.legal(state) == ("2 spades", "2 clubs", "joker maid")
    for name in ("2 clubs", "2 spades", "joker maid"):
        state = rules.play(state, name)
    assert rules.legal(state) == ("2 clubs", "joker maid")
    end = rules.play(state, "2 clubs")
    assert (rules.turn(end), rules.payoff(end), rules.legal(end)) == (Turn.OVER, (-1, 0), ())
    after = rules.play(state, "joker maid")
    assert (rules.turn(after), rules.legal(after)) == (Turn.CHANCE, ("2 spades", "joker maid"))
