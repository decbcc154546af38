"""The cards of observed hands are counted over a run: unfair decks are found, fair ones are not accused."""

import asyncio
from random import Random
from typing import Any

import pytest

from croupier.conformance.case import select
from croupier.conformance.holdem.deals import ENOUGH_HANDS, FAIR_DEAL, deal_of
from croupier.conformance.results import Outcome, Result
from croupier.conformance.servers.deals import DealJudge
from croupier.rooms.holdem import ROOM
from croupier.rooms.holdem.engine.stakes import STAKES
from croupier.rooms.holdem.observed.hand import ObservedHand
from tests.conformance.holdem.faulty_programs import FaultyServer, open_faulty_server
from tests.conformance.mutants.decks import unshuffled, with_cards_first, without_cards
from tests.conformance.suites import check_server, server_cases
from tests.sampling import example_count

PLAYERS = ("ann", "bob", "cid")

FAIR_RUNS = 40
ACE_OF_SPADES = 51


def observed_hand(deck: list[int]) -> ObservedHand:
    """A hand of three whose flop was dealt; cid has the small blind, ann the big blind."""
    observed = ObservedHand(PLAYERS, (100, 100, 100), 1, STAKES)
    observed.holes = {"cid": (deck[0], deck[3]), "ann": (deck[1], deck[4]), "bob": (deck[2], deck[5])}
    observed.board = deck[6:9]
    return observed


def test_a_deal_has_the_positions_in_which_cards_are_dealt() -> None:
    deck = [51, 40, 30, 20, 10, 9, 8, 7, 6]
    assert [draw.position for draw in deal_of(observed_hand(deck))] == [*range(9)]
    assert [draw.card for draw in deal_of(observed_hand(deck))] == [FAIR_DEAL.cards[card] for card in deck]


def test_fair_decks_are_not_accused() -> None:
    for seed in range(example_count(FAIR_RUNS)):
        random, judge = Random(seed), DealJudge(FAIR_DEAL, None)
        judge.observe([observed_hand(random.sample(range(52), 9)) for _ in range(2 * ENOUGH_HANDS)])
        assert judge.judge().outcome is Outcome.PASS


def check(**faults: Any) -> Result:
    async def main() -> Result:
        async with open_faulty_server(FaultyServer(frozenset(), **faults)) as server:
            cases = select(server_cases(ROOM), "holdem/6.1/fair-deal")
            return (await check_server(ROOM, *server.address, cases=cases))[0]

    return asyncio.run(main())


DEALERS = [with_cards_first(ACE_OF_SPADES), without_cards(ACE_OF_SPADES), unshuffled]


@pytest.mark.extended
@pytest.mark.parametrize("dealer", DEALERS)
def test_unfair_decks_are_found(dealer: Any) -> None:
    result = check(dealer=dealer)
    assert result.failure is not None
    assert result.failure.clause == "holdem-6.1"
    assert "p < 10^-" in result.failure.actual
