"""Tables of Old Maid for tests: set as a paper says, and without a socket."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from msgspec import convert

from croupier.core.dealer import Dealer, dealer_factory, derive_server_seed
from croupier.core.session import (
    Address,
    Commit,
    Drop,
    Effect,
    Event,
    HandFinished,
    Joined,
    Left,
    Observer,
    Peer,
    Received,
    Reveal,
    Send,
    TimedOut,
)
from croupier.core.transcript import Harness, Transcript, is_strict, parse_transcript, peer_addresses
from croupier.rooms.oldmaid.cards import CARD_NUMBERS, JOKER, PACK, WIRE_CARDS, Card, to_wire
from croupier.rooms.oldmaid.house import House
from croupier.rooms.oldmaid.settings import Settings
from croupier.rooms.oldmaid.wire import Answer, Discard, Draw, Join, Message, OutOfCards, Reply, Wire

ROOT = Path(__file__).parents[3]
PAPERS = [
    parse_transcript(path.read_text(), f"oldmaid/{path.stem}")
    for path in sorted((ROOT / "transcripts" / "oldmaid").glob("*.txt"))
]
TABLE_PAPERS = [paper for paper in PAPERS if paper.head.get("side") != "player"]


def settings(paper: Transcript) -> Settings:
    """The settings of a table, as the head of a paper has them."""
    return convert(
        {field.name: paper.head[field.name] for field in fields(Settings) if field.name in paper.head},
        Settings,
        strict=False,
    )


def dealt(paper: Transcript) -> Callable[[int], Dealer]:
    """The dealers of a table: `deck: 3 spades, joker maid / …` lists decks, used in turn, and `seed: 7` fixes luck."""
    text = "\n\n".join(deck.replace(", ", "\n") for deck in paper.head.get("deck", "").split(" / "))
    decks = PACK.parse_decks(text, paper.name) if "deck" in paper.head else ()
    seed = int(paper.head.get("seed", 1))
    return dealer_factory(lambda game: derive_server_seed(seed, "oldmaid", game), decks=decks, shared=True)


def house(paper: Transcript) -> House:
    """The table that a paper is about."""
    return House(settings(paper), dealt(paper), idle=float(paper.head.get("idle", 500)))


def rehearsal(paper: Transcript, chop: int = 0, taps: Sequence[Observer] = ()) -> Harness[Message, Answer]:
    """A stage for the table of a paper, without a socket."""
    dialect = settings(paper).dialect
    return Harness(
        house(paper), lambda: Wire("table", strict=is_strict(paper), dialect=dialect), chop, taps, peer_addresses(paper)
    )


class Evening:
    """A table, a clock, and all that came of what happened: what everybody has heard, who was dropped, and the facts.

    Who is told anything when he is not there, or dropped twice, fails the test.
    """

    def __init__(self, *, deck: str = "", seed: int = 1, idle: float = 500.0, **own: Any) -> None:
        head = {"seed": str(seed), **({"deck": deck} if deck else {})}
        self.house = House(Settings(**own), dealt(Transcript("evening", "", (), head, ())), idle=idle)
        self.now = 0.0
        self.rings = 0
        self.here: set[Peer] = set()
        self.dropped: set[Peer] = set()
        self.heard: dict[Peer, list[Answer]] = {}
        self.facts: list[Commit | HandFinished | Reveal] = []

    def come(self, address: Address | None = ("192.0.2.1", 0)) -> Peer:
        """Somebody comes to the table; port 0 stands for one that nobody else has."""
        peer = len(self.heard) + 1
        self.here.add(peer)
        self.heard[peer] = []
        self.on(Joined(peer, address and (address[0], address[1] or 40_000 + peer)))
        return peer

    def join(self, *nicks: str) -> list[Peer]:
        """Players come and join."""
        peers = [self.come() for _ in nicks]
        for peer, nick in zip(peers, nicks, strict=True):
            self.on(Received(peer, Join(nick)))
        return peers

    def say(self, peer: Peer, *messages: Message) -> list[Answer]:
        """What a peer is answered to some messages."""
        before = len(self.heard[peer])
        for message in messages:
            self.on(Received(peer, message))
        return self.heard[peer][before:]

    def clause(self, peer: Peer, message: Message) -> str:
        """The clause by which a message is refused, nothing if it is not."""
        return "".join(clause(answer) for answer in self.say(peer, message))

    def finish(self, peer: Peer) -> list[Answer]:
        """A peer throws pairs away, whoever has them, until it may be out of cards, and says that it is."""
        for card in range(0, JOKER, 2):
            if self.clause(peer, OutOfCards()) != "oldmaid-6.12":
                break
            self.say(peer, Discard((to_wire(card), to_wire(card + 1)), "false"))
        return self.heard[peer][-1:]

    def leave(self, *peers: Peer) -> None:
        """Peers hang up."""
        for peer in peers:
            self.here.remove(peer)
            self.on(Left(peer))

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.until(self.now + seconds)

    def until(self, end: float) -> None:
        """Let time pass; whenever the alarm is due it rings."""
        while (alarm := self.house.deadline) is not None and alarm <= end:
            self.now = max(self.now, alarm)
            self.rings += 1
            self.on(TimedOut())
            assert self.house.deadline is None or self.house.deadline > self.now, "an alarm that rang does not ring on"
        self.now = end

    def draw(self, *peers: Peer) -> list[tuple[Peer, Card]]:
        """The players draw all cards in turn: who has drawn which."""
        drawn = []
        for peer in islice(cycle(peers), len(WIRE_CARDS)):
            (answer,) = self.say(peer, Draw())
            assert isinstance(answer, Reply)
            assert answer.card is not None, answer
            drawn.append((peer, CARD_NUMBERS[answer.card]))
        return drawn

    def on(self, event: Event[Message]) -> None:
        """Let something happen."""
        self.perform(self.house.on(event, self.now))

    def perform(self, effects: Iterable[Effect[Answer]]) -> None:
        """Let everybody hear what came of it."""
        for effect in effects:
            match effect:
                case Send(peer, message):
                    assert peer in self.here - self.dropped, f"nobody hears {effect}"
                    self.heard[peer].append(message)
                case Drop(peer):
                    assert peer in self.here - self.dropped, f"{peer} is not there to be dropped"
                    self.dropped.add(peer)
                case Commit() | HandFinished() | Reveal():
                    self.facts.append(effect)
                case _:
                    raise AssertionError(f"{effect} is nothing that a table does")


def clause(answer: Answer) -> str:
    """The clause that an answer names, nothing if it is no error."""
    if isinstance(answer, Reply) and answer.result == "error":
        assert answer.message is not None
        return answer.message.partition(":")[0]
    return ""
