"""Writes down what was overheard of hold'em and of Old Maid, as a transcript that can be read and played again."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Final

from msgspec import DecodeError
from msgspec.json import decode

from croupier.conformance.conversation import Line
from croupier.conformance.proxy.http_reader import NOBODY, Answered, Asked, Part
from croupier.conformance.proxy.merged_transcript import Writing
from croupier.conformance.tap.connection import Passage
from croupier.conformance.tap.transcript import safe
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT

GUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
GAME: Final = re.compile(r'"gameID": ?"([^"]+)"')
EXPIRY: Final = re.compile(r'("expiry": ?)"[^"]*"')
PEER: Final = re.compile(r"[a-z]\w*", re.ASCII)

HEADERS: Final = {"accept": "Accept", "last-event-id": "Last-Event-ID", "x-fold-reason": "X-Fold-Reason"}
"""The headers that are written down, where they hold anything of interest."""

USELESS: Final = frozenset({"*/*", "application/json"})

MOST: Final = 10_000
"""So many names are given at most."""


class Papers(Writing):
    """Writes all connections of hold'em into one transcript; GUIDs are given the names of those whose they are."""

    def __init__(self, body: IO[str]) -> None:
        super().__init__(body)
        self._names: dict[str, str] = {}  # of GUIDs
        self._peers: dict[str, str] = {NOBODY: NOBODY}  # of users

    def told(self, passage: Passage, line: Line) -> Iterator[str]:  # noqa: ARG002 -- users are told apart by their names
        """A line of the transcript."""
        match line.message:
            case Asked() as asked:
                yield f"{self._peer(asked.user)}> {self._asked(asked)}"
            case Part(request) as part:
                yield f"# {self._peer(request.user if request else NOBODY)} is shown{safe(part.told)}"
            case Answered(request=None) as answer:
                yield f"# to nobody: {safe(str(answer))}"
            case Answered(Asked() as request, 304) | Answered(
                Asked() as request, headers={"content-type": "text/event-stream"}
            ):
                yield f"# {self._peer(request.user)} is told nothing more about {safe(request.path)}"
            case Answered(Asked() as request) as answer:
                yield f"{self._peer(request.user)}< {self._answer(request, answer)}"
            case other:
                yield f"# {safe(str(other))}"

    def _peer(self, user: str) -> str:
        """How a user is called on paper."""
        if user not in self._peers and len(self._peers) < MOST:
            fits = PEER.fullmatch(user) and user not in self._peers.values()
            self._peers[user] = user if fits else f"user{len(self._peers)}"
        return self._peers.get(user, "others")

    def _asked(self, asked: Asked) -> str:
        headers = [f"[{HEADERS[key]}: {value}] " for key, value in _shown(asked.headers)]
        if asked.user == "?":
            headers.append("[Authorization: ?] ")
        path = self._named(asked.path)
        return safe(f"{asked.method} {path} {''.join(headers)}{self._named(_body(asked.body))}".rstrip())

    def _answer(self, request: Asked, answer: Answered) -> str:
        text = _body(answer.body) or ("empty" if request.method != "HEAD" else "")
        if answer.status < 300:
            for game in GAME.findall(text):
                self._name(game, "game")
            if request.method == "POST" and len(request.steps) != 5:
                for guid in GUID.findall(text):
                    self._name(guid, self._peer(request.user))
            for guid in GUID.findall(text):
                self._name(guid, "player")
        headers = [f"[{HEADERS[key]}: {value}] " for key, value in _shown(answer.headers)]
        return safe(f"{answer.status} {''.join(headers)}{EXPIRY.sub(r'\1"$_"', self._named(text))}".rstrip())

    def _name(self, guid: str, called: str) -> None:
        """Give something a name: this one, or with a number behind it."""
        if guid not in self._names and len(self._names) < MOST:
            taken = {*self._names.values()}
            numbers = (f"{called}{number}" for number in range(2, MOST + 2))
            self._names[guid] = called if called not in taken else next(name for name in numbers if name not in taken)

    def _named(self, text: str) -> str:
        return GUID.sub(lambda guid: f"${self._names[guid[0]]}" if guid[0] in self._names else guid[0], text)


class Lines(Writing):
    """Writes all connections of Old Maid into one transcript: they are called `p1`, `p2` and so on."""

    def told(self, passage: Passage, line: Line) -> Iterator[str]:
        """A line of the transcript."""
        sign = ">" if line.side == CLIENT else "<"
        text = line.message.data.strip(b" \t\r\n")
        told = None if isinstance(line.message.message, Violation) else _in_a_line(text)
        yield f"p{passage.number}{sign} {_quoted(text) if told is None else told}"

    def gone(self, passage: Passage) -> Iterator[str]:
        """Who has ended it."""
        if passage.closed:
            yield f"* {'left' if passage.closed[0] == CLIENT else 'dropped'} p{passage.number}"


def _in_a_line(text: bytes) -> str | None:
    """JSON as it was spelt, None where that is no line of a transcript."""
    try:
        found = text.decode("ascii")
    except UnicodeDecodeError:
        return None
    return found if found.isprintable() and "$" not in found else None


def _shown(headers: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    return [
        (key, headers[key])
        for key in HEADERS
        if key in headers and headers[key] not in USELESS and "]" not in headers[key]
    ]


def _body(body: bytes) -> str:
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
    return _quoted(body)


def _quoted(data: bytes) -> str:
    """Bytes as text in quotes."""
    plain = (chr(byte) if 0x20 <= byte < 0x7F and byte != 0x5C else f"\\x{byte:02x}" for byte in data)
    return f"'{''.join(plain)}'"
