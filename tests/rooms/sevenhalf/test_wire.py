"""Codec of seven and a half: section 2 of the protocol, clause by clause."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.errors import Violation
from croupier.rooms.sevenhalf.wire import (
    BSTG,
    CARD,
    DRAW,
    PASS,
    STRT,
    UNREADABLE,
    VOCABULARY,
    Ante,
    Bksc,
    Erro,
    Gain,
    Message,
    Stbt,
    Wire,
)
from tests.sampling import in_one_test

LOW, HIGH = -(2**31), 2**31 - 1

HEX: dict[str, Message] = {
    "53 54 52 54": STRT,
    "44 52 41 57": DRAW,
    "50 41 53 53": PASS,
    "42 53 54 47": BSTG,
    "53 54 42 54 20 00 00 00 64": Stbt(100),
    "53 54 42 54 20 00 00 00 0a": Stbt(10),
    "53 54 42 54 20 3f ff ff ff": Stbt(2**30 - 1),
    "41 4e 54 45 20 00 00 00 01": Ante(1),
    "41 4e 54 45 20 0d 0d 0a 0a": Ante(218958346),
    "41 4e 54 45 20 20 20 20 20": Ante(538976288),
    "41 4e 54 45 20 ff ff ff ff": Ante(-1),
    "47 41 49 4e 20 ff ff ff 9c": Gain(-100),
    "47 41 49 4e 20 00 00 00 00": Gain(0),
    "47 41 49 4e 20 00 00 00 c8": Gain(200),
    "47 41 49 4e 20 7f ff ff ff": Gain(HIGH),
    "47 41 49 4e 20 80 00 00 00": Gain(LOW),
    "43 41 52 44 20 37 6f": CARD["7o"],
    "43 41 52 44 20 73 65": CARD["se"],
    "43 41 52 44 20 63 63": CARD["cc"],
    "43 41 52 44 20 72 62": CARD["rb"],
    "42 4b 53 43 20 00 00 00 00 20 30 30 2e 30": Bksc((), "00.0"),
    "42 4b 53 43 20 00 00 00 01 32 6f 20 30 32 2e 30": Bksc(("2o",), "02.0"),
    "42 4b 53 43 20 00 00 00 02 37 63 63 63 20 30 37 2e 35": Bksc(("7c", "cc"), "07.5"),
    "42 4b 53 43 20 00 00 00 03 36 63 31 6f 34 63 20 31 31 2e 30": Bksc(("6c", "1o", "4c"), "11.0"),
    "45 52 52 4f 20 30 30": Erro(""),
    "45 52 52 4f 20 31 32 53 79 6e 74 61 78 20 65 72 72 6f 72": Erro("Syntax error"),
    "45 52 52 4f 20 30 39 44 69 76 20 65 72 72 6f 72": Erro("Div error"),
    "45 52 52 4f 20 30 33 00 ff 0a": Erro("\x00\xff\n"),
}
"""Written by hand from the protocol and the document's examples."""

frames = pytest.mark.parametrize(
    ("frame", "message"), [pytest.param(bytes.fromhex(frame), message, id=frame) for frame, message in HEX.items()]
)
strictness = pytest.mark.parametrize("strict", [False, True], ids=["tolerant", "strict"])

BLANKS = (b"\r", b"\n", b" ", b"\r\n", b" \n ")


def items(data: bytes, *, strict: bool = False) -> list[tuple[str, bool] | Message]:
    return [(v.clause, v.fatal) if isinstance(v, Violation) else v for v in Wire(strict=strict).feed(data)]


LOST = ("sevenhalf-2.9", True)
BAD_CARD = ("sevenhalf-2.4", False)
BAD_SCORE = ("sevenhalf-2.5", False)
"""Messages of the house with an invalid argument: parsing goes on (sevenhalf-6.5)."""


def detection_length(data: bytes, as_what: tuple[str, bool] = LOST) -> int:
    """The number of bytes after which a codec detects an invalid message."""
    wire = Wire()
    for count, byte in enumerate(data, start=1):
        for item in wire.feed(bytes([byte])):
            assert isinstance(item, Violation)
            assert (item.clause, item.fatal) == as_what
            return count
    raise AssertionError(f"{data!r} can be read")


@in_one_test
@frames
@strictness
def test_a_message_is_these_bytes_both_ways(frame: bytes, message: Message, strict: bool) -> None:
    """sevenhalf-2.2 to 2.6"""
    wire = Wire(strict=strict)
    assert wire.encode(message) == frame
    assert list(wire.feed(frame)) == [message]
    assert not wire.tolerated


@in_one_test
@frames
@strictness
def test_a_message_can_be_cut_at_every_byte(frame: bytes, message: Message, strict: bool) -> None:
    for at in range(1, len(frame)):
        wire = Wire(strict=strict)
        assert list(wire.feed(frame[:at])) == []
        assert list(wire.feed(frame[at:])) == [message]
    wire = Wire(strict=strict)
    assert [item for byte in frame * 2 for item in wire.feed(bytes([byte]))] == [message, message]
    assert not wire.tolerated


@in_one_test
@frames
@strictness
def test_parser_stops_at_the_end_of_a_message(frame: bytes, message: Message, strict: bool) -> None:
    """sevenhalf-1.3: following bytes do not change the message."""
    for behind, follower in ((bytes.fromhex(other), after) for other, after in HEX.items()):
        assert items(frame + behind, strict=strict) == [message, follower]
        assert items(frame + behind[:-1], strict=strict) == [message]


def test_the_vocabulary_has_messages_of_every_kind() -> None:
    assert {type(message) for message in VOCABULARY} == {type(message) for message in HEX.values()}
    assert {*VOCABULARY} >= {STRT, DRAW, PASS, BSTG, Bksc(("7c", "cc"), "07.5"), UNREADABLE}


@in_one_test
@frames
def test_the_lengths_are_those_of_the_table(frame: bytes, message: Message) -> None:
    match message:
        case Ante() | Stbt() | Gain():
            assert len(frame) == 9
        case Bksc(cards):
            assert len(frame) == 14 + 2 * len(cards)
        case Erro(text):
            assert len(frame) == 7 + len(text)
        case _:
            assert len(frame) == (7 if frame.startswith(b"CARD") else 4)


# Numbers.

WHITE = (0x0A, 0x0D, 0x20)

LOOKALIKES = sorted(
    {bytes([a, b, c, d]) for at in range(4) for white in WHITE for a, b, c, d in [[7] * at + [white] + [7] * (3 - at)]}
    | {bytes([white]) * 4 for white in WHITE}
    | {b"\r\n\r\n", b"STRT", b"DRAW", b"ERRO", b"\0\0\0\n", b"\0\r\n ", b" 100", b"\xff\n\r ", b"\n\0\0\0"}
)


@in_one_test
@pytest.mark.parametrize("four", LOOKALIKES, ids=[four.hex() for four in LOOKALIKES])
@pytest.mark.parametrize("code", [b"ANTE", b"STBT", b"GAIN"])
@strictness
def test_number_bytes_are_not_parsed_as_text(code: bytes, four: bytes, strict: bool) -> None:
    """sevenhalf-2.3: with a message after it, cut at every byte, and without a recorded tolerance."""
    kind = {b"ANTE": Ante, b"STBT": Stbt, b"GAIN": Gain}[code]
    message = kind(int.from_bytes(four, "big", signed=True))
    data = code + b" " + four + b"DRAW"
    for at in range(len(data) + 1):
        wire = Wire(strict=strict)
        assert [*wire.feed(data[:at]), *wire.feed(data[at:])] == [message, DRAW]
        assert not wire.tolerated


@given(st.integers(LOW, HIGH), st.integers(0, 9), st.booleans())
def test_every_number_is_four_bytes_with_the_most_significant_first(coins: int, at: int, strict: bool) -> None:
    four = bytes((coins >> shift) % 256 for shift in (24, 16, 8, 0))
    for code, kind in ((b"ANTE ", Ante), (b"STBT ", Stbt), (b"GAIN ", Gain)):
        assert Wire.encode(kind(coins)) == code + four
        wire = Wire(strict=strict)
        assert [*wire.feed((code + four)[:at]), *wire.feed((code + four)[at:])] == [kind(coins)]


@pytest.mark.parametrize("coins", [LOW, LOW + 1, -256, -1, 0, 1, 255, 256, 2**30 - 1, 2**30, HIGH])
def test_a_number_reaches_from_one_bound_to_the_other(coins: int) -> None:
    for kind in (Ante, Stbt, Gain):
        assert items(Wire.encode(kind(coins))) == [kind(coins)]


# Cards.

ALL_CARDS = [rank + suit for rank in "1234567scr" for suit in "oceb"]


def test_the_forty_cards_are_the_ones_there_are() -> None:
    """sevenhalf-2.4, 2.9 and 3.1: every other pair of bytes is invalid and has the same length."""
    known = {both for card in ALL_CARDS for both in (card, card.upper(), card.title(), card[0] + card[1].upper())}
    assert len(ALL_CARDS) == len(CARD) == 40
    for first in range(256):
        for second in range(256):
            pair = bytes([first, second])
            expected = CARD[pair.decode().lower()] if pair.decode("latin-1") in known else BAD_CARD
            assert items(b"CARD " + pair + b"DRAW") == [expected, DRAW]


@pytest.mark.parametrize("count", [0, 1, 2, 13, 14, 39, 40])
@strictness
def test_a_bksc_holds_from_none_to_forty_cards(count: int, strict: bool) -> None:
    data = b"BKSC " + bytes([0, 0, 0, count]) + "".join(ALL_CARDS[:count]).encode() + b" 99.5"
    expected = Bksc(tuple(ALL_CARDS[:count]), "99.5")
    for at in range(len(data) + 1):
        wire = Wire(strict=strict)
        assert [*wire.feed(data[:at]), *wire.feed(data[at:])] == [expected]
    assert Wire.encode(expected) == data


@pytest.mark.parametrize("count", ["00000029", "ffffffff", "80000000", "7fffffff", "02000000", "00010000", "32376363"])
def test_invalid_count_is_detected_when_complete(count: str) -> None:
    data = b"BKSC " + bytes.fromhex(count)
    assert detection_length(data + b"7c" * 50) == len(data)


def test_a_count_is_ten_where_ten_cards_follow() -> None:
    """The count is binary: 10 is a line feed, 13 a carriage return and 32 a space."""
    for count in (10, 13, 32):
        data = b"BKSC \0\0\0" + bytes([count]) + "".join(ALL_CARDS[:count]).encode() + b" 40.0"
        assert items(data + b"STRT") == [Bksc(tuple(ALL_CARDS[:count]), "40.0"), STRT]


def test_codec_accepts_repeated_cards() -> None:
    assert items(b"BKSC \0\0\0\2" + b"7c7c 14.0") == [Bksc(("7c", "7c"), "14.0")]


@pytest.mark.parametrize("at", range(3))
def test_invalid_bank_card_is_detected_when_the_message_is_complete(at: int) -> None:
    cards = [b"7c", b"cc", b"1o"]
    cards[at] = b"8o"
    data = b"BKSC \0\0\0\3" + b"".join(cards) + b" 08.5"
    assert detection_length(data + b"GAIN", BAD_CARD) == len(data)
    assert items(data + b"PASS") == [BAD_CARD, PASS]


def test_a_card_of_the_bank_that_is_none_does_not_excuse_a_missing_space() -> None:
    data = b"BKSC \0\0\0\1" + b"8o0"
    assert detection_length(data + b"08.0") == len(data)


# Scores.


@pytest.mark.parametrize("score", ["00.0", "07.5", "14.0", "99.9", "10.1"])
def test_a_score_is_two_digits_a_full_stop_and_a_digit(score: str) -> None:
    assert items(b"BKSC \0\0\0\1" + b"7c " + score.encode()) == [Bksc(("7c",), score)]


@pytest.mark.parametrize("score", [b"7.50", b"07,5", b" 7.5", b"+7.5", b"0075", b"07.x", b"x7.5", b"0x.5", b".075"])
def test_any_other_score_is_none_and_has_the_same_length(score: bytes) -> None:
    """sevenhalf-2.5 and 2.9"""
    data = b"BKSC \0\0\0\1" + b"7c " + score
    assert detection_length(data + b"GAIN", BAD_SCORE) == len(data)
    assert items(data + b"STRT") == [BAD_SCORE, STRT]


@pytest.mark.parametrize("byte", [b"0", b"\t", b"\n", b"'", b"\x00", b"7"])
def test_wrong_byte_before_the_score_is_detected_at_once(byte: bytes) -> None:
    data = b"BKSC \0\0\0\1" + b"7c" + byte
    assert detection_length(data + b"07.5") == len(data)


@pytest.mark.parametrize("digit", ["\u0661", "\u00b2", "\uff11"])
def test_digits_of_other_scripts_are_no_digits(digit: str) -> None:
    for coded in {digit.encode()[:1], digit.encode("latin-1", "ignore")[:1]} - {b""}:
        assert items(b"BKSC \0\0\0\1" + b"7c 0" + coded + b".5") == [BAD_SCORE]
        assert items(b"ERRO 0" + coded + b"abc") == [LOST]


# Errors.


@in_one_test
@pytest.mark.parametrize("length", range(100))
def test_erro_length_counts_bytes(length: int) -> None:
    """sevenhalf-2.6, for each length, with texts that look like messages and line ends."""
    text = ("STRT\r\n DRAW\x00\xff" * 8)[:length]
    frame = b"ERRO %02d" % length + text.encode("latin-1")
    assert Wire.encode(Erro(text)) == frame
    assert items(frame + b"PASS") == [Erro(text), PASS]
    wire = Wire(strict=True)
    assert [item for byte in frame for item in wire.feed(bytes([byte]))] == [Erro(text)]
    if length:
        assert items(frame[:-1]) == []


@pytest.mark.parametrize("length", [b"0", b"5 ", b" 5", b"-1", b"+1", b"x1", b"1x", b"\x00\x00", b"\r\n", b"1."])
def test_a_length_that_is_not_two_digits_cannot_be_read(length: bytes) -> None:
    data = (b"ERRO " + length + b"xx")[:7]
    assert detection_length(data + b"DRAW") == 7
    assert items(data) == [LOST]


def test_our_errors_fit_into_erro() -> None:
    for message in VOCABULARY:
        if isinstance(message, Erro):
            assert len(message.text) <= 99
            assert message.text.isascii() or message.text == ""


# Case, blanks, and what is no message.


@frames
@given(data=st.data())
def test_case_is_ignored(frame: bytes, message: Message, data: st.DataObject) -> None:
    """sevenhalf-2.7, in codes and in cards; it does not count as a tolerance."""
    spans = [*range(4)]
    match message:
        case Bksc(cards):
            spans += range(9, 9 + 2 * len(cards))
        case _ if frame.startswith(b"CARD"):
            spans += [5, 6]
        case _:
            pass
    flipped = data.draw(st.sets(st.sampled_from(spans)))
    mixed = b"".join(frame[i : i + 1].swapcase() if i in flipped else frame[i : i + 1] for i in range(len(frame)))
    wire = Wire(strict=True)
    assert list(wire.feed(mixed)) == [message]
    assert not wire.tolerated


@pytest.mark.parametrize("spelling", ["STRT", "Strt", "strt", "StRt", "StRT"])
def test_spellings_of_strt_in_the_document(spelling: str) -> None:
    assert items(spelling.encode()) == [STRT]


def test_case_is_preserved_in_errors_and_numbers() -> None:
    assert items(b"erro 04AbCdante aBcD") == [Erro("AbCd"), Ante(0x61426344)]


@in_one_test
@pytest.mark.parametrize("message", VOCABULARY, ids=str)
def test_we_send_codes_in_upper_case_and_cards_in_lower_case(message: Message) -> None:
    frame = Wire.encode(message)
    assert frame[:4].isupper()
    if isinstance(message, Bksc):
        assert frame[9 : 9 + 2 * len(message.cards)].lower() == frame[9 : 9 + 2 * len(message.cards)]
    elif frame.startswith(b"CARD"):
        assert frame[5:].lower() == frame[5:]


@in_one_test
@frames
@pytest.mark.parametrize("blank", BLANKS)
def test_whitespace_between_messages_is_tolerated(frame: bytes, message: Message, blank: bytes) -> None:
    """sevenhalf-2.8; at every cut."""
    data = blank + frame + blank + frame + blank
    for at in range(len(data)):
        wire = Wire()
        assert [*wire.feed(data[:at]), *wire.feed(data[at:])] == [message, message]
        assert wire.tolerated == {"sevenhalf-2.8"}


@pytest.mark.parametrize("blank", BLANKS)
def test_strict_codec_refuses_whitespace(blank: bytes) -> None:
    assert items(blank + b"STRT", strict=True) == [LOST]
    assert items(b"STRT" + blank + b"DRAW", strict=True) == [STRT, LOST]


@pytest.mark.parametrize("blank", [b"\t", b"\x00", b"\x0b", b"\x0c", b"\xa0", b"\x85"])
def test_only_listed_whitespace_is_ignored(blank: bytes) -> None:
    assert items(blank + b"STRT") == [LOST]


@pytest.mark.parametrize("blank", [b"\r", b"\n", b" "])
def test_blanks_inside_of_a_message_are_not_ignored(blank: bytes) -> None:
    assert items(b"ST" + blank + b"RT") == [LOST]
    assert items(b"CARD 7" + blank + b"o") == [BAD_CARD]
    assert items(b"CARD " + blank + b"7o") == [BAD_CARD]
    assert items(b"BKSC \0\0\0\1" + b"7c" + b" " + blank + b"07.5") == [BAD_SCORE]


@in_one_test
@pytest.mark.parametrize("code", [b"CARD", b"STBT", b"ANTE", b"GAIN", b"BKSC", b"ERRO"])
@pytest.mark.parametrize("byte", [b"\n", b"\r", b"\t", b"\x00", b"_", b"'", b"0"])
def test_wrong_byte_after_a_code_is_detected_at_once(code: bytes, byte: bytes) -> None:
    assert detection_length(code + byte + b"12345") == 5


@pytest.mark.parametrize(
    "data", [b"HELO", b"STAR", b"QUIT", b"STR ", b"\xff\xff\xff\xff", b"\0\0\0\4", b"STR\xd4", b"1234", b"GET "]
)
def test_unknown_code_is_detected_after_four_bytes(data: bytes) -> None:
    """sevenhalf-2.9"""
    assert items(data[:3]) == []
    assert detection_length(data + b"STRT") == 4
    assert items(data + b"STRT" + b"DRAW") == [LOST]


@in_one_test
@frames
@strictness
def test_nothing_is_parsed_after_a_fatal_violation(frame: bytes, message: Message, strict: bool) -> None:
    wire = Wire(strict=strict)
    assert len(wire.feed(b"HELO" + frame)) == 1
    assert [item for _ in range(3) for item in wire.feed(frame)] == []


@pytest.mark.parametrize(
    ("data", "clause", "description"),
    [
        (
            b"HELO",
            "2.9",
            "'HELO'; allowed: one of the codes STRT, DRAW, ANTE, PASS, STBT, CARD, BSTG, BKSC, GAIN, ERRO",
        ),
        (b"ANTE\n", "2.9", r"'ANTE\n'; allowed: one space after ANTE"),
        (b"CARD 8o", "2.4", "CARD '8o'; allowed: CARD with one of the forty cards"),
        (b"BKSC \0\0\0)", "2.9", r"'BKSC \x00\x00\x00)'; allowed: BKSC with 0 to 40 cards"),
        (b"ERRO 1x", "2.9", "'ERRO 1x'; allowed: ERRO with two digits"),
        (b"BKSC \0\0\0\2" + b"7c9c 07.0", "2.4", "BKSC '7c9c 07.0'; allowed: BKSC with cards of the forty there are"),
        (b"BKSC \0\0\0\1" + b"7c0", "2.9", r"'BKSC \x00\x00\x00\x017c0'; allowed: one space before the score"),
        (b"BKSC \0\0\0\1" + b"7c 7.50", "2.5", "BKSC '7c 7.50'; allowed: BKSC with a score such as 07.5"),
    ],
)
def test_violation_has_found_and_allowed(data: bytes, clause: str, description: str) -> None:
    """Bytes after the violation are not included."""
    violation, *_ = Wire().feed(data + b"ANTE 1234")
    assert str(violation) == f"sevenhalf-{clause}: found {description}"


@given(st.binary(max_size=300), st.booleans())
def test_buffer_is_shorter_than_the_longest_message(data: bytes, strict: bool) -> None:
    """The longest is an ERRO with 99 bytes of text: 106 bytes."""
    wire = Wire(strict=strict)
    wire.feed(data)
    assert len(wire._buffer) < 106


@pytest.mark.parametrize("start", [b"", b"ERRO 99", b"BKSC \0\0\0(", b"BKSC", b"ANTE ", b"HELO"])
@pytest.mark.parametrize("filler", [b" ", b"\n", b"7c", b"0", b"\x00"])
def test_buffer_is_bounded(start: bytes, filler: bytes) -> None:
    wire = Wire()
    wire.feed(start)
    for _ in range(50):
        wire.feed(filler * 1000)
        assert len(wire._buffer) < 106


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (Stbt(100), "STBT 100"),
        (Gain(-100), "GAIN -100"),
        (Ante(10), "ANTE 10"),
        (CARD["7o"], "CARD 7o"),
        (Bksc(("4r", "4b", "sc", "3c"), "08.0"), "BKSC 44r4bsc3c 08.0"),
        (Bksc(("7c", "cc"), "07.5"), "BKSC 27ccc 07.5"),
        (Erro("Syntax error"), "ERRO 12Syntax error"),
        (BSTG, "BSTG"),
    ],
)
def test_a_message_as_text_is_a_line_of_the_text_log(message: Message, text: str) -> None:
    """sevenhalf-10.1"""
    assert str(message) == text
