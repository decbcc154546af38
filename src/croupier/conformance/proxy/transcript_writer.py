"""Writes down what was overheard of hold'em and of Old Maid, as a transcript that can be read and played again."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Final

from msgspec import DecodeError
from msgspec.json import decode

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.proxy.http_reader import NOBODY, ObservedRequest, ObservedResponse, StreamPart
from croupier.conformance.proxy.merged_transcript import MergedTranscript
from croupier.conformance.tap.connection import TappedConnection
from croupier.conformance.tap.transcript import safe_text
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT

GUID_PATTERN: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
GAME_ID_PATTERN: Final = re.compile(r'"gameID": ?"([^"]+)"')
EXPIRY_PATTERN: Final = re.compile(r'("expiry": ?)"[^"]*"')
PEER_PATTERN: Final = re.compile(r"[a-z]\w*", re.ASCII)

RECORDED_HEADERS: Final = {"accept": "Accept", "last-event-id": "Last-Event-ID", "x-fold-reason": "X-Fold-Reason"}
"""The headers that are written down, where they hold anything of interest."""

IGNORED_HEADER_VALUES: Final = frozenset({"*/*", "application/json"})

MAX_NAMES: Final = 10_000
"""So many names are given at most."""


class HoldemTranscriptWriter(MergedTranscript):
    """Writes all connections of hold'em into one transcript; GUIDs are given the names of those whose they are."""

    def __init__(self, body: IO[str]) -> None:
        super().__init__(body)
        self._names: dict[str, str] = {}  # of GUIDs
        self._peers: dict[str, str] = {NOBODY: NOBODY}  # of users

    def render_line(self, connection: TappedConnection, line: DialogueLine) -> Iterator[str]:  # noqa: ARG002 -- users are told apart by their names
        """A line of the transcript."""
        match line.message:
            case ObservedRequest() as asked:
                yield f"{self._peer_name(asked.user)}> {self._render_request(asked)}"
            case StreamPart(request) as part:
                yield f"# {self._peer_name(request.user if request else NOBODY)} is shown{safe_text(part.body_summary)}"
            case ObservedResponse(request=None) as answer:
                yield f"# to nobody: {safe_text(str(answer))}"
            case ObservedResponse(ObservedRequest() as request, 304) | ObservedResponse(
                ObservedRequest() as request, headers={"content-type": "text/event-stream"}
            ):
                yield f"# {self._peer_name(request.user)} is told nothing more about {safe_text(request.path)}"
            case ObservedResponse(ObservedRequest() as request) as answer:
                yield f"{self._peer_name(request.user)}< {self._render_response(request, answer)}"
            case other:
                yield f"# {safe_text(str(other))}"

    def _peer_name(self, user: str) -> str:
        """How a user is called on paper."""
        if user not in self._peers and len(self._peers) < MAX_NAMES:
            fits = PEER_PATTERN.fullmatch(user) and user not in self._peers.values()
            self._peers[user] = user if fits else f"user{len(self._peers)}"
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

    def _name(self, guid: str, called: str) -> None:
        """Give something a name: this one, or with a number behind it."""
        if guid not in self._names and len(self._names) < MAX_NAMES:
            taken = {*self._names.values()}
            numbers = (f"{called}{number}" for number in range(2, MAX_NAMES + 2))
            self._names[guid] = called if called not in taken else next(name for name in numbers if name not in taken)

    def _replace_guids(self, text: str) -> str:
        return GUID_PATTERN.sub(lambda guid: f"${self._names[guid[0]]}" if guid[0] in self._names else guid[0], text)


class OldMaidTranscriptWriter(MergedTranscript):
    """Writes all connections of Old Maid into one transcript: they are called `p1`, `p2` and so on."""

    def render_line(self, connection: TappedConnection, line: DialogueLine) -> Iterator[str]:
        """A line of the transcript."""
        sign = ">" if line.side == CLIENT else "<"
        text = line.message.data.strip(b" \t\r\n")
        told = None if isinstance(line.message.message, Violation) else _as_ascii_line(text)
        yield f"p{connection.number}{sign} {_quote(text) if told is None else told}"

    def render_end(self, connection: TappedConnection) -> Iterator[str]:
        """Who has ended it."""
        if connection.closed_sides:
            yield f"* {'left' if connection.closed_sides[0] == CLIENT else 'dropped'} p{connection.number}"


def _as_ascii_line(text: bytes) -> str | None:
    """JSON as it was spelt, None where that is no line of a transcript."""
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
    """A body as a transcript has it: JSON in one line, or text in quotes."""
    if not body:
        return ""
    try:
        text = body.decode("ascii").strip()
        decode(text)
    except (DecodeError, UnicodeDecodeError):
        pass
    else:
        if "\n" not in text and text != "empty":
            return text
    return _quote(body)


def _quote(data: bytes) -> str:
    """Bytes as text in quotes."""
    plain = (chr(byte) if 0x20 <= byte < 0x7F and byte != 0x5C else f"\\x{byte:02x}" for byte in data)
    return f"'{''.join(plain)}'"
