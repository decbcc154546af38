"""The description of frames, with a protocol that is made up for these tests."""

from dataclasses import replace

import pytest

from croupier.core.errors import Violation
from croupier.core.frames import (
    INT32,
    MAX_CACHED_FRAMES,
    Counted,
    Frame,
    FrameCodec,
    FrameMessage,
    FrameTable,
    choice,
)


class Go(FrameMessage, frozen=True, gc=False):
    """A message without fields."""


class Up(FrameMessage, frozen=True, gc=False):
    """A message of fixed size."""

    number: int
    colour: str


class Tx(FrameMessage, frozen=True, gc=False):
    """A message whose size varies."""

    text: str


COLOUR = replace(choice({"red": b"R", "blue": b"B"}, normalize=bytes.upper, clause="t-2"), name="colour")
TEXT = Counted(
    count=choice({n: b"%d" % n for n in range(10)}, "one digit"),
    parse=lambda data: data[1:].decode("latin-1"),
    render=lambda text: b"%d" % len(text) + text.encode("latin-1"),
)
TABLE = FrameTable[FrameMessage](
    (
        Frame(Go),
        Frame(Up, INT32, COLOUR),
        Frame(Tx, TEXT),
    ),
    [Go()],
    [(Go(), Up(1, "red"))],
)


class Wire(FrameCodec[FrameMessage]):
    MAX_FRAME_BYTES = 13
    UNREADABLE_CLAUSE = "t-1"


def found(data: bytes) -> list[object]:
    items = Wire(TABLE).feed(data)
    return [(str(item), item.fatal) if isinstance(item, Violation) else item for item in items]


@pytest.mark.parametrize(
    ("message", "frame"),
    [(Go(), b"GO"), (Up(-2, "blue"), b"UP \xff\xff\xff\xfe B"), (Tx(""), b"TX 0"), (Tx("a\xff"), b"TX 2a\xff")],
)
def test_a_frame_is_parsed_and_rendered_by_its_description(message: FrameMessage, frame: bytes) -> None:
    assert TABLE[message] == frame
    wire = Wire(TABLE)
    assert [item for byte in frame + b"GO" for item in wire.feed(bytes([byte]))] == [message, Go()]


def test_the_description_is_data() -> None:
    assert {code: frame.size for code, frame in TABLE.frames.items()} == {b"GO": 2, b"UP": 9, b"TX": None}
    assert TABLE.frames[b"UP"].fields == (INT32, COLOUR)
    assert COLOUR.values == {"red": b"R", "blue": b"B"}
    assert (COLOUR.size, COLOUR.allowed) == (1, "R, B")


def test_canonical_reads_are_looked_up() -> None:
    assert Wire(TABLE).feed(b"GOUP \0\0\0\1 R") is TABLE.canonical[b"GOUP \0\0\0\1 R"]
    assert found(b"GOUP \0\0\0\1 r") == [Go(), Up(1, "red")]


def test_an_invalid_value_breaks_the_clause_of_its_frame_and_parsing_goes_on() -> None:
    assert found(b"UP \0\0\0\1 GGO") == [("t-2: found 'UP \\x00\\x00\\x00\\x01 G'; allowed: UP with R, B", False), Go()]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"QQ", "'QQ'; allowed: one of the codes GO, UP, TX"),
        (b"go", "'go'; allowed: one of the codes GO, UP, TX"),
        (b"TX1", "'TX1'; allowed: one space after TX"),
        (b"TX a", "'TX a'; allowed: TX with one digit"),
        (b"UP \0\0\0\1R", "'UP \\x00\\x00\\x00\\x01R'; allowed: one space before the colour"),
    ],
)
def test_bytes_of_unknown_length_are_detected_at_once_and_fatal(data: bytes, text: str) -> None:
    assert found(data[:-1]) == []
    assert found(data + b"GO") == [(f"t-1: found {text}", True)]


def test_only_frames_of_fixed_size_are_kept_and_not_too_many() -> None:
    table = FrameTable[FrameMessage]((Frame(Go), Frame(Up, INT32, COLOUR, separator=b""), Frame(Tx, TEXT)), [Go()])
    assert table[Tx("a")] == b"TX 1a"
    assert list(table) == [Go()]
    for number in range(2 * MAX_CACHED_FRAMES):
        assert table[Up(number, "red")] == b"UP" + number.to_bytes(4) + b"R"
    assert len(table) == MAX_CACHED_FRAMES
