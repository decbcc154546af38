"""Tests of a player's view of a hand, and of its raise sizes."""

import pickle
from collections.abc import Callable, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.bots import Bot
from croupier.core.dealer import FairDealer
from croupier.core.rules import Turn
from croupier.rooms.holdem.bots import BOT_SPECS
from croupier.rooms.holdem.cards import parse_cards
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import Move
from croupier.rooms.holdem.simulation import MakeMove, play_out
from croupier.rooms.holdem.table.views import SnapshotView, View
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


def in_turn(played: Hand) -> SnapshotView:
    assert isinstance(played.turn, int)
    return View.of(played, played.turn)


def fields_of(view: View) -> list[object]:
    legal = view.legal
    fields = [getattr(view, name) for name in SnapshotView.__struct_fields__ if name != "legal"]
    return [*fields, legal.moves, legal.raise_range, view.call, view.players]


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


def views_of_hand(read: Callable[[View, Sequence[Move]], object]) -> list[tuple[View, Sequence[Move], SnapshotView]]:
    """The views and legal moves that three bots get in a hand, and those expected. Bots `read` them before they act."""
    played = Hand((1000, 1000, 1000))
    played.deal_from(DECK)
    luck, specs = FairDealer(bytes(32)).luck, ("random", "maniac", "caller")
    bots: list[Bot[View, Move]] = [BOT_SPECS[name].make() for name in specs]
    seen: list[tuple[View, Sequence[Move], SnapshotView]] = []

    def play_turn(view: View, legal: Sequence[Move], make_move: MakeMove) -> None:
        seen.append((view, legal, View.of(played, view.me, ("ann", "bob", "eve"))))
        read(view, legal)
        assert not make_move(-5)
        assert make_move(bots[view.me].choose(view, legal, luck))

    play_out(played, [play_turn] * 3, ("ann", "bob", "eve"))
    assert played.over
    return seen


@pytest.mark.parametrize(
    "read", [lambda *_: None, lambda view, _: view.call, lambda view, _: view.board, lambda _, legal: len(legal)]
)
def test_bots_in_a_simulation_see_what_views_of_their_hand_show(read: Callable[[View, Sequence[Move]], object]) -> None:
    seen = views_of_hand(read)
    assert len(seen) > 6
    for view, legal, expected in seen:  # the hand has gone on
        assert view.call == expected.call
        assert fields_of(view) == fields_of(expected)
        assert [*legal] == [legal[at] for at in range(len(legal))] == [*expected.legal.moves]
        assert all((chips in legal) == (chips in expected.legal) for chips in (-5, 0, *expected.legal, 35, 5000, "bet"))


def test_views_and_legal_moves_in_a_simulation_show_nothing_else_when_printed_or_pickled() -> None:
    view, legal, expected = views_of_hand(lambda *_: None)[-1]
    assert repr(view) == repr(expected)
    assert repr(legal) == repr(expected.legal)
    assert fields_of(pickle.loads(pickle.dumps(view))) == fields_of(expected)


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
