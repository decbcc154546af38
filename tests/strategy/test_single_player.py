"""Optimal play against a bank: comparison with brute force on small decks, and known values."""

from fractions import Fraction
from functools import cache
from math import prod

import pytest

from croupier.core.bank import BankRules, BankState, RaiseChoices
from croupier.core.rules import Turn
from croupier.rooms.blackjack.rules import BLACKJACK, HIT, STAND, SURRENDER, Blackjack
from croupier.rooms.sevenhalf.rules import SEVENHALF, SevenHalf
from croupier.strategy.single_player import SinglePlayerSolver
from tests.processes import ROOT
from tests.sampling import extended, sampled
from tests.strategy.brute_force import BruteForce

SMALL_GAMES = {
    "blackjack without aces": Blackjack(1, ["2H", "3H", "5H", "6H", "7H", "9H", "TH"]),
    "blackjack with an ace": Blackjack(1, ["AH", "2H", "6H", "7H", "8H", "9H", "TH"]),
    "blackjack with two aces": Blackjack(1, ["AH", "AD", "5H", "6H", "8H", "9H", "TH"]),
    "blackjack of eight cards": Blackjack(1, ["AH", "2H", "3H", "5H", "6H", "7H", "8H", "TH"]),
    "blackjack with cards of a kind": Blackjack(1, ["TH", "JH", "QH", "2H", "3H", "4H", "5H"]),
    "blackjack of aces and sixes": Blackjack(4, ["AH", "6H", "TH"]),
    "blackjack with two decks": Blackjack(2, ["AH", "4H", "9H", "TH"]),
    "blackjack with three decks": Blackjack(3, ["2H", "5H", "8H"]),
    "seven and a half": SevenHalf(1, cards=["1o", "2o", "3o", "4o", "5o", "so", "7o"]),
    "seven and a half with figures": SevenHalf(1, cards=["so", "co", "ro", "2o", "5o", "6o", "7o"]),
    "seven and a half of nine cards": SevenHalf(1, cards=["so", "1o", "2o", "3o", "4o", "5o", "6o", "7o", "7e"]),
    "seven and a half with raises": SevenHalf(5, cards=["so", "co", "3o", "4o", "5o", "7o"]),
    "seven and a half with more raises": SevenHalf(9, cards=["so", "1o", "2o", "6o", "7o"]),
    "lenient seven and a half with raises": SevenHalf(4, lenient=True, cards=["so", "2o", "3o", "5o", "7o"]),
}


@cache
def brute_force(name: str) -> BruteForce:
    """The evaluated tree of a game with a bet of 1."""
    brute = BruteForce(SMALL_GAMES[name])
    brute.value(SMALL_GAMES[name].start(1))
    return brute


@cache
def blackjack(decks: int) -> SinglePlayerSolver:
    """A solver of blackjack with this number of decks, shared because it caches values."""
    return SinglePlayerSolver(Blackjack(decks))


@pytest.mark.parametrize("name", extended(SMALL_GAMES, 2))
@pytest.mark.parametrize("bet", sampled((3, 1, 2), 3))
def test_value_agrees_with_brute_force(name: str, bet: int) -> None:
    brute, solver = BruteForce(SMALL_GAMES[name]), SinglePlayerSolver(SMALL_GAMES[name])
    start = SMALL_GAMES[name].start(bet)
    assert solver.value(start) == brute.value(start)


@pytest.mark.extended
@pytest.mark.parametrize("name", SMALL_GAMES)
def test_values_of_all_states_and_moves_agree_with_brute_force(name: str) -> None:
    brute, solver = brute_force(name), SinglePlayerSolver(SMALL_GAMES[name])
    for state in [*brute.values][::7]:
        assert solver.value(state) == brute.values[state], state
    for state in brute.decisions()[::7]:
        expected = brute.move_values(state)
        found = solver.move_values(state)
        assert found.items() <= expected.items(), "the highest raise is one of all raises"
        assert max(found.values()) == max(expected.values()), "no lower raise is better"
        assert tuple(found) == tuple(SMALL_GAMES[name].legal(state))
        assert found[solver.best_move(state)] == max(found.values())


@pytest.mark.parametrize("name", extended(SMALL_GAMES, 3))
@pytest.mark.extended
def test_reachable_decisions_are_distinct_and_complete(name: str) -> None:
    brute, solver = brute_force(name), SinglePlayerSolver(SMALL_GAMES[name])
    start = SMALL_GAMES[name].start(1)

    def position(state: BankState) -> object:
        kinds = sorted(next(kind for kind in solver.card_kinds if card in kind) for card in state.cards)
        return state.node, state.bet, tuple(kinds)

    raises = {state.bet for state in brute.values} - {1, SMALL_GAMES[name].max_bet}
    reached = [state for state in brute.decisions() if state.bet not in raises]
    found = solver.reachable_decisions(start)
    assert {position(state) for state in found} == {position(state) for state in reached}
    assert len({position(state) for state in found}) == len(found)
    assert set(found) <= set(brute.values), "each of them is a state of the game"


@pytest.mark.extended
@pytest.mark.parametrize("name", SMALL_GAMES)
def test_decision_probabilities_agree_with_a_walk_of_optimal_play(name: str) -> None:
    rules, solver = SMALL_GAMES[name], SinglePlayerSolver(SMALL_GAMES[name])
    reached: dict[object, Fraction] = {}

    def walk(state: BankState, chance: Fraction) -> None:
        if rules.turn(state) is Turn.CHANCE:
            for card, odds in rules.odds(state).items():
                walk(rules.play(state, card), chance * odds)
        elif rules.turn(state) is not Turn.OVER:
            found = solver.move_values(state)
            reached[tuple(found.items()), state.node] = (
                reached.get((tuple(found.items()), state.node), Fraction(0)) + chance
            )
            walk(rules.play(state, solver.best_move(state)), chance)

    walk(rules.start(2), Fraction(1))
    computed: dict[object, Fraction] = {}
    for state, chance in solver.decision_probabilities(rules.start(2)).items():
        key = tuple(solver.move_values(state).items()), state.node
        computed[key] = computed.get(key, Fraction(0)) + chance
    assert computed == reached


def test_cards_with_the_same_successors_are_one_kind() -> None:
    assert [len(kind) for kind in SinglePlayerSolver(BLACKJACK).card_kinds] == [4] * 9 + [16]
    assert {card[0] for card in SinglePlayerSolver(BLACKJACK).card_kinds[-1]} == {*"TJQK"}
    assert [len(kind) for kind in SinglePlayerSolver(SEVENHALF).card_kinds] == [4] * 7 + [12]
    assert {card[0] for card in SinglePlayerSolver(SEVENHALF).card_kinds[-1]} == {*"scr"}


def test_first_of_several_best_moves_is_chosen() -> None:
    """With a bet of 0 all moves have the value 0."""
    rules = Blackjack(1, ["TH", "JH", "QH", "KH", "TD", "JD", "QD", "KD"])
    state = rules.start(0)
    for card in ("TH", "JH", "QH"):
        state = rules.play(state, card)
    assert SinglePlayerSolver(rules).move_values(state) == {HIT: 0, STAND: 0, SURRENDER: 0}
    assert SinglePlayerSolver(rules).best_move(state) == HIT


@pytest.mark.parametrize(
    ("cards", "decks", "value"),
    [
        ("TH JH QH KH TD JD QD KD", 1, 1),  # 20 each: the client wins a tie below 21
        ("9H 9D 9S 9C", 2, 1),  # 18 each
        ("8H 8D 8S 8C", 2, 1),  # 16 stands, and the bank draws to 24
        ("7H 7D 7S 7C", 2, 1),  # the third seven makes 21
        ("5H 5D 5S 5C", 4, 1),  # 20 each
        ("6H 6D 6S 6C", 2, 1),  # the client has 18, and so has the bank
    ],
)
def test_game_with_one_kind_of_card_has_a_certain_outcome(cards: str, decks: int, value: int) -> None:
    rules = Blackjack(decks, cards.split())
    assert SinglePlayerSolver(rules).value(rules.start(2)) == 2 * value


def test_bank_goes_bust_with_only_sevens() -> None:
    rules = SevenHalf(1, cards=["7o", "7c", "7e", "7b"])
    assert SinglePlayerSolver(rules).value(rules.start(1)) == 1


def bank_value(counts: dict[int, int], low: int, ace: bool, client: int) -> Fraction:
    """The value of standing with a total, computed from ranks alone: the bank draws to 17."""
    total = low + 10 if ace and low + 10 <= 21 else low
    if total >= 17:
        return Fraction(1 if total > 21 or client > total or client == total < 21 else -1)
    cards = sum(counts.values())
    return sum(
        (
            Fraction(count, cards) * bank_value(counts | {rank: count - 1}, low + rank, ace or rank == 1, client)
            for rank, count in counts.items()
            if count
        ),
        Fraction(0),
    )


@pytest.mark.parametrize("decks", [1, 6])
@pytest.mark.parametrize(
    ("hand", "bank_card"), [("TH 6H", "TD"), ("TH JH", "9D"), ("AH TH", "AD"), ("9H 9D", "7D"), ("TH 7H", "8D")]
)
def test_value_of_standing_agrees_with_a_separate_computation(decks: int, hand: str, bank_card: str) -> None:
    rules = Blackjack(decks)
    state = rules.start(2)
    counts = dict.fromkeys(range(1, 10), 4 * decks) | {10: 16 * decks}
    values = {"A": 1, "T": 10, "J": 10, **{str(rank): rank for rank in range(2, 10)}}
    for card in (*hand.split(), bank_card):
        state = rules.play(state, card)
        counts[values[card[0]]] -= 1
    total = sum(11 if card[0] == "A" else values[card[0]] for card in hand.split())
    standing = bank_value(counts, values[bank_card[0]], bank_card[0] == "A", total)
    assert blackjack(decks).move_values(state)[STAND] == 2 * standing
    assert blackjack(decks).value(rules.play(state, STAND)) == 2 * standing


def test_value_depends_on_the_cards_that_the_bank_has_drawn() -> None:
    rules = Blackjack()
    state = rules.start(2)
    for move in ("TH", "9H", "5D", STAND, "2D"):
        state = rules.play(state, move)
    counts = dict.fromkeys(range(1, 10), 4) | {10: 15}
    for rank in (9, 5, 2):
        counts[rank] -= 1
    assert blackjack(1).value(state) == 2 * bank_value(counts, 7, False, 19)


def test_value_grows_linearly_with_the_raise_limit() -> None:
    """Only figures are worth a raise: three cards in ten, times the additional bet, times the value of a draw."""
    fixed = SinglePlayerSolver(SevenHalf(1))
    figure = SevenHalf(1).play(SevenHalf(1).play(SevenHalf(1).start(1), "DRAW"), "so")
    for max_bet in (2, 10, 100):
        rules = SevenHalf(max_bet)
        gain = (max_bet - 1) * Fraction(3, 10) * fixed.move_values(figure)["DRAW"]
        assert SinglePlayerSolver(rules).value(rules.start(1)) == fixed.value(SevenHalf(1).start(1)) + gain


@pytest.mark.parametrize(
    "rules", sampled((SevenHalf(100, lenient=True), SEVENHALF, BLACKJACK), 3), ids=["lenient", "big", "21"]
)
def test_value_is_proportional_to_the_bet(rules: BankRules) -> None:
    solver = SinglePlayerSolver(BankRules(lambda: rules.start_node, rules.cards, rules.decks))
    assert solver.value(rules.start(30)) == 15 * solver.value(rules.start(2))


def test_bank_keeps_the_half_coin_of_an_odd_bet() -> None:
    state = BLACKJACK.start(3)
    for card in ("TH", "6H", "AD"):
        state = BLACKJACK.play(state, card)
    assert blackjack(1).move_values(state)[SURRENDER] == -2


def test_only_the_highest_raise_is_listed() -> None:
    rules = SevenHalf(7)
    state = rules.play(rules.play(rules.start(3), "DRAW"), "so")
    assert isinstance(rules.legal(state), RaiseChoices)
    assert list(SinglePlayerSolver(rules).move_values(state)) == ["DRAW", "PASS", 4]


@pytest.mark.extended
def test_value_of_one_deck_has_the_exact_published_fraction() -> None:
    """Its denominator divides 52!, because the value is a sum over orders of cards."""
    value = blackjack(1).value(BLACKJACK.start(2)) / 2
    assert value == Fraction(266283420280804127, 6358710501602058600)
    assert prod(range(1, 53)) % value.denominator == 0


@pytest.mark.slow
@pytest.mark.parametrize("decks", [2, 6, 8])
def test_values_for_more_decks_agree_with_the_documentation(decks: int) -> None:
    """The page is regenerated with one deck only, because these take longer."""
    found = float(blackjack(decks).value(Blackjack(decks).start(2)) / 2)
    assert f"\n| {decks} | {found:+.10f} |\n" in (ROOT / "docs" / "solutions.md").read_text()


@pytest.mark.parametrize(("decks", "decisions"), sampled(((1, 15_577), (8, 23_690)), 2))
def test_number_of_decisions_agrees_with_the_documentation(decks: int, decisions: int) -> None:
    assert len(blackjack(decks).reachable_decisions(Blackjack(decks).start(2))) == decisions
    assert f" {decisions:,} " in (ROOT / "docs" / "solutions.md").read_text()
