"""What fuzzing starts from: the transcripts, and hands played at random."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from random import Random

from croupier.core.http_transcript import encode_body, parse_expected_response, parse_request
from croupier.core.transcript import TranscriptLine
from croupier.rooms.holdem.engine.hand import Hand
from tests.rooms.holdem.random_hands import begin, end
from tests.transcripts import TRANSCRIPT_FOLDER, transcripts

HAND_COUNT = 12
MAX_BODY_BYTES = 2048


class AnyName(dict[str, str]):
    """Binds every name of a transcript to the same GUID."""

    def __missing__(self, key: str) -> str:
        return "6ba7b810-9dad-11d1-80b4-00c04fd430c8"

    def __contains__(self, key: object) -> bool:
        return True


NAMES: Mapping[str, str] = AnyName()


@cache
def transcript_lines(room: str, kinds: str) -> Sequence[TranscriptLine]:
    """The lines of a room's transcripts that are of these kinds, each text once."""
    lines = {line.text: line for each in transcripts(room) for line in each.lines if line.kind in kinds}
    return tuple(lines.values())


def transcript_files() -> Iterable[str]:
    return (path.read_text() for path in sorted(TRANSCRIPT_FOLDER.glob("*/*.txt"))[::10])


def http_requests() -> Iterable[bytes]:
    """The requests of the hold'em transcripts."""
    for line in transcript_lines("holdem", ">"):
        request = parse_request(line.text, NAMES)
        headers = [("Host", "x"), ("Authorization", "Basic YW5uOnNlY3JldA=="), *request.headers]
        if request.body:
            headers.append(("Content-Length", str(len(request.body))))
        head = [f"{request.method} {request.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
        if len(request.body) <= MAX_BODY_BYTES:
            yield "\r\n".join([*head, "", ""]).encode() + request.body


def http_responses() -> Iterable[bytes]:
    """The responses of the hold'em transcripts."""
    for line in transcript_lines("holdem", "<"):
        response = parse_expected_response(line.text)
        body = encode_body("" if response.body == "empty" else response.body)
        head = [f"HTTP/1.1 {response.status} X", *(f"{name}: {value}" for name, value in response.headers)]
        yield "\r\n".join([*head, f"Content-Length: {len(body)}", "", ""]).encode() + body


def game_bodies() -> Iterable[bytes]:
    """The JSON bodies of the hold'em transcripts."""
    return (body for body in (data.partition(b"\r\n\r\n")[2] for data in http_responses()) if body)


@cache
def hands() -> Sequence[Hand]:
    """Hands of hold'em that are over."""
    luck = Random(1)
    return tuple(end(begin(luck), luck, 0.1) for _ in range(HAND_COUNT))
