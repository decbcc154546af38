"""Conversations on paper: read once, played against a house, a player, a socket or a stranger.

A transcript is a head and a body. The head is `name: value` lines, `title` and `clause` among them. In the body

    p> STRT P_1              the peer p says this
    p< CARD C_Q              the peer p hears this
    * left p                 p hangs up
    * dropped p              the house ends the conversation with p
    * settled p +2           the house settles a game with p, who has won two coins (`?`: whatever luck brought)
    * 500 seconds pass       time
    * halted                 the room closes: no new games
    * halted for good        the room closes: running games are void

Bytes that are no text are written in braces: `{lf}`, `{cr}`, `{sp}`, `{hex:00ff}`, `{int32:100}`, `{char16:T}`. In what
is heard, any other name in braces stands for what luck decides: a room tells what may stand there, and the same name
means the same bytes until the end of the transcript. Lines that begin with `#` are comments; lines that begin with
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
    """A line of the body. `kind` is ">", "<", or the deed: left, dropped, settled, pass, halted."""

    number: int
    kind: str
    peer: str = ""
    text: str = ""


@dataclass(frozen=True)
class Transcript:
    """A conversation. `clauses` are those it shows; `head` has all lines of the head."""

    name: str
    title: str
    clauses: tuple[str, ...]
    head: Mapping[str, str]
    lines: tuple[TranscriptLine, ...]


ACTION_PATTERNS: Final = (
    (re.compile(r"\* (left|dropped) (\w+)"), lambda deed, peer: (deed, peer, "")),
    (re.compile(r"\* settled (\w+) ([+-]?\d+|\?)"), lambda peer, net: ("settled", peer, net)),
    (re.compile(r"\* (\d+(?:\.\d+)?) seconds? pass"), lambda seconds: ("pass", "", seconds)),
    (re.compile(r"\* halted( for good)?"), lambda final: ("halted", "", final or "")),
)
PIECE_PATTERN: Final = re.compile(r"([^{}]+)|\{([^{}]*)\}|(.)")
MESSAGE_PATTERN: Final = re.compile(r"(\w+)([<>]) ?(.*)")
HEAD_PATTERN: Final = re.compile(r"([a-z_]+): *(.*)")


def parse_transcript(text: str, name: str) -> Transcript:
    """Parse a transcript. Raises ValueError naming the line that was found and what is allowed."""
    head: dict[str, str] = {}
    lines: list[TranscriptLine] = []
    for number, written in _logical_lines(text):
        if not lines and (entry := HEAD_PATTERN.fullmatch(written)):
            head[entry[1]] = entry[2]
        else:
            lines.append(_parse_line(number, written, name))
    missing = {"title", "clause"} - head.keys()
    if missing or not lines:
        raise ValueError(
            f"{name}: found no {' and no '.join(sorted(missing) or ['lines'])}; allowed: a head and a body"
        )
    return Transcript(name, head["title"], tuple(head["clause"].split()), head, tuple(lines))


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that say something, each with the lines that continue it and with the number at which it begins."""
    begun: tuple[int, str] | None = None
    for number, raw in enumerate(text.splitlines(), start=1):
        written = raw.rstrip()
        if not written or written.startswith("#"):
            continue
        if begun and written[0].isspace():
            begun = (begun[0], f"{begun[1]} {written.lstrip()}")
            continue
        if begun:
            yield begun
        begun = (number, written)
    if begun:
        yield begun


def _parse_line(number: int, text: str, name: str) -> TranscriptLine:
    if spoken := MESSAGE_PATTERN.fullmatch(text):
        return TranscriptLine(number, spoken[2], spoken[1], spoken[3])
    for pattern, deed in ACTION_PATTERNS:
        if match := pattern.fullmatch(text):
            return TranscriptLine(number, *deed(*match.groups()))
    raise ValueError(f"{name}, line {number}: found {text!r}; allowed: 'p> …', 'p< …' or a deed ('* …')")


def _parse_pieces(text: str) -> Iterator[bytes | str]:
    """The bytes of a text piece by piece; a name in braces that stands for no bytes is that name.

    Raises ValueError with what was found and what is allowed.
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
    """The bytes of a line that holds no pattern."""
    found = b""
    for piece in _parse_pieces(text):
        if not isinstance(piece, bytes):
            raise ValueError(f"found the pattern {{{piece}}}; allowed: bytes")  # noqa: TRY004 -- what is written is wrong
        found += piece
    return found


def compile_pattern(text: str, patterns: Mapping[str, bytes], bound: Mapping[str, bytes]) -> re.Pattern[bytes]:
    """What a heard line matches. A name counts by its letters: {card} and {card2} are two cards."""
    found = b""
    for piece in _parse_pieces(text):
        if isinstance(piece, bytes):
            found += re.escape(piece)
        elif piece in bound:
            found += re.escape(bound[piece])
        elif (kind := piece.rstrip("0123456789")) in patterns:
            found += b"(?P<%b>%b)" % (piece.encode(), patterns[kind])
        else:
            raise ValueError(f"found the pattern {{{piece}}}; allowed: {', '.join(patterns)}")
    return re.compile(found, re.DOTALL)


class Driver(Protocol):
    """Where a transcript is played: what peers do goes in, what they hear is asked for."""

    def send(self, peer: str, data: bytes) -> None:
        """The peer says this."""

    def receive(self, peer: str, expected: re.Pattern[bytes]) -> Mapping[str, bytes]:
        """What the peer hears next has to match; the groups it bound. Raises AssertionError when it does not."""

    def perform(self, line: TranscriptLine) -> None:
        """Something else happens, or has to have happened."""

    def finish(self) -> None:
        """Nothing has been heard, and nothing has happened, that was not asked for."""


def play_transcript(transcript: Transcript, driver: Driver, patterns: Mapping[str, bytes]) -> None:
    """Play a transcript on a stage. Raises AssertionError at the line that does not come true."""
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
    """A stage without a socket: a house, a codec for each peer, and bytes that arrive `chop` at a time (0: whole).

    `places` is where peers come from; if it does not say, the n-th of them comes from 192.0.2.1, port 40,000 + n.
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
        """Feed the bytes to the house, chopped."""
        number = self._peer_number(peer)
        size = self._chunk_size or len(data)
        for start in range(0, len(data), size or 1):
            for message in self._codecs[number].feed(data[start : start + size]):
                if number not in self._dropped:
                    self._handle_event(
                        Malformed(number, message) if isinstance(message, Violation) else Received(number, message)
                    )

    def receive(self, peer: str, expected: re.Pattern[bytes]) -> Mapping[str, bytes]:
        """Take what the peer has heard."""
        heard = self._received[self._peer_number(peer)]
        match = expected.match(heard)
        assert match, f"{peer} hears {bytes(heard)!r}, not {expected.pattern!r}"
        bound = {name: bytes(value) for name, value in match.groupdict().items()}  # before what they refer to is gone
        del heard[: match.end()]
        return bound

    def perform(self, line: TranscriptLine) -> None:
        """Let time pass, a peer leave, the room close; or look whether a deed was done."""
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
                found = [deed for deed in self._actions if deed == wanted or (deed[:2], "?") == (wanted[:2], line.text)]
                assert found, f"what happened is {self._actions}, not {wanted}"
                self._actions.remove(found[0])

    def finish(self) -> None:
        """End the talk with those still there; only forfeits may come of it."""
        for name, number in self._peers.items():
            assert not self._received[number], f"{name} also hears {bytes(self._received[number])!r}"
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
        for tap in self._observers:
            tap(event, effects, self.now)
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
    """A stage for the house of a room, set as the head of the transcript says.

    `deck: Q K / J` lists decks, `seed: 7` fixes luck, `house: BET FLD` is the script of the house's mind, `idle` and
    `move` are its patience in seconds, `strict: yes` makes it strict; every other line that names a setting of the room
    sets it.
    """
    own = house_settings(room, transcript)
    return Harness(make_hall(room, transcript), lambda: room.codec(is_strict(transcript), own), chunk_size, observers)


def is_strict(transcript: Transcript) -> bool:
    """Whether the transcript is for an end without tolerances."""
    return transcript.head.get("strict") == "yes"


def peer_addresses(transcript: Transcript) -> dict[str, Address]:
    """Where peers come from, as the head has it: `from: p 192.0.2.9 4001, q 2001:db8::9 4002`. Raises ValueError."""
    written = transcript.head.get("from")
    if written is None:
        return {}
    return {peer: (host, int(port)) for peer, host, port in (place.split() for place in written.split(","))}


def house_settings(room: HouseRoom, transcript: Transcript) -> Any:
    """The settings of a room's house, as the head of a transcript has them."""
    return _convert_head(room.settings, transcript.head)


def client_options(room: HouseRoom, transcript: Transcript) -> Any:
    """The options of a room's client, as the head of a transcript has them."""
    return _convert_head(room.options, transcript.head)


def _convert_head(kind: type[Any], head: Mapping[str, str]) -> Any:
    known = {field.name: head[field.name] for field in fields(kind) if field.name in head}
    if "house" in head and "bot" in kind.__dataclass_fields__:
        known["bot"] = f"script:{head['house'].replace(' ', ',')}"
    yes = {name: "true" if value == "yes" else value for name, value in known.items()}
    return convert(yes, kind, strict=False)


def make_hall(room: HouseRoom, transcript: Transcript, speedup: float = 1.0) -> Hall[Any, Any]:
    """The hall of a room as the head of a transcript sets it; with `hurry` its patience is that many times shorter."""
    head = transcript.head
    own = house_settings(room, transcript)
    patience = Timeouts(
        float(head.get("idle", 500)) / speedup, float(head["move"]) / speedup if "move" in head else None
    )
    text = "\n\n".join(deck.replace(" ", "\n") for deck in head.get("deck", "").split(" / "))
    decks = room.pack.parse_decks(text, transcript.name, room.deck_count(own)) if "deck" in head else ()
    seed = int(head.get("seed", 1))
    return Hall(
        room.house(own, patience, is_strict(transcript)),
        dealer_factory(lambda table: derive_server_seed(seed, room.name, table), decks=decks),
        patience.shortest,
    )
