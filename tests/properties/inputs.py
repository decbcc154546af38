"""What laws are tried on: messages, broken messages, and all that the transcripts of a room ever said."""

from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from croupier.core.errors import Violation
from croupier.core.room import HouseRoom
from croupier.core.transcript import encode_line
from croupier.rooms import HOUSE_ROOMS
from tests.transcripts import transcripts


def messages(room: HouseRoom) -> SearchStrategy[Any]:
    """Any message, and goodbye not as often as it would be."""
    talk = [message for message in room.sample_messages if message not in room.final_messages]
    return st.sampled_from([*talk, *talk, *talk, *room.sample_messages])


@cache
def violations(name: str) -> tuple[Violation, ...]:
    """What a codec finds wrong with the vocabulary when any one byte of it is something else."""
    room = HOUSE_ROOMS[name]
    found: dict[Violation, None] = {}
    for message in room.sample_messages:
        frame = room.codec(True, None).encode(message)
        for at in range(len(frame)):
            for strange in b"\x00 \xff?3":
                broken = frame[:at] + bytes([strange]) + frame[at + 1 :]
                found |= {item: None for item in room.codec(True, None).feed(broken) if isinstance(item, Violation)}
    return tuple(found)


def garbles(room: HouseRoom) -> SearchStrategy[Violation]:
    return st.sampled_from(violations(room.name))


@cache
def lines(name: str) -> tuple[bytes, ...]:
    """All that is said in one transcript, by one side, for every transcript and either side."""
    said = [
        b"".join(encode_line(line.text) for line in paper.lines if line.kind == kind and not patterned(line.text))
        for paper in transcripts(name)
        for kind in "<>"
    ]
    return tuple(dict.fromkeys(line for line in said if line))


def patterned(text: str) -> bool:
    """Whether luck has a part in the line."""
    try:
        encode_line(text)
    except ValueError:
        return True
    return False


def streams(room: HouseRoom) -> SearchStrategy[bytes]:
    """Bytes that a peer might send: messages, lines of transcripts cut anywhere or changed, and noise."""
    frames = st.sampled_from([room.codec(True, None).encode(message) for message in room.sample_messages])
    papers = st.sampled_from(lines(room.name))
    cut = st.tuples(papers, st.integers(0, 400)).map(lambda cut: cut[0][: cut[1]])
    piece = st.one_of(frames, frames, papers, cut, papers.flatmap(changed), st.binary(max_size=12))
    return st.lists(piece, max_size=8).map(b"".join)


def changed(line: bytes) -> SearchStrategy[bytes]:
    """The line with one byte replaced, one put in, or some taken out."""
    at = st.integers(0, len(line))
    return st.builds(
        lambda at, gone, new: line[:at] + new + line[at + gone :], at, st.integers(0, 3), st.binary(max_size=2)
    )


def chops(room: HouseRoom) -> SearchStrategy[list[int]]:
    """Sizes in which bytes arrive, used in turn."""
    return st.lists(st.integers(1, 12), min_size=1, max_size=6)


def bursts(room: HouseRoom) -> SearchStrategy[tuple[Any, ...]]:
    """What a client says in one transcript, as a codec reads it."""
    return st.sampled_from([tuple(room.codec(False, None).feed(line)) for line in lines(room.name)])
