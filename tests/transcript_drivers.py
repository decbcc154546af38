"""Drivers that play transcripts: a house without sockets, and the loops over the lines of each format."""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from msgspec import DecodeError
from msgspec.json import decode

from croupier.core.codec import Codec
from croupier.core.errors import Violation
from croupier.core.http_transcript import (
    QUOTED_PATTERN,
    Mismatch,
    TranscriptRequest,
    TranscriptResponse,
    encode_body,
    match_json,
    match_response,
    parse_expected_response,
    parse_request,
    substitute,
)
from croupier.core.json_transcript import parse_values
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
)
from croupier.core.transcript import (
    Transcript,
    TranscriptLine,
    encode_line,
    house_settings,
    is_strict,
    make_hall,
    parse_pieces,
)

ANONYMOUS_USER: Final = "nobody"
"""The user that sends no credentials."""

PASSWORD: Final = "secret"
"""The password of all other users."""

type Names = Mapping[str, Any]
"""The values of names that the transcript has bound so far."""

JSON_LINE_PATTERN: Final = re.compile(rb"(?P<message>[^\n]*)\n")
"""A received JSON message: everything up to a line end."""


def play_transcript(transcript: Transcript, driver: "Driver", patterns: Mapping[str, bytes]) -> None:
    """Play a transcript of bytes. Raises AssertionError, naming the line, at the first mismatch."""

    def send(line: TranscriptLine, _: Names) -> None:
        driver.send(line.peer, encode_line(line.text))

    def receive(line: TranscriptLine, bound: Names) -> Names:
        return {**bound, **driver.receive(line.peer, compile_pattern(line.text, patterns, bound))}

    _play(transcript, driver, send, receive)


def play_json_transcript(transcript: Transcript, driver: "Driver") -> None:
    """Play a transcript of JSON messages, as `play_transcript` does."""

    def send(line: TranscriptLine, bound: Names) -> None:
        driver.send(line.peer, encode_sent(line.text, bound))

    def receive(line: TranscriptLine, bound: Names) -> Names:
        return match_received(line.text, driver.receive(line.peer, JSON_LINE_PATTERN)["message"], bound)

    _play(transcript, driver, send, receive)


def play_http_transcript(transcript: Transcript, driver: "HttpDriver") -> None:
    """Play a transcript of requests and responses, as `play_transcript` does."""

    def send(line: TranscriptLine, bound: Names) -> None:
        driver.send(line.peer, parse_request(line.text, bound))

    def receive(line: TranscriptLine, bound: Names) -> Names:
        expected = parse_expected_response(line.text)
        return match_response(expected, driver.receive(line.peer), bound)

    _play(transcript, driver, send, receive)


def _play(
    transcript: Transcript,
    driver: "Driver | HttpDriver",
    send: Callable[[TranscriptLine, Names], None],
    receive: Callable[[TranscriptLine, Names], Names],
) -> None:
    """Play the lines of a transcript.

    Raises AssertionError, naming the line, at the first mismatch, and ValueError for a line that cannot be parsed.
    """
    bound: Names = {}
    for line in transcript.lines:
        try:
            match line.kind:
                case ">":
                    send(line, bound)
                case "<":
                    bound = receive(line, bound)
                case _:
                    driver.perform(line)
        except AssertionError as error:
            raise AssertionError(f"{transcript.name}, line {line.number}: {error}") from error
        except ValueError as error:
            raise ValueError(f"{transcript.name}, line {line.number}: {error}") from error
    driver.finish()


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


def encode_sent(text: str, bound: Mapping[str, str]) -> bytes:
    """The bytes that a line sends, with its names substituted.

    Raises ValueError for an unbound name, and for text that is neither quoted nor JSON values.

    >>> encode_sent('{"cmd": "join", "nick": "$nick"}', {"nick": "ann"})
    b'{"cmd": "join", "nick": "ann"}\\n'
    """
    if QUOTED_PATTERN.fullmatch(text):
        return encode_body(substitute(text, bound))
    parse_values(text)
    return f"{substitute(text, bound)}\n".encode()


def match_received(text: str, found: bytes, bound: Mapping[str, str]) -> dict[str, str]:
    """Match a received message against the text of a line, and return all bound names, old and new.

    Raises Mismatch with the place of the difference, and ValueError for a text that is not exactly one JSON value.
    """
    expected = parse_values(text)
    if len(expected) != 1:
        raise ValueError(f"found {text!r}; allowed: one JSON value in a received line")
    names = dict(bound)
    try:
        message = decode(found)
    except (DecodeError, UnicodeDecodeError) as error:
        raise Mismatch(f"the message is {found[:200]!r}, no JSON: {error}") from error
    match_json(expected[0], message, names, "the message")
    return names


def peer_addresses(transcript: Transcript) -> dict[str, Address]:
    """The addresses of peers from the head, as in `from: p 192.0.2.9 4001, q 2001:db8::9 4002`.

    Raises ValueError if the entry is invalid.
    """
    entries = transcript.head.get("from")
    if entries is None:
        return {}
    return {peer: (host, int(port)) for peer, host, port in (entry.split() for entry in entries.split(","))}


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


class HttpDriver(Protocol):
    """Plays the lines of an HTTP transcript against a server."""

    def send(self, user: str, request: TranscriptRequest) -> None:
        """Send a request of a user. The response may arrive after requests of other users."""

    def receive(self, user: str) -> TranscriptResponse:
        """The response to the user's oldest unanswered request. Raises AssertionError if none arrives."""

    def perform(self, line: TranscriptLine) -> None:
        """Perform an action, such as letting time pass or closing the room."""

    def finish(self) -> None:
        """Check that every request was answered, and every response received."""


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


def basic_authorization(user: str, password: str = PASSWORD) -> str:
    """The value of an Authorization header (RFC 7617).

    >>> basic_authorization("ann")
    'Basic YW5uOnNlY3JldA=='
    """
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"
