"""Spans: every message has exactly its own bytes, however the stream is chunked, and nothing is lost."""

from collections.abc import Callable

from hypothesis import example, given
from hypothesis import strategies as st

from croupier.core.codec import SpanCodec
from croupier.core.errors import Violation
from croupier.core.spans import MAX_INCOMPLETE_BYTES, Span, SpanReader
from croupier.rooms import HOUSE_ROOMS
from croupier.rooms.oldmaid.wire import MAX_FRAME_BYTES, Draw, Status, Wire

type NewCodec = Callable[[], SpanCodec[object, object]]

CODECS: list[NewCodec] = [
    *(lambda room=room, strict=strict: room.codec(strict, None) for room in HOUSE_ROOMS.values() for strict in (0, 1)),
    lambda: Wire("table"),
    lambda: Wire("player", strict=True),
]

PARTS = st.sampled_from(
    [
        *(room.codec(False, None).encode(message) for room in HOUSE_ROOMS.values() for message in room.sample_messages),
        b'{"cmd": "draw"}',
        b'{"result": "ok", "card": ["3", "spades"]}',
        b'{"a": "}\\"{"}',
        b"[1, 2]",
        b"words",
        b'{"broken\n',
        b"\n",
        b" \r\n",
        b"{",
        b"}",
        b'"\xff"',
        b"?" * 40,
    ]
)
STREAMS = st.lists(st.one_of(PARTS, PARTS, st.binary(max_size=4)), max_size=6).map(b"".join)


def read(new_codec: NewCodec, pieces: list[bytes]) -> tuple[list[Span[object]], bytes]:
    reader = SpanReader(new_codec())
    return [span for piece in pieces for span in reader.feed(piece)], reader.incomplete


@given(st.sampled_from(CODECS), STREAMS, st.integers(1, 9))
@example(CODECS[-1], b'words{"cmd": "draw"}', 5)
def test_spans_do_not_depend_on_the_chunks(new_codec: NewCodec, stream: bytes, size: int) -> None:
    whole, rest = read(new_codec, [stream])
    chopped, chopped_rest = read(new_codec, [stream[at : at + size] for at in range(0, len(stream), size)])
    assert [span[:2] for span in whole] == [span[:2] for span in chopped]
    assert rest == chopped_rest
    assert b"".join(span.data for span in whole) + rest == stream
    ends = [span.end for span in whole]
    assert [stream[begin:end] for begin, end in zip([0, *ends], ends, strict=False)] == [span.data for span in whole]


@given(st.sampled_from(CODECS), STREAMS)
def test_spans_have_the_messages_of_the_codec(new_codec: NewCodec, stream: bytes) -> None:
    spans, _ = read(new_codec, [stream])
    assert [span.message for span in spans] == list(new_codec().feed(stream))


def test_white_space_belongs_to_the_message_after_it() -> None:
    spans, rest = read(lambda: Wire("table"), [b'{"cmd": "draw"}\n', b' {"cmd":', b' "status"}\r\n'])
    assert [(span.data, span.message) for span in spans] == [
        (b'{"cmd": "draw"}', Draw()),
        (b'\n {"cmd": "status"}', Status()),
    ]
    assert rest == b"\r\n"


def test_a_message_that_is_too_long_ends_at_the_limit() -> None:
    stream = b"\n" + b'"' * 2 * MAX_FRAME_BYTES
    for pieces in ([stream], [stream[at : at + 1000] for at in range(0, len(stream), 1000)]):
        spans, rest = read(lambda: Wire("table"), pieces)
        ((data, message, _),) = spans
        assert isinstance(message, Violation)
        assert message.clause == "oldmaid-8.9"
        assert len(data) == 1 + MAX_FRAME_BYTES
        assert len(rest) == MAX_INCOMPLETE_BYTES
