"""Bots for seven and a half and their specifications."""

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache

import pytest
from msgspec.structs import replace

from croupier.core.bank import CLIENT_SEAT, BankMove, BankState, client_cards
from croupier.core.bots import Bot, bot_factory
from croupier.core.dealer import FairDealer
from croupier.core.rules import Turn
from croupier.rooms.sevenhalf import ROOM, Options
from croupier.rooms.sevenhalf.bots import BOT_SPECS
from croupier.rooms.sevenhalf.rules import (
    CARDS,
    LENIENT_RULES,
    MAX_TOTAL_BET,
    SEVENHALF,
    TARGET_HALVES,
    SevenHalf,
    total,
)
from croupier.strategy.single_player import SinglePlayerSolver
from tests.properties.random_session import bot_names
from tests.rooms.dial import Dial
from tests.rooms.sevenhalf.naive_rules import GOAL, points
from tests.rooms.sevenhalf.tables import state_after
from tests.sampling import extended

LUCK = FairDealer(bytes(32)).luck
FACES = "1234567s"
SUITS = "oceb"


def named(spec: str) -> Bot[BankState, BankMove]:
    return bot_factory(BOT_SPECS, spec)()


def choice(spec: str, state: BankState, rules: SevenHalf) -> BankMove:
    return named(spec).choose(state, rules.legal(state), LUCK)


def decisions(rules: SevenHalf, bet: int, *, count: int = 300) -> Iterator[BankState]:
    """Decisions of randomly played games, with all raises."""
    luck = random.Random(5)
    for _ in range(count):
        state = rules.start(bet)
        while rules.turn(state) is not Turn.OVER:
            if rules.turn(state) == CLIENT_SEAT:
                yield state
            state = rules.play(state, luck.choice(tuple(rules.legal(state))))


# Thresholds.


@pytest.mark.parametrize("halves", range(1, TARGET_HALVES + 1))
def test_threshold_bot_passes_at_its_threshold_and_draws_below(halves: int) -> None:
    spec = f"book:{halves / 2:g}"
    seen = set()
    for state in decisions(SEVENHALF, 100):
        enough = points(*client_cards(state)) >= Fraction(halves, 2)
        seen.add(enough)
        passes = enough and "PASS" in SEVENHALF.legal(state)
        assert choice(spec, state, SEVENHALF) == ("PASS" if passes else "DRAW")
    assert seen == {False, True}


def test_threshold_is_five_points_by_default() -> None:
    for state in decisions(SEVENHALF, 100):
        assert choice("book", state, SEVENHALF) == choice("book:5", state, SEVENHALF)
    assert choice("book", state_after("DRAW", "4o"), SEVENHALF) == "DRAW"
    assert choice("book", state_after("DRAW", "5o"), SEVENHALF) == "PASS"


def test_threshold_bot_never_passes_illegally() -> None:
    assert choice("book:0.5", state_after(), SEVENHALF) == "DRAW"
    assert choice("book:0.5", state_after("DRAW", "7o", 10), SEVENHALF) == "DRAW"


@pytest.mark.parametrize("threshold", ["0.5", "4", "5.5", "7.5", "07.5", "11/2", "1e0", " 5 "])
def test_a_threshold_may_be_written_as_any_number(threshold: str) -> None:
    assert named(f"book:{threshold}").choose(state_after("DRAW", "7o", "DRAW", "so"), ("DRAW", "PASS"), LUCK) == "PASS"


@pytest.mark.parametrize("threshold", ["0", "-1", "8", "7.6", "0.25", "5.1", "1/3", "75", "1e9"])
def test_invalid_threshold_is_refused(threshold: str) -> None:
    with pytest.raises(ValueError, match=rf"found the bot 'book:{threshold}'.*allowed: 0.5 to 7.5 in steps of 0.5"):
        bot_factory(BOT_SPECS, f"book:{threshold}")


BAD_BOOKS = ["book:", "book:x", "book:1/0", "book:nan", "book:inf", "book:4,5", "book:seven"]
BAD_SCRIPTS = [
    "script",
    "script:",
    "script:DRAW,STRT",
    "script:DRAW PASS",
    "script:-5",
    "script:1.5",
    "script:DRAW,,PASS",
]


@pytest.mark.parametrize("spec", ["", ":", "Exact", "exact:1", "random:1", "shark", *BAD_BOOKS, *BAD_SCRIPTS])
def test_invalid_bot_spec_is_refused(spec: str) -> None:
    with pytest.raises(ValueError, match="allowed") as refusal:
        bot_factory(BOT_SPECS, spec)
    assert repr(spec) in str(refusal.value)


@pytest.mark.parametrize(("stand_at", "spec"), [(None, None), (5.0, "book:5"), (5.5, "book:5.5"), (0.5, "book:0.5")])
def test_stand_at_option_selects_the_threshold_bot(stand_at: float | None, spec: str | None) -> None:
    assert Options(stand_at=stand_at).bot() == spec
    assert spec is None or bot_factory(BOT_SPECS, spec)


@pytest.mark.parametrize("stand_at", [0.0, 8.0, 0.3, -1.0])
def test_invalid_stand_at_option_is_refused(stand_at: float) -> None:
    with pytest.raises(ValueError, match=r"allowed: 0\.5 to 7\.5"):
        bot_factory(BOT_SPECS, str(Options(stand_at=stand_at).bot()))


# Scripts and chance.


def test_script_repeats_from_the_start() -> None:
    script = named("script:draw, Draw,PASS")
    hand = ("DRAW", "PASS")
    assert [script.choose(state_after(), hand, LUCK) for _ in range(6)] == ["DRAW", "DRAW", "PASS"] * 2


def test_illegal_moves_of_a_script_are_skipped() -> None:
    script = named("script:PASS,DRAW")
    assert script.choose(state_after(), ("DRAW",), LUCK) == "DRAW"
    assert named("script:PASS").choose(state_after(), ("DRAW",), LUCK) == "DRAW"


def test_number_in_a_script_is_a_raise() -> None:
    script = named("script:DRAW,10,DRAW,PASS")
    state, sent = state_after(), []
    for card in ("2o", "3o"):
        while (move := script.choose(state, SEVENHALF.legal(state), LUCK)) != "DRAW":
            sent.append(move)
            state = SEVENHALF.play(state, move)
        sent.append("DRAW")
        state = SEVENHALF.play(SEVENHALF.play(state, "DRAW"), card)
    assert sent == ["DRAW", 10, "DRAW"]
    assert state.bet == 110
    assert script.choose(state, SEVENHALF.legal(state), LUCK) == "PASS"


@pytest.mark.parametrize("number", ["0", "1073741824", "1073741724"])
def test_illegal_raise_of_a_script_is_skipped(number: str) -> None:
    state = state_after("DRAW", "2o")
    assert named(f"script:{number},PASS").choose(state, SEVENHALF.legal(state), LUCK) == "PASS"


def test_script_bots_are_per_table_and_others_are_shared() -> None:
    make = bot_factory(BOT_SPECS, "script:DRAW,PASS")
    assert [make().choose(state_after(), ("DRAW", "PASS"), LUCK) for _ in range(3)] == ["DRAW"] * 3
    for spec in ("random", "exact", "book:4"):
        shared = bot_factory(BOT_SPECS, spec)
        assert shared() is shared()


def test_only_script_requires_an_argument() -> None:
    assert set(BOT_SPECS) - set(bot_names(ROOM)) == {"script"}
    assert ROOM.default_bot == "exact"


def test_random_bot_is_uniform_over_commands() -> None:
    for state in decisions(SEVENHALF, 100, count=50):
        legal = SEVENHALF.legal(state)
        dial = Dial(0)
        named("random").choose(state, legal, dial)
        assert dial.bound == len(legal)
        assert [named("random").choose(state, legal, Dial(at)) for at in range(len(legal))] == list(legal)


@pytest.mark.parametrize("style", bot_names(ROOM))
@pytest.mark.parametrize("limit", [100, 300, 250])
def test_bots_choose_legal_moves(style: str, limit: int) -> None:
    rules = SevenHalf(limit)
    for state in decisions(rules, 100, count=60):
        assert choice(style, state, rules) in rules.legal(state)


@pytest.mark.parametrize("style", [style for style in bot_names(ROOM) if style != "exact"])
def test_simple_bots_play_the_lenient_dialect(style: str) -> None:
    for state in decisions(LENIENT_RULES, 100, count=60):
        assert choice(style, state, LENIENT_RULES) in LENIENT_RULES.legal(state)


# Best play, computed once more from the plain rules.

COUNTS = (4, 4, 4, 4, 4, 4, 4, 12)
EMPTY = (0,) * len(FACES)

type Gone = tuple[int, ...]


def gone_with(gone: Gone, at: int) -> Gone:
    return (*gone[:at], gone[at] + 1, *gone[at + 1 :])


def draws(gone: Gone) -> Sequence[tuple[Fraction, Fraction, Gone]]:
    """The probability of each value of the next card, with the removed cards after it."""
    whole = 40 - sum(gone)
    return [
        (Fraction(COUNTS[at] - gone[at], whole), points(face + "o"), gone_with(gone, at))
        for at, face in enumerate(FACES)
        if gone[at] < COUNTS[at]
    ]


@cache
def banks(own: Fraction, bank: Fraction, drawn: bool, gone: Gone) -> Fraction:
    """The expected net of a bet of 1 while the bank draws."""
    if drawn and (bank > own or bank >= GOAL):
        if bank == own:
            return Fraction(0)
        return Fraction((2 if own == GOAL else 1) if bank > GOAL else -1)
    return sum((odds * banks(own, bank + worth, True, left) for odds, worth, left in draws(gone)), Fraction(0))


@cache
def drawing(own: Fraction, gone: Gone, bet: int, limit: int) -> Fraction:
    """The expected net of a bet if the client draws now and plays optimally afterwards."""
    return sum(
        (
            odds * (Fraction(-bet) if own + worth > GOAL else best(own + worth, left, bet, limit))
            for odds, worth, left in draws(gone)
        ),
        Fraction(0),
    )


@cache
def best(own: Fraction, gone: Gone, bet: int, limit: int) -> Fraction:
    """The expected net of a bet at a decision: pass, or draw with any raise."""
    raised = (drawing(own, gone, more, limit) for more in range(bet, limit + 1))
    return max(bet * banks(own, Fraction(0), False, gone), *raised)


def naive_view(state: BankState) -> tuple[Fraction, Gone]:
    held = [card[0] if card[0].isdigit() else "s" for card in client_cards(state)]
    return points(*client_cards(state)), tuple(held.count(face) for face in FACES)


LIMITS = [1, 2, 3, 4]


@pytest.mark.parametrize("limit", extended([2, 1, 3, 4], 4))
def test_optimal_value_equals_the_naive_computation(limit: int) -> None:
    """The naive computation tries all raises, not only the highest."""
    rules = SevenHalf(limit)
    assert SinglePlayerSolver(rules).value(rules.start(1)) == drawing(Fraction(0), EMPTY, 1, limit)


@pytest.mark.parametrize("limit", LIMITS)
def test_exact_chooses_a_best_move_at_every_decision(limit: int) -> None:
    """For each possible hand, with and without a raise."""
    rules = SevenHalf(limit)
    hands: dict[tuple[object, ...], BankState] = {}
    for state in SinglePlayerSolver(rules).reachable_decisions(rules.start(1)):
        hands[state.node, state.bet, naive_view(state)] = state
    assert len(hands) > 200
    for state in hands.values():
        own, gone = naive_view(state)
        move = choice("exact", state, rules)
        if move == "PASS":
            worth = state.bet * banks(own, Fraction(0), False, gone)
        else:
            bet = state.bet + (move if isinstance(move, int) else 0)
            worth = drawing(own, gone, bet, limit)
        draw = max(drawing(own, gone, bet, limit) for bet in range(state.bet, limit + 1))
        if not state.cards:
            assert move == "DRAW"
        elif "PASS" in rules.legal(state):
            assert worth == best(own, gone, state.bet, limit)
        else:
            assert worth == draw


@pytest.mark.parametrize(
    ("bet", "limit"), extended([(1, 3), (1, 1), (100, 100), (50, 125), (100, 300), (7, 21), (3, 7)], 3)
)
def test_exact_agrees_with_the_solver(bet: int, limit: int) -> None:
    rules = SevenHalf(limit)
    solver = SinglePlayerSolver(rules)
    for state in decisions(rules, bet, count=150):
        worth = solver.move_values(state)
        assert worth[choice("exact", state, rules)] == max(worth.values())


@pytest.mark.parametrize("times", [2, 3, 100, 12345])
def test_exact_is_independent_of_the_bet_unit(times: int) -> None:
    small, large = SevenHalf(3), SevenHalf(3 * times)
    for state in decisions(small, 1, count=150):
        move = choice("exact", state, small)
        scaled = BankState(state.node, state.cards, state.receivers, state.bet * times)
        assert choice("exact", scaled, large) == (move * times if isinstance(move, int) else move)


def test_exact_raises_to_the_highest_when_it_is_offered_and_good() -> None:
    rules = SevenHalf(300)
    raised = {choice("exact", state, rules) for state in decisions(rules, 100)}
    assert raised == {"DRAW", "PASS", 200}
    for offered in (["DRAW", "PASS"], ["DRAW", "PASS", 200]):
        moves = {named("exact").choose(state, offered, LUCK) for state in decisions(rules, 100) if state.bet == 100}
        assert any(isinstance(move, int) for move in moves) == (200 in offered)


def test_exact_passes_at_seven_and_a_half_and_at_seven() -> None:
    assert choice("exact", state_after("DRAW", "7o", "DRAW", "so"), SEVENHALF) == "PASS"
    assert choice("exact", state_after("DRAW", "7o"), SevenHalf(100)) == "PASS"
    assert choice("exact", state_after("DRAW", "so"), SevenHalf(100)) == "DRAW"


def test_exact_handles_the_largest_bets() -> None:
    for bet in (1, 2, 3, 100, MAX_TOTAL_BET - 1, MAX_TOTAL_BET):
        state = state_after("DRAW", "so", bet=bet)
        assert choice("exact", state, SEVENHALF) in SEVENHALF.legal(state)


@pytest.mark.parametrize("halves", range(1, TARGET_HALVES + 1))
def test_no_threshold_beats_exact_and_only_five_points_equals_it(halves: int) -> None:
    """Without raises."""
    stand = Fraction(halves, 2)

    @cache
    def book(own: Fraction, gone: Gone) -> Fraction:
        if own > GOAL:
            return Fraction(-1)
        if own >= stand:
            return banks(own, Fraction(0), False, gone)
        return sum((odds * book(own + worth, left) for odds, worth, left in draws(gone)), Fraction(0))

    exact = drawing(Fraction(0), EMPTY, 1, 1)
    assert book(Fraction(0), EMPTY) <= exact < 0
    assert (book(Fraction(0), EMPTY) == exact) == (halves == 10)


def test_the_bank_has_an_edge_and_raising_reduces_it() -> None:
    worths = [SinglePlayerSolver(SevenHalf(limit)).value(SevenHalf(limit).start(1)) for limit in LIMITS]
    assert worths == sorted(worths)
    assert len(set(worths)) == len(worths)
    assert worths[0] < 0


def test_bots_ignore_suits() -> None:
    luck = random.Random(9)
    for state in decisions(SEVENHALF, 100, count=60):
        suits = dict(zip(SUITS, luck.sample(SUITS, 4), strict=True))
        other = replace(state, cards=tuple(card[0] + suits[card[1]] for card in state.cards))
        assert set(other.cards) <= set(CARDS)
        assert total(other.cards) == total(state.cards)
        for style in ("exact", "book", "book:6"):
            assert choice(style, state, SEVENHALF) == choice(style, other, SEVENHALF)
