"""Framing of JSON values."""

from collections.abc import Iterable
from itertools import pairwise
from json import dumps, loads

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.rooms.oldmaid.framing import JsonFramer, JsonValueTooLong

LONGEST = 100


def cut(pieces: Iterable[bytes], longest: int = LONGEST) -> list[bytes]:
    framing = JsonFramer(longest)
    return [value for piece in pieces for value in framing.feed(piece)]


def single(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


@pytest.mark.parametrize(
    ("data", "values"),
    [
        (b'{"a":1}', [b'{"a":1}']),
        (b' \r\n\t{"a":1}\n\n[2]', [b'{"a":1}', b"[2]"]),
        (b'{"a":{"b":[]}}{}', [b'{"a":{"b":[]}}', b"{}"]),
        (b'{"a":"}"}{"\\"]}":"{"}', [b'{"a":"}"}', b'{"\\"]}":"{"}']),
        (b"word\n{}", [b"word\n", b"{}"]),
        (b"word{}", [b"word", b"{}"]),
        (b'{"a\n{}', [b'{"a\n', b"{}"]),
        (b"}\n", [b"}\n"]),
        (b"{", []),
        (b"word", []),
        (b"", []),
    ],
)
def test_values_end_at_brackets_and_line_ends(data: bytes, values: list[bytes]) -> None:
    assert cut([data]) == values
    assert cut(single(data)) == values


@pytest.mark.parametrize("value", [b"x", b'{"', b"[", b'{"\\"'])
def test_a_value_that_does_not_end_in_time_is_too_long(value: bytes) -> None:
    for pieces in ([value * LONGEST], single(value * LONGEST)):
        with pytest.raises(JsonValueTooLong):
            cut(pieces)


def test_a_value_may_be_as_long_as_is_allowed() -> None:
    value = b"[" + b"1" * (LONGEST - 2) + b"]"
    assert cut([value]) == cut(single(value)) == [value]
    with pytest.raises(JsonValueTooLong):
        cut([b"[1" + value[1:]])


def test_each_byte_is_scanned_once() -> None:
    """A value that arrives byte by byte takes linear time."""
    value = b'{"x": "' + b'\\"' * 30_000 + b'", "cmd": "draw"}'
    framing = JsonFramer(len(value))
    known = [0]
    for byte in single(value[:-1]):
        assert not [*framing.feed(byte)]
        known.append(framing._scanned)
    assert all(after - before <= 2 for before, after in pairwise(known))
    assert len(value) - known[-1] <= 2
    assert [*framing.feed(value[-1:])] == [value]


jsons = st.recursive(
    st.text(max_size=5) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
).filter(lambda value: isinstance(value, list | dict))


@given(st.lists(jsons, max_size=4), st.data())
def test_framing_is_independent_of_chunking(values: list[object], data: st.DataObject) -> None:
    stream = b" ".join(dumps(value, ensure_ascii=False).encode() for value in values)
    at = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=8)))
    pieces = [stream[begin:end] for begin, end in pairwise([0, *at, len(stream)])]
    assert [loads(value) for value in cut(pieces, 10_000)] == values
