"""The transcripts of all rooms, and a driver that plays them with a client."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from croupier.core.errors import IllegalMove, Violation
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Event, Joined, Left, Malformed, Notify, Received, Send, Settle, Submitted, TimedOut
from croupier.core.transcript import (
    Transcript,
    TranscriptLine,
    convert_head,
    house_settings,
    is_strict,
    parse_transcript,
)
from croupier.rooms import HOUSE_ROOMS

TRANSCRIPT_FOLDER = Path(__file__).parent.parent / "transcripts"


@cache
def transcripts(room: str) -> list[Transcript]:
    """The transcripts of a room, by name."""
    return [
        parse_transcript(path.read_text(), f"{room}/{path.stem}")
        for path in sorted((TRANSCRIPT_FOLDER / room).glob("*.txt"))
    ]


ALL_TRANSCRIPTS = [(HOUSE_ROOMS[name], transcript) for name in HOUSE_ROOMS for transcript in transcripts(name)]


def side_at_fault(transcript: Transcript) -> str:
    """The side that breaks the protocol in a transcript: "client", "house" or ""."""
    return transcript.head.get("fault", "").partition(" ")[0]


def broken_clauses(transcript: Transcript) -> set[str]:
    """The broken clauses: those named after the side at fault, or else all clauses of the transcript."""
    return {*transcript.head.get("fault", "").split()[1:]} or {*transcript.clauses}


def is_playable_by_house(transcript: Transcript) -> bool:
    """Whether our house can play its part: it breaks no clause, and never closes on its own initiative."""
    return side_at_fault(transcript) != "house" and transcript.head.get("side") != "player"


class PlayerDriver:
    """A driver with our client in the role of the peer: it submits what the peer sends, and receives what it receives.

    `refused` is the first message that the client cannot send; `violations` are those that it finds in the house.
    """

    def __init__(self, room: HouseRoom, transcript: Transcript, chop: int) -> None:
        self.refused: object = None
        self.violations: list[Violation] = []
        self._chunk_size = chop
        self._now = 0.0
        options, settings = convert_head(room.options, transcript.head), house_settings(room, transcript)
        self._player = room.player(options, strict=is_strict(transcript))
        self._codec = room.codec(is_strict(transcript), options)
        self._parser = room.codec(is_strict(transcript), settings)
        self._frames = [self._codec.encode(message) for message in room.sample_messages]
        self._pattern_count = 0
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
                sent = self._on(Submitted(message))
            except IllegalMove as refusal:
                self.refused = refusal.found
                return
            assert sent == [message], f"submitted {message}, sent {sent}"

    def receive(self, peer: str, expected: re.Pattern[bytes]) -> Mapping[str, bytes]:
        data = re.sub(rb"\(\?P<\w+>(.*?)\)", self._random_bytes, expected.pattern)
        data = re.sub(rb"\\(.)", rb"\1", data, flags=re.DOTALL)
        size = self._chunk_size or len(data)
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
                # An unfinished game is forfeited or void; the client cannot know which.
                assert line.text == "?" or self._settled in ([], [line.text]), (
                    f"settled {self._settled}, not {line.text}"
                )
                self._settled.clear()
            case _:
                pass

    def finish(self) -> None:
        assert self.over or not self._settled, f"also settled {self._settled}"

    def _random_bytes(self, group: re.Match[bytes]) -> bytes:
        """Bytes that match a pattern, different ones every time."""
        candidates = [
            frame[start:end]
            for frame in self._frames
            for start in range(len(frame))
            for end in range(start + 1, len(frame) + 1)
            if re.fullmatch(group[1], frame[start:end])
        ]
        self._pattern_count += 1
        return candidates[self._pattern_count % len(candidates)]

    def _on(self, event: Event) -> list[object]:
        sent: list[object] = []
        for effect in self._player.on(event, self._now):
            match effect:
                case Send(_, message):
                    sent.append(message)
                case Notify(Violation() as violation):
                    self.violations.append(violation)
                case Settle(_, _, _, net):
                    self._settled.append(f"{net:+d}")
                case _:
                    pass
        return sent
