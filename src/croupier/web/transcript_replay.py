"""Transcripts as pages of the replay."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from croupier.conformance.resources import transcripts
from croupier.core.room import HouseRoom, Room
from croupier.core.transcript import Transcript
from croupier.rooms import ROOMS
from croupier.web.frames import message_frame
from croupier.web.holdem_conversation import HoldemFollower
from croupier.web.house_replay import HouseFollower
from croupier.web.oldmaid_replay import OldMaidFollower
from croupier.web.replay_page import Moment, ReplayPage

WAITING_STEPS: Final = 3.0
"""The width of waiting on the time-line, however long it was; that of a message is 1."""

MAX_CACHED_PAGES: Final = 64

type Follower = HouseFollower | HoldemFollower | OldMaidFollower
"""Follows the lines of a transcript, from the table at its `start`."""


@lru_cache(MAX_CACHED_PAGES)
def transcript_page(room: str, name: str) -> ReplayPage | None:
    """Return the replay of a transcript, None if there is none of this name.

    It must not be called where an event loop runs: a transcript of hold'em is played in a loop of its own.
    """
    if room not in ROOMS:
        return None
    try:
        found = next((each for each in transcripts(room) if each.name == name), None)
    except ValueError:
        return None  # they are not installed
    return None if found is None else _replay(ROOMS[room], found)


def _replay(room: Room, transcript: Transcript) -> ReplayPage:
    follower: Follower
    if isinstance(room, HouseRoom):
        follower = HouseFollower(room, transcript)
    elif room.name == "holdem":
        follower = HoldemFollower(transcript)
    else:
        follower = OldMaidFollower(transcript)
    peers = [*dict.fromkeys(line.peer for line in transcript.lines if line.peer)]
    own = _own_party(room, transcript)
    names = {peer: "you" if isinstance(room, HouseRoom) and len(peers) == 1 else peer for peer in peers}
    parties = [*names.values(), own]
    return ReplayPage(
        room=room.name,
        title=transcript.title,
        parties=parties,
        start=follower.start,
        moments=[*_moments(transcript, follower, names, own)],
    )


def _own_party(room: Room, transcript: Transcript) -> str:
    """Return the party with which all peers of a transcript talk."""
    if isinstance(room, HouseRoom):
        return "house"
    if room.name == "holdem":
        return "server"
    return "player" if transcript.head.get("side") == "player" else "table"


def _moments(transcript: Transcript, follower: Follower, names: Mapping[str, str], own: str) -> Iterator[Moment]:
    at = 0.0
    parties = [*names.values(), own]
    for line in transcript.lines:
        at += WAITING_STEPS if line.kind == "pass" else 1.0
        followed = follower.follow(line)
        sender = names[line.peer] if line.kind in {">", "left"} else "" if line.kind == "pass" else own
        frame = message_frame(sender, followed.text, followed.data, followed.clause)
        yield Moment(frame, parties.index(sender) if sender else None, at, followed.note, followed.table)
