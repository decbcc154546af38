"""Hypothesis strategies for the property tests: messages, violations, and byte streams from transcripts."""

from collections.abc import Iterable
from functools import cache
from itertools import cycle
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from croupier.core.codec import Codec
from croupier.core.errors import Violation
from croupier.core.room import HouseRoom
from croupier.core.transcript import encode_line
from croupier.rooms import HOUSE_ROOMS
from tests.transcripts import transcripts


def messages(room: HouseRoom) -> SearchStrategy[Any]:
    """Any message; final messages are less frequent than others."""
    ordinary = [message for message in room.sample_messages if message not in room.final_messages]
    return st.sampled_from([*ordinary, *ordinary, *ordinary, *room.sample_messages])


@cache
def violations(name: str) -> tuple[Violation, ...]:
    """The violations that a codec finds in the sample messages with one byte replaced."""
    room = HOUSE_ROOMS[name]
    found: dict[Violation, None] = {}
    for message in room.sample_messages:
        frame = room.codec(True, None).encode(message)
        for at in range(len(frame)):
            for other in b"\x00 \xff?3":
                broken = frame[:at] + bytes([other]) + frame[at + 1 :]
                found |= {item: None for item in room.codec(True, None).feed(broken) if isinstance(item, Violation)}
    return tuple(found)


def random_violations(room: HouseRoom) -> SearchStrategy[Violation]:
    return st.sampled_from(violations(room.name))


@cache
def transcript_streams(name: str) -> tuple[bytes, ...]:
    """For every transcript and either side: everything that the side sends, as one byte string."""
    streams_found = [
        b"".join(
            encode_line(line.text) for line in transcript.lines if line.kind == kind and not has_pattern(line.text)
        )
        for transcript in transcripts(name)
        for kind in "<>"
    ]
    return tuple(dict.fromkeys(line for line in streams_found if line))


def has_pattern(text: str) -> bool:
    """Whether the line has a pattern for random bytes."""
    try:
        encode_line(text)
    except ValueError:
        return True
    return False


def streams(room: HouseRoom) -> SearchStrategy[bytes]:
    """Bytes that a peer might send: messages, streams from transcripts (truncated or mutated), and noise."""
    frames = st.sampled_from([room.codec(True, None).encode(message) for message in room.sample_messages])
    streams_of_transcripts = st.sampled_from(transcript_streams(room.name))
    truncated = st.tuples(streams_of_transcripts, st.integers(0, 400)).map(
        lambda truncated: truncated[0][: truncated[1]]
    )
    piece = st.one_of(
        frames,
        frames,
        streams_of_transcripts,
        truncated,
        streams_of_transcripts.flatmap(mutated),
        st.binary(max_size=12),
    )
    return st.lists(piece, max_size=8).map(b"".join)


def mutated(line: bytes) -> SearchStrategy[bytes]:
    """The bytes with one byte replaced, one inserted, or some removed."""
    at = st.integers(0, len(line))
    return st.builds(
        lambda at, removed, new: line[:at] + new + line[at + removed :], at, st.integers(0, 3), st.binary(max_size=2)
    )


def chunk_sizes(room: HouseRoom) -> SearchStrategy[list[int]]:
    """Sizes of the chunks in which bytes arrive, used in turn."""
    return st.lists(st.integers(1, 12), min_size=1, max_size=6)


def bursts(room: HouseRoom) -> SearchStrategy[tuple[Any, ...]]:
    """The messages and violations of a transcript's stream, received at once."""
    return st.sampled_from([tuple(room.codec(False, None).feed(line)) for line in transcript_streams(room.name)])


def pieces(data: bytes, sizes: Iterable[int]) -> list[bytes]:
    """Bytes in pieces of these sizes, which are repeated."""
    found, at = [], 0
    for size in cycle(sizes):
        if at >= len(data):
            return found
        found.append(data[at : at + size])
        at += size
    return found


def read(codec: Codec[Any, Any], arriving: Iterable[bytes]) -> list[Any]:
    """What a codec reads of the bytes as they arrive."""
    return [item for data in arriving for item in codec.feed(data)]
