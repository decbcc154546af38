"""Fair deals: honest decks are never accused, however the games are chosen; unfair ones are found in one run."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import exp, log10
from random import Random

import pytest

from croupier.conformance.fair_deal import (
    ENOUGH_DEALS,
    MAX_P_VALUE,
    Deal,
    DealCounter,
    Draw,
    EventCount,
    UnfairDeal,
)
from croupier.rooms.blackjack import rules as blackjack
from croupier.rooms.kuhn.rules import CARDS as KUHN_CARDS
from croupier.rooms.sevenhalf import rules as sevenhalf
from tests.sampling import example_count

CONNECTION_GAMES = 5

DECKS = {
    "kuhn": (KUHN_CARDS, 1),
    "sevenhalf": (sevenhalf.CARDS, 1),
    "blackjack": (blackjack.CARDS, 1),
    "a shoe": (blackjack.CARDS, 6),
}
decks = pytest.mark.parametrize(("cards", "copies"), DECKS.values(), ids=DECKS)

type Shuffle = Callable[[Sequence[str], Random], Sequence[str]]


def fair(cards: Sequence[str], luck: Random) -> Sequence[str]:
    return luck.sample(cards, len(cards))


def deal(order: Sequence[str], luck: Random) -> Deal:
    """The cards that a client sees of a deck: one or two of three, three to six of a large one."""
    if len(order) == len(KUHN_CARDS):
        seat = luck.randrange(2)
        return [Draw(seat, order[seat])]
    return [Draw(position, card) for position, card in enumerate(order[: luck.randint(3, 6)])]


def games(cards: Sequence[str], copies: int, luck: Random, shuffle: Shuffle = fair) -> Iterator[Deal]:
    shoe = [card for card in cards for _ in range(copies)]
    while True:
        yield deal(shuffle(shoe, luck), luck)


def count_run(
    cards: Sequence[str], copies: int, deals: Iterator[Deal], number: int = ENOUGH_DEALS, size: int = CONNECTION_GAMES
) -> UnfairDeal | None:
    """What is found in this many deals, a few on each connection."""
    counter = DealCounter(cards, copies)
    for _ in range(number // size):
        counter.add_connection(list(islice(deals, size)))
    assert counter.deals == number
    return counter.find_unfair()


@pytest.mark.hypothesis
@decks
def test_honest_decks_are_not_accused(cards: Sequence[str], copies: int) -> None:
    for seed in range(example_count(8)):
        assert count_run(cards, copies, games(cards, copies, Random(seed))) is None


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
@decks
def test_in_two_thousand_honest_runs_nobody_is_accused(cards: Sequence[str], copies: int, part: int) -> None:
    """500 of each deck. With a bound of 10⁻⁶ a run, an alarm has a probability of 0.002 at most."""
    for seed in range(25 * part, 25 * (part + 1)):
        assert count_run(cards, copies, games(cards, copies, Random(f"{seed}"))) is None


def test_the_evidence_of_a_fair_event_is_1_on_average() -> None:
    """So it reaches N with a probability of at most 1/N. All results of 12 draws, with other odds in each."""
    odds = [(1 + draw % 3, 4 + draw % 5) for draw in range(12)]
    total = 0.0
    for results in range(1 << len(odds)):
        count, probability = EventCount(), 1.0
        for place, (favourable, remaining) in enumerate(odds):
            came = bool(results >> place & 1)
            count.add(favourable, remaining, came=came)
            probability *= (favourable if came else remaining - favourable) / remaining
        total += probability * exp(count.log_evidence)
    assert total == pytest.approx(1.0)


def test_looking_after_every_connection_does_not_accuse_the_deck() -> None:
    for seed in range(20):
        counter, deals = DealCounter(KUHN_CARDS), games(KUHN_CARDS, 1, Random(seed))
        for _ in range(40):
            counter.add_connection(list(islice(deals, CONNECTION_GAMES)))
            assert counter.find_unfair() is None


def unshuffled(shoe: Sequence[str], luck: Random) -> Sequence[str]:
    return shoe


def without(number: int) -> Shuffle:
    return lambda shoe, luck: [card for card in fair(shoe, luck) if card != shoe[number]] + [shoe[number]]


def with_first(number: int) -> Shuffle:
    return lambda shoe, luck: [shoe[number], *(card for card in fair(shoe, luck) if card != shoe[number])]


def shuffled_once(connection_games: int) -> Shuffle:
    """One order for each connection."""
    orders: list[Sequence[str]] = []
    played = [0]

    def shuffle(shoe: Sequence[str], luck: Random) -> Sequence[str]:
        if played[0] % connection_games == 0:
            orders.append(fair(shoe, luck))
        played[0] += 1
        return orders[-1]

    return shuffle


def seeded_again(connection_games: int) -> Shuffle:
    """The same orders on each connection."""
    played = [0]

    def shuffle(shoe: Sequence[str], luck: Random) -> Sequence[str]:
        played[0] += 1
        return fair(shoe, Random(played[0] % connection_games))

    return shuffle


UNFAIR = {
    "no shuffle": unshuffled,
    "no first card": without(0),
    "no last card": without(-1),
    "always the second card first": with_first(1),
    "one shuffle for a connection": shuffled_once(CONNECTION_GAMES),
    "the same shuffles on every connection": seeded_again(CONNECTION_GAMES),
}


@pytest.mark.parametrize("shuffle", UNFAIR.values(), ids=UNFAIR)
@pytest.mark.parametrize("room", ["kuhn", "sevenhalf", "blackjack"])
def test_unfair_decks_are_found(room: str, shuffle: Shuffle) -> None:
    cards, copies = DECKS[room]
    found = count_run(cards, copies, games(cards, copies, Random(7), shuffle))
    assert found is not None
    assert found.log10_p_value < log10(MAX_P_VALUE)


@pytest.mark.parametrize(
    ("shuffle", "cause"),
    [
        (shuffled_once(CONNECTION_GAMES), "it may shuffle once for a connection"),
        (seeded_again(CONNECTION_GAMES), "it may seed its random numbers anew on every connection"),
        (without(0), None),
    ],
)
def test_the_usual_mistake_behind_an_unfair_deck_is_named(shuffle: Shuffle, cause: str | None) -> None:
    found = count_run(sevenhalf.CARDS, 1, games(sevenhalf.CARDS, 1, Random(7), shuffle))
    assert found is not None
    assert (found.cause is None) == (cause is None)
    assert (found.cause or "").startswith(cause or "")


def test_a_deck_that_is_carried_over_to_the_next_game_is_found() -> None:
    luck = Random(3)

    def carried_over() -> Iterator[Deal]:
        rest: list[str] = []
        while True:
            size = luck.randint(3, 6)
            if len(rest) < size:
                rest = [*fair(sevenhalf.CARDS, luck)]
            yield [Draw(position, rest.pop()) for position in range(size)]

    found = count_run(sevenhalf.CARDS, 1, carried_over())
    assert found is not None
    assert found.event == "one of the cards of the game before"
    assert found.times < found.expected_count
    assert found.cause == "it may not put the cards of a game back into the deck before the next one"


@pytest.mark.parametrize("shuffle", [fair, lambda deck, _: deck], ids=["fresh decks", "one deck"])
def test_only_a_deck_that_is_not_renewed_runs_out(shuffle: Shuffle) -> None:
    counter, luck = DealCounter(sevenhalf.CARDS), Random(1)
    for start in range(0, len(sevenhalf.CARDS), 4):
        cards = shuffle(sevenhalf.CARDS, luck)[start : start + 4]
        counter.add_connection([[Draw(position, card) for position, card in enumerate(cards)]])
    assert counter.has_run_out is (shuffle is not fair)


def test_a_bank_that_is_too_lucky_is_found() -> None:
    luck = Random(5)
    high = {card for card in sevenhalf.CARDS if card[0] in "567"}

    def lucky() -> Iterator[Deal]:
        """The bank's card, the second one, is exchanged if it is high, as often as not."""
        while True:
            first, second, third, *_ = fair(sevenhalf.CARDS, luck)
            if second in high and luck.random() < 0.7:
                second = third
            yield [Draw(0, first), Draw(1, second, {"a high card of the bank": high})]

    found = count_run(sevenhalf.CARDS, 1, lucky(), 600)
    assert found is not None
    assert found.event == "a high card of the bank"


def test_a_card_that_the_deck_cannot_have_ends_a_deal() -> None:
    counter = DealCounter(sevenhalf.CARDS)
    twice = [Draw(0, "1o"), Draw(1, "1o"), Draw(2, "2o")]
    counter.add_connection([twice] * 3)
    assert counter.deals == 3
    assert sum(count.describe("", 0).draws for event, count in counter._all_events() if event == "2o") == 3


def test_the_p_value_is_shown() -> None:
    found = count_run(KUHN_CARDS, 1, games(KUHN_CARDS, 1, Random(1), without(1)))
    assert found is not None
    assert found.times == 0
    assert "Q: 0 times in 300 draws (p < 10^-" in found.found
    assert found.fair == "a freshly shuffled deck in every game: Q, about 100 times"


def test_nothing_is_found_in_no_deals() -> None:
    assert DealCounter(KUHN_CARDS).find_unfair() is None
