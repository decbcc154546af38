"""Transcripts of conversations whose messages are JSON objects.

The format is that of `croupier.core.transcript`, with the same actions; only the message lines differ:

    p> {"cmd": "draw"}                                    p sends this message and a line end
    p< {"result": "ok", "card": ["$value", "$suit"]}      p receives this message
    p> {"cmd": "draw"} {"cmd": "status"}                  p sends two messages at once
    p> '{"cmd": "dr'                                      text in single quotes is sent unchanged, without a line end
    p> '\\xff\\xfe'                                         escaped bytes; `'ab' * 3` repeats the quoted text

A received message is one JSON value up to a line end. It is compared as JSON, including types and the order of keys.
`"$name"` binds the string at its first occurrence and stands for the same string afterwards, in sent messages, too,
alone or within a longer string; `"$_"` matches any JSON, and any text within a longer string.
"""

import re
from collections.abc import Iterator, Mapping
from json import JSONDecodeError, JSONDecoder
from typing import Final

from msgspec import DecodeError
from msgspec.json import decode

from croupier.core.http_transcript import QUOTED_PATTERN, Mismatch, encode_body, match_json, substitute

JSON_DECODER: Final = JSONDecoder()

JSON_LINE_PATTERN: Final = re.compile(rb"(?P<message>[^\n]*)\n")
"""A received JSON message: everything up to a line end."""


def parse_values(text: str) -> list[object]:
    """The consecutive JSON values of a text. Raises ValueError if it has anything else.

    >>> parse_values('{"a": 1} [2]')
    [{'a': 1}, [2]]
    """
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
