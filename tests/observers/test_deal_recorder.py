"""The dealer's record of random sessions is verified, and tampering is found."""

from io import BytesIO

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.core.deal_record import DealPromise, DealSeed, encode_entry, verify_record
from croupier.core.logger import SilentLogger
from croupier.core.room import HouseRoom
from croupier.core.session import Commit, Drop, Send, TimedOut
from croupier.core.transcript import Transcript, house_settings
from croupier.observers.deal_file import DealFile
from croupier.observers.deal_recorder import DealRecorder
from croupier.observers.line_writer import LineWriter
from croupier.rooms import HOUSE_ROOMS
from tests.properties.every_room import every_room
from tests.properties.random_session import RandomSession, Step, heads, run_session, steps
from tests.sampling import example_count

KUHN = HOUSE_ROOMS["kuhn"]


def recorder_to(file: BytesIO) -> DealRecorder:
    return DealRecorder("kuhn", DealFile(LineWriter(file), SilentLogger()), KUHN.dealt_cards, moves=KUHN.commands)


def client_steps(room: str, data: bytes) -> list[Step]:
    """Steps in which client 1 sends these bytes."""
    return [("says", 1, message) for message in HOUSE_ROOMS[room].codec(False, None).feed(data)]


FINISHED_GAMES = {
    "kuhn": client_steps("kuhn", b"STRT P_1ACTN BET"),
    "sevenhalf": client_steps("sevenhalf", b"STRTDRAWPASS"),
    "blackjack": client_steps("blackjack", b"PLYBET\0\0\0\x64SRD"),
}
"""A finished game in each room."""


def record_lines(session: RandomSession, room: HouseRoom = KUHN) -> list[bytes]:
    file = BytesIO()
    room_settings = house_settings(room, Transcript("test", "a test", (), session.head, ()))
    recorder = DealRecorder(
        room.name,
        DealFile(LineWriter(file), SilentLogger()),
        room.dealt_cards,
        room.deck_count(room_settings),
        room.commands,
    )
    for event, effects in session.facts:
        recorder(event, effects, 0.0)
    return file.getvalue().splitlines(keepends=True)


def verdicts(lines: list[bytes]) -> list[bool | None]:
    return [
        finding.is_proved
        for finding in verify_record(
            lines, lambda room: HOUSE_ROOMS[room].pack, lambda room: HOUSE_ROOMS[room].net_check
        )
    ]


@every_room
@settings(max_examples=example_count(30))
@given(data=st.data())
def test_record_of_a_random_session_keeps_every_promise(room: HouseRoom, data: st.DataObject) -> None:
    """The nets follow from the cards and the moves. Without any cards nothing is proved."""
    session = run_session(room, data.draw(heads(room)), data.draw(steps(room)))
    assert set(verdicts(record_lines(session, room))) <= ({True} if room is KUHN else {True, None})


@every_room
def test_wrong_net_is_found(room: HouseRoom) -> None:
    lines = record_lines(run_session(room, {"seed": "5"}, FINISHED_GAMES[room.name]), room)
    for number, line in enumerate(lines):
        hand = msgspec.json.decode(line)
        if hand["deal"] == "hand":
            for net in {*range(-201, 202)} - {hand["net"]}:
                forged = [*lines[:number], msgspec.json.encode({**hand, "net": net}) + b"\n", *lines[number + 1 :]]
                assert verdicts(forged) == [False], (hand, net)
            break
    else:
        pytest.fail("no hand was finished")


def test_tampered_record_is_found() -> None:
    start, bet = KUHN.sample_messages[0], KUHN.sample_messages[3]
    session = run_session(KUHN, {"seed": "5"}, [("says", 1, start), ("says", 1, bet)] * 10)
    lines = record_lines(session)
    assert len(lines) == 12
    for number in range(1, 11):
        hand = msgspec.json.decode(lines[number])
        hand["cards"].reverse()
        forged = [*lines[:number], msgspec.json.encode(hand) + b"\n", *lines[number + 1 :]]
        assert {*verdicts(forged)} == {False}


def test_record_of_scripted_decks_proves_nothing() -> None:
    session = run_session(KUHN, {"deck": "Q K J"}, [("says", 1, KUHN.sample_messages[0])])
    assert verdicts(record_lines(session)) == [None]


def test_hand_entry_has_cards_moves_and_net() -> None:
    start, bet = KUHN.sample_messages[0], KUHN.sample_messages[3]
    session = run_session(KUHN, {"deck": "Q K J", "house": "CAL"}, [("says", 3, start), ("says", 3, bet)])
    promise, hand, seed = (msgspec.json.decode(line) for line in record_lines(session))
    deal = {"deal": "hand", "room": "kuhn", "table": 3, "hand": 1, "cards": ["Q", "K"], "net": -2}
    assert hand == {**deal, "seat": 0, "done": ["BET", "CAL"]}
    assert (promise["deal"], promise["algorithm"], seed["deal"], seed["hands"]) == ("promise", "scripted", "seed", 1)


def test_lines_are_written_before_the_effects_are_performed() -> None:
    """Nothing may wait in a buffer of the process."""
    session = run_session(KUHN, {}, [("says", 1, KUHN.sample_messages[0])])
    file = BytesIO()
    recorder = recorder_to(file)
    for event, effects in session.facts:
        before = file.getvalue()
        recorder(event, effects, 0.0)
        assert (file.getvalue() != before) == any(type(e).__name__ in {"Commit", "Settle", "Reveal"} for e in effects)
    assert file.getvalue()


@pytest.mark.parametrize("effect", [Send(1, "x"), Drop(1)])
def test_other_effects_are_not_written(effect: Send[str] | Drop) -> None:
    file = BytesIO()
    recorder_to(file)(TimedOut(), [effect], 0.0)
    assert file.getvalue() == b""


def test_entries_round_trip() -> None:
    for entry in (DealPromise("kuhn", 1, "x", "00"), DealSeed("kuhn", 1, "00", "", 3)):
        assert msgspec.json.decode(encode_entry(entry), type=DealPromise | DealSeed) == entry


def test_promise_written_early_is_written_once() -> None:
    file = BytesIO()
    recorder = recorder_to(file)
    effects = [Commit(1, "croupier-fair-1", bytes(32))]
    assert recorder.write_promises(effects)
    assert file.getvalue().count(b"promise") == 1
    recorder(TimedOut(), effects, 0.0)
    assert file.getvalue().count(b"promise") == 1
    assert not recorder.write_promises([Send(1, "x")])


class FullDisk(BytesIO):
    def write(self, data: object) -> int:
        raise OSError(28, "No space left on device")


def test_error_of_an_early_promise_is_raised_with_its_effects() -> None:
    recorder = recorder_to(FullDisk())
    effects = [Commit(7, "croupier-fair-1", bytes(32))]
    assert recorder.write_promises(effects)
    with pytest.raises(OSError, match="nothing about kuhn table 7 will be in the dealer's record"):
        recorder(TimedOut(), effects, 0.0)
    recorder(TimedOut(), [], 0.0)
