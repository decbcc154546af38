"""Tests of the hold'em bots: their strategies, the legality of their moves, and their strength."""

from collections.abc import Sequence
from itertools import islice
from random import Random
from statistics import fmean, stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from croupier.core.bots import Bot, bot_factory
from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.core.rules import Turn
from croupier.rooms.holdem.bots import BOT_SPECS, best_hands, chen_points, hand_strength, minimum_defence_frequency
from croupier.rooms.holdem.cards import parse_cards
from croupier.rooms.holdem.engine.equity import ALL_HANDS
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import Move
from croupier.rooms.holdem.table.views import View
from tests.rooms.holdem.random_hands import act, begin
from tests.sampling import example_count, extended

LUCK = FairDealer(bytes(32)).luck


def facing(hole: str, moves: str = "", board: str = "", stacks: Sequence[int] = (1000, 1000)) -> View:
    """Return the view of the player to act with given hole cards, after these bets. Other cards are arbitrary."""
    hand = Hand(stacks)
    street = [*parse_cards(board)]
    known = {*parse_cards(hole), *street}
    others = [card for card in range(52) if card not in known]
    for chips in [None, *map(int, moves.split())]:
        if chips is not None:
            hand.bet(chips)
        if hand.turn is Turn.CHANCE:
            hand.deal((street if hand.street else others).pop(0) for _ in range(hand.cards_due))
    assert isinstance(hand.turn, int)
    return structs.replace(View.of(hand, hand.turn), hole=parse_cards(hole))


def choice(spec: str, view: View) -> Move:
    bot: Bot[View, Move] = bot_factory(BOT_SPECS, spec)()
    return bot.choose(view, view.legal, LUCK)


def test_caller_bot_checks_and_calls_and_never_raises() -> None:
    assert choice("caller", facing("2c7d")) == 10
    assert choice("caller", facing("2c7d", "990")) == 980
    assert choice("caller", facing("AsAh", "10")) == 0


def test_maniac_bot_raises_by_the_pot_or_calls() -> None:
    assert choice("maniac", facing("2c7d")) == 10 + 40
    assert choice("maniac", facing("2c7d", "990")) == 980


def test_random_bot_chooses_every_usual_move() -> None:
    view = facing("2c7d")
    assert {choice("random", view) for _ in range(200)} == {*view.legal}


@pytest.mark.parametrize(
    ("hole", "points"),
    [
        ("AsAh", 20), ("KsKh", 16), ("QsQh", 14), ("JsJh", 12), ("TsTh", 10), ("9s9h", 9), ("5s5h", 5), ("2s2h", 5),
        ("AsKs", 12), ("AsKh", 10), ("AsQs", 11), ("KsQs", 10), ("JsTs", 9), ("QsJs", 9), ("9s8h", 6), ("7s5s", 6),
        ("As5s", 7), ("AsTh", 6), ("KsTs", 8), ("7s2h", -1), ("3s2h", 3), ("8s3h", -1),
    ],
)  # fmt: skip
def test_chen_points_match_the_published_formula(hole: str, points: int) -> None:
    assert chen_points(parse_cards(hole)) == points
    assert chen_points(parse_cards(hole)[::-1]) == points


def test_tight_bot_needs_better_cards_at_a_higher_price() -> None:
    cheap, dear = facing("JsTs"), facing("JsTs", "100")
    assert choice("tight", cheap) == 10
    assert choice("tight", dear) == "fold"
    assert choice("tight:6", dear) == 90
    assert choice("tight", facing("2c7d", "10")) == 0  # checking is free
    assert choice("tight", facing("2c7d")) == "fold"
    raised = choice("tight", facing("AsAh", "100"))
    assert isinstance(raised, int)
    assert raised > 90


def test_tight_bot_bets_strong_hands_after_the_flop_and_gives_up_others() -> None:
    assert choice("tight", facing("AsAh", "10 0", "Ad7c2h")) == 30
    assert choice("tight", facing("7s8h", "10 0 30", "Kd7c2h")) == 30
    assert choice("tight", facing("3s4h", "10 0 30", "Kd7c9h")) == "fold"
    assert choice("tight", facing("3s4h", "10 0", "Kd7c9h")) == 0


def test_hand_strength_is_the_fraction_of_beaten_hands() -> None:
    assert hand_strength(parse_cards("AsKs"), parse_cards("QsJsTs")) == 1
    assert hand_strength(parse_cards("2c3d"), parse_cards("AsKsQsJsTs")) == 0.5  # the board plays
    assert hand_strength(parse_cards("2c3d"), parse_cards("AsKhQd9c7h")) < 0.1
    hand, board = parse_cards("9s9h"), parse_cards("Ad7c2h2s")
    assert (
        hand_strength(hand, board)
        > hand_strength(parse_cards("8s8h"), board)
        > hand_strength(parse_cards("6s6h"), board)
    )


def test_equity_bot_pays_at_most_what_its_share_is_worth() -> None:
    assert choice("equity", facing("2c7d", "500")) == "fold"
    assert choice("equity", facing("AsAh", "990")) == 980
    raised = choice("equity", facing("AsAh"))
    assert isinstance(raised, int)
    assert raised > 10
    assert choice("equity", facing("2c7d", "10 0", "AhKhQh")) == 0
    drawing = facing("AsKs", "10 0 20", "QsJs2d")  # 20 to win 60, with a flush and straight draw
    assert choice("equity", drawing) != "fold"


def test_rivals_who_paid_more_get_narrower_ranges() -> None:
    widths = [
        minimum_defence_frequency(view, view.rivals[0])
        for view in (facing("AsAh", moves) for moves in ("10", "40", "60", "990"))
    ]
    assert widths[0] == 1
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == 0.1
    assert widths[2] == pytest.approx(30 / (30 + 50))


def test_best_hands_are_ordered_by_chen_points() -> None:
    assert {*best_hands(1)} == {*ALL_HANDS}
    assert {frozenset(hole) for hole in best_hands(6 / 1326)} == {
        frozenset(parse_cards(f"A{one}A{other}")) for one in "cdhs" for other in "cdhs" if one != other
    }
    points = [chen_points(hole) for hole in best_hands(1)]
    assert points == sorted(points, reverse=True)
    assert [*best_hands(0.1)] == [*best_hands(1)[:133]]


@given(st.randoms(use_true_random=False), st.sampled_from([*BOT_SPECS, "tight:0", "tight:20", "equity:2"]))
@settings(max_examples=example_count(60))
def test_every_bot_chooses_legal_moves(luck: Random, spec: str) -> None:
    bot: Bot[View, Move] = bot_factory(BOT_SPECS, spec if spec != "equity" else "equity:10")()
    hand = begin(luck)
    pack = luck.sample(hand.unseen, 52)
    while hand.turn is not Turn.OVER:
        if hand.turn is Turn.CHANCE:
            hand.deal(pack.pop() for _ in range(hand.cards_due))
            continue
        assert isinstance(hand.turn, int)
        view = View.of(hand, hand.turn)
        move = bot.choose(view, view.legal, LUCK)
        assert move in hand.legal
        act(hand, move)


def test_equity_bot_decides_against_nine_all_in_rivals() -> None:
    hand = Hand([1000] * 10)
    deck = [*range(52)]
    hand.deal(deck.pop() for _ in range(hand.cards_due))
    for _ in range(9):
        hand.bet(hand.legal.raise_range[1] if hand.legal.raise_range else hand.legal.call)
    assert isinstance(hand.turn, int)
    view = View.of(hand, hand.turn)
    assert len(view.rivals) == 9
    assert choice("equity", view) in hand.legal


def match(one: str, other: str, hands: int) -> tuple[float, float]:
    """Return a bot's mean win per hand against another, and its standard error. All hands start with 50 big blinds."""
    bots = [bot_factory(BOT_SPECS, spec)() for spec in (one, other)]
    dealer, luck = FairDealer(derive_server_seed(1, "match", 1)), FairDealer(derive_server_seed(1, "minds", 1)).luck
    nets = []
    for number in range(hands):
        hand, deck = Hand([1000, 1000], button=number % 2), dealer.next_deck(52)
        while hand.turn is not Turn.OVER:
            if hand.turn is Turn.CHANCE:
                hand.deal([*islice(deck, hand.cards_due)])
                continue
            assert isinstance(hand.turn, int)
            view = View.of(hand, hand.turn)
            act(hand, bots[hand.turn].choose(view, view.legal, luck))
        nets.append(hand.payoff()[0])
    return fmean(nets), stdev(nets) / hands**0.5


@pytest.mark.parametrize(
    ("one", "other"),
    extended([("tight", "caller"), ("equity:60", "caller"), ("equity:60", "maniac"), ("equity:60", "random")], 4),
)
def test_equity_and_tight_bots_beat_simple_bots(one: str, other: str) -> None:
    won, error = match(one, other, 400)
    assert won > 2 * error


@pytest.mark.parametrize("spec", ["tight:21", "tight:-1", "tight:x", "equity:1", "equity:100001", "caller:5", "fish"])
def test_unknown_bots_and_invalid_arguments_are_refused(spec: str) -> None:
    with pytest.raises(ValueError, match="allowed"):
        bot_factory(BOT_SPECS, spec)
