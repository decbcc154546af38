"""The transcripts of all rooms, and the stages that need more than the house: a player, and a real socket."""

import re
from collections.abc import Mapping
from pathlib import Path

from croupier.core.errors import IllegalMove, Violation
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Event, Joined, Left, Malformed, Notify, Received, Send, Settle, Submitted, TimedOut
from croupier.core.transcript import (
    Transcript,
    TranscriptLine,
    client_options,
    house_settings,
    is_strict,
    parse_transcript,
)
from croupier.rooms import HOUSE_ROOMS

PAPERS = Path(__file__).parent.parent / "transcripts"


def transcripts(room: str) -> list[Transcript]:
    return [parse_transcript(path.read_text(), f"{room}/{path.stem}") for path in sorted((PAPERS / room).glob("*.txt"))]


ALL = [(HOUSE_ROOMS[name], transcript) for name in HOUSE_ROOMS for transcript in transcripts(name)]


def at_fault(transcript: Transcript) -> str:
    """Who breaks the protocol in it: "client", "house" or nobody."""
    return transcript.head.get("fault", "").partition(" ")[0]


def broken(transcript: Transcript) -> set[str]:
    """The clauses that are broken in it: those named behind the side at fault, or else those that it shows."""
    return {*transcript.head.get("fault", "").split()[1:]} or {*transcript.clauses}


def for_the_house(transcript: Transcript) -> bool:
    """Whether our house can play its part: it breaks nothing, and does not say goodbye without being asked."""
    return at_fault(transcript) != "house" and transcript.head.get("side") != "player"


class Reversed:
    """A stage for our player: it has to choose what the transcript's peer says, and is fed what the peer hears.

    `refused` is the first thing that it cannot say, `violations` what it found wrong with the house.
    """

    def __init__(self, room: HouseRoom, transcript: Transcript, chop: int) -> None:
        self.refused: object = None
        self.violations: list[Violation] = []
        self._chop = chop
        self._now = 0.0
        own, houses = client_options(room, transcript), house_settings(room, transcript)
        self._player = room.player(own, is_strict(transcript))
        self._codec = room.codec(is_strict(transcript), own)
        self._parser = room.codec(is_strict(transcript), houses)
        self._frames = [self._codec.encode(message) for message in room.sample_messages]
        self._luck = 0
        self._settled: list[str] = []
        self._on(Joined(HOUSE))

    @property
    def over(self) -> bool:
        return self.refused is not None or bool(self.violations)

    def send(self, peer: str, data: bytes) -> None:
        for message in self._parser.feed(data):
            if self.over:
                return
            if isinstance(message, Violation):
                self.refused = message
                return
            try:
                said = self._on(Submitted(message))
            except IllegalMove as refusal:
                self.refused = refusal.found
                return
            assert said == [message], f"chose {message}, said {said}"

    def receive(self, peer: str, expected: re.Pattern[bytes]) -> Mapping[str, bytes]:
        data = re.sub(rb"\(\?P<\w+>(.*?)\)", self._lucky, expected.pattern)
        data = re.sub(rb"\\(.)", rb"\1", data, flags=re.DOTALL)
        size = self._chop or len(data)
        for start in range(0, len(data), size):
            for message in self._codec.feed(data[start : start + size]):
                if not self.over:
                    self._on(Malformed(HOUSE, message) if isinstance(message, Violation) else Received(HOUSE, message))
        return {}

    def perform(self, line: TranscriptLine) -> None:
        if self.over:
            return
        match line.kind:
            case "pass":
                self._now += float(line.text)
                if self._player.deadline is not None and self._player.deadline <= self._now:
                    self._on(TimedOut())
            case "dropped":
                self._on(Left(HOUSE))
            case "left":
                self.refused = "to hang up"
            case "settled":
                # A game that was not finished is forfeited or void: the player cannot know which.
                assert line.text == "?" or self._settled in ([], [line.text]), (
                    f"settled {self._settled}, not {line.text}"
                )
                self._settled.clear()
            case _:
                pass

    def finish(self) -> None:
        assert self.over or not self._settled, f"also settled {self._settled}"

    def _lucky(self, group: re.Match[bytes]) -> bytes:
        """Something that luck may put there: every time something else."""
        found = [
            frame[start:end]
            for frame in self._frames
            for start in range(len(frame))
            for end in range(start + 1, len(frame) + 1)
            if re.fullmatch(group[1], frame[start:end])
        ]
        self._luck += 1
        return found[self._luck % len(found)]

    def _on(self, event: Event) -> list[object]:
        said: list[object] = []
        for effect in self._player.on(event, self._now):
            match effect:
                case Send(_, message):
                    said.append(message)
                case Notify(Violation() as violation):
                    self.violations.append(violation)
                case Settle(_, _, _, net):
                    self._settled.append(f"{net:+d}")
                case _:
                    pass
        return said
