"""Conversations in JSON on paper: what peers say to each other in a room whose messages are JSON objects.

A transcript of such a room (see `croupier.core.transcript`) is read as everywhere, with the same deeds; its lines read

    p> {"cmd": "draw"}                                    p says this, and ends it with a line end
    p< {"result": "ok", "card": ["$value", "$suit"]}      p hears this
    p> {"cmd": "draw"} {"cmd": "status"}                  p says two things in one go
    p> '{"cmd": "dr'                                      text in single quotes is said as it stands, without a line end
    p> '\\xff\\xfe'                                         bytes that are no text; `'ab' * 3` repeats what is quoted

What is heard is one JSON value up to a line end, and compared as JSON, with its types and the order of its keys.
`"$name"` binds the string that stands there first and means the same from then on, also in what is said, alone or
within a longer string; `"$_"` matches any JSON, and any text within a longer string.
"""

import re
from collections.abc import Iterator, Mapping
from json import JSONDecodeError, JSONDecoder
from typing import Final

from msgspec import DecodeError
from msgspec.json import decode

from croupier.core.http_transcript import QUOTED_PATTERN, Mismatch, encode_body, match_json, substitute
from croupier.core.transcript import Driver, Transcript

MESSAGE_PATTERN: Final = re.compile(rb"(?P<message>[^\n]*)\n")
"""What is asked for where a peer hears something: everything up to a line end."""

JSON_DECODER: Final = JSONDecoder()


def encode_sent(text: str, bound: Mapping[str, str]) -> bytes:
    """The bytes of what a line says; names stand for what they were bound to.

    Raises ValueError with what was found and what is allowed.
    """
    if QUOTED_PATTERN.fullmatch(text):
        return encode_body(substitute(text, bound))
    parse_values(text)
    return f"{substitute(text, bound)}\n".encode()


def match_received(text: str, found: bytes, bound: Mapping[str, str]) -> dict[str, str]:
    """All names that are bound when this was heard where the text was expected.

    Raises Mismatch, naming the place, when it is something else, and ValueError for a text that expects nothing.
    """
    expected = parse_values(text)
    if len(expected) != 1:
        raise ValueError(f"found {text!r}; allowed: one JSON value in a line that is heard")
    names = dict(bound)
    try:
        message = decode(found)
    except (DecodeError, UnicodeDecodeError) as error:
        raise Mismatch(f"what is heard is {found[:200]!r}, no JSON: {error}") from error
    match_json(expected[0], message, names, "the message")
    return names


def parse_values(text: str) -> list[object]:
    """The JSON values of a text, one behind the other. Raises ValueError with what was found and what is allowed."""
    return list(_iterate_values(text))


def _iterate_values(text: str) -> Iterator[object]:
    at = 0
    try:
        while at < len(text):
            value, end = JSON_DECODER.raw_decode(text, at)
            yield value
            at = len(text) - len(text[end:].lstrip())
    except (JSONDecodeError, RecursionError) as error:
        raise ValueError(f"found {text!r}; allowed: JSON values, 'text' ({error})") from None


def play_json_transcript(transcript: Transcript, driver: Driver) -> None:
    """Play a transcript on a stage. Raises AssertionError at the line that does not come true."""
    bound: dict[str, str] = {}
    for line in transcript.lines:
        try:
            match line.kind:
                case ">":
                    driver.send(line.peer, encode_sent(line.text, bound))
                case "<":
                    message = driver.receive(line.peer, MESSAGE_PATTERN)["message"]
                    bound = match_received(line.text, message, bound)
                case _:
                    driver.perform(line)
        except AssertionError as error:
            raise AssertionError(f"{transcript.name}, line {line.number}: {error}") from error
        except ValueError as error:
            raise ValueError(f"{transcript.name}, line {line.number}: {error}") from error
    driver.finish()
