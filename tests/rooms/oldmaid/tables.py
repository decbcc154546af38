"""Old Maid tables for tests, without sockets: transcript harnesses and a table with a virtual clock."""

from collections.abc import Iterable
from itertools import cycle, islice
from typing import Any

from croupier.core.session import (
    Address,
    Commit,
    Drop,
    Effect,
    Event,
    HandFinished,
    Joined,
    Left,
    Peer,
    Received,
    Reveal,
    Send,
    TimedOut,
)
from croupier.core.transcript import Transcript
from croupier.replay.transcript_house import transcript_dealers
from croupier.rooms.oldmaid import ROOM
from croupier.rooms.oldmaid.cards import CARD_NUMBERS, JOKER, WIRE_CARDS, Card, to_wire
from croupier.rooms.oldmaid.house import House
from croupier.rooms.oldmaid.settings import Settings
from croupier.rooms.oldmaid.wire import Answer, Discard, Draw, Join, Message, OutOfCards, Reply
from tests.transcripts import transcripts

TABLE_TRANSCRIPTS = [transcript for transcript in transcripts("oldmaid") if transcript.head.get("side") != "player"]


class TableHarness:
    """A table with a virtual clock that records messages by peer, dropped peers, and Commit, HandFinished and Reveal.

    A message to a peer that is gone, and a second drop, fail the test.
    """

    def __init__(self, *, deck: str = "", seed: int = 1, idle: float = 500.0, **own: Any) -> None:
        head = {"seed": str(seed), **({"deck": deck} if deck else {})}
        self.house = House(
            Settings(**own), transcript_dealers(ROOM, Transcript("harness", "", (), head, ())), idle=idle
        )
        self.now = 0.0
        self.timeout_count = 0
        self.connected: set[Peer] = set()
        self.dropped: set[Peer] = set()
        self.received: dict[Peer, list[Answer]] = {}
        self.facts: list[Commit | HandFinished | Reveal] = []

    def connect(self, address: Address | None = ("192.0.2.1", 0)) -> Peer:
        """Connect a peer; port 0 stands for a unique port."""
        peer = len(self.received) + 1
        self.connected.add(peer)
        self.received[peer] = []
        self.on(Joined(peer, address and (address[0], address[1] or 40_000 + peer)))
        return peer

    def join(self, *nicks: str) -> list[Peer]:
        """Connect peers and join with these nicks."""
        peers = [self.connect() for _ in nicks]
        for peer, nick in zip(peers, nicks, strict=True):
            self.on(Received(peer, Join(nick)))
        return peers

    def send(self, peer: Peer, *messages: Message) -> list[Answer]:
        """Send messages of a peer; return the answers."""
        before = len(self.received[peer])
        for message in messages:
            self.on(Received(peer, message))
        return self.received[peer][before:]

    def clause(self, peer: Peer, message: Message) -> str:
        """The clause that refuses a message, empty if it is accepted."""
        return "".join(clause(answer) for answer in self.send(peer, message))

    def finish(self, peer: Peer) -> list[Answer]:
        """Discard pairs as a peer, without regard to their holders, until `out_of_cards` is accepted."""
        for card in range(0, JOKER, 2):
            if self.clause(peer, OutOfCards()) != "oldmaid-6.12":
                break
            self.send(peer, Discard((to_wire(card), to_wire(card + 1)), "false"))
        return self.received[peer][-1:]

    def disconnect(self, *peers: Peer) -> None:
        """Disconnect peers."""
        for peer in peers:
            self.connected.remove(peer)
            self.on(Left(peer))

    def wait(self, seconds: float) -> None:
        """Advance the clock by a number of seconds."""
        self.wait_until(self.now + seconds)

    def wait_until(self, end: float) -> None:
        """Advance the clock to a time, with a TimedOut at each deadline."""
        while (deadline := self.house.deadline) is not None and deadline <= end:
            self.now = max(self.now, deadline)
            self.timeout_count += 1
            self.on(TimedOut())
            assert self.house.deadline is None or self.house.deadline > self.now, "a deadline must move after a timeout"
        self.now = end

    def draw(self, *peers: Peer) -> list[tuple[Peer, Card]]:
        """Draw all cards in turn; return the peer and the card of each draw."""
        drawn = []
        for peer in islice(cycle(peers), len(WIRE_CARDS)):
            (answer,) = self.send(peer, Draw())
            assert isinstance(answer, Reply)
            assert answer.card is not None, answer
            drawn.append((peer, CARD_NUMBERS[answer.card]))
        return drawn

    def on(self, event: Event[Message]) -> None:
        """Process an event."""
        self.perform(self.house.on(event, self.now))

    def perform(self, effects: Iterable[Effect[Answer]]) -> None:
        """Record effects."""
        for effect in effects:
            match effect:
                case Send(peer, message):
                    assert peer in self.connected - self.dropped, f"{effect} is sent to a peer that is gone"
                    self.received[peer].append(message)
                case Drop(peer):
                    assert peer in self.connected - self.dropped, f"{peer} is not there to be dropped"
                    self.dropped.add(peer)
                case Commit() | HandFinished() | Reveal():
                    self.facts.append(effect)
                case _:
                    raise AssertionError(f"{effect} is not an effect of a table")

    # Former names, still used by tests/recording/test_durable_session.py.
    come, say, leave, until = connect, send, disconnect, wait_until

    @property
    def heard(self) -> dict[Peer, list[Answer]]:
        return self.received

    @property
    def here(self) -> set[Peer]:
        return self.connected


def clause(answer: Answer) -> str:
    """The clause that an error names, empty for any other answer."""
    if isinstance(answer, Reply) and answer.result == "error":
        assert answer.message is not None
        return answer.message.partition(":")[0]
    return ""
