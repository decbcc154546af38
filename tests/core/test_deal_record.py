"""Findings of the verification of a dealer's record."""

from collections.abc import Sequence
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from croupier.core.cards import Pack
from croupier.core.deal_record import (
    DealPromise,
    DealRecordEntry,
    DealSeed,
    DealtHand,
    NetCheck,
    RecordFinding,
    deal_cards,
    encode_entry,
    verify_record,
)
from croupier.core.dealer import (
    FAIR_ALGORITHM,
    SCRIPTED_ALGORITHM,
    SMALL_PACK_ALGORITHM,
    FairDealer,
    SmallPackDealer,
)

PACKS = {"kuhn": Pack(("J", "Q", "K"))}
SEED = bytes(range(32))
OTHER = bytes(32)
CLIENT_SEED = b"client_seed"


def promise(table: int = 1, algorithm: str = FAIR_ALGORITHM, seed: bytes = SEED) -> DealPromise:
    return DealPromise("kuhn", table, algorithm, sha256(seed).hexdigest())


def hand(number: int, table: int = 1, cards: int = 2, seed: bytes = SEED) -> DealtHand:
    dealt = deal_cards(FairDealer(seed, CLIENT_SEED), number, PACKS["kuhn"], cards)
    return DealtHand("kuhn", table, number, [*dealt], 1)


def seed(table: int = 1, server_seed: bytes = SEED, client_seed: bytes = CLIENT_SEED, hands: int = 2) -> DealSeed:
    return DealSeed("kuhn", table, server_seed.hex(), client_seed.hex(), hands)


def check(*entries: DealRecordEntry | bytes) -> list[RecordFinding]:
    lines = [entry if isinstance(entry, bytes) else encode_entry(entry) for entry in entries]
    return list(verify_record(lines, lambda room: PACKS[room], lambda _: NetCheck("are not checked", lambda _: True)))


def outcomes(findings: Sequence[RecordFinding]) -> list[tuple[int, bool | None]]:
    return [(finding.line, finding.is_proved) for finding in findings]


def test_kept_promise_is_proved_at_the_line_of_its_seed() -> None:
    (finding,) = check(promise(), hand(1), hand(2), seed())
    assert (finding.line, finding.is_proved) == (4, True)
    assert "the promise was kept, 2 hands" in finding.message


def test_tables_are_checked_independently() -> None:
    other = promise(2, seed=OTHER), hand(1, 2, seed=OTHER), seed(2, OTHER, hands=1)
    findings = check(promise(1), *other[:2], hand(1, 1), other[2], hand(2, 1), seed(1))
    assert outcomes(findings) == [(5, True), (7, True)]


def test_changed_card_is_reported_at_its_line() -> None:
    true = hand(2)
    changed = DealtHand("kuhn", 1, 2, [*reversed(true.cards)], 1)
    (finding,) = check(promise(), hand(1), changed, seed())
    assert (finding.line, finding.is_proved) == (3, False)
    assert f"found {' '.join(changed.cards)}; the seed deals {' '.join(true.cards)}" in finding.message


@pytest.mark.parametrize("cards", [["A", "B"], ["J", "J"], ["J", "Q", "K", "A"], [""]])
def test_impossible_cards_are_reported(cards: list[str]) -> None:
    assert outcomes(check(promise(), DealtHand("kuhn", 1, 1, cards, 0), seed(hands=1))) == [(2, False)]


def test_hand_without_cards_proves_nothing() -> None:
    """A record without cards must not be reported as proved."""
    assert not any(finding.is_proved for finding in check(promise(), DealtHand("kuhn", 1, 1, [], -1), seed(hands=1)))


def test_hand_may_show_fewer_cards_than_were_shuffled() -> None:
    assert outcomes(check(promise(), hand(1, cards=1), hand(2, cards=3), seed())) == [(4, True)]


def test_changed_seed_is_reported() -> None:
    (finding,) = check(promise(), hand(1), seed(server_seed=OTHER, hands=1))
    assert (finding.line, finding.is_proved) == (3, False)
    assert "not the one that was promised in line 1" in finding.message


def test_changed_client_seed_is_reported() -> None:
    findings = check(promise(), *(hand(number) for number in range(1, 9)), seed(client_seed=b"drow", hands=8))
    assert findings
    assert not any(finding.is_proved for finding in findings)


@pytest.mark.parametrize("hex_seed", ["", "00", "zz" * 32, "00" * 33, "é" * 64])
def test_invalid_seed_is_reported(hex_seed: str) -> None:
    assert outcomes(check(promise(), DealSeed("kuhn", 1, hex_seed, "", 0))) == [(2, False)]


def test_unknown_room_is_reported() -> None:
    strange = DealPromise("bridge", 1, FAIR_ALGORITHM, sha256(SEED).hexdigest())
    assert outcomes(check(strange, DealSeed("bridge", 1, SEED.hex(), "", 0))) == [(2, False)]


def test_promise_without_a_revealed_seed_is_neither_proved_nor_refuted() -> None:
    (finding,) = check(b"", promise(), hand(1))
    assert (finding.line, finding.is_proved) == (2, None)
    assert "not revealed yet, 1 hand cannot" in finding.message


def test_repeated_promise_before_the_first_hand_is_the_same_promise() -> None:
    assert outcomes(check(promise(), promise(), hand(1), seed(hands=1))) == [(4, True)]


def test_second_promise_leaves_the_first_not_opened() -> None:
    findings = check(promise(), hand(1), promise(seed=OTHER), promise(), hand(1), seed(hands=1))
    assert outcomes(findings) == [(1, None), (3, None), (6, True)]
    assert [(finding.is_opened, finding.is_incomplete) for finding in findings] == [
        (False, True),
        (False, True),
        (True, False),
    ]
    assert findings[0].message.startswith(
        "kuhn table 1: not opened: line 3 has a new promise, 1 hand cannot be checked"
    )


def test_only_the_last_of_several_promises_may_be_opened() -> None:
    findings = check(promise(), promise(seed=OTHER), hand(1), seed(hands=1))
    assert outcomes(findings) == [(1, None), (4, False)]


@pytest.mark.parametrize("table", [1, 2])
def test_reused_seed_is_reported(table: int) -> None:
    again = promise(table), hand(1, table), seed(table, hands=1)
    findings = check(promise(), hand(1), seed(hands=1), *again)
    assert outcomes(findings) == [(3, True), (6, False)]
    assert findings[1].message == (
        f"kuhn table {table}: found a server seed that was revealed already, for kuhn table 1 in line 3;"
        " allowed: a new one"
    )


@pytest.mark.parametrize("entry", [hand(1), seed()])
def test_deal_before_its_promise_is_reported(entry: DealRecordEntry) -> None:
    findings = check(entry, promise(), hand(1), hand(2), seed())
    assert outcomes(findings) == [(1, False), (5, True)]
    assert "found a deal before its promise" in findings[0].message


def test_deal_after_its_seed_is_reported() -> None:
    assert outcomes(check(promise(), seed(hands=0), hand(1))) == [(2, True), (3, False)]


def test_scripted_deals_promise_nothing() -> None:
    (finding,) = check(promise(algorithm=SCRIPTED_ALGORITHM), hand(1), seed(hands=1))
    assert finding.is_proved is None
    assert repr(SCRIPTED_ALGORITHM) in finding.message


def test_duplicate_hand_is_reported() -> None:
    findings = check(promise(), hand(1), hand(1), seed(hands=1))
    assert outcomes(findings) == [(4, False)]
    assert "hand 1: found a hand twice" in findings[0].message


def test_missing_hands_are_reported() -> None:
    findings = check(promise(), hand(2), hand(4), hand(5), seed(hands=9))
    assert outcomes(findings) == [(5, False)] * 3
    assert [finding.message for finding in findings] == [
        "kuhn table 1, hand 1: this hand is not in the record; allowed: hands 1 to 9",
        "kuhn table 1, hand 3: this hand is not in the record; allowed: hands 1 to 9",
        "kuhn table 1: hands 6 to 9 are not in the record; allowed: hands 1 to 9",
    ]
    assert outcomes(check(promise(), seed(hands=2**63))) == [(2, False)]


def test_missing_hand_is_reported_without_a_revealed_seed() -> None:
    findings = check(promise(), hand(1), hand(3))
    assert outcomes(findings) == [(1, False), (1, None)]
    assert "hand 2: this hand is not in the record" in findings[0].message


def test_net_is_checked_by_the_check_of_the_room() -> None:
    def rule(hand: DealtHand) -> bool:
        if hand.net != 1:
            raise ValueError(f"found {hand.net}")
        return hand.done is not None

    def findings(*hands: DealtHand) -> list[RecordFinding]:
        lines = map(encode_entry, (promise(), *hands, seed(hands=len(hands))))
        return [*verify_record(lines, lambda room: PACKS[room], lambda _: NetCheck("are one", rule))]

    one = structs.replace(hand(1), done=("CHK",), seat=0)
    assert outcomes(findings(one, structs.replace(hand(2), net=2))) == [(3, False)]
    (bare,) = findings(one, hand(2))
    assert bare.is_proved is None
    assert "without moves in the record the nets are not checked of hands 2" in bare.message
    (kept,) = findings(one)
    assert kept.message == "kuhn table 1: the promise was kept, 1 hand is as the seed deals them; the nets are one"


@pytest.mark.parametrize("number", [0, 2, 100])
def test_hand_that_was_never_dealt_is_reported(number: int) -> None:
    assert outcomes(check(promise(), hand(1), DealtHand("kuhn", 1, number, ["J", "Q"], 1), seed(hands=1))) == [
        (3, False)
    ]


@pytest.mark.parametrize("number", [-1, -(2**63), 2**64])
def test_hand_with_an_impossible_number_is_reported(number: int) -> None:
    assert outcomes(check(promise(), hand(1), DealtHand("kuhn", 1, number, ["J", "Q"], 1), seed(hands=1))) == [
        (3, False)
    ]


GARBAGE = {
    "noise": b"\xff{",
    "half a line": b'{"deal":"hand","room":"kuhn"',
    "another object": b'{"deal":"bid"}',
    "a list": b"[]",
    "missing fields": b'{"deal":"hand","room":"kuhn"}',
    "a card that is a number": b'{"deal":"hand","room":"kuhn","table":1,"hand":1,"cards":[1],"net":0}',
    "no UTF-8": b'{"deal":"hand","room":"\xff"}',
    "much too deep": b'{"x":' + b"[" * 100_000,
    "a number without end": b'{"deal":"seed","hands":' + b"9" * 6000 + b"}",
}


@pytest.mark.parametrize("line", GARBAGE.values(), ids=GARBAGE)
def test_invalid_line_is_reported_and_the_rest_is_checked(line: bytes) -> None:
    findings = check(promise(), line, hand(1), hand(2), seed())
    assert outcomes(findings) == [(2, False), (5, True)]
    assert "allowed: promise, hand, seed" in findings[0].message


@given(
    st.lists(
        st.one_of(st.binary(max_size=40), st.sampled_from([encode_entry(e) for e in (promise(), hand(1), seed())]))
    )
)
def test_no_record_raises_an_exception(lines: list[bytes]) -> None:
    for finding in check(*lines):
        assert 1 <= finding.line <= len(lines)
        assert finding.message


def test_blank_lines_are_skipped_and_counted() -> None:
    assert outcomes(check(b"\n", promise(), b"  ", hand(1), seed(hands=1))) == [(5, True)]


def test_hands_that_share_a_block_are_verified() -> None:
    dealer = SmallPackDealer(SEED, CLIENT_SEED)
    dealt = [[*deal_cards(dealer, number, PACKS["kuhn"], 2)] for number in range(1, 11)]
    hands = [DealtHand("kuhn", 1, number, cards, 1) for number, cards in enumerate(dealt, start=1)]
    start, end = promise(algorithm=SMALL_PACK_ALGORITHM), seed(hands=10)
    assert outcomes(check(start, *hands, end)) == [(12, True)]
    hands[8] = DealtHand("kuhn", 1, 9, dealt[8][::-1], 1)
    assert outcomes(check(start, *hands, end)) == [(10, False)]


def test_deal_cards_gives_the_cards_of_the_dealer() -> None:
    dealer = FairDealer(SEED, CLIENT_SEED)
    for number in range(1, 20):
        deck = dealer.next_deck(3)
        assert [PACKS["kuhn"].names[card] for card in deck] == [
            *deal_cards(FairDealer(SEED, CLIENT_SEED), number, PACKS["kuhn"], 3)
        ]
