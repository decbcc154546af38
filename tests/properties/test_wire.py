"""The laws of the wire: bytes become messages in one way only, however they arrive, and nothing ever raises."""

import pickle
from collections.abc import Iterable, Sequence
from itertools import cycle
from typing import Any

import pytest
from hypothesis import strategies as st

from croupier.core.codec import Codec
from croupier.core.errors import Violation
from croupier.core.room import HouseRoom
from tests.properties.every_room import every_room, law
from tests.properties.inputs import changed, chops, lines, messages, streams

BOUND = 16 * 1024
"""What a codec may keep between two calls, however much has arrived."""


def strictness(room: HouseRoom) -> st.SearchStrategy[bool]:
    return st.booleans()


def pieces(data: bytes, sizes: Iterable[int]) -> list[bytes]:
    found, at = [], 0
    for size in cycle(sizes):
        if at >= len(data):
            return found
        found.append(data[at : at + size])
        at += size
    return found


def read(codec: Codec[Any, Any], arriving: Iterable[bytes]) -> list[Any]:
    return [item for data in arriving for item in codec.feed(data)]


def whole(room: HouseRoom, data: bytes, *, strict: bool = False) -> list[Any]:
    return list(room.codec(strict, None).feed(data))


def understood(room: HouseRoom, item: Any) -> bool:
    """Whether it is a violation, or a message of a kind that the room knows, which comes back as it was read."""
    if isinstance(item, Violation):
        return True
    return type(item) in map(type, room.sample_messages) and whole(room, room.codec(True, None).encode(item)) == [item]


def kept(codec: Codec[Any, Any]) -> int:
    """The size of all that a codec remembers; the table of its renderings is not its own."""
    slots = {name for kind in type(codec).__mro__ for name in getattr(kind, "__slots__", ())} - {"encode"}
    return len(pickle.dumps([getattr(codec, name) for name in (*slots, *getattr(codec, "__dict__", ()))]))


@every_room
@pytest.mark.parametrize("strict", [False, True])
def test_every_message_comes_back_as_it_was_sent(room: HouseRoom, strict: bool) -> None:
    codec = room.codec(strict, None)
    assert read(codec, [codec.encode(message) for message in room.sample_messages]) == list(room.sample_messages)
    assert not codec.tolerated


@every_room
def test_no_two_messages_look_alike(room: HouseRoom) -> None:
    assert len(set(room.sample_messages)) == len(room.sample_messages)
    assert len({room.codec(False, None).encode(message) for message in room.sample_messages}) == len(
        room.sample_messages
    )


@law(200, lambda room: st.lists(messages(room), max_size=30), chops, strictness)
def test_messages_arrive_however_they_are_cut_or_glued(
    room: HouseRoom, sent: Sequence[Any], sizes: list[int], strict: bool
) -> None:
    codec = room.codec(strict, None)
    data = b"".join(codec.encode(message) for message in sent)
    assert read(room.codec(strict, None), pieces(data, sizes)) == sent
    assert whole(room, data, strict=strict) == sent


@law(300, streams, chops, strictness)
def test_whatever_arrives_reads_the_same_however_it_is_cut(
    room: HouseRoom, data: bytes, sizes: list[int], strict: bool
) -> None:
    cut, glued = room.codec(strict, None), room.codec(strict, None)
    assert read(cut, pieces(data, sizes)) == read(glued, [data])
    assert cut.tolerated == glued.tolerated


@law(300, streams, strictness)
def test_whatever_arrives_becomes_messages_or_violations(room: HouseRoom, data: bytes, strict: bool) -> None:
    for item in whole(room, data, strict=strict):
        assert understood(room, item)
        if isinstance(item, Violation):
            assert item.clause.startswith(f"{room.name}-")
            assert item.found
            assert item.allowed


@law(200, lambda room: st.binary(max_size=300), strictness)
def test_noise_never_raises(room: HouseRoom, data: bytes, strict: bool) -> None:
    found = whole(room, data, strict=strict)
    assert all(understood(room, item) for item in found)


@every_room
@pytest.mark.parametrize("filler", [b" ", b"\x00", b"A", b'"', b"["])
def test_what_a_codec_keeps_is_bounded(room: HouseRoom, filler: bytes) -> None:
    starts = {
        room.codec(True, None).encode(message)[:length] for message in room.sample_messages for length in range(9)
    }
    for start in starts:
        codec = room.codec(False, None)
        read(codec, [start, *[filler * 1000] * 2 * (BOUND // 1000)])
        assert kept(codec) < BOUND


@law(200, streams, lambda room: st.lists(messages(room), min_size=1, max_size=4), strictness)
def test_behind_a_lost_violation_nothing_is_answered(
    room: HouseRoom, data: bytes, later: Sequence[Any], strict: bool
) -> None:
    codec = room.codec(strict, None)
    found = [item for item in codec.feed(data) if isinstance(item, Violation) and item.fatal]
    assert len(found) <= 1
    if found:
        assert read(codec, [codec.encode(message) for message in later]) == []


@every_room
def test_once_lost_a_codec_stays_lost(room: HouseRoom) -> None:
    for broken in lines(room.name):
        codec = room.codec(True, None)
        if any(isinstance(item, Violation) and item.fatal for item in codec.feed(broken)):
            for message in (*room.sample_messages, *room.sample_messages):
                assert list(codec.feed(codec.encode(message))) == []


@every_room
def test_only_the_last_thing_read_can_be_lost(room: HouseRoom) -> None:
    for line in lines(room.name):
        found = whole(room, line)
        assert not any(isinstance(item, Violation) and item.fatal for item in found[:-1])


@law(200, streams)
def test_who_departs_from_nothing_is_read_alike_by_the_strict_and_the_tolerant(room: HouseRoom, data: bytes) -> None:
    strict, tolerant = room.codec(True, None), room.codec(False, None)
    read_strictly, read_kindly = list(strict.feed(data)), list(tolerant.feed(data))
    assert not strict.tolerated
    assert all(clause.startswith(f"{room.name}-") for clause in tolerant.tolerated)
    if not tolerant.tolerated:
        assert read_strictly == read_kindly


@every_room
def test_the_transcripts_can_be_cut_at_every_byte(room: HouseRoom) -> None:
    for line in lines(room.name):
        expected = whole(room, line)
        for at in range(len(line) + 1):
            assert read(room.codec(False, None), [line[:at], line[at:]]) == expected
            assert whole(room, line[:at]) == expected[: len(whole(room, line[:at]))]


@law(300, lambda room: st.sampled_from(lines(room.name)).flatmap(changed).flatmap(changed), chops, strictness)
def test_the_transcripts_can_be_spoilt_without_anything_raising(
    room: HouseRoom, data: bytes, sizes: list[int], strict: bool
) -> None:
    found = read(room.codec(strict, None), pieces(data, sizes))
    assert found == whole(room, data, strict=strict)
    assert all(understood(room, item) for item in found)
