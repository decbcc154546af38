"""The dealer's record, written from a real evening and checked by whoever reads it."""

from io import BytesIO

import msgspec
import pytest
from hypothesis import given, settings

from croupier.core.record import Promise, Seed, encode, verify
from croupier.core.talk import Drop, Rang, Say
from croupier.rooms import HOUSES
from croupier.taps.deals import Deals
from tests.laws.evening import Evening, Step, evening, heads, steps

KUHN = HOUSES["kuhn"]


def written(night: Evening) -> list[bytes]:
    file = BytesIO()
    deals = Deals("kuhn", file, KUHN.dealt)
    for event, effects in night.facts:
        deals(event, effects, 0.0)
    return file.getvalue().splitlines(keepends=True)


def verdicts(lines: list[bytes]) -> list[bool | None]:
    return [finding.good for finding in verify(lines, lambda room: HOUSES[room].pack)]


@settings(deadline=None)
@given(heads(KUHN), steps(KUHN))
def test_every_evening_leaves_a_record_that_keeps_every_promise(head: dict[str, str], happening: list[Step]) -> None:
    night = evening(KUHN, head, happening)
    assert verdicts(written(night)) == [True] * len(night.guests)


def test_a_record_that_was_tampered_with_is_found_out() -> None:
    start, bet = KUHN.vocabulary[0], KUHN.vocabulary[3]
    night = evening(KUHN, {"seed": "5"}, [("says", 1, start), ("says", 1, bet)] * 10)
    lines = written(night)
    assert len(lines) == 12
    for number in range(1, 11):
        hand = msgspec.json.decode(lines[number])
        hand["cards"].reverse()
        forged = [*lines[:number], msgspec.json.encode(hand) + b"\n", *lines[number + 1 :]]
        assert verdicts(forged) == [False]


def test_the_record_of_decks_laid_out_by_hand_promises_nothing() -> None:
    night = evening(KUHN, {"deck": "Q K J"}, [("says", 1, KUHN.vocabulary[0])])
    assert verdicts(written(night)) == [None]


def test_a_hand_is_told_with_its_cards_and_what_it_brought() -> None:
    start, bet = KUHN.vocabulary[0], KUHN.vocabulary[3]
    night = evening(KUHN, {"deck": "Q K J", "house": "CAL"}, [("says", 3, start), ("says", 3, bet)])
    promise, hand, seed = (msgspec.json.decode(line) for line in written(night))
    assert hand == {"deal": "hand", "room": "kuhn", "table": 3, "hand": 1, "cards": ["Q", "K"], "net": -2}
    assert (promise["deal"], promise["algorithm"], seed["deal"], seed["hands"]) == ("promise", "scripted", "seed", 1)


def test_every_line_is_in_the_file_when_the_effects_are_performed() -> None:
    """Write-ahead: nothing may wait in a buffer of our own."""
    flushed = []

    class File(BytesIO):
        def flush(self) -> None:
            flushed.append(self.getvalue())

    night = evening(KUHN, {}, [("says", 1, KUHN.vocabulary[0])])
    file = File()
    deals = Deals("kuhn", file, KUHN.dealt)
    for event, effects in night.facts:
        deals(event, effects, 0.0)
        assert not file.getvalue() or flushed[-1] == file.getvalue()
    assert flushed


@pytest.mark.parametrize("effect", [Say(1, "x"), Drop(1)])
def test_what_is_no_deal_is_not_written(effect: Say[str] | Drop) -> None:
    file = BytesIO()
    Deals("kuhn", file, KUHN.dealt)(Rang(), [effect], 0.0)
    assert file.getvalue() == b""


def test_entries_come_back_as_they_were_written() -> None:
    for entry in (Promise("kuhn", 1, "x", "00"), Seed("kuhn", 1, "00", "", 3)):
        assert msgspec.json.decode(encode(entry), type=Promise | Seed) == entry
