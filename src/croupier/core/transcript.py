"""Transcripts: recorded conversations as text files, and drivers that play them against a house or a client.

A transcript has a head and a body. The head consists of `name: value` lines, including `title` and `clause`. The lines
of the body are

    p> STRT P_1              the peer p sends this
    p< CARD C_Q              the peer p receives this
    * left p                 p disconnects
    * dropped p              the house closes the connection to p
    * settled p +2           the house settles a game with p, which has won two coins (`?`: any number)
    * 500 seconds pass       time passes
    * halted                 the room closes: no new games
    * halted for good        the room closes: running games are void

Special bytes are written in braces: `{lf}`, `{cr}`, `{sp}`, `{hex:00ff}`, `{int32:100}`, `{char16:T}`. In received
lines, any other name in braces stands for random bytes: the room defines a pattern for the name, and the same name
stands for the same bytes until the end of the transcript. Lines that begin with `#` are comments; lines that begin with
white space continue the line above.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Protocol

from msgspec import convert

from croupier.core.codec import Codec
from croupier.core.dealer import dealer_factory, derive_server_seed
from croupier.core.errors import Violation
from croupier.core.hall import Hall
from croupier.core.room import HouseRoom
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
    Timeouts,
)

NAMED_BYTES: Final = {"lf": b"\n", "cr": b"\r", "sp": b" "}
FIELD_ENCODERS: Final[Mapping[str, Callable[[str], bytes]]] = {
    "hex": bytes.fromhex,
    "int32": lambda value: int(value).to_bytes(4, signed=True),
    "char16": lambda value: ord(value).to_bytes(2),
}


@dataclass(frozen=True)
class TranscriptLine:
    """A line of the body. `kind` is ">", "<", or the action: left, dropped, settled, pass, halted."""

    number: int
    kind: str
    peer: str = ""
    text: str = ""


@dataclass(frozen=True)
class Transcript:
    """A parsed transcript. `clauses` are the clauses that it demonstrates; `head` has all entries of the head."""

    name: str
    title: str
    clauses: tuple[str, ...]
    head: Mapping[str, str]
    lines: tuple[TranscriptLine, ...]


ACTION_PATTERNS: Final = (
    (re.compile(r"\* (left|dropped) (\w+)"), lambda action, peer: (action, peer, "")),
    (re.compile(r"\* settled (\w+) ([+-]?\d+|\?)"), lambda peer, net: ("settled", peer, net)),
    (re.compile(r"\* (\d+(?:\.\d+)?) seconds? pass"), lambda seconds: ("pass", "", seconds)),
    (re.compile(r"\* halted( for good)?"), lambda final: ("halted", "", final or "")),
)
PIECE_PATTERN: Final = re.compile(r"([^{}]+)|\{([^{}]*)\}|(.)")
MESSAGE_PATTERN: Final = re.compile(r"(\w+)([<>]) ?(.*)")
HEAD_PATTERN: Final = re.compile(r"([a-z_]+): *(.*)")


def parse_transcript(text: str, name: str) -> Transcript:
    """Parse a transcript. Raises ValueError, naming the file and the line, if it is invalid.

    >>> transcript = parse_transcript("title: A start\\nclause: kuhn-2.1\\n\\np> STRT P_1\\n* left p", "start.txt")
    >>> transcript.lines[0]
    TranscriptLine(number=4, kind='>', peer='p', text='STRT P_1')
    """
    head: dict[str, str] = {}
    lines: list[TranscriptLine] = []
    for number, content in _logical_lines(text):
        if not lines and (entry := HEAD_PATTERN.fullmatch(content)):
            head[entry[1]] = entry[2]
        else:
            lines.append(_parse_line(number, content, name))
    missing = {"title", "clause"} - head.keys()
    if missing or not lines:
        raise ValueError(
            f"{name}: found no {' and no '.join(sorted(missing) or ['lines'])}; allowed: a head and a body"
        )
    return Transcript(name, head["title"], tuple(head["clause"].split()), head, tuple(lines))


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines without comments and blank lines, each joined with its continuations and with its first line number."""
    current: tuple[int, str] | None = None
    for number, raw in enumerate(text.splitlines(), start=1):
        content = raw.rstrip()
        if not content or content.startswith("#"):
            continue
        if current and content[0].isspace():
            current = (current[0], f"{current[1]} {content.lstrip()}")
            continue
        if current:
            yield current
        current = (number, content)
    if current:
        yield current


def _parse_line(number: int, text: str, name: str) -> TranscriptLine:
    if message := MESSAGE_PATTERN.fullmatch(text):
        return TranscriptLine(number, message[2], message[1], message[3])
    for pattern, parse_action in ACTION_PATTERNS:
        if match := pattern.fullmatch(text):
            return TranscriptLine(number, *parse_action(*match.groups()))
    raise ValueError(f"{name}, line {number}: found {text!r}; allowed: 'p> …', 'p< …' or an action ('* …')")


def _parse_pieces(text: str) -> Iterator[bytes | str]:
    """The parts of a text: bytes, and as strings the names in braces that stand for patterns.

    Raises ValueError for invalid braces and for text outside Latin-1.
    """
    for literal, content, stray in PIECE_PATTERN.findall(text):
        try:
            if stray:
                raise ValueError(stray)
            kind, colon, value = content.partition(":")
            if literal:
                yield literal.encode("latin-1")
            elif colon:
                yield FIELD_ENCODERS[kind](value)
            else:
                yield NAMED_BYTES.get(content, content)
        except (ValueError, KeyError, TypeError, OverflowError):
            found = literal or stray or f"{{{content}}}"
            allowed = ", ".join(f"{{{name}}}" for name in (*NAMED_BYTES, *(f"{kind}:…" for kind in FIELD_ENCODERS)))
            raise ValueError(f"found {found!r}; allowed: Latin-1 text, {allowed}") from None


def encode_line(text: str) -> bytes:
    """The bytes of a sent line. Raises ValueError if it has a pattern, or if it is invalid.

    >>> encode_line("BET {int32:100}{lf}")
    b'BET \\x00\\x00\\x00d\\n'
    """
    data = b""
    for piece in _parse_pieces(text):
        if not isinstance(piece, bytes):
            raise ValueError(f"found the pattern {{{piece}}}; allowed: bytes")  # noqa: TRY004 -- the text is at fault
        data += piece
    return data


def compile_pattern(text: str, patterns: Mapping[str, bytes], bound: Mapping[str, bytes]) -> re.Pattern[bytes]:
    """A pattern for a received line; its groups are the names that are not yet bound.

    `patterns` is looked up without trailing digits: {card} and {card2} are two cards. Raises ValueError for an unknown
    name.
    """
    expression = b""
    for piece in _parse_pieces(text):
        if isinstance(piece, bytes):
            expression += re.escape(piece)
        elif piece in bound:
            expression += re.escape(bound[piece])
        elif (kind := piece.rstrip("0123456789")) in patterns:
            expression += b"(?P<%b>%b)" % (piece.encode(), patterns[kind])
        else:
            raise ValueError(f"found the pattern {{{piece}}}; allowed: {', '.join(patterns)}")
    return re.compile(expression, re.DOTALL)


class Driver(Protocol):
    """Plays the lines of a transcript against an implementation."""

    def send(self, peer: str, data: bytes) -> None:
        """Send bytes from the peer."""

    def receive(self, peer: str, expected: re.Pattern[bytes]) -> Mapping[str, bytes]:
        """Match the next bytes that the peer receives, and return the groups. Raises AssertionError on a mismatch."""

    def perform(self, line: TranscriptLine) -> None:
        """Perform an action, or check that it has happened."""

    def finish(self) -> None:
        """Check that the transcript has covered everything that was received and that happened."""


def play_transcript(transcript: Transcript, driver: Driver, patterns: Mapping[str, bytes]) -> None:
    """Play a transcript with a driver. Raises AssertionError, naming the line, at the first mismatch."""
    bound: dict[str, bytes] = {}
    for line in transcript.lines:
        try:
            match line.kind:
                case ">":
                    driver.send(line.peer, encode_line(line.text))
                case "<":
                    bound |= driver.receive(line.peer, compile_pattern(line.text, patterns, bound))
                case _:
                    driver.perform(line)
        except AssertionError as error:
            raise AssertionError(f"{transcript.name}, line {line.number}: {error}") from error
    driver.finish()


class Harness[In, Out]:
    """A driver without sockets: a house, with a codec for each peer.

    Bytes arrive in chunks of `chunk_size` bytes (0: unchunked). `addresses` has the addresses of peers by name; the
    default for the n-th peer is 192.0.2.1, port 40,000 + n.
    """

    def __init__(
        self,
        house: Session[In, Out],
        codec: Callable[[], Codec[In, Out]],
        chunk_size: int = 0,
        observers: Sequence[Observer] = (),
        addresses: Mapping[str, Address] = {},
    ) -> None:
        self.now = 0.0
        self._addresses = addresses
        self._house = house
        self._codec = codec
        self._chunk_size = chunk_size
        self._observers = observers
        self._peers: dict[str, Peer] = {}
        self._codecs: dict[Peer, Codec[In, Out]] = {}
        self._received: dict[Peer, bytearray] = {}
        self._actions: list[tuple[str, Peer, str]] = []
        self._dropped: set[Peer] = set()

    def send(self, peer: str, data: bytes) -> None:
        """Feed the bytes to the house in chunks."""
        number = self._peer_number(peer)
        size = self._chunk_size or len(data)
        for start in range(0, len(data), size or 1):
            for message in self._codecs[number].feed(data[start : start + size]):
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


def make_harness(
    room: HouseRoom, transcript: Transcript, chunk_size: int = 0, observers: Sequence[Observer] = ()
) -> Harness[Any, Any]:
    """A harness for the house of a room, configured by the head of the transcript.

    `deck: Q K / J` lists decks, `seed: 7` sets the seed, `house: BET FLD` is the script of the house's bot, `idle` and
    `move` are its timeouts in seconds, and `strict: yes` disables tolerances; every other entry that names a setting of
    the room sets it.
    """
    settings = house_settings(room, transcript)
    return Harness(
        make_hall(room, transcript), lambda: room.codec(is_strict(transcript), settings), chunk_size, observers
    )


def is_strict(transcript: Transcript) -> bool:
    """Whether the transcript is for an implementation without tolerances."""
    return transcript.head.get("strict") == "yes"


def peer_addresses(transcript: Transcript) -> dict[str, Address]:
    """The addresses of peers from the head, as in `from: p 192.0.2.9 4001, q 2001:db8::9 4002`.

    Raises ValueError if the entry is invalid.
    """
    entries = transcript.head.get("from")
    if entries is None:
        return {}
    return {peer: (host, int(port)) for peer, host, port in (entry.split() for entry in entries.split(","))}


def house_settings(room: HouseRoom, transcript: Transcript) -> Any:
    """The settings of a room's house from the head of a transcript."""
    return _convert_head(room.settings, transcript.head)


def client_options(room: HouseRoom, transcript: Transcript) -> Any:
    """The options of a room's client from the head of a transcript."""
    return _convert_head(room.options, transcript.head)


def _convert_head(kind: type[Any], head: Mapping[str, str]) -> Any:
    given = {field.name: head[field.name] for field in fields(kind) if field.name in head}
    if "house" in head and "bot" in kind.__dataclass_fields__:
        given["bot"] = f"script:{head['house'].replace(' ', ',')}"
    values = {name: "true" if value == "yes" else value for name, value in given.items()}
    return convert(values, kind, strict=False)


def make_hall(room: HouseRoom, transcript: Transcript) -> Hall[Any, Any]:
    """The hall of a room, configured by the head of a transcript."""
    head = transcript.head
    settings = house_settings(room, transcript)
    timeouts = Timeouts(float(head.get("idle", 500)), float(head["move"]) if "move" in head else None)
    text = "\n\n".join(deck.replace(" ", "\n") for deck in head.get("deck", "").split(" / "))
    decks = room.pack.parse_decks(text, transcript.name, room.deck_count(settings)) if "deck" in head else ()
    seed = int(head.get("seed", 1))
    return Hall(
        room.house(settings, timeouts, is_strict(transcript)),
        dealer_factory(lambda table: derive_server_seed(seed, room.name, table), decks=decks),
        timeouts.shortest,
    )
