"""Best play against a bank: the same as trying everything, on every deck that is small enough for that."""

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
from tests.sampling import sampled
from tests.strategy.brute_force import Brute

SMALL = {
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
def tried(name: str) -> Brute:
    """Everything that can come of a bet of 1 was tried."""
    brute = Brute(SMALL[name])
    brute.value(SMALL[name].start(1))
    return brute


@cache
def blackjack(decks: int) -> SinglePlayerSolver:
    """Blackjack with so many decks: a solver does not forget what it has found."""
    return SinglePlayerSolver(Blackjack(decks))


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("bet", sampled((3, 1, 2), 3))
def test_best_play_is_worth_what_trying_everything_finds(name: str, bet: int) -> None:
    brute, solver = Brute(SMALL[name]), SinglePlayerSolver(SMALL[name])
    start = SMALL[name].start(bet)
    assert solver.value(start) == brute.value(start)


@pytest.mark.parametrize("name", SMALL)
def test_every_state_and_every_move_is_worth_what_trying_everything_finds(name: str) -> None:
    brute, solver = tried(name), SinglePlayerSolver(SMALL[name])
    for state in [*brute.known][::7]:
        assert solver.value(state) == brute.known[state], state
    for state in brute.decisions()[::7]:
        worth = brute.worth(state)
        found = solver.move_values(state)
        assert found.items() <= worth.items(), "the highest raise is one of all raises"
        assert max(found.values()) == max(worth.values()), "and no lower one is better"
        assert tuple(found) == tuple(SMALL[name].legal(state))
        assert found[solver.best_move(state)] == max(found.values())


@pytest.mark.parametrize("name", SMALL)
def test_the_decisions_are_those_that_can_come_each_once_for_all_orders_of_its_cards(name: str) -> None:
    brute, solver = tried(name), SinglePlayerSolver(SMALL[name])
    start = SMALL[name].start(1)

    def spot(state: BankState) -> object:
        kinds = sorted(next(kind for kind in solver.card_kinds if card in kind) for card in state.cards)
        return state.node, state.bet, tuple(kinds)

    raises = {state.bet for state in brute.known} - {1, SMALL[name].max_bet}
    met = [state for state in brute.decisions() if state.bet not in raises]
    found = solver.reachable_decisions(start)
    assert {spot(state) for state in found} == {spot(state) for state in met}
    assert len({spot(state) for state in found}) == len(found)
    assert set(found) <= set(brute.known), "each of them is a state of the game"


@pytest.mark.parametrize("name", SMALL)
def test_best_play_comes_to_a_decision_as_often_as_is_told(name: str) -> None:
    rules, solver = SMALL[name], SinglePlayerSolver(SMALL[name])
    met: dict[object, Fraction] = {}

    def walk(state: BankState, chance: Fraction) -> None:
        if rules.turn(state) is Turn.CHANCE:
            for card, odds in rules.odds(state).items():
                walk(rules.play(state, card), chance * odds)
        elif rules.turn(state) is not Turn.OVER:
            found = solver.move_values(state)
            met[tuple(found.items()), state.node] = met.get((tuple(found.items()), state.node), Fraction(0)) + chance
            walk(rules.play(state, solver.best_move(state)), chance)

    walk(rules.start(2), Fraction(1))
    told: dict[object, Fraction] = {}
    for state, chance in solver.decision_probabilities(rules.start(2)).items():
        key = tuple(solver.move_values(state).items()), state.node
        told[key] = told.get(key, Fraction(0)) + chance
    assert told == met


def test_cards_that_always_lead_to_the_same_are_one_kind() -> None:
    assert [len(kind) for kind in SinglePlayerSolver(BLACKJACK).card_kinds] == [4] * 9 + [16]
    assert {card[0] for card in SinglePlayerSolver(BLACKJACK).card_kinds[-1]} == {*"TJQK"}
    assert [len(kind) for kind in SinglePlayerSolver(SEVENHALF).card_kinds] == [4] * 7 + [12]
    assert {card[0] for card in SinglePlayerSolver(SEVENHALF).card_kinds[-1]} == {*"scr"}


def test_of_moves_that_are_worth_the_same_the_first_is_best() -> None:
    """Nothing is at stake, so nothing matters."""
    rules = Blackjack(1, ["TH", "JH", "QH", "KH", "TD", "JD", "QD", "KD"])
    state = rules.start(0)
    for card in ("TH", "JH", "QH"):
        state = rules.play(state, card)
    assert SinglePlayerSolver(rules).move_values(state) == {HIT: 0, STAND: 0, SURRENDER: 0}
    assert SinglePlayerSolver(rules).best_move(state) == HIT


@pytest.mark.parametrize(
    ("cards", "decks", "value"),
    [
        ("TH JH QH KH TD JD QD KD", 1, 1),  # 20 each: a tie below 21 is the client's
        ("9H 9D 9S 9C", 2, 1),  # 18 each
        ("8H 8D 8S 8C", 2, 1),  # 16 stands, and the bank draws to 24
        ("7H 7D 7S 7C", 2, 1),  # the third seven makes 21
        ("5H 5D 5S 5C", 4, 1),  # 20 each
        ("6H 6D 6S 6C", 2, 1),  # the client has 18, and so has the bank
    ],
)
def test_with_one_kind_of_card_everything_is_certain(cards: str, decks: int, value: int) -> None:
    rules = Blackjack(decks, cards.split())
    assert SinglePlayerSolver(rules).value(rules.start(2)) == 2 * value


def test_with_nothing_but_sevens_the_bank_draws_over() -> None:
    rules = SevenHalf(1, cards=["7o", "7c", "7e", "7b"])
    assert SinglePlayerSolver(rules).value(rules.start(1)) == 1


def bank(counts: dict[int, int], low: int, ace: bool, client: int) -> Fraction:
    """What standing with a total is worth, told by ranks alone: the bank draws to 17."""
    total = low + 10 if ace and low + 10 <= 21 else low
    if total >= 17:
        return Fraction(1 if total > 21 or client > total or client == total < 21 else -1)
    cards = sum(counts.values())
    return sum(
        (
            Fraction(count, cards) * bank(counts | {rank: count - 1}, low + rank, ace or rank == 1, client)
            for rank, count in counts.items()
            if count
        ),
        Fraction(0),
    )


@pytest.mark.parametrize("decks", [1, 6])
@pytest.mark.parametrize(
    ("hand", "up"), [("TH 6H", "TD"), ("TH JH", "9D"), ("AH TH", "AD"), ("9H 9D", "7D"), ("TH 7H", "8D")]
)
def test_the_bank_alone_from_a_full_shoe(decks: int, hand: str, up: str) -> None:
    rules = Blackjack(decks)
    state = rules.start(2)
    counts = dict.fromkeys(range(1, 10), 4 * decks) | {10: 16 * decks}
    values = {"A": 1, "T": 10, "J": 10, **{str(rank): rank for rank in range(2, 10)}}
    for card in (*hand.split(), up):
        state = rules.play(state, card)
        counts[values[card[0]]] -= 1
    total = sum(11 if card[0] == "A" else values[card[0]] for card in hand.split())
    alone = bank(counts, values[up[0]], up[0] == "A", total)
    assert blackjack(decks).move_values(state)[STAND] == 2 * alone
    assert blackjack(decks).value(rules.play(state, STAND)) == 2 * alone


def test_a_bank_that_has_drawn_already_is_told_from_the_cards_it_has() -> None:
    rules = Blackjack()
    state = rules.start(2)
    for move in ("TH", "9H", "5D", STAND, "2D"):
        state = rules.play(state, move)
    counts = dict.fromkeys(range(1, 10), 4) | {10: 15}
    for rank in (9, 5, 2):
        counts[rank] -= 1
    assert blackjack(1).value(state) == 2 * bank(counts, 7, False, 19)


def test_only_a_figure_is_worth_a_raise_so_that_every_coin_of_the_limit_is_worth_the_same() -> None:
    """Three cards in ten are figures, and after one of them, drawing on with a bet of 1 is worth so much."""
    fixed = SinglePlayerSolver(SevenHalf(1))
    figure = SevenHalf(1).play(SevenHalf(1).play(SevenHalf(1).start(1), "DRAW"), "so")
    for most in (2, 10, 100):
        rules = SevenHalf(most)
        gain = (most - 1) * Fraction(3, 10) * fixed.move_values(figure)["DRAW"]
        assert SinglePlayerSolver(rules).value(rules.start(1)) == fixed.value(SevenHalf(1).start(1)) + gain


@pytest.mark.parametrize(
    "rules", sampled((SevenHalf(100, lenient=True), SEVENHALF, BLACKJACK), 3), ids=["lenient", "big", "21"]
)
def test_a_bet_is_worth_in_proportion(rules: BankRules) -> None:
    solver = SinglePlayerSolver(BankRules(rules.start().node, rules.cards, rules.decks))
    assert solver.value(rules.start(30)) == 15 * solver.value(rules.start(2))


def test_the_half_coin_of_an_odd_bet_is_the_banks() -> None:
    state = BLACKJACK.start(3)
    for card in ("TH", "6H", "AD"):
        state = BLACKJACK.play(state, card)
    assert blackjack(1).move_values(state)[SURRENDER] == -2


def test_a_raise_up_to_the_limit_is_listed_and_nothing_beyond() -> None:
    rules = SevenHalf(7)
    state = rules.play(rules.play(rules.start(3), "DRAW"), "so")
    assert isinstance(rules.legal(state), RaiseChoices)
    assert list(SinglePlayerSolver(rules).move_values(state)) == ["DRAW", "PASS", 4]


def test_the_value_of_one_deck_is_a_sum_over_orders_of_cards() -> None:
    """Its denominator can have no factor that a number of cards left has not, nor one above 52."""
    value = blackjack(1).value(BLACKJACK.start(2)) / 2
    assert value == Fraction(266283420280804127, 6358710501602058600)
    assert prod(range(1, 53)) % value.denominator == 0


@pytest.mark.slow
@pytest.mark.parametrize("decks", [2, 6, 8])
def test_more_decks_are_worth_what_the_page_says(decks: int) -> None:
    """The page is made anew with one deck only: these take longer."""
    found = float(blackjack(decks).value(Blackjack(decks).start(2)) / 2)
    assert f"\n| {decks} | {found:+.10f} |\n" in (ROOT / "docs" / "solutions.md").read_text()


@pytest.mark.parametrize(("decks", "decisions"), sampled(((1, 15_577), (8, 23_690)), 2))
def test_there_are_as_many_decisions_as_the_page_says(decks: int, decisions: int) -> None:
    assert len(blackjack(decks).reachable_decisions(Blackjack(decks).start(2))) == decisions
    assert f" {decisions:,} " in (ROOT / "docs" / "solutions.md").read_text()
