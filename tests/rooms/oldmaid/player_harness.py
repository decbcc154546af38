"""Transcript harness for the Old Maid player: the transcript plays the table and all other players."""

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
from tests.transcripts import transcripts

PLAYER_TRANSCRIPTS = [transcript for transcript in transcripts("oldmaid") if transcript.head.get("side") == "player"]

LUCK = FairDealer(derive_server_seed(1, "oldmaid", 1)).luck


def options(head: Mapping[str, str]) -> Options:
    """The options of the player of a transcript; its nick is `me` by default."""
    seconds = {name: float(head[name]) for name in ("pause", "poll_seconds", "retry_seconds") if name in head}
    return Options(nick=head.get("nick", "me"), dialect=head.get("dialect", "document"), **seconds)  # type: ignore[arg-type]


def reachable_peers(head: Mapping[str, str]) -> dict[Address, str]:
    """The reachable peers by address; all other addresses refuse connections."""
    found = {}
    for call in filter(None, head.get("calls", "").split(", ")):
        match = re.fullmatch(r"(\w+) ([\d.]+):(\d+)", call)
        assert match, f"found {call!r}; allowed: name address:port"
        found[match[2], int(match[3])] = match[1]
    return found


class PlayerHarness:
    """A `Driver` for the player, which picks at random as soon as it may.

    The peer `table` is connected from the start. A peer to which the player connects joins at once if its address is
    reachable, any other peer with its first message. A dropped peer is gone at once.
    """

    def __init__(self, transcript: Transcript) -> None:
        strict = transcript.head.get("strict") == "yes"
        self.player = Player(options(transcript.head), LUCK, strict=strict)
        self.now = 0.0
        self._codec = lambda: Wire("player", strict=strict, dialect=self.player.options.dialect)
        self._reachable = reachable_peers(transcript.head)
        self._peers = {"table": TABLE}
        self._codecs: dict[int, Wire] = {}
        self._received: dict[str, bytearray] = {}
        self._dropped: list[str] = []
        self._events: deque[Event[Message]] = deque()
        self._join("table", TABLE)

    def send(self, peer: str, data: bytes) -> None:
        if peer not in self._peers:
            self._join(peer, max(self._peers.values()) + 1)
        number = self._peers[peer]
        if number in self._codecs:
            for message in self._codecs[number].feed(data):
                garbled = isinstance(message, Violation)
                self._on(Malformed(number, message) if garbled else Received(number, message))

    def receive(self, peer: str, expected: re.Pattern[bytes]) -> Mapping[str, bytes]:
        received = bytes(self._received.get(peer, b""))
        match = expected.match(received)
        assert match, f"{peer} receives {received!r}, not {expected.pattern!r}"
        del self._received[peer][: match.end()]
        return match.groupdict()

    def perform(self, line: TranscriptLine) -> None:
        match line.kind:
            case "pass":
                end = self.now + float(line.text)
                while (deadline := self.player.deadline) is not None and deadline <= end:
                    self.now = max(self.now, deadline)
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
        for peer, received in self._received.items():
            assert not received, f"{peer} also receives {bytes(received)!r}"
        for number in [*self._codecs]:
            self._leave(number)

    def _join(self, name: str, number: int) -> None:
        self._peers[name] = number
        self._codecs[number] = self._codec()
        self._received.setdefault(name, bytearray())
        self._on(Joined(number, ("192.0.2.9", 4009)))

    def _leave(self, number: int) -> None:
        if self._codecs.pop(number, None) is not None:
            self._on(Left(number))

    def _on(self, event: Event[Message]) -> None:
        self._events.append(event)
        if len(self._events) > 1:
            return  # the outer call handles it
        while self._events:
            for effect in self.player.on(self._events[0], self.now):
                self._perform(effect)
            pick = self.player.decide(RandomBot(), LUCK)
            if pick is not None:
                self._events.append(Submitted(pick))
            self._events.popleft()

    def _perform(self, effect: object) -> None:
        match effect:
            case Send(peer, message):
                assert peer in self._codecs, f"{message} is sent to an unconnected peer"
                self._received[self._named(peer)] += self._codecs[peer].encode(message)
            case Drop(peer):
                self._dropped.append(self._named(peer))
                del self._codecs[peer]
                self._on(Left(peer))
            case Connect(peer, address) if address in self._reachable:
                self._join(self._reachable[address], peer)
            case Connect(peer):
                self._on(Left(peer, "refused"))
            case _:
                pass  # events

    def _named(self, number: int) -> str:
        return next(name for name, peer in self._peers.items() if peer == number)
