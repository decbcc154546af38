"""Codec of blackjack: section 2 of the protocol, clause by clause."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.errors import Violation
from croupier.rooms.blackjack import ROOM, Options, Settings
from croupier.rooms.blackjack.rules import CARDS
from croupier.rooms.blackjack.wire import (
    LISTED_MESSAGES,
    PLY,
    SRD,
    STP,
    TRN,
    VOCABULARY,
    Bet,
    Crd,
    Dialect,
    Err,
    Message,
    Mon,
    Mov,
    Res,
    TenSpelling,
    Wire,
)
from tests.sampling import in_one_test

FRAMES = {
    "50 4c 59": PLY,
    "53 52 44": SRD,
    "53 54 50": STP,
    "54 52 4e": TRN,
    "42 45 54 00 00 01 2c": Bet(300),
    "42 45 54 ff ff ff fb": Bet(-5),
    "4d 4f 56 00 48": Mov("H"),
    "4d 4f 56 00 53": Mov("S"),
    "4d 4f 4e 00 00 03 e8": Mon(1000),
    "4d 4f 4e 7f ff ff ff": Mon(2147483647),
    "43 52 44 00 43 00 32 00 44": Crd("C", "2D"),
    "43 52 44 00 53 00 54 00 43": Crd("S", "TC"),
    "52 45 53 00 57 00 00 02 58": Res("W", 600),
    "52 45 53 00 4c 00 00 00 00": Res("L", 0),
    "45 52 52 00 00 01 2c": Err(300),
    "45 52 52 00 00 01 f6": Err(502),
}
CHAR8 = {
    "4d 4f 56 48": Mov("H"),
    "43 52 44 43 32 44": Crd("C", "2D"),
    "43 52 44 53 54 43": Crd("S", "TC"),
    "52 45 53 57 00 00 02 58": Res("W", 600),
    "42 45 54 00 00 01 2c": Bet(300),
    "50 4c 59": PLY,
}
LENGTHS = {"PLY": 3, "STP": 3, "BET": 7, "MOV": 5, "SRD": 3, "CRD": 9, "MON": 7, "TRN": 3, "RES": 9, "ERR": 7}
TENS = {"X": b"\0X", "10": b"\0\x0a", "digits": b"\x31\x30"}
HEADERS = [header.encode() for header in LENGTHS]

numbers = st.integers(-(2**31), 2**31 - 1)
messages = st.one_of(
    st.sampled_from(LISTED_MESSAGES),
    numbers.map(Bet),
    numbers.map(Mon),
    st.builds(Res, st.sampled_from("WL"), numbers),
)


def clauses(data: bytes, *, strict: bool = False, dialect: Dialect = "document") -> list[tuple[str, bool] | Message]:
    found = Wire(strict=strict, dialect=dialect).feed(data)
    return [(item.clause, item.fatal) if isinstance(item, Violation) else item for item in found]


@pytest.mark.parametrize(("written", "message"), FRAMES.items(), ids=map(str, FRAMES.values()))
def test_a_frame_is_its_header_and_fields_of_fixed_size(written: str, message: Message) -> None:
    """blackjack-2.1 to blackjack-2.4, in both directions."""
    frame = bytes.fromhex(written)
    assert Wire().encode(message) == frame
    assert list(Wire(strict=True).feed(frame)) == [message]


@pytest.mark.parametrize(("written", "message"), CHAR8.items(), ids=map(str, CHAR8.values()))
def test_in_the_dialect_char8_a_character_is_one_byte(written: str, message: Message) -> None:
    """blackjack-2.8"""
    frame = bytes.fromhex(written)
    assert Wire(dialect="char8").encode(message) == frame
    assert list(Wire(strict=True, dialect="char8").feed(frame)) == [message]


@in_one_test
@pytest.mark.parametrize("message", VOCABULARY, ids=str)
def test_frame_length_depends_on_the_header_only(message: Message) -> None:
    frame = Wire().encode(message)
    assert len(frame) == LENGTHS[frame[:3].decode()]
    assert str(message)[:3] == frame[:3].decode()


def test_all_headers_and_all_cards_are_known() -> None:
    assert {str(message)[:3] for message in VOCABULARY} == set(LENGTHS)
    assert {message.card for message in LISTED_MESSAGES if isinstance(message, Crd)} == set(CARDS)
    assert len(LISTED_MESSAGES) == 4 + 2 + 2 * 52 + 5


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (Crd("C", "8S"), "CRD C 8S"),
        (Res("W", 600), "RES W 600"),
        (Mov("H"), "MOV H"),
        (Bet(10), "BET 10"),
        (STP, "STP"),
    ],
)
def test_message_text(message: Message, expected: str) -> None:
    assert str(message) == expected


@given(
    st.lists(messages, max_size=10), st.sampled_from(["document", "char8"]), st.lists(st.integers(1, 12), min_size=1)
)
def test_parsing_is_independent_of_chunking(sent: list[Message], dialect: Dialect, sizes: list[int]) -> None:
    ours, theirs = Wire(dialect=dialect), Wire(strict=True, dialect=dialect)
    data, found = b"".join(map(ours.encode, sent)), []
    for size in sizes * (len(data) + 1):
        found += theirs.feed(data[:size])
        data = data[size:]
    assert found == sent
    assert not theirs.tolerated


@given(numbers, st.sampled_from([b"BET", b"MON", b"RES\0W"]))
def test_number_bytes_are_not_parsed_as_text(number: int, head: bytes) -> None:
    """blackjack-2.3"""
    (message,) = Wire(strict=True).feed(head + number.to_bytes(4, signed=True))
    assert message.coins == number


@pytest.mark.parametrize("header", HEADERS)
def test_a_number_may_look_like_a_frame(header: bytes) -> None:
    assert clauses(b"BET\0" + header + b"BET" + header + b"\0PLY") == [
        Bet(int.from_bytes(b"\0" + header)),
        Bet(int.from_bytes(header + b"\0")),
        PLY,
    ]


@pytest.mark.parametrize(("ten", "encoded"), TENS.items())
@pytest.mark.parametrize("owner", ["C", "S"])
@pytest.mark.parametrize("suit", "HDSC")
def test_ten_is_accepted_in_four_forms_and_three_are_tolerated(
    ten: TenSpelling, encoded: bytes, owner: str, suit: str
) -> None:
    """blackjack-2.7"""
    frame = b"CRD\0" + owner.encode() + encoded + b"\0" + suit.encode()
    wire = Wire()
    assert [item for byte in frame + b"TRN" for item in wire.feed(bytes([byte]))] == [Crd(owner, "T" + suit), TRN]
    assert wire.tolerated == {"blackjack-2.7"}
    assert clauses(frame + b"TRN", strict=True) == [("blackjack-2.7", False), TRN]
    assert Wire(ten=ten).encode(Crd(owner, "T" + suit)) == frame


@pytest.mark.parametrize(("ten", "encoded"), [("X", b"X"), ("10", b"\x0a")])
def test_two_spellings_of_the_ten_fit_into_one_byte(ten: TenSpelling, encoded: bytes) -> None:
    frame = b"CRDC" + encoded + b"S"
    wire = Wire(dialect="char8")
    assert list(wire.feed(frame)) == [Crd("C", "TS")]
    assert wire.tolerated == {"blackjack-2.7"}
    assert Wire(dialect="char8", ten=ten).encode(Crd("C", "TS")) == frame


@pytest.mark.parametrize(
    ("dialect", "frame", "found"),
    [
        ("document", b"CRD\0C\0\n\0S", "U+000A"),
        ("document", b"CRD\0C10\0S", "U+3130"),
        ("char8", b"CRDSXH", "U+0058"),
    ],
)
def test_a_strict_wire_names_the_character_sent_for_the_ten(dialect: Dialect, frame: bytes, found: str) -> None:
    (violation,) = Wire(dialect=dialect, strict=True).feed(frame)
    assert isinstance(violation, Violation)
    assert (violation.found, violation.allowed) == (f"the ten as {found}", "the ten as T")


def test_ten_spelling_affects_only_tens() -> None:
    for ten, message in product(("X", "10", "digits"), VOCABULARY):
        same = Wire(ten=ten).encode(message) == Wire().encode(message)
        assert same == (not (isinstance(message, Crd) and message.card[0] == "T"))


def test_a_house_writes_as_it_is_set_and_a_client_in_its_dialect() -> None:
    ten = Crd("C", "TS")
    assert ROOM.codec(False, Settings(ten="digits")).encode(ten) == b"CRD\0C10\0S"
    assert ROOM.codec(False, Settings(dialect="char8", ten="X")).encode(ten) == b"CRDCXS"
    assert ROOM.codec(False, Options(dialect="char8")).encode(Mov("H")) == b"MOVH"
    assert ROOM.codec(False, None).encode(Mov("H")) == b"MOV\0H"


STRANGE = {
    b"MOV\0X": "blackjack-2.11",
    b"MOV\0h": "blackjack-2.11",
    b"MOV\x48\0": "blackjack-2.11",
    b"MOV\1H": "blackjack-2.11",
    b"CRD\0X\x008\0S": "blackjack-2.9",
    b"CRD\0C\x001\0S": "blackjack-2.9",
    b"CRD\0C\x004\0A": "blackjack-2.9",
    b"CRD\0C\0T\0s": "blackjack-2.9",
    b"CRDC10S\0\0": "blackjack-2.9",
    b"RES\0D\0\0\0\0": "blackjack-2.9",
    b"RES\0w\0\0\0\0": "blackjack-2.9",
    b"ERR\0\0\0\0": "blackjack-2.12",
    b"ERR\0\0\1\x94": "blackjack-2.12",
    b"ERR 300": "blackjack-2.12",
}
STRANGE_CHAR8 = {
    b"MOVX": "blackjack-2.11",
    b"CRDX8S": "blackjack-2.9",
    b"CRDC1S": "blackjack-2.9",
    b"CRD\0C8": "blackjack-2.9",
    b"RESD\0\0\0\0": "blackjack-2.9",
    b"ERR\0\0\0\0": "blackjack-2.12",
}


@in_one_test
@pytest.mark.parametrize(("frame", "clause"), STRANGE.items())
@pytest.mark.parametrize("strict", [False, True])
def test_unknown_field_is_a_non_fatal_violation(frame: bytes, clause: str, strict: bool) -> None:
    """The conversation continues."""
    assert clauses(frame + b"STP", strict=strict) == [(clause, False), STP]


@pytest.mark.parametrize(("frame", "clause"), STRANGE_CHAR8.items())
def test_an_unknown_field_of_the_dialect_char8_is_shorter(frame: bytes, clause: str) -> None:
    assert clauses(frame + b"STP", dialect="char8") == [(clause, False), STP]


@pytest.mark.parametrize(
    "data",
    [b"HIT", b"ply", b"Ply", b"PL Y", b"\0\0\0", b"\xff\xff\xff", b"\r\nPLY", b" PLY", b"\nPLY", b"GET / HTTP/1.1"],
)
def test_unknown_header_is_fatal(data: bytes) -> None:
    """blackjack-2.10, blackjack-2.5"""
    assert clauses(data + b"PLY" + b"STP") == [("blackjack-2.10", True)]
    assert clauses(b"PLY" + data + b"STP", strict=True) == [PLY, ("blackjack-2.10", True)]


def test_unknown_header_is_detected_after_three_bytes() -> None:
    wire = Wire()
    assert list(wire.feed(b"HI")) == []
    assert [item.clause for item in wire.feed(b"T")] == ["blackjack-2.10"]
    assert list(wire.feed(b"PLY")) == []


def test_violation_has_found_and_allowed() -> None:
    found = [str(item) for item in Wire().feed(b"MOV\0XHIT")]
    assert found[0] == "blackjack-2.11: found 'MOV\\x00X'; allowed: MOV with H or S"
    assert found[1].startswith("blackjack-2.10: found 'HIT'; allowed: one of the headers PLY, BET, ")


@given(st.binary(max_size=200), st.sampled_from(["document", "char8"]))
def test_buffer_is_shorter_than_the_longest_frame(data: bytes, dialect: Dialect) -> None:
    wire = Wire(dialect=dialect)
    wire.feed(data)
    assert len(wire._buffer) < 9


def test_codecs_share_their_tables() -> None:
    """A connection only stores its own state."""
    one, other = Wire(), Wire(strict=True)
    assert one._table is other._table
    assert one.encode.__self__ is other.encode.__self__
