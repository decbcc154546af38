"""Dealers: uniform shuffles, independent hands, and conformance to docs/fair-deal.md."""

import hmac
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from hashlib import sha256
from itertools import count, islice, permutations, product
from math import factorial

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from croupier.core.dealer import (
    FAIR_ALGORITHM,
    HOUSE_DECISIONS_HAND_NUMBER,
    SCRIPTED_ALGORITHM,
    Deck,
    FairDealer,
    Luck,
    Mac,
    ScriptedDealer,
    SmallPackDealer,
    commitment,
    dealer_factory,
    derive_server_seed,
    shuffled,
)

seeds = st.binary(min_size=32, max_size=32)
words = st.binary(max_size=40)
hands = st.integers(1, 2**64 - 1)


# A second implementation of the algorithm, written from its description only.


def stream(server_seed: bytes, client_seed: bytes, hand: int) -> Iterator[int]:
    for block in count():
        message = client_seed + hand.to_bytes(8, "big") + block.to_bytes(4, "big")
        digest = hmac.new(server_seed, message, sha256).digest()
        yield from (int.from_bytes(digest[at : at + 2], "big") for at in range(0, 32, 2))


def below(words: Iterator[int], bound: int) -> int:
    if bound == 1:
        return 0
    return next(word for word in words if word < 65536 - 65536 % bound) % bound


def in_order(size: int, words: Iterator[int]) -> list[int]:
    cards = list(range(size))
    for place in range(size):
        other = place + below(words, size - place)
        cards[place], cards[other] = cards[other], cards[place]
    return cards


def small_pack_words(server_seed: bytes, client_seed: bytes, hand: int, size: int) -> Iterator[int]:
    """The words of a hand in croupier-fair-2: those of a shared block, then those of its own stream."""
    each = min(max(size - 1, 1), 16)
    blocks = stream(server_seed, client_seed, 2**64 - 1)
    hands_in_block = 16 // each
    block = [*islice(blocks, 16 * ((hand - 1) // hands_in_block), 16 * ((hand - 1) // hands_in_block) + 16)]
    place = (hand - 1) % hands_in_block
    yield from block[each * place : each * (place + 1)]
    yield from stream(server_seed, client_seed, hand)


class ScriptedMac:
    """A MAC with predetermined blocks, which counts its calls."""

    def __init__(self, *blocks: bytes) -> None:
        self.blocks = iter(blocks)
        self.asked = 0

    def digest(self, end: bytes) -> bytes:
        self.asked += 1
        return next(self.blocks)


def block(*words: int) -> bytes:
    return b"".join(word.to_bytes(2, "big") for word in words).ljust(32, b"\0")


def deck_order(*draws: int) -> list[int]:
    """The order of three cards after these two draws."""
    return in_order(3, iter([*draws]))


def deck_from_draws(size: int, *draws: int) -> Deck:
    """A deck with predetermined draws."""
    return shuffled([*range(size)], ScriptedMac(block(*draws)), 1)


@given(seeds, words, hands, st.integers(1, 60))
def test_decks_are_dealt_as_documented(server_seed: bytes, client_seed: bytes, hand: int, size: int) -> None:
    dealer = FairDealer(server_seed, client_seed)
    dealer.hands = hand - 1
    assert [*dealer.next_deck(size)] == in_order(size, stream(server_seed, client_seed, hand))


@given(seeds, words, st.integers(1, 200), st.integers(1, 60))
def test_decks_of_small_packs_are_dealt_as_documented(
    server_seed: bytes, client_seed: bytes, hand: int, size: int
) -> None:
    dealer = SmallPackDealer(server_seed, client_seed)
    dealer.hands = hand - 1
    expected = in_order(size, small_pack_words(server_seed, client_seed, hand, size))
    assert [*dealer.next_deck(size)] == expected
    assert dealer.hands == hand


def test_hands_of_small_packs_are_the_same_in_any_order() -> None:
    in_turn = SmallPackDealer(bytes(32))
    decks = [[*in_turn.next_deck(3)] for _ in range(40)]
    for number in (39, 0, 17, 16, 18, 7, 8):
        in_turn.hands = number
        assert [*in_turn.next_deck(3)] == decks[number]


def test_a_rejected_word_of_a_shared_block_is_replaced_from_the_stream_of_the_hand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dealer = SmallPackDealer(bytes(32))
    monkeypatch.setattr(dealer, "_mac", ScriptedMac(block(65535, 1), block(2, 1)))
    assert [*dealer.next_deck(3)] == deck_order(1, 2)  # 65,535 has no equal chance below 3
    assert [*dealer.next_deck(3)] == deck_order(0, 0), "the other hands of the block keep their words"


def test_all_six_deals_of_a_small_pack_are_equally_frequent() -> None:
    dealer = SmallPackDealer(bytes(32))
    seen = Counter(tuple(dealer.next_deck(3)) for _ in range(60_000))
    assert len(seen) == 6
    assert sum((times - 10_000) ** 2 / 10_000 for times in seen.values()) < 25.7  # chi-square, 5 degrees, p = 0.0001


@given(st.binary(max_size=64), words, words)
def test_mac_is_hmac_sha256(key: bytes, beginning: bytes, end: bytes) -> None:
    mac = Mac(key, beginning)
    assert mac.digest(end) == mac.digest(end) == hmac.digest(key, beginning + end, "sha256")


@given(seeds, words, st.lists(st.integers(1, 65536), max_size=60))
def test_decisions_are_drawn_as_documented(server_seed: bytes, client_seed: bytes, bounds: list[int]) -> None:
    luck, expected = (
        FairDealer(server_seed, client_seed).luck,
        stream(server_seed, client_seed, HOUSE_DECISIONS_HAND_NUMBER),
    )
    assert [luck.below(bound) for bound in bounds] == [below(expected, bound) for bound in bounds]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6])
def test_every_sequence_of_draws_gives_a_different_order(size: int) -> None:
    """So uniform draws give uniform orders."""
    orders = Counter(
        tuple(deck_from_draws(size, *draws)) for draws in product(*(range(size - place) for place in range(size)))
    )
    assert set(orders) == set(permutations(range(size)))
    assert len(orders) == sum(orders.values()) == factorial(size)


@pytest.mark.parametrize("bound", [2, 3, 5, 6, 7, 52, 1000, 40_000, 65_535, 65_536])
def test_every_number_below_the_bound_is_drawn_by_equally_many_words(bound: int) -> None:
    """Tried with all 65,536 words: words that would cause a bias are skipped."""
    last = block(*[0] * 16)
    luck = Luck(ScriptedMac(*(block(*range(at, at + 16)) for at in range(0, 65_536, 16)), last), 1)
    drawn = Counter(luck.below(bound) for _ in range(65_536 - 65_536 % bound))
    assert set(drawn) == set(range(bound))
    assert len(set(drawn.values())) == 1
    assert luck.below(bound) == 0, "the words of the incomplete range were skipped, and the next block was used"


def test_word_that_would_cause_bias_is_skipped() -> None:
    digests = ScriptedMac(block(65_535, 65_535, 7), block())
    assert Luck(digests, 1).below(3) == 7 % 3
    assert digests.asked == 1


def test_block_of_only_such_words_is_skipped() -> None:
    digests = ScriptedMac(block(*[65_535] * 16), block(4))
    assert Luck(digests, 1).below(3) == 1
    assert digests.asked == 2


def test_bound_of_1_uses_no_randomness() -> None:
    digests = ScriptedMac(block(5))
    luck = Luck(digests, 1)
    assert [luck.below(1) for _ in range(100)] == [0] * 100
    assert digests.asked == 0
    assert luck.below(16) == 5


def test_deck_is_shuffled_lazily() -> None:
    cards, digests = [0, 1, 2, 3], ScriptedMac(block(2, 0, 0))
    deck = shuffled(cards, digests, 1)
    assert (digests.asked, cards) == (0, [0, 1, 2, 3])
    assert (next(deck), digests.asked, cards) == (2, 1, [0, 1, 0, 3])
    assert [*deck] == [1, 0, 3]


def test_words_that_would_cause_bias_are_skipped_in_a_shuffle() -> None:
    digests = ScriptedMac(block(*[65_535] * 16), block(65_535, 1, 1))
    assert [*shuffled([0, 1, 2], digests, 1)] == [1, 2, 0]
    assert digests.asked == 2


def test_last_card_uses_no_randomness() -> None:
    assert [*shuffled([7], ScriptedMac(), 1)] == [7]


def test_deck_ends_after_its_last_card() -> None:
    deck = FairDealer(bytes(32)).next_deck(3)
    assert sorted(deck) == [0, 1, 2]
    assert next(deck, None) is None


@given(seeds, words, st.integers(1, 20))
def test_hand_does_not_depend_on_earlier_draws(server_seed: bytes, client_seed: bytes, hand: int) -> None:
    busy, idle = FairDealer(server_seed, client_seed), FairDealer(server_seed, client_seed)
    for _ in range(hand - 1):
        busy.luck.below(52)
        assert len([*busy.next_deck(52)]) == 52
        idle.next_deck(1)
    assert [*busy.next_deck(52)] == [*idle.next_deck(52)]
    assert busy.hands == idle.hands == hand


@given(seeds, words, words)
def test_client_seed_changes_the_deal(server_seed: bytes, one: bytes, other: bytes) -> None:
    assume(one != other)
    decks = [[*FairDealer(server_seed, word).next_deck(52)] for word in (one, other)]
    assert decks[0] != decks[1]


def test_all_six_deals_are_equally_frequent_over_many_seeds() -> None:
    """With fixed seeds, so the test is deterministic: no frequency is off by more than five standard deviations."""
    found = Counter(
        tuple(islice(FairDealer(derive_server_seed(seed, "test", 1)).next_deck(3), 2)) for seed in range(3000)
    )
    expected, spread = 500, (3000 * Fraction(5, 36)) ** 0.5
    assert len(found) == 6
    assert all(abs(number - expected) < 5 * spread for number in found.values())


@pytest.mark.parametrize("length", [0, 16, 31, 33, 64])
def test_server_seed_of_another_length_raises_value_error(length: int) -> None:
    with pytest.raises(ValueError, match=f"found a server seed of {length} bytes; allowed: 32"):
        FairDealer(bytes(length))


@given(
    st.lists(st.permutations(range(5)).flatmap(lambda p: st.integers(1, 5).map(lambda n: tuple(p[:n]))), min_size=1),
    seeds,
)
def test_scripted_decks_are_dealt_in_turn_with_the_other_cards_shuffled_below(
    decks: list[tuple[int, ...]], seed: bytes
) -> None:
    dealer = ScriptedDealer(decks, seed)
    for hand in range(2 * len(decks)):
        script = decks[hand % len(decks)]
        dealt = [*dealer.next_deck(5)]
        rest = [card for card in range(5) if card not in script]
        words = stream(seed, b"", hand + 1)
        assert tuple(dealt[: len(script)]) == script
        assert dealt[len(script) :] == [rest[place] for place in in_order(len(rest), words)]
    assert dealer.hands == 2 * len(decks)
    assert dealer.algorithm == SCRIPTED_ALGORITHM


@given(seeds)
def test_commitment_is_the_sha256_of_the_seed(seed: bytes) -> None:
    assert commitment(seed) == sha256(seed).digest()


def test_derived_seeds_differ_between_tables_and_rooms() -> None:
    found = {
        derive_server_seed(seed, room, table)
        for seed in (1, 2, 11)
        for room in ("kuhn", "other")
        for table in range(1, 100)
    }
    assert len(found) == 3 * 2 * 99
    assert derive_server_seed(1, "kuhn", 1) == hmac.new(FAIR_ALGORITHM.encode(), b"1/kuhn/1", sha256).digest()


def test_scripted_decks_continue_from_hand_to_hand_at_shared_tables() -> None:
    make = dealer_factory(lambda table: bytes(32), decks=[(0,), (1,), (2,)], shared=True)
    assert [next(make(deal).next_deck(3)) for deal in range(1, 8)] == [0, 1, 2, 0, 1, 2, 0]
    alone = dealer_factory(lambda table: bytes(32), decks=[(0,), (1,), (2,)])
    assert [next(alone(deal).next_deck(3)) for deal in range(1, 8)] == [0] * 7


def test_each_table_is_dealt_from_its_own_seed() -> None:
    make = dealer_factory(lambda table: bytes([table]) * 32, b"word")
    first, second = make(1), make(2)
    assert (first.server_seed, first.client_seed, first.algorithm) == (b"\1" * 32, b"word", FAIR_ALGORITHM)
    assert second.server_seed == b"\2" * 32
    assert list(islice(stream(b"\1" * 32, b"word", HOUSE_DECISIONS_HAND_NUMBER), 1)) == [first.luck.below(65_536)]
    assert next(dealer_factory(lambda table: bytes(32), decks=[(2,)])(1).next_deck(3)) == 2
