"""Tests of a player's view of a hand, and of its raise sizes."""

import pickle
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from croupier.core.rules import Turn
from croupier.rooms.holdem.cards import parse_cards
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import Legal, Move
from croupier.rooms.holdem.simulation import play_out
from croupier.rooms.holdem.table.views import View
from tests.rooms.holdem.random_hands import begin, redealt, steps

DECK = parse_cards("2c7dAsAhKsKhQd2s3s9h9d9c9s4c4d")


def hand(stacks: tuple[int, ...] = (1000, 1000, 1000), moves: str = "") -> Hand:
    """Return a hand after these moves; cards are dealt automatically."""
    played = Hand(stacks)
    deck = list(DECK)
    for move in ["", *moves.split()]:
        if move == "fold":
            played.fold()
        elif move:
            played.bet(int(move))
        if played.turn is Turn.CHANCE:
            played.deal(deck.pop(0) for _ in range(played.cards_due))
    return played


def in_turn(played: Hand) -> View:
    assert isinstance(played.turn, int)
    return View.of(played, played.turn)


def fields_of(view: View) -> list[object]:
    return [getattr(view, name) for name in View.__struct_fields__ if name != "legal"]


def test_a_view_has_amounts_players_and_cards() -> None:
    view = in_turn(hand(moves="60"))
    assert (view.me, view.stack, view.bet, view.call) == (1, 990, 10, 50)
    assert (view.pot, view.to_match, view.min_raise, view.big_blind) == (90, 60, 40, 20)
    assert [(one.name, one.stack, one.bet) for one in view.rivals] == [("0", 940, 60), ("2", 980, 20)]
    assert [one.small_blind for one in view.players] == [False, True, False]
    assert view.hole == parse_cards("2cAh")
    assert view.board == ()
    assert view.pot_before_round == 0


def test_a_view_keeps_its_values_while_the_hand_goes_on() -> None:
    played = hand()
    view = in_turn(played)
    played.bet(60)
    played.fold()
    assert (view.me, view.pot, view.call, view.stacks, view.bets) == (0, 30, 20, (1000, 990, 980), (0, 10, 20))
    assert [(one.stack, one.bet, one.folded) for one in view.players] == [
        (1000, 0, False),
        (990, 10, False),
        (980, 20, False),
    ]


def test_a_view_names_the_players_as_its_maker_does() -> None:
    assert [one.name for one in View.of(hand(), 0, ("ann", "bob", "eve")).rivals] == ["bob", "eve"]


def test_bots_in_a_simulation_see_what_views_of_their_hand_show() -> None:
    played = Hand((1000, 1000, 1000))
    played.deal_from(DECK)
    seen: list[tuple[View, View]] = []

    def call(view: View, legal: Legal) -> Move:
        assert legal is view.legal
        seen.append((view, in_turn(played)))
        return legal.call

    play_out(played, [call] * 3, ("ann", "bob", "eve"))
    assert [view.me for view, _ in seen] == [0, 1, 2, *[1, 2, 0] * 3]
    assert [fields_of(view) for view, _ in seen] == [
        fields_of(replace(expected, names=("ann", "bob", "eve"))) for _, expected in seen
    ]


def test_views_can_be_pickled_and_hashed() -> None:
    view = in_turn(hand(moves="60"))
    restored = pickle.loads(pickle.dumps(view))
    assert restored.players == view.players
    assert restored.legal.moves == view.legal.moves
    assert {view: 1}[view] == 1


def test_folded_players_are_not_rivals() -> None:
    view = in_turn(hand(moves="60 fold 40 30"))
    assert [one.name for one in view.rivals] == ["2"]
    assert view.board == parse_cards("Qd2s3s")
    assert (view.pot, view.pot_before_round, view.call) == (160, 130, 30)


def test_a_call_is_never_more_than_the_stack() -> None:
    view = in_turn(hand((1000, 40, 1000), "500"))
    assert view.call == view.stack == 30
    assert view.check_or_fold == "fold"


def test_check_or_fold_checks_if_possible() -> None:
    view = in_turn(hand(moves="20 10"))
    assert view.call == 0
    assert view.check_or_fold == 0


def test_raise_by_percent_is_the_nearest_legal_raise() -> None:
    view = in_turn(hand(moves="20"))  # 10 to call into 50, at least 20 more
    assert view.raise_by_percent(100) == 10 + 60
    assert view.raise_by_percent(50) == 10 + 30
    assert view.raise_by_percent(0) == 10 + 20
    assert view.raise_by_percent(10_000) == 990


def test_raise_by_percent_is_a_call_if_no_raise_is_legal() -> None:
    assert in_turn(hand((1000, 40, 1000), "500")).raise_by_percent(100) == 30
    alone = in_turn(hand((1000, 300, 300), "300 290"))
    assert alone.raise_by_percent(100) == alone.call == 280
    answered = in_turn(hand((1000, 300, 1000), "300 290"))
    assert answered.raise_by_percent(100) > answered.call


def test_there_are_no_legal_moves_out_of_turn() -> None:
    played = hand()
    assert View.of(played, 1).legal.moves == ()
    assert View.of(played, 1).raise_by_percent(100) == View.of(played, 1).call == 10


@given(st.randoms(use_true_random=False), st.integers(0, 400))
def test_moves_offered_by_a_view_are_legal(luck: Random, percent: int) -> None:
    for played in steps(begin(luck), luck):
        if isinstance(played.turn, int):
            view = in_turn(played)
            assert view.call == played.legal.call
            for move in (view.call, view.check_or_fold, view.raise_by_percent(percent)):
                assert move in played.legal


@given(st.randoms(use_true_random=False))
def test_a_view_does_not_depend_on_hidden_cards(luck: Random) -> None:
    for played in steps(begin(luck), luck):
        if isinstance(played.turn, int):
            hidden = [card for seat, hole in enumerate(played.holes) if seat != played.turn for card in hole]
            others = redealt(played, dict(zip(hidden, played.unseen, strict=False)))
            assert len(played.unseen) >= len(hidden)
            mine, blind = in_turn(played), in_turn(others)
            assert fields_of(mine) == fields_of(blind)
