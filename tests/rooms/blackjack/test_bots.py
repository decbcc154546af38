"""Bots for blackjack and their specifications."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.bank import BankState, client_cards
from croupier.core.bots import RandomBot, bot_factory
from croupier.core.dealer import FairDealer
from croupier.core.rules import Turn
from croupier.rooms.blackjack import ROOM
from croupier.rooms.blackjack.bots import BOT_SPECS
from croupier.rooms.blackjack.rules import CARDS, MOVES, Blackjack, hand_total
from croupier.strategy.single_player import SinglePlayerSolver
from tests.properties.random_session import bot_names

LUCK = FairDealer(bytes(32)).luck


@cache
def solver(decks: int) -> SinglePlayerSolver:
    return SinglePlayerSolver(Blackjack(decks))


def decision(cards: Sequence[str], hits: int = 0, decks: int = 1, bet: int = 10) -> BankState:
    """A decision of the client after a deal and a number of hits."""
    rules = Blackjack(decks)
    state = rules.start(bet)
    for number, card in enumerate(cards[: 3 + hits]):
        if number >= 3:
            if rules.turn(hit := rules.play(state, "H")) is Turn.OVER or rules.turn(rules.play(hit, card)) is Turn.OVER:
                break
            state = hit
        state = rules.play(state, card)
    return state


def choice(spec: str, state: BankState) -> str:
    return bot_factory(BOT_SPECS, spec)().choose(state, MOVES, LUCK)


decisions = st.builds(decision, st.permutations(CARDS), st.integers(0, 3))


@given(decisions)
def test_threshold_bot_stands_at_its_number_and_never_surrenders(state: BankState) -> None:
    total = hand_total(client_cards(state)).total
    for stands in range(4, 22):
        assert choice(f"book:{stands}", state) == ("S" if total >= stands else "H")
    assert choice("book", state) == choice("book:17", state)


@pytest.mark.parametrize("cards", ["AS 6H 9D", "9S 8H 9D", "TS 7H AD"])
def test_threshold_bot_stands_on_hard_and_soft_17(cards: str) -> None:
    assert choice("book", decision(cards.split())) == "S"


@given(decisions)
def test_exact_move_has_the_maximum_value(state: BankState) -> None:
    worth = solver(1).move_values(state)
    assert worth[choice("exact", state)] == max(worth.values())


@pytest.mark.parametrize(
    ("cards", "best"),
    [
        ("TS 6H TD", {"H", "SRD"}),
        ("AS KS TD", {"S", "H"}),
        ("TS TH 6D", {"S"}),
        ("2S 3H TD", {"H", "SRD"}),
        ("TS 9H 9D", {"S"}),
        ("5S 6H 6D", {"H"}),
    ],
)
def test_the_best_play_makes_sense(cards: str, best: set[str]) -> None:
    assert choice("exact", decision(cards.split())) in best


@pytest.mark.parametrize("bet", [1, 3, 10, 1000, 2**30 - 2])
def test_the_best_move_counts_the_half_coin_of_an_odd_bet(bet: int) -> None:
    """Half of a bet of 1 is rounded down to 0, so surrendering it is never best."""
    state = decision(["TS", "6H", "TD"], bet=bet)
    worth = solver(1).move_values(state)
    assert worth[choice("exact", state)] == max(worth.values())
    if bet == 1:
        assert choice("exact", state) != "SRD"


@pytest.mark.parametrize("decks", [2, 3, 8])
def test_the_best_move_from_a_shoe_of_more_decks(decks: int) -> None:
    for cards in (["TS", "6H", "TD"], ["8S", "8S", "TD"]):
        state = decision(cards, decks=decks)
        worth = solver(decks).move_values(state)
        assert worth[choice(f"exact:{decks}", state)] == max(worth.values())


def test_duplicate_card_makes_exact_assume_two_decks() -> None:
    state = decision(["8S", "8S", "TD"], decks=2)
    assert choice("exact", state) == choice("exact:2", state)


@pytest.mark.extended
def test_with_ties_won_the_best_play_has_an_edge() -> None:
    """The exact value over all orders of a new deck is more than 4 % of the bet."""
    value = solver(1).value(solver(1).rules.start(2)) / 2
    assert Fraction(4, 100) < value < Fraction(5, 100)


def test_random_makes_every_move_with_the_same_probability() -> None:
    state = decision(["TS", "6H", "TD"])
    found = [RandomBot().choose(state, MOVES, LUCK) for _ in range(3000)]
    assert all(abs(found.count(move) - 1000) < 150 for move in MOVES)


def test_script_repeats_from_the_start() -> None:
    script = bot_factory(BOT_SPECS, "script:h, S,srd")()
    state = decision(["2S", "3H", "TD"])
    assert [script.choose(state, MOVES, LUCK) for _ in range(4)] == ["H", "S", "SRD", "H"]


def test_script_bots_are_per_table_and_others_are_shared() -> None:
    script, exact = bot_factory(BOT_SPECS, "script:H,S"), bot_factory(BOT_SPECS, "exact")
    state = decision(["2S", "3H", "TD"])
    assert [script().choose(state, MOVES, LUCK) for _ in range(3)] == ["H"] * 3
    assert exact() is exact()


def test_only_script_requires_an_argument() -> None:
    assert set(BOT_SPECS) - set(bot_names(ROOM)) == {"script"}


BOOKS = ["book:", "book:3", "book:22", "book:soft", "book:17.5"]
EXACTS = ["exact:", "exact:0", "exact:9", "exact:one"]
SCRIPTS = ["script", "script:", "script:H,D", "script:H S"]


@pytest.mark.parametrize("spec", ["", ":", "EXACT", "random:1", "basic", *BOOKS, *EXACTS, *SCRIPTS])
def test_invalid_bot_spec_is_refused(spec: str) -> None:
    with pytest.raises(ValueError, match="allowed") as refusal:
        bot_factory(BOT_SPECS, spec)
    assert repr(spec) in str(refusal.value)
