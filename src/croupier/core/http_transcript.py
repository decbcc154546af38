"""Transcripts of HTTP conversations: parsing requests, and matching responses.

In a transcript of an HTTP room (see `croupier.core.transcript`) the peers are users, and the lines are

    ann> POST /games/$game/players/                  a request of ann
    ann< 201 "$ann"                                  the response to ann: status and body
    ann> GET /games/$game [If-None-Match: $tag]      headers are in brackets, before the body
    ann< 304 [ETag: $tag] empty

A request is authenticated with the user's name and the password `secret`, unless a header in brackets replaces
Authorization; the user `nobody` sends no credentials. A body is JSON, or text in single quotes, in which `\\xff` is a
byte; `'ab' * 3` repeats the text.

A response must have the given headers (a header without a value must be absent) and, if a body is given, that body.
JSON is compared as JSON, including types and the order of keys; `empty` means zero bytes; a status alone leaves the
body unchecked. `"$name"` as a JSON string, and `$name` in other text, binds the text at its first occurrence and stands
for the same text afterwards, in requests, too; `"$_"` matches any JSON, `*` any text.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from msgspec import DecodeError
from msgspec.json import decode

REQUEST_PATTERN: Final = re.compile(r"([A-Z]+) (/\S*) ?(.*)")
RESPONSE_PATTERN: Final = re.compile(r"([1-5]\d\d) ?(.*)")
HEADER_PATTERN: Final = re.compile(r"\[([A-Za-z-]+): ?([^\]]*)\] ?")
QUOTED_PATTERN: Final = re.compile(r"'(.*)'(?: \* (\d+))?")
BYTE_ESCAPE_PATTERN: Final = re.compile(rb"\\x([0-9a-fA-F]{2})")
NAME_PATTERN: Final = re.compile(r"\$([a-z_][a-z0-9_]*)")
WILDCARD_PATTERN: Final = re.compile(rf"{NAME_PATTERN.pattern}|\*")

NOBODY: Final = "nobody"
"""The user who sends no credentials."""

type TranscriptHeaders = tuple[tuple[str, str], ...]


class TranscriptRequest(NamedTuple):
    """A request. `headers` are the headers in brackets; no name occurs twice."""

    method: str
    path: str
    headers: TranscriptHeaders = ()
    body: bytes = b""


class TranscriptResponse(NamedTuple):
    """A response as received; header names are in lower case. `data` is the response as on the wire, if known."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    data: bytes = b""


class ExpectedResponse(NamedTuple):
    """An expected response. `body` is the text of the line, empty if the body is not checked."""

    status: int
    headers: TranscriptHeaders = ()
    body: str = ""


class Mismatch(AssertionError):
    """A response or message does not match the transcript."""


def parse_request(text: str, bound: Mapping[str, str]) -> TranscriptRequest:
    """Parse the request of a line, and substitute its names. Raises ValueError if it is not a request.

    >>> parse_request("GET /games/$game [If-None-Match: $tag]", {"game": "g1", "tag": '"7"'})
    TranscriptRequest(method='GET', path='/games/g1', headers=(('If-None-Match', '"7"'),), body=b'')
    """
    match = REQUEST_PATTERN.fullmatch(text)
    if not match:
        raise ValueError(f"found {text!r}; allowed: METHOD /path [Header: value] body")
    headers, body = _parse_headers(match[3])
    if body and not QUOTED_PATTERN.fullmatch(body):
        _parse_json(body)
    substituted = tuple((name, substitute(value, bound)) for name, value in headers)
    return TranscriptRequest(match[1], substitute(match[2], bound), substituted, encode_body(substitute(body, bound)))


def parse_expected_response(text: str) -> ExpectedResponse:
    """Parse the expected response of a line. Raises ValueError if it is not a response.

    >>> parse_expected_response("304 [ETag: $tag] empty")
    ExpectedResponse(status=304, headers=(('ETag', '$tag'),), body='empty')
    """
    match = RESPONSE_PATTERN.fullmatch(text)
    if not match:
        raise ValueError(f"found {text!r}; allowed: STATUS [Header: value] body")
    headers, body = _parse_headers(match[2])
    if body and body != "empty" and not QUOTED_PATTERN.fullmatch(body):
        _parse_json(body)
    return ExpectedResponse(int(match[1]), headers, body)


def substitute(text: str, bound: Mapping[str, str]) -> str:
    """Replace every `$name` by its value. Raises ValueError for an unbound name."""

    def value(name: re.Match[str]) -> str:
        if name[1] not in bound:
            raise ValueError(f"found ${name[1]}; allowed: {', '.join(f'${known}' for known in bound) or 'no name yet'}")
        return bound[name[1]]

    return NAME_PATTERN.sub(value, text)


def match_response(
    expected: ExpectedResponse, response: TranscriptResponse, bound: Mapping[str, str]
) -> dict[str, str]:
    """Match a response, and return all bound names, old and new. Raises Mismatch with the place of the difference."""
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


def _parse_headers(text: str) -> tuple[TranscriptHeaders, str]:
    """Split the headers in brackets from the body after them."""
    headers = []
    at = 0
    while match := HEADER_PATTERN.match(text, at):
        headers.append((match[1], match[2]))
        at = match.end()
    return tuple(headers), text[at:]


def encode_body(body: str) -> bytes:
    """The bytes of a body: quoted text without its quotes, other text unchanged.

    >>> encode_body("'ab' * 3"), encode_body('{"coins": 5}')
    (b'ababab', b'{"coins": 5}')
    """
    match = QUOTED_PATTERN.fullmatch(body)
    if not match:
        return body.encode()
    content = BYTE_ESCAPE_PATTERN.sub(lambda byte: bytes.fromhex(byte[1].decode()), match[1].encode())
    return content * int(match[2] or 1)


def _parse_json(body: str) -> object:
    try:
        return decode(body)
    except DecodeError as error:
        raise ValueError(f"found the body {body!r}; allowed: JSON, 'text', empty ({error})") from error


def _match_text(expected: str, found: str, names: dict[str, str], place: str) -> None:
    """Match text against expected text with names and `*`, and bind the names."""
    pattern = ""
    end = 0
    unbound: list[str] = []
    for wild in WILDCARD_PATTERN.finditer(expected):
        pattern += re.escape(expected[end : wild.start()])
        end = wild.end()
        if wild[1] in names:
            pattern += re.escape(names[wild[1]])
        elif wild[1] in unbound:
            pattern += f"(?P={wild[1]})"
        elif wild[1] and wild[1] != "_":
            pattern += f"(?P<{wild[1]}>.+)"
            unbound.append(wild[1])
        else:
            pattern += ".*"
    match = re.fullmatch(pattern + re.escape(expected[end:]), found, re.DOTALL)
    if not match:
        raise Mismatch(f"{place}: {found!r}, not {expected!r}")
    names |= match.groupdict()


def match_json(expected: object, found: object, names: dict[str, str], place: str) -> None:
    """Match JSON against expected JSON with names, and bind the names in place.

    Raises Mismatch with the place of the difference.
    """
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
