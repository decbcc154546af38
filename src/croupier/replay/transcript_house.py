"""A house that plays transcripts in memory, without sockets."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from croupier.core.codec import Codec
from croupier.core.dealer import Dealer, dealer_factory, derive_server_seed
from croupier.core.errors import Violation
from croupier.core.room import HouseRoom, Room
from croupier.core.session import (
    Address,
    Closing,
    Drop,
    Event,
    Joined,
    Left,
    Malformed,
    Observer,
    Peer,
    Received,
    Send,
    Session,
    Settle,
    TimedOut,
)
from croupier.core.transcript import (
    Transcript,
    TranscriptLine,
    deck_file,
    house_settings,
    is_strict,
    make_hall,
    parse_pieces,
)


def compile_pattern(text: str, patterns: Mapping[str, bytes], bound: Mapping[str, bytes]) -> re.Pattern[bytes]:
    """A pattern for a received line; its groups are the names that are not yet bound.

    `patterns` is looked up without trailing digits: {card} and {card2} are two cards. Raises ValueError for an unknown
    name.
    """
    expression = b""
    for piece in parse_pieces(text):
        if isinstance(piece, bytes):
            expression += re.escape(piece)
        elif piece in bound:
            expression += re.escape(bound[piece])
        elif (kind := piece.rstrip("0123456789")) in patterns:
            expression += b"(?P<%b>%b)" % (piece.encode(), patterns[kind])
        else:
            raise ValueError(f"found the pattern {{{piece}}}; allowed: {', '.join(patterns)}")
    return re.compile(expression, re.DOTALL)


def transcript_dealers(room: Room, transcript: Transcript) -> Callable[[int], Dealer]:
    """The dealers of the hands at a shared table, by number.

    `deck: 3 spades, joker maid / …` lists decks, which are used in turn; `seed: 7` sets the seed.
    """
    head = transcript.head
    decks = room.pack.parse_decks(deck_file(head["deck"]), transcript.name) if "deck" in head else ()
    seed = int(head.get("seed", 1))
    return dealer_factory(lambda hand: derive_server_seed(seed, room.name, hand), decks=decks, shared=True)


class Harness[In, Out]:
    """A driver without sockets: a house, with a codec for each peer.

    `addresses` has the addresses of peers by name; the default for the n-th peer is 192.0.2.1, port 40,000 + n.
    """

    def __init__(
        self,
        house: Session[In, Out],
        codec: Callable[[], Codec[In, Out]],
        observers: Sequence[Observer] = (),
        addresses: Mapping[str, Address] = {},
    ) -> None:
        self.now = 0.0
        self._addresses = addresses
        self._house = house
        self._codec = codec
        self._observers = observers
        self._peers: dict[str, Peer] = {}
        self._codecs: dict[Peer, Codec[In, Out]] = {}
        self._received: dict[Peer, bytearray] = {}
        self._actions: list[tuple[str, Peer, str]] = []
        self._dropped: set[Peer] = set()

    def send(self, peer: str, data: bytes) -> None:
        """Feed the bytes to the house."""
        number = self._peer_number(peer)
        for message in self._codecs[number].feed(data):
            if number not in self._dropped:
                self._handle_event(
                    Malformed(number, message) if isinstance(message, Violation) else Received(number, message)
                )

    def receive(self, peer: str, expected: re.Pattern[bytes]) -> Mapping[str, bytes]:
        """Match and remove the next bytes that the peer has received."""
        received = self._received[self._peer_number(peer)]
        match = expected.match(received)
        assert match, f"{peer} receives {bytes(received)!r}, not {expected.pattern!r}"
        bound = {name: bytes(value) for name, value in match.groupdict().items()}  # copied before the buffer changes
        del received[: match.end()]
        return bound

    def perform(self, line: TranscriptLine) -> None:
        """Let time pass, disconnect a peer, or close the room; or check that a Drop or Settle has happened."""
        match line.kind:
            case "pass":
                self.now += float(line.text)
                if self._house.deadline is not None and self._house.deadline <= self.now:
                    self._handle_event(TimedOut())
            case "halted":
                self._handle_event(Closing(bool(line.text)))
            case "left":
                self._leave(self._peer_number(line.peer))
            case _:
                wanted = (line.kind, self._peer_number(line.peer), line.text)
                matching = [
                    action
                    for action in self._actions
                    if action == wanted or (action[:2], "?") == (wanted[:2], line.text)
                ]
                assert matching, f"found the actions {self._actions}, not {wanted}"
                self._actions.remove(matching[0])

    def finish(self) -> None:
        """Check that nothing is left over, then disconnect all peers."""
        for name, number in self._peers.items():
            assert not self._received[number], f"{name} also receives {bytes(self._received[number])!r}"
        assert not self._actions, f"also happened: {self._actions}"
        for number in self._peers.values():
            self._leave(number)

    def _peer_number(self, peer: str) -> Peer:
        number = self._peers.get(peer)
        if number is None:
            number = self._peers[peer] = len(self._peers) + 1
            self._codecs[number] = self._codec()
            self._received[number] = bytearray()
            self._handle_event(Joined(number, self._addresses.get(peer, ("192.0.2.1", 40_000 + number))))
        return number

    def _leave(self, number: Peer) -> None:
        if self._codecs.pop(number, None) is not None:
            self._handle_event(Left(number))

    def _handle_event(self, event: Event[In]) -> None:
        effects = self._house.on(event, self.now)
        for observer in self._observers:
            observer(event, effects, self.now)
        for effect in effects:
            match effect:
                case Send(peer, message):
                    self._received[peer] += self._codecs[peer].encode(message)
                case Drop(peer):
                    self._actions.append(("dropped", peer, ""))
                    self._dropped.add(peer)
                case Settle(peer, _, _, net):
                    self._actions.append(("settled", peer, f"{net:+d}"))
                case _:
                    pass


def make_harness(room: HouseRoom, transcript: Transcript, observers: Sequence[Observer] = ()) -> Harness[Any, Any]:
    """A harness for the house of a room, configured by the head of the transcript.

    `deck: Q K / J` lists decks, `seed: 7` sets the seed, `house: BET FLD` is the script of the house's bot, `idle` and
    `move` are its timeouts in seconds, and `strict: yes` disables tolerances; every other entry that names a setting of
    the room sets it.
    """
    settings = house_settings(room, transcript)
    return Harness(make_hall(room, transcript), lambda: room.codec(is_strict(transcript), settings), observers)
