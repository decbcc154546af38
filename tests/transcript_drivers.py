"""The loops that play transcripts with a driver, one for each format of lines."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from croupier.core.http_transcript import (
    TranscriptRequest,
    TranscriptResponse,
    match_response,
    parse_expected_response,
    parse_request,
)
from croupier.core.json_transcript import JSON_LINE_PATTERN, encode_sent, match_received
from croupier.core.transcript import Transcript, TranscriptLine, encode_line
from croupier.replay.transcript_house import compile_pattern

type Names = Mapping[str, Any]
"""The values of names that the transcript has bound so far."""


def play_transcript(
    transcript: Transcript, driver: "Driver", patterns: Mapping[str, bytes], chunk_size: int = 0
) -> None:
    """Play a transcript of bytes, and send `chunk_size` of them at a time (0: whole lines).

    Raises AssertionError, naming the line, at the first mismatch.
    """

    def send(line: TranscriptLine, _: Names) -> None:
        for chunk in _chunks(encode_line(line.text), chunk_size):
            driver.send(line.peer, chunk)

    def receive(line: TranscriptLine, bound: Names) -> Names:
        return {**bound, **driver.receive(line.peer, compile_pattern(line.text, patterns, bound))}

    _play(transcript, driver, send, receive)


def play_json_transcript(transcript: Transcript, driver: "Driver", chunk_size: int = 0) -> None:
    """Play a transcript of JSON messages, as `play_transcript` does."""

    def send(line: TranscriptLine, bound: Names) -> None:
        for chunk in _chunks(encode_sent(line.text, bound), chunk_size):
            driver.send(line.peer, chunk)

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


def _chunks(data: bytes, size: int) -> Iterator[bytes]:
    step = size or len(data) or 1
    yield from (data[start : start + step] for start in range(0, len(data) or 1, step))


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
