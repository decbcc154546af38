"""A player of Old Maid on his own: a stage on which the papers play the table and all the other players."""

import re
from collections import deque
from collections.abc import Mapping

from croupier.core.bots import RandomBot
from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.core.errors import Violation
from croupier.core.session import (
    Address,
    Connect,
    Drop,
    Event,
    Joined,
    Left,
    Malformed,
    Received,
    Send,
    Submitted,
    TimedOut,
)
from croupier.core.transcript import Transcript, TranscriptLine
from croupier.rooms.oldmaid.player import TABLE, Options, Player
from croupier.rooms.oldmaid.wire import Message, Wire
from tests.transcripts import TRANSCRIPT_FOLDER, parse_transcript

PLAYERS_PAPERS = [
    paper
    for paper in (
        parse_transcript(path.read_text(), f"oldmaid/{path.stem}")
        for path in sorted((TRANSCRIPT_FOLDER / "oldmaid").glob("*.txt"))
    )
    if paper.head.get("side") == "player"
]

LUCK = FairDealer(derive_server_seed(1, "oldmaid", 1)).luck


def options(head: Mapping[str, str]) -> Options:
    """The options of the player that a paper is about; he is called `me` in all of them."""
    seconds = {name: float(head[name]) for name in ("pause", "look", "retry_seconds") if name in head}
    return Options(nick=head.get("nick", "me"), dialect=head.get("dialect", "document"), **seconds)  # type: ignore[arg-type]


def callable_(head: Mapping[str, str]) -> dict[Address, str]:
    """Who answers at which address; everywhere else nobody does."""
    found = {}
    for call in filter(None, head.get("calls", "").split(", ")):
        match = re.fullmatch(r"(\w+) ([\d.]+):(\d+)", call)
        assert match, f"found {call!r}; allowed: name address:port"
        found[match[2], int(match[3])] = match[1]
    return found


class Alone:
    """A `Stage`: the paper's peers talk to our player, who picks at random as soon as he may.

    `table` has joined from the beginning; who is called joins at once, if somebody answers there, and anybody else when
    he first speaks. Whoever is dropped is gone at once.
    """

    def __init__(self, transcript: Transcript, chop: int = 0) -> None:
        strict = transcript.head.get("strict") == "yes"
        self.player = Player(options(transcript.head), LUCK, strict=strict)
        self.now = 0.0
        self._chop = chop
        self._codec = lambda: Wire("player", strict=strict, dialect=self.player.options.dialect)
        self._calls = callable_(transcript.head)
        self._peers = {"table": TABLE}
        self._codecs: dict[int, Wire] = {}
        self._heard: dict[str, bytearray] = {}
        self._dropped: list[str] = []
        self._coming: deque[Event[Message]] = deque()
        self._join("table", TABLE)

    def send(self, peer: str, data: bytes) -> None:
        if peer not in self._peers:
            self._join(peer, max(self._peers.values()) + 1)
        number = self._peers[peer]
        size = self._chop or len(data)
        for start in range(0, len(data), size):
            if number in self._codecs:
                for message in self._codecs[number].feed(data[start : start + size]):
                    garbled = isinstance(message, Violation)
                    self._on(Malformed(number, message) if garbled else Received(number, message))

    def receive(self, peer: str, expected: re.Pattern[bytes]) -> Mapping[str, bytes]:
        heard = bytes(self._heard.get(peer, b""))
        match = expected.match(heard)
        assert match, f"{peer} hears {heard!r}, not {expected.pattern!r}"
        del self._heard[peer][: match.end()]
        return match.groupdict()

    def perform(self, line: TranscriptLine) -> None:
        match line.kind:
            case "pass":
                end = self.now + float(line.text)
                while (alarm := self.player.deadline) is not None and alarm <= end:
                    self.now = max(self.now, alarm)
                    self._on(TimedOut())
                self.now = end
            case "left":
                self._leave(self._peers[line.peer])
            case "dropped":
                assert line.peer in self._dropped, f"dropped are {self._dropped}, not {line.peer}"
                self._dropped.remove(line.peer)
            case _:
                raise AssertionError(f"found {line}; allowed: '* N seconds pass', '* left p', '* dropped p'")

    def finish(self) -> None:
        for peer, heard in self._heard.items():
            assert not heard, f"{peer} also hears {bytes(heard)!r}"
        for number in [*self._codecs]:
            self._leave(number)

    def _join(self, name: str, number: int) -> None:
        self._peers[name] = number
        self._codecs[number] = self._codec()
        self._heard.setdefault(name, bytearray())
        self._on(Joined(number, ("192.0.2.9", 4009)))

    def _leave(self, number: int) -> None:
        if self._codecs.pop(number, None) is not None:
            self._on(Left(number))

    def _on(self, event: Event[Message]) -> None:
        self._coming.append(event)
        if len(self._coming) > 1:
            return  # it is handled when the one before it has been
        while self._coming:
            for effect in self.player.on(self._coming[0], self.now):
                self._do(effect)
            picks = self.player.decide(RandomBot(), LUCK)
            if picks is not None:
                self._coming.append(Submitted(picks))
            self._coming.popleft()

    def _do(self, effect: object) -> None:
        match effect:
            case Send(peer, message):
                assert peer in self._codecs, f"{message} is said to nobody"
                self._heard[self._named(peer)] += self._codecs[peer].encode(message)
            case Drop(peer):
                self._dropped.append(self._named(peer))
                del self._codecs[peer]
                self._on(Left(peer))
            case Connect(peer, address) if address in self._calls:
                self._join(self._calls[address], peer)
            case Connect(peer):
                self._on(Left(peer, "refused"))
            case _:
                pass  # news

    def _named(self, number: int) -> str:
        return next(name for name, peer in self._peers.items() if peer == number)
