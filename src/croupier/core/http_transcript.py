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

from croupier.core.transcript import Line, Transcript

NOBODY: Final = "nobody"
"""The user who sends no credentials."""

PASSWORD: Final = "secret"  # noqa: S105 -- it keeps nothing secret
"""The password of everybody else."""

ASKED: Final = re.compile(r"([A-Z]+) (/\S*) ?(.*)")
HEARD: Final = re.compile(r"([1-5]\d\d) ?(.*)")
HEADER: Final = re.compile(r"\[([A-Za-z-]+): ?([^\]]*)\] ?")
QUOTED: Final = re.compile(r"'(.*)'(?: \* (\d+))?")
BYTE: Final = re.compile(rb"\\x([0-9a-fA-F]{2})")
NAME: Final = re.compile(r"\$([a-z_][a-z0-9_]*)")
WILD: Final = re.compile(rf"{NAME.pattern}|\*")

type Headers = tuple[tuple[str, str], ...]


class Ask(NamedTuple):
    """A request. `headers` are those in brackets; names are not repeated."""

    method: str
    path: str
    headers: Headers = ()
    body: bytes = b""


class Heard(NamedTuple):
    """An answer as it came: names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Expect(NamedTuple):
    """What an answer has to be; `body` is the text of the line: empty when nothing is said about it."""

    status: int
    headers: Headers = ()
    body: str = ""


class Mismatch(AssertionError):
    """An answer is not what the paper says."""


def basic(user: str, password: str = PASSWORD) -> str:
    """The value of an Authorization header (RFC 7617)."""
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"


def ask(text: str, bound: Mapping[str, str]) -> Ask:
    """The request of a line; names stand for what they were bound to.

    Raises ValueError with what was found and what is allowed.
    """
    match = ASKED.fullmatch(text)
    if not match:
        raise ValueError(f"found {text!r}; allowed: METHOD /path [Header: value] body")
    headers, body = _headers(match[3])
    if body and not QUOTED.fullmatch(body):
        _json(body)
    said = tuple((name, substitute(value, bound)) for name, value in headers)
    return Ask(match[1], substitute(match[2], bound), said, quoted(substitute(body, bound)))


def expect(text: str) -> Expect:
    """What a line says about an answer. Raises ValueError with what was found and what is allowed."""
    match = HEARD.fullmatch(text)
    if not match:
        raise ValueError(f"found {text!r}; allowed: STATUS [Header: value] body")
    headers, body = _headers(match[2])
    if body and body != "empty" and not QUOTED.fullmatch(body):
        _json(body)
    return Expect(int(match[1]), headers, body)


def substitute(text: str, bound: Mapping[str, str]) -> str:
    """The text with every `$name` replaced by what it is bound to. Raises ValueError for one that is not bound."""

    def value(name: re.Match[str]) -> str:
        if name[1] not in bound:
            raise ValueError(f"found ${name[1]}; allowed: {', '.join(f'${known}' for known in bound) or 'no name yet'}")
        return bound[name[1]]

    return NAME.sub(value, text)


def compare(expected: Expect, heard: Heard, bound: Mapping[str, str]) -> dict[str, str]:
    """All names that are bound when the answer is what was expected. Raises Mismatch, naming the place, when not."""
    names = dict(bound)
    if heard.status != expected.status:
        raise Mismatch(f"the status is {heard.status} ({heard.body[:200]!r}), not {expected.status}")
    for name, value in expected.headers:
        found = heard.headers.get(name.lower())
        if not value:
            if found is not None:
                raise Mismatch(f"there is {name}: {found}, which should be missing")
        elif found is None:
            raise Mismatch(f"there is no {name}; there are {', '.join(sorted(heard.headers)) or 'no headers'}")
        else:
            _text(value, found, names, name)
    if expected.body == "empty":
        if heard.body:
            raise Mismatch(f"the body is {heard.body[:200]!r}, not empty")
    elif QUOTED.fullmatch(expected.body):
        _text(
            quoted(expected.body).decode(errors="backslashreplace"),
            heard.body.decode(errors="backslashreplace"),
            names,
            "the body",
        )
    elif expected.body:
        try:
            found_json = decode(heard.body)
        except (DecodeError, UnicodeDecodeError) as error:
            raise Mismatch(f"the body is {heard.body[:200]!r}, no JSON: {error}") from error
        tree(_json(expected.body), found_json, names, "the body")
    return names


class Stage(Protocol):
    """Where such a transcript is played: requests go in, their answers are asked for."""

    def ask(self, user: str, request: Ask) -> None:
        """The user sends this; the answer need not come before others have spoken."""

    def hear(self, user: str) -> Heard:
        """The answer to the first request of this user that has not been asked for. AssertionError if none comes."""

    def deed(self, line: Line) -> None:
        """Something else happens: time passes, the room closes."""

    def quiet(self) -> None:
        """Every request has been answered, and every answer asked for."""


def play(transcript: Transcript, stage: Stage) -> None:
    """Play a transcript on a stage. Raises AssertionError at the line that does not come true."""
    bound: dict[str, str] = {}
    for line in transcript.lines:
        try:
            match line.kind:
                case ">":
                    stage.ask(line.peer, ask(line.text, bound))
                case "<":
                    expected = expect(line.text)
                    bound = compare(expected, stage.hear(line.peer), bound)
                case _:
                    stage.deed(line)
        except AssertionError as error:
            raise AssertionError(f"{transcript.name}, line {line.number}: {error}") from error
        except ValueError as error:
            raise ValueError(f"{transcript.name}, line {line.number}: {error}") from error
    stage.quiet()


def _headers(text: str) -> tuple[Headers, str]:
    """The headers in brackets, and what stands behind them."""
    found = []
    at = 0
    while match := HEADER.match(text, at):
        found.append((match[1], match[2]))
        at = match.end()
    return tuple(found), text[at:]


def quoted(body: str) -> bytes:
    """A body as it is sent: text in quotes without them, anything else as it stands."""
    match = QUOTED.fullmatch(body)
    if not match:
        return body.encode()
    found = BYTE.sub(lambda byte: bytes.fromhex(byte[1].decode()), match[1].encode())
    return found * int(match[2] or 1)


def _json(body: str) -> object:
    try:
        return decode(body)
    except DecodeError as error:
        raise ValueError(f"found the body {body!r}; allowed: JSON, 'text', empty ({error})") from error


def _text(expected: str, found: str, names: dict[str, str], place: str) -> None:
    """Compare text with what was expected, in which there may be names and `*`."""
    pattern = ""
    end = 0
    free: list[str] = []
    for wild in WILD.finditer(expected):
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


def tree(expected: object, found: object, names: dict[str, str], place: str) -> None:
    """Compare JSON with what was expected, in which there may be names; binds them. Raises Mismatch with the place."""
    if isinstance(expected, str) and (name := NAME.fullmatch(expected)):
        if name[1] == "_":
            return
        if not isinstance(found, str) or names.setdefault(name[1], found) != found:
            raise Mismatch(f"{place}: {found!r}, not {names.get(name[1], 'a string')!r} (${name[1]})")
    elif isinstance(expected, str) and isinstance(found, str) and NAME.search(expected):
        _text(expected, found, names, place)
    elif isinstance(expected, dict) and isinstance(found, dict):
        if list(found) != list(expected):
            raise Mismatch(f"{place}: the keys {list(found)}, not {list(expected)}")
        for key, value in expected.items():
            tree(value, found[key], names, f"{place}.{key}")
    elif isinstance(expected, list) and isinstance(found, list):
        if len(found) != len(expected):
            raise Mismatch(f"{place}: {len(found)} elements ({found!r}), not {len(expected)}")
        for index, value in enumerate(expected):
            tree(value, found[index], names, f"{place}[{index}]")
    elif type(expected) is not type(found) or expected != found:
        raise Mismatch(f"{place}: {found!r}, not {expected!r}")
