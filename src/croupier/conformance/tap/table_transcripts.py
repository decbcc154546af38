"""Writes tapped conversations of hold'em and Old Maid as transcripts that can be read and replayed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Final

from croupier.conformance.channel.json_values import parse_json
from croupier.conformance.conversation import DialogueLine
from croupier.conformance.holdem.schema import GUID_PATTERN
from croupier.conformance.tap.connection import TappedConnection
from croupier.conformance.tap.observed_http import ObservedRequest, ObservedResponse, StreamPart
from croupier.conformance.tap.transcript import TranscriptWriter, safe_text
from croupier.core.errors import Violation
from croupier.core.http_transcript import NOBODY
from croupier.core.referee import CLIENT

GAME_ID_PATTERN: Final = re.compile(r'"gameID": ?"([^"]+)"')
EXPIRY_PATTERN: Final = re.compile(r'("expiry": ?)"[^"]*"')
PEER_PATTERN: Final = re.compile(r"[a-z]\w*", re.ASCII)

RECORDED_HEADERS: Final = {"accept": "Accept", "last-event-id": "Last-Event-ID", "x-fold-reason": "X-Fold-Reason"}
"""The headers that transcripts record unless their value says nothing."""

IGNORED_HEADER_VALUES: Final = frozenset({"*/*", "application/json"})

MAX_NAMES: Final = 10_000


class HoldemTranscriptWriter(TranscriptWriter):
    """Writes all hold'em connections into one transcript; GUIDs are replaced by names."""

    def __init__(self, body: IO[str]) -> None:
        super().__init__(body)
        self._names: dict[str, str] = {}  # GUID -> name
        self._peers: dict[str, str] = {NOBODY: NOBODY}  # user -> peer

    def render_line(self, connection: TappedConnection, line: DialogueLine) -> Iterator[str]:  # noqa: ARG002 -- users are distinguished by their names
        """Render a line of the transcript."""
        match line.message:
            case ObservedRequest() as request:
                yield f"{self._peer_name(request.user)}> {self._render_request(request)}"
            case StreamPart(request) as stream_part:
                viewer = request.user if request else NOBODY
                yield f"# {self._peer_name(viewer)} is shown{safe_text(stream_part.body_summary)}"
            case ObservedResponse(request=None) as answer:
                yield f"# to nobody: {safe_text(str(answer))}"
            case ObservedResponse(ObservedRequest() as request, 304) | ObservedResponse(
                ObservedRequest() as request, headers={"content-type": "text/event-stream"}
            ):
                yield f"# {self._peer_name(request.user)} receives nothing more about {safe_text(request.path)}"
            case ObservedResponse(ObservedRequest() as request) as answer:
                yield f"{self._peer_name(request.user)}< {self._render_response(request, answer)}"
            case other:
                yield f"# {safe_text(str(other))}"

    def render_end(self, connection: TappedConnection) -> Iterator[str]:
        """Render the end of a connection."""
        yield f"# connection {connection.number} is over"

    def _peer_name(self, user: str) -> str:
        """Return the peer name of a user."""
        if user not in self._peers and len(self._peers) < MAX_NAMES:
            is_valid = PEER_PATTERN.fullmatch(user) and user not in self._peers.values()
            self._peers[user] = user if is_valid else f"user{len(self._peers)}"
        return self._peers.get(user, "others")

    def _render_request(self, observed: ObservedRequest) -> str:
        headers = [f"[{RECORDED_HEADERS[key]}: {value}] " for key, value in _recorded_headers(observed.headers)]
        if observed.user == "?":
            headers.append("[Authorization: ?] ")
        path = self._replace_guids(observed.path)
        return safe_text(
            f"{observed.method} {path} {''.join(headers)}{self._replace_guids(_render_body(observed.body))}".rstrip()
        )

    def _render_response(self, observed: ObservedRequest, response: ObservedResponse) -> str:
        text = _render_body(response.body) or ("empty" if observed.method != "HEAD" else "")
        if response.status < 300:
            for game in GAME_ID_PATTERN.findall(text):
                self._name(game, "game")
            if observed.method == "POST" and len(observed.path_segments) != 5:
                for guid in GUID_PATTERN.findall(text):
                    self._name(guid, self._peer_name(observed.user))
            for guid in GUID_PATTERN.findall(text):
                self._name(guid, "player")
        headers = [f"[{RECORDED_HEADERS[key]}: {value}] " for key, value in _recorded_headers(response.headers)]
        return safe_text(
            f"{response.status} {''.join(headers)}{EXPIRY_PATTERN.sub(r'\1"$_"', self._replace_guids(text))}".rstrip()
        )

    def _name(self, guid: str, name: str) -> None:
        """Give a GUID this name, or the name with a number."""
        if guid not in self._names and len(self._names) < MAX_NAMES:
            taken = {*self._names.values()}
            numbers = (f"{name}{number}" for number in range(2, MAX_NAMES + 2))
            self._names[guid] = name if name not in taken else next(name for name in numbers if name not in taken)

    def _replace_guids(self, text: str) -> str:
        return GUID_PATTERN.sub(lambda guid: f"${self._names[guid[0]]}" if guid[0] in self._names else guid[0], text)


class OldMaidTranscriptWriter(TranscriptWriter):
    """Writes all Old Maid connections into one transcript, with peers `p1`, `p2` and so on."""

    def render_line(self, connection: TappedConnection, line: DialogueLine) -> Iterator[str]:
        """Render a line of the transcript."""
        sign = ">" if line.side == CLIENT else "<"
        text = line.message.data.strip(b" \t\r\n")
        json_line = None if isinstance(line.message.message, Violation) else _as_ascii_line(text)
        yield f"p{connection.number}{sign} {_quote(text) if json_line is None else json_line}"

    def render_end(self, connection: TappedConnection) -> Iterator[str]:
        """Render which side has closed the connection."""
        if connection.closed_sides:
            yield f"* {'left' if connection.closed_sides[0] == CLIENT else 'dropped'} p{connection.number}"


def _as_ascii_line(text: bytes) -> str | None:
    """Return JSON as received, None if it cannot stand in a transcript."""
    try:
        found = text.decode("ascii")
    except UnicodeDecodeError:
        return None
    return found if found.isprintable() and "$" not in found else None


def _recorded_headers(headers: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    return [
        (key, headers[key])
        for key in RECORDED_HEADERS
        if key in headers and headers[key] not in IGNORED_HEADER_VALUES and "]" not in headers[key]
    ]


def _render_body(body: bytes) -> str:
    """Render a body for a transcript: JSON in one line, or quoted bytes."""
    if not body:
        return ""
    try:
        text = body.decode("ascii").strip()
        parse_json(text)
    except ValueError:
        pass
    else:
        if "\n" not in text and text != "empty":
            return text
    return _quote(body)


def _quote(data: bytes) -> str:
    """Render bytes as quoted text."""
    plain = (chr(byte) if 0x20 <= byte < 0x7F and byte != 0x5C else f"\\x{byte:02x}" for byte in data)
    return f"'{''.join(plain)}'"
