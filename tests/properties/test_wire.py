"""Properties of codecs: round trips, independence of chunks, bounded state, and no exceptions."""

import pickle
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import strategies as st

from croupier.core.codec import Codec
from croupier.core.errors import Violation
from croupier.core.room import HouseRoom
from tests.properties.every_room import every_room, property_test
from tests.properties.inputs import chunk_sizes, messages, mutated, pieces, read, streams, transcript_streams

MAX_STATE_BYTES = 16 * 1024
"""The maximum size of a codec's state, however much has arrived."""


def strict_flags(room: HouseRoom) -> st.SearchStrategy[bool]:
    return st.booleans()


def parse_at_once(room: HouseRoom, data: bytes, *, strict: bool = False) -> list[Any]:
    return list(room.codec(strict, None).feed(data))


def is_valid(room: HouseRoom, item: Any) -> bool:
    """Whether an item is a violation, or a message of a known type that round-trips."""
    if isinstance(item, Violation):
        return True
    return type(item) in map(type, room.sample_messages) and parse_at_once(
        room, room.codec(True, None).encode(item)
    ) == [item]


def state_size(codec: Codec[Any, Any]) -> int:
    """The size of a codec's state, without its shared table of frames."""
    slots = {name for kind in type(codec).__mro__ for name in getattr(kind, "__slots__", ())} - {"encode", "_table"}
    return len(pickle.dumps([getattr(codec, name) for name in (*slots, *getattr(codec, "__dict__", ()))]))


@every_room
@pytest.mark.parametrize("strict", [False, True])
def test_every_message_round_trips(room: HouseRoom, strict: bool) -> None:
    codec = room.codec(strict, None)
    assert read(codec, [codec.encode(message) for message in room.sample_messages]) == list(room.sample_messages)
    assert not codec.tolerated


@every_room
def test_encodings_are_distinct(room: HouseRoom) -> None:
    assert len(set(room.sample_messages)) == len(room.sample_messages)
    assert len({room.codec(False, None).encode(message) for message in room.sample_messages}) == len(
        room.sample_messages
    )


@property_test(200, lambda room: st.lists(messages(room), max_size=30), chunk_sizes, strict_flags)
def test_messages_are_parsed_in_any_chunks(
    room: HouseRoom, sent: Sequence[Any], sizes: list[int], strict: bool
) -> None:
    codec = room.codec(strict, None)
    data = b"".join(codec.encode(message) for message in sent)
    assert read(room.codec(strict, None), pieces(data, sizes)) == sent
    assert parse_at_once(room, data, strict=strict) == sent


@property_test(300, streams, chunk_sizes, strict_flags)
def test_parsing_does_not_depend_on_chunks(room: HouseRoom, data: bytes, sizes: list[int], strict: bool) -> None:
    chunked, together = room.codec(strict, None), room.codec(strict, None)
    assert read(chunked, pieces(data, sizes)) == read(together, [data])
    assert chunked.tolerated == together.tolerated


@property_test(300, streams, strict_flags)
def test_any_stream_gives_messages_or_violations(room: HouseRoom, data: bytes, strict: bool) -> None:
    for item in parse_at_once(room, data, strict=strict):
        assert is_valid(room, item)
        if isinstance(item, Violation):
            assert item.clause.startswith(f"{room.name}-")
            assert item.found
            assert item.allowed


@property_test(200, lambda room: st.binary(max_size=300), strict_flags)
def test_noise_never_raises(room: HouseRoom, data: bytes, strict: bool) -> None:
    found = parse_at_once(room, data, strict=strict)
    assert all(is_valid(room, item) for item in found)


@every_room
@pytest.mark.parametrize("filler", [b" ", b"\x00", b"A", b'"', b"["])
def test_state_of_a_codec_is_bounded(room: HouseRoom, filler: bytes) -> None:
    starts = {
        room.codec(True, None).encode(message)[:length] for message in room.sample_messages for length in range(9)
    }
    for start in starts:
        codec = room.codec(False, None)
        read(codec, [start, *[filler * 1000] * 2 * (MAX_STATE_BYTES // 1000)])
        assert state_size(codec) < MAX_STATE_BYTES


@property_test(200, streams, lambda room: st.lists(messages(room), min_size=1, max_size=4), strict_flags)
def test_fatal_violation_ends_the_stream(room: HouseRoom, data: bytes, later: Sequence[Any], strict: bool) -> None:
    codec = room.codec(strict, None)
    found = [item for item in codec.feed(data) if isinstance(item, Violation) and item.fatal]
    assert len(found) <= 1
    if found:
        assert read(codec, [codec.encode(message) for message in later]) == []


@every_room
def test_codec_returns_nothing_after_a_fatal_violation(room: HouseRoom) -> None:
    for broken in transcript_streams(room.name):
        codec = room.codec(True, None)
        if any(isinstance(item, Violation) and item.fatal for item in codec.feed(broken)):
            for message in (*room.sample_messages, *room.sample_messages):
                assert list(codec.feed(codec.encode(message))) == []


@every_room
def test_only_the_last_item_can_be_fatal(room: HouseRoom) -> None:
    for line in transcript_streams(room.name):
        found = parse_at_once(room, line)
        assert not any(isinstance(item, Violation) and item.fatal for item in found[:-1])


@property_test(200, streams)
def test_strict_and_tolerant_codecs_agree_without_tolerances(room: HouseRoom, data: bytes) -> None:
    strict, tolerant = room.codec(True, None), room.codec(False, None)
    strict_items, tolerant_items = list(strict.feed(data)), list(tolerant.feed(data))
    assert not strict.tolerated
    assert all(clause.startswith(f"{room.name}-") for clause in tolerant.tolerated)
    if not tolerant.tolerated:
        assert strict_items == tolerant_items


@every_room
def test_transcripts_can_be_split_at_every_byte(room: HouseRoom) -> None:
    for line in transcript_streams(room.name):
        expected = parse_at_once(room, line)
        for at in range(len(line) + 1):
            assert read(room.codec(False, None), [line[:at], line[at:]]) == expected
            assert parse_at_once(room, line[:at]) == expected[: len(parse_at_once(room, line[:at]))]


@property_test(
    300,
    lambda room: st.sampled_from(transcript_streams(room.name)).flatmap(mutated).flatmap(mutated),
    chunk_sizes,
    strict_flags,
)
def test_mutated_transcripts_never_raise(room: HouseRoom, data: bytes, sizes: list[int], strict: bool) -> None:
    found = read(room.codec(strict, None), pieces(data, sizes))
    assert found == parse_at_once(room, data, strict=strict)
    assert all(is_valid(room, item) for item in found)
