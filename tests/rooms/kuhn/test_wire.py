"""Codec of Kuhn poker: section 2 of the protocol, clause by clause."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.errors import Violation
from croupier.rooms.kuhn.wire import DISC, TABLE, VOCABULARY, Actn, Card, Fail, Message, Strt, Wire
from tests.sampling import in_one_test

FRAMES = {
    b"STRT P_1": Strt("P_1"),
    b"STRT P_2": Strt("P_2"),
    b"ACTN CHK": Actn("CHK"),
    b"ACTN BET": Actn("BET"),
    b"ACTN CAL": Actn("CAL"),
    b"ACTN FLD": Actn("FLD"),
    b"CARD C_J": Card("J"),
    b"CARD C_Q": Card("Q"),
    b"CARD C_K": Card("K"),
    b"FAIL W_A": Fail("W_A"),
    b"FAIL N_C": Fail("N_C"),
    b"DISC": DISC,
}
frames = pytest.mark.parametrize(("frame", "message"), FRAMES.items(), ids=[frame.decode() for frame in FRAMES])
BLANKS = (b"\r", b"\n", b" ", b"\r\n", b" \n ")


def clauses(data: bytes, *, strict: bool = False) -> list[tuple[str, bool] | Message]:
    return [(v.clause, v.fatal) if isinstance(v, Violation) else v for v in Wire(strict=strict).feed(data)]


@frames
def test_a_message_is_four_letters_or_eight_bytes(frame: bytes, message: Message) -> None:
    """kuhn-2.1 and kuhn-2.2, in both directions."""
    assert Wire().encode(message) == frame
    assert list(Wire().feed(frame)) == [message]
    assert str(message) == frame.decode()
    assert len(frame) in {4, 8}


def test_there_are_no_other_messages() -> None:
    assert set(VOCABULARY) == set(FRAMES.values())
    described = {
        code: {data for field in frame.fields for data in field.values.values()} for code, frame in TABLE.frames.items()
    }
    assert described == {
        code: {frame[5:] for frame in FRAMES if frame[:4] == code and frame[5:]} for code in {f[:4] for f in FRAMES}
    }


@frames
@given(data=st.data())
def test_case_is_ignored(frame: bytes, message: Message, data: st.DataObject) -> None:
    """kuhn-2.3; it does not count as a tolerance."""
    upper = data.draw(st.lists(st.booleans(), min_size=len(frame), max_size=len(frame)))
    mixed = bytes(ord(chr(c).upper() if up else chr(c).lower()) for c, up in zip(frame, upper, strict=True))
    wire = Wire(strict=True)
    assert list(wire.feed(mixed)) == [message]
    assert not wire.tolerated


@in_one_test
@frames
@pytest.mark.parametrize("blank", BLANKS)
def test_whitespace_between_messages_is_tolerated(frame: bytes, message: Message, blank: bytes) -> None:
    """kuhn-2.4"""
    wire = Wire()
    assert list(wire.feed(blank + frame + blank + frame)) == [message, message]
    assert wire.tolerated == {"kuhn-2.4"}


@pytest.mark.parametrize("blank", BLANKS)
def test_strict_codec_refuses_whitespace(blank: bytes) -> None:
    assert clauses(blank + b"STRT P_1", strict=True) == [("kuhn-2.7", True)]


@pytest.mark.parametrize("blank", [b"\t", b"\x00", b"\x0b", b"\xa0"])
def test_only_listed_whitespace_is_ignored(blank: bytes) -> None:
    assert clauses(blank + b"STRT P_1") == [("kuhn-2.7", True)]


@pytest.mark.parametrize(("frame", "message"), [(f, m) for f, m in FRAMES.items() if len(f) == 8])
def test_quoted_argument_is_tolerated(frame: bytes, message: Message) -> None:
    """kuhn-2.5"""
    quoted = frame[:5] + b'"' + frame[5:] + b'"'
    wire = Wire()
    assert [item for byte in quoted + frame for item in wire.feed(bytes([byte]))] == [message, message]
    assert wire.tolerated == {"kuhn-2.5"}
    assert clauses(quoted, strict=True)[0] == ("kuhn-2.8" if frame[:4] == b"FAIL" else "kuhn-2.6", False)


@pytest.mark.parametrize("data", [b'STRT "P_1STRT', b'ACTN "BET ACTN', b'CARD "C_K""'[:9] + b"x"])
def test_unclosed_quote_is_fatal(data: bytes) -> None:
    assert clauses(data) == [("kuhn-2.7", True)]


@pytest.mark.parametrize(
    "data", [b"STRT P_3", b"ACTN CAR", b"CARD C_A", b"STRT CHK", b"ACTN C_K", b"CARD  C_", b"ACTN 123"]
)
def test_unknown_argument_is_a_non_fatal_violation(data: bytes) -> None:
    """kuhn-2.6: the conversation continues."""
    assert clauses(data + b"DISC") == [("kuhn-2.6", False), DISC]
    assert clauses(data.lower() + b"DISC", strict=True) == [("kuhn-2.6", False), DISC]


@pytest.mark.parametrize("data", [b"FAIL XYZ", b"fail p_1"])
def test_an_unknown_error_has_a_clause_of_its_own(data: bytes) -> None:
    assert clauses(data + b"DISC") == [("kuhn-2.8", False), DISC]


@pytest.mark.parametrize(
    "data", [b"HELO", b"STRTP", b"ACTN\n", b"CARD\tC_K", b"STR P_1 ", b"\xff\xff\xff\xff", b"QUIT", b"FAIL-"]
)
def test_unknown_frame_is_fatal(data: bytes) -> None:
    """kuhn-2.7"""
    assert clauses(data + b"DISC" + b"STRT P_1") == [("kuhn-2.7", True)]


def test_unknown_code_is_detected_after_four_bytes() -> None:
    wire = Wire()
    assert list(wire.feed(b"HEL")) == []
    assert [item.clause for item in wire.feed(b"O")] == ["kuhn-2.7"]


def test_missing_space_is_detected_at_its_position() -> None:
    wire = Wire()
    assert list(wire.feed(b"STRT")) == []
    assert [item.clause for item in wire.feed(b"P")] == ["kuhn-2.7"]


def test_violation_has_found_and_allowed() -> None:
    (violation,) = Wire().feed(b"ACTN RSE")
    assert str(violation) == "kuhn-2.6: found 'ACTN RSE'; allowed: ACTN with CHK, BET, CAL, FLD"


@given(st.binary(max_size=200))
def test_buffer_is_shorter_than_the_longest_message(data: bytes) -> None:
    """After any input, at most nine more bytes complete a message or a violation, or are whitespace."""
    wire = Wire()
    wire.feed(data)
    assert len(wire._buffer) < 10
