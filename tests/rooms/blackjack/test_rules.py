"""Rules of blackjack, compared with a naive second implementation."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.bank import BANK_SEAT, CLIENT_SEAT, BankState, bank_cards, client_cards
from croupier.core.errors import IllegalMove
from croupier.core.rules import Turn
from croupier.rooms.blackjack.rules import (
    BLACKJACK,
    CARDS,
    MOVES,
    RANKS,
    Blackjack,
    check_decks,
    client_wins,
    hand_total,
    largest_bet,
)
from tests.sampling import extended

POINTS = {"T": 10, "J": 10, "Q": 10, "K": 10} | {str(number): number for number in range(2, 10)}


def naive(cards: Sequence[str]) -> int:
    """The best total over all values of the aces: the highest up to 21, otherwise the lowest."""
    choices = [[1, 11] if card[0] == "A" else [POINTS[card[0]]] for card in cards]
    sums = {sum(choice) for choice in product(*choices)}
    return max((total for total in sums if total <= 21), default=min(sums))


def naive_pay(cards: Sequence[str], moves: Sequence[str]) -> tuple[int, int] | None:
    """Play a round with cards in the order of the deal. Returns the client's net for a bet of 10 and the cards used.

    Returns None if the round is not over.
    """
    client, bank, left = [*cards[:2]], [cards[2]], [*cards[3:]]
    for move in moves:
        if move == "SRD":
            return -5, 3 + len(client) - 2
        if move == "H":
            client.append(left.pop(0))
            if naive(client) >= 21:
                return (10 if naive(client) == 21 else -10), len(client) + 1
            continue
        while naive(bank) < 17:
            bank.append(left.pop(0))
        mine, theirs = naive(client), naive(bank)
        better = theirs > 21 or mine > theirs or (mine == theirs and mine != 21)
        return (10 if better else -10), len(client) + len(bank)
    return None


def played(cards: Sequence[str], moves: Sequence[str], rules: Blackjack = BLACKJACK) -> BankState:
    """The state after the moves, or when the cards are used up; cards are dealt in order."""
    state, left, decided = rules.start(10), [*cards], [*moves]
    while state.node.turn is not Turn.OVER:
        description = left if state.node.turn is Turn.CHANCE else decided
        if not description:
            break
        state = rules.play(state, description.pop(0))
    return state


rounds = st.tuples(st.permutations(CARDS), st.lists(st.sampled_from(["H", "H", "S", "SRD"]), max_size=8))


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_the_total_of_a_hand_is_the_best_that_its_aces_can_make(size: int) -> None:
    """All hands of up to four cards."""
    for ranks in combinations_with_replacement(RANKS, size):
        assert hand_total(ranks).total == naive(ranks)


@given(st.lists(st.sampled_from(CARDS), max_size=22))
def test_hand_total_is_independent_of_order(cards: list[str]) -> None:
    assert hand_total(cards).total == naive(cards)
    assert hand_total(cards).is_soft == (naive(cards) - sum(POINTS.get(card[0], 1) for card in cards) == 10)


@given(rounds)
def test_rounds_match_the_naive_rules(drawn: tuple[list[str], list[str]]) -> None:
    cards, moves = drawn
    state, expected = played(cards, moves), naive_pay(cards, moves)
    assert (state.node.turn is Turn.OVER) == (expected is not None)
    if expected is not None:
        net, needed = expected
        assert BLACKJACK.payoff(state) == (net, -net)
        assert state.cards == tuple(cards[:needed])


@given(rounds)
def test_client_and_bank_cards_are_separated(drawn: tuple[list[str], list[str]]) -> None:
    cards, moves = drawn
    state = played(cards, moves)
    hits = len(client_cards(state)) - 2
    assert client_cards(state) == (*cards[:2], *cards[3 : 3 + hits])
    assert bank_cards(state) == (cards[2], *cards[3 + hits : len(state.cards)])
    assert len(bank_cards(state)) == state.bank_card_count
    if "S" not in moves:
        assert state.bank_card_count == 1, (
            "the second card of the bank waits until the client has stood (blackjack-3.3)"
        )


def test_client_and_bank_cards_are_separated_during_the_deal() -> None:
    state = BLACKJACK.start()
    description = []
    for card in ("8S", "9H", "AD"):
        description.append((client_cards(state), bank_cards(state)))
        state = BLACKJACK.play(state, card)
    assert description == [((), ()), (("8S",), ()), (("8S", "9H"), ())]
    assert (client_cards(state), bank_cards(state)) == (("8S", "9H"), ("AD",))


def test_ties_are_the_clients_except_at_21() -> None:
    """blackjack-3.9, blackjack-3.10: every pair of scores that can meet."""
    for client, bank in product(range(4, 22), range(17, 27)):
        expected = bank > 21 or client > bank or (client == bank and client < 21)
        assert client_wins(client, bank) == expected
    assert [client_wins(score, score) for score in range(17, 22)] == [True, True, True, True, False]


@pytest.mark.parametrize("low", [16, 17, 18])
def test_the_bank_stands_on_every_17(low: int) -> None:
    """blackjack-3.8: with an ace as 11 as well as without."""
    hard, soft = {16: "6D", 17: "7D", 18: "8D"}[low], {16: "5D", 17: "6D", 18: "7D"}[low]
    for first, second in (("TD", hard), ("AD", soft)):
        state = played(["TS", "9S", first, second], ["S"])
        assert (state.node.turn is Turn.OVER) == (low >= 17)


def walk(
    state: BankState, moves: Sequence[str], odds: Fraction, rules: Blackjack
) -> Iterator[tuple[BankState, Fraction]]:
    """Every end of a round in which the client plans some moves, with its probability."""
    if state.node.turn is Turn.OVER:
        yield state, odds
    elif state.node.turn is Turn.CHANCE:
        for card, chance in rules.odds(state).items():
            yield from walk(rules.play(state, card), moves, odds * chance, rules)
    else:
        move = moves[0] if moves else "S"
        yield from walk(rules.play(state, move), moves[1:], odds, rules)


@pytest.mark.parametrize("moves", [[], ["H"], ["H", "H", "SRD"], ["SRD"]], ids=" ".join)
@pytest.mark.parametrize("decks", extended([1, 2], 2))
def test_outcome_probabilities_sum_to_one(moves: Sequence[str], decks: int) -> None:
    """With a small shoe, and the payouts by the naive rules."""
    rules = Blackjack(decks, ["AH", "2H", "6H", "8H", "TH", "JH"])
    ends = [*walk(rules.start(10), moves, Fraction(1), rules)]
    assert sum(odds for _, odds in ends) == 1
    for state, _ in ends:
        assert (rules.payoff(state)[0], len(state.cards)) == naive_pay(state.cards, [*moves, "S"])


def test_number_of_deals() -> None:
    """52 · 51 · 50 deals, each followed by a decision."""
    states, row = 0, [BLACKJACK.start()]
    for _ in range(2):
        row = [BLACKJACK.play(state, card) for state in row for card in BLACKJACK.legal(state)]
    for state in row:
        assert state.node.card_receiver == BANK_SEAT
        for card in BLACKJACK.legal(state):
            after = state.node.successors[card]
            states += after.turn == CLIENT_SEAT
    assert states == 52 * 51 * 50


@pytest.mark.parametrize("decks", [1, 2, 3])
def test_no_card_comes_more_often_than_there_are_decks(decks: int) -> None:
    """blackjack-3.1"""
    rules = Blackjack(decks)
    state = played(["2S"] * decks + ["3S", "4S"][: 3 - decks], ["H"], rules)
    assert state.cards.count("2S") == decks
    assert "2S" not in rules.legal(state)
    with pytest.raises(IllegalMove):
        rules.play(state, "2S")


def test_every_decision_is_between_the_same_three_moves() -> None:
    assert BLACKJACK.legal(played(["AS", "KS", "TD"], [])) == MOVES == ("H", "S", "SRD")


def test_half_of_an_odd_bet_is_rounded_down() -> None:
    """blackjack-5.3"""
    for bet in range(1, 12):
        state = BLACKJACK.start(bet)
        for move in ("TS", "6H", "9D", "SRD"):
            state = BLACKJACK.play(state, move)
        assert BLACKJACK.payoff(state)[0] == -(bet - bet // 2)


@given(st.integers(0, 2**31 - 1))
def test_largest_bet_cannot_overflow(balance: int) -> None:
    """blackjack-7.4"""
    most = largest_bet(balance)
    assert 0 <= most <= balance
    assert balance + most <= 2**31 - 1
    assert 2 * most <= 2**31 - 1
    more = most + 1
    assert more > balance or balance + more > 2**31 - 1 or 2 * more > 2**31 - 1


@pytest.mark.parametrize(("balance", "most"), [(0, 0), (1, 1), (1000, 1000), (2**30, 2**30 - 1), (2**31 - 1, 0)])
def test_largest_bet_examples(balance: int, most: int) -> None:
    assert largest_bet(balance) == most


@pytest.mark.parametrize("decks", [-1, 0, 9, 2000])
def test_a_shoe_of_too_many_decks_or_none_is_refused(decks: int) -> None:
    with pytest.raises(ValueError, match=f"found {decks} decks; allowed: 1 to 8"):
        check_decks(decks)
