"""Requests and answers on paper: what a conversation over HTTP says, and whether it came true.

In a transcript of such a room (see `croupier.core.transcript`) the peers are users, and their lines read

    ann> POST /games/$game/players/                  ann asks this
    ann< 201 "$ann"                                  the answer that ann hears: its status and its body
    ann> GET /games/$game [If-None-Match: $tag]      headers stand in brackets, before the body
    ann< 304 [ETag: $tag] empty

What a user asks is authenticated as this user with the password `secret`, unless a header in brackets replaces
Authorization; the user `nobody` sends no credentials. A body is JSON, or else text in single quotes, in which `\\xff`
is a byte; `'ab' * 3` repeats it.

Of what is heard, headers have to be there (with nothing behind the colon: must not be there), and a body that is given
has to be that body: JSON is compared as JSON, with its types and the order of its keys; `empty` stands for no bytes; a
status alone says nothing about the body. `"$name"` as a JSON string, and `$name` in other text, binds what stands there
first and means the same from then on, also in what is asked; `"$_"` matches any JSON, `*` any text.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from msgspec import DecodeError
from msgspec.json import decode

from croupier.core.transcript import Transcript, TranscriptLine

ANONYMOUS_USER: Final = "nobody"
"""The user who sends no credentials."""

PASSWORD: Final = "secret"  # noqa: S105 -- it keeps nothing secret
"""The password of everybody else."""

REQUEST_PATTERN: Final = re.compile(r"([A-Z]+) (/\S*) ?(.*)")
RESPONSE_PATTERN: Final = re.compile(r"([1-5]\d\d) ?(.*)")
HEADER_PATTERN: Final = re.compile(r"\[([A-Za-z-]+): ?([^\]]*)\] ?")
QUOTED_PATTERN: Final = re.compile(r"'(.*)'(?: \* (\d+))?")
BYTE_ESCAPE_PATTERN: Final = re.compile(rb"\\x([0-9a-fA-F]{2})")
NAME_PATTERN: Final = re.compile(r"\$([a-z_][a-z0-9_]*)")
WILDCARD_PATTERN: Final = re.compile(rf"{NAME_PATTERN.pattern}|\*")

type TranscriptHeaders = tuple[tuple[str, str], ...]


class TranscriptRequest(NamedTuple):
    """A request. `headers` are those in brackets; names are not repeated."""

    method: str
    path: str
    headers: TranscriptHeaders = ()
    body: bytes = b""


class TranscriptResponse(NamedTuple):
    """An answer as it came: names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class ExpectedResponse(NamedTuple):
    """What an answer has to be; `body` is the text of the line: empty when nothing is said about it."""

    status: int
    headers: TranscriptHeaders = ()
    body: str = ""


class Mismatch(AssertionError):
    """An answer is not what the paper says."""


def basic_authorization(user: str, password: str = PASSWORD) -> str:
    """The value of an Authorization header (RFC 7617)."""
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"


def parse_request(text: str, bound: Mapping[str, str]) -> TranscriptRequest:
    """The request of a line; names stand for what they were bound to.

    Raises ValueError with what was found and what is allowed.
    """
    match = REQUEST_PATTERN.fullmatch(text)
    if not match:
        raise ValueError(f"found {text!r}; allowed: METHOD /path [Header: value] body")
    headers, body = _parse_headers(match[3])
    if body and not QUOTED_PATTERN.fullmatch(body):
        _parse_json(body)
    said = tuple((name, substitute(value, bound)) for name, value in headers)
    return TranscriptRequest(match[1], substitute(match[2], bound), said, encode_body(substitute(body, bound)))


def parse_expected_response(text: str) -> ExpectedResponse:
    """What a line says about an answer. Raises ValueError with what was found and what is allowed."""
    match = RESPONSE_PATTERN.fullmatch(text)
    if not match:
        raise ValueError(f"found {text!r}; allowed: STATUS [Header: value] body")
    headers, body = _parse_headers(match[2])
    if body and body != "empty" and not QUOTED_PATTERN.fullmatch(body):
        _parse_json(body)
    return ExpectedResponse(int(match[1]), headers, body)


def substitute(text: str, bound: Mapping[str, str]) -> str:
    """The text with every `$name` replaced by what it is bound to. Raises ValueError for one that is not bound."""

    def value(name: re.Match[str]) -> str:
        if name[1] not in bound:
            raise ValueError(f"found ${name[1]}; allowed: {', '.join(f'${known}' for known in bound) or 'no name yet'}")
        return bound[name[1]]

    return NAME_PATTERN.sub(value, text)


def match_response(
    expected: ExpectedResponse, response: TranscriptResponse, bound: Mapping[str, str]
) -> dict[str, str]:
    """All names that are bound when the answer is what was expected. Raises Mismatch, naming the place, when not."""
    names = dict(bound)
    if response.status != expected.status:
        raise Mismatch(f"the status is {response.status} ({response.body[:200]!r}), not {expected.status}")
    for name, value in expected.headers:
        found = response.headers.get(name.lower())
        if not value:
            if found is not None:
                raise Mismatch(f"there is {name}: {found}, which should be missing")
        elif found is None:
            raise Mismatch(f"there is no {name}; there are {', '.join(sorted(response.headers)) or 'no headers'}")
        else:
            _match_text(value, found, names, name)
    if expected.body == "empty":
        if response.body:
            raise Mismatch(f"the body is {response.body[:200]!r}, not empty")
    elif QUOTED_PATTERN.fullmatch(expected.body):
        _match_text(
            encode_body(expected.body).decode(errors="backslashreplace"),
            response.body.decode(errors="backslashreplace"),
            names,
            "the body",
        )
    elif expected.body:
        try:
            found_json = decode(response.body)
        except (DecodeError, UnicodeDecodeError) as error:
            raise Mismatch(f"the body is {response.body[:200]!r}, no JSON: {error}") from error
        match_json(_parse_json(expected.body), found_json, names, "the body")
    return names


class HttpDriver(Protocol):
    """Where such a transcript is played: requests go in, their answers are asked for."""

    def send(self, user: str, request: TranscriptRequest) -> None:
        """The user sends this; the answer need not come before others have spoken."""

    def receive(self, user: str) -> TranscriptResponse:
        """The answer to the first request of this user that has not been asked for. AssertionError if none comes."""

    def perform(self, line: TranscriptLine) -> None:
        """Something else happens: time passes, the room closes."""

    def finish(self) -> None:
        """Every request has been answered, and every answer asked for."""


def play_http_transcript(transcript: Transcript, driver: HttpDriver) -> None:
    """Play a transcript on a stage. Raises AssertionError at the line that does not come true."""
    bound: dict[str, str] = {}
    for line in transcript.lines:
        try:
            match line.kind:
                case ">":
                    driver.send(line.peer, parse_request(line.text, bound))
                case "<":
                    expected = parse_expected_response(line.text)
                    bound = match_response(expected, driver.receive(line.peer), bound)
                case _:
                    driver.perform(line)
        except AssertionError as error:
            raise AssertionError(f"{transcript.name}, line {line.number}: {error}") from error
        except ValueError as error:
            raise ValueError(f"{transcript.name}, line {line.number}: {error}") from error
    driver.finish()


def _parse_headers(text: str) -> tuple[TranscriptHeaders, str]:
    """The headers in brackets, and what stands behind them."""
    found = []
    at = 0
    while match := HEADER_PATTERN.match(text, at):
        found.append((match[1], match[2]))
        at = match.end()
    return tuple(found), text[at:]


def encode_body(body: str) -> bytes:
    """A body as it is sent: text in quotes without them, anything else as it stands."""
    match = QUOTED_PATTERN.fullmatch(body)
    if not match:
        return body.encode()
    found = BYTE_ESCAPE_PATTERN.sub(lambda byte: bytes.fromhex(byte[1].decode()), match[1].encode())
    return found * int(match[2] or 1)


def _parse_json(body: str) -> object:
    try:
        return decode(body)
    except DecodeError as error:
        raise ValueError(f"found the body {body!r}; allowed: JSON, 'text', empty ({error})") from error


def _match_text(expected: str, found: str, names: dict[str, str], place: str) -> None:
    """Compare text with what was expected, in which there may be names and `*`."""
    pattern = ""
    end = 0
    free: list[str] = []
    for wild in WILDCARD_PATTERN.finditer(expected):
        pattern += re.escape(expected[end : wild.start()])
        end = wild.end()
        if wild[1] in names:
            pattern += re.escape(names[wild[1]])
        elif wild[1] in free:
            pattern += f"(?P={wild[1]})"
        elif wild[1] and wild[1] != "_":
            pattern += f"(?P<{wild[1]}>.+)"
            free.append(wild[1])
        else:
            pattern += ".*"
    match = re.fullmatch(pattern + re.escape(expected[end:]), found, re.DOTALL)
    if not match:
        raise Mismatch(f"{place}: {found!r}, not {expected!r}")
    names |= match.groupdict()


def match_json(expected: object, found: object, names: dict[str, str], place: str) -> None:
    """Compare JSON with what was expected, in which there may be names; binds them. Raises Mismatch with the place."""
    if isinstance(expected, str) and (name := NAME_PATTERN.fullmatch(expected)):
        if name[1] == "_":
            return
        if not isinstance(found, str) or names.setdefault(name[1], found) != found:
            raise Mismatch(f"{place}: {found!r}, not {names.get(name[1], 'a string')!r} (${name[1]})")
    elif isinstance(expected, str) and isinstance(found, str) and NAME_PATTERN.search(expected):
        _match_text(expected, found, names, place)
    elif isinstance(expected, dict) and isinstance(found, dict):
        if list(found) != list(expected):
            raise Mismatch(f"{place}: the keys {list(found)}, not {list(expected)}")
        for key, value in expected.items():
            match_json(value, found[key], names, f"{place}.{key}")
    elif isinstance(expected, list) and isinstance(found, list):
        if len(found) != len(expected):
            raise Mismatch(f"{place}: {len(found)} elements ({found!r}), not {len(expected)}")
        for index, value in enumerate(expected):
            match_json(value, found[index], names, f"{place}[{index}]")
    elif type(expected) is not type(found) or expected != found:
        raise Mismatch(f"{place}: {found!r}, not {expected!r}")
