"""The dealer's record, written from a real evening and checked by whoever reads it."""

from io import BytesIO

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.core.deal_record import DealPromise, DealSeed, encode_entry, verify_record
from croupier.core.room import HouseRoom
from croupier.core.session import Commit, Drop, Send, TimedOut
from croupier.core.transcript import Transcript, house_settings
from croupier.logs import silent_logger
from croupier.observers.deal_file import DealFile
from croupier.observers.deal_recorder import DealRecorder
from croupier.observers.line_writer import LineWriter
from croupier.rooms import HOUSE_ROOMS
from tests.properties.every_room import every_room
from tests.properties.random_session import Evening, Step, evening, heads, steps

KUHN = HOUSE_ROOMS["kuhn"]


def deals_in(file: BytesIO) -> DealRecorder:
    return DealRecorder("kuhn", DealFile(LineWriter(file), silent_logger()), KUHN.dealt_cards, moves=KUHN.commands)


def said(room: str, data: bytes) -> list[Step]:
    """A guest says this."""
    return [("says", 1, message) for message in HOUSE_ROOMS[room].codec(False, None).feed(data)]


PLAYED = {
    "kuhn": said("kuhn", b"STRT P_1ACTN BET"),
    "sevenhalf": said("sevenhalf", b"STRTDRAWPASS"),
    "blackjack": said("blackjack", b"PLYBET\0\0\0\x64SRD"),
}
"""A game that is over in each room."""


def written(night: Evening, room: HouseRoom = KUHN) -> list[bytes]:
    file = BytesIO()
    own = house_settings(room, Transcript("law", "a law", (), night.head, ()))
    deals = DealRecorder(
        room.name, DealFile(LineWriter(file), silent_logger()), room.dealt_cards, room.deck_count(own), room.commands
    )
    for event, effects in night.facts:
        deals(event, effects, 0.0)
    return file.getvalue().splitlines(keepends=True)


def verdicts(lines: list[bytes]) -> list[bool | None]:
    return [
        finding.is_proved
        for finding in verify_record(
            lines, lambda room: HOUSE_ROOMS[room].pack, lambda room: HOUSE_ROOMS[room].net_check
        )
    ]


@every_room
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_every_evening_leaves_a_record_that_keeps_every_promise(room: HouseRoom, data: st.DataObject) -> None:
    """And whose nets follow from the cards and the moves; where no card is shown nothing is proved."""
    night = evening(room, data.draw(heads(room)), data.draw(steps(room)))
    assert set(verdicts(written(night, room))) <= ({True} if room is KUHN else {True, None})


@every_room
def test_a_net_that_is_not_what_the_cards_and_moves_give_is_found(room: HouseRoom) -> None:
    lines = written(evening(room, {"seed": "5"}, PLAYED[room.name]), room)
    for number, line in enumerate(lines):
        hand = msgspec.json.decode(line)
        if hand["deal"] == "hand":
            for net in {*range(-201, 202)} - {hand["net"]}:
                forged = [*lines[:number], msgspec.json.encode({**hand, "net": net}) + b"\n", *lines[number + 1 :]]
                assert verdicts(forged) == [False], (hand, net)
            break
    else:
        pytest.fail("no hand was over")


def test_a_record_that_was_tampered_with_is_found_out() -> None:
    start, bet = KUHN.sample_messages[0], KUHN.sample_messages[3]
    night = evening(KUHN, {"seed": "5"}, [("says", 1, start), ("says", 1, bet)] * 10)
    lines = written(night)
    assert len(lines) == 12
    for number in range(1, 11):
        hand = msgspec.json.decode(lines[number])
        hand["cards"].reverse()
        forged = [*lines[:number], msgspec.json.encode(hand) + b"\n", *lines[number + 1 :]]
        assert {*verdicts(forged)} == {False}


def test_the_record_of_decks_laid_out_by_hand_promises_nothing() -> None:
    night = evening(KUHN, {"deck": "Q K J"}, [("says", 1, KUHN.sample_messages[0])])
    assert verdicts(written(night)) == [None]


def test_a_hand_is_told_with_its_cards_and_what_it_brought() -> None:
    start, bet = KUHN.sample_messages[0], KUHN.sample_messages[3]
    night = evening(KUHN, {"deck": "Q K J", "house": "CAL"}, [("says", 3, start), ("says", 3, bet)])
    promise, hand, seed = (msgspec.json.decode(line) for line in written(night))
    deal = {"deal": "hand", "room": "kuhn", "table": 3, "hand": 1, "cards": ["Q", "K"], "net": -2}
    assert hand == {**deal, "seat": 0, "done": ["BET", "CAL"]}
    assert (promise["deal"], promise["algorithm"], seed["deal"], seed["hands"]) == ("promise", "scripted", "seed", 1)


def test_every_line_is_in_the_file_when_the_effects_are_performed() -> None:
    """Write-ahead: nothing may wait in a buffer of our own."""
    night = evening(KUHN, {}, [("says", 1, KUHN.sample_messages[0])])
    file = BytesIO()
    deals = deals_in(file)
    for event, effects in night.facts:
        before = file.getvalue()
        deals(event, effects, 0.0)
        assert (file.getvalue() != before) == any(type(e).__name__ in {"Commit", "Settle", "Reveal"} for e in effects)
    assert file.getvalue()


@pytest.mark.parametrize("effect", [Send(1, "x"), Drop(1)])
def test_what_is_no_deal_is_not_written(effect: Send[str] | Drop) -> None:
    file = BytesIO()
    deals_in(file)(TimedOut(), [effect], 0.0)
    assert file.getvalue() == b""


def test_entries_come_back_as_they_were_written() -> None:
    for entry in (DealPromise("kuhn", 1, "x", "00"), DealSeed("kuhn", 1, "00", "", 3)):
        assert msgspec.json.decode(encode_entry(entry), type=DealPromise | DealSeed) == entry


def test_a_promise_that_was_written_before_its_effects_are_heard_is_written_once() -> None:
    file = BytesIO()
    deals = deals_in(file)
    effects = [Commit(1, "croupier-fair-1", bytes(32))]
    assert deals.write_promises(effects)
    assert file.getvalue().count(b"promise") == 1
    deals(TimedOut(), effects, 0.0)
    assert file.getvalue().count(b"promise") == 1
    assert not deals.write_promises([Send(1, "x")])


class Full(BytesIO):
    def write(self, data: object) -> int:
        raise OSError(28, "No space left on device")


def test_a_promise_that_could_not_be_written_early_is_a_failure_when_its_effects_are_heard() -> None:
    deals = deals_in(Full())
    effects = [Commit(7, "croupier-fair-1", bytes(32))]
    assert deals.write_promises(effects)
    with pytest.raises(OSError, match="nothing about kuhn table 7 will be in the dealer's record"):
        deals(TimedOut(), effects, 0.0)
    deals(TimedOut(), [], 0.0)
