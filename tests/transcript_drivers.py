"""The loops that play transcripts with a driver, one for each format of lines."""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from msgspec import DecodeError
from msgspec.json import decode

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
from croupier.core.session import Address
from croupier.core.transcript import Transcript, TranscriptLine, encode_line
from croupier.replay.transcript_house import compile_pattern

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


def basic_authorization(user: str, password: str = PASSWORD) -> str:
    """The value of an Authorization header (RFC 7617).

    >>> basic_authorization("ann")
    'Basic YW5uOnNlY3JldA=='
    """
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"
