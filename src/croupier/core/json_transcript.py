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

from croupier.core.http_transcript import QUOTED, Mismatch, quoted, substitute, tree
from croupier.core.transcript import Stage, Transcript

MESSAGE: Final = re.compile(rb"(?P<message>[^\n]*)\n")
"""What is asked for where a peer hears something: everything up to a line end."""

JSON: Final = JSONDecoder()


def said(text: str, bound: Mapping[str, str]) -> bytes:
    """The bytes of what a line says; names stand for what they were bound to.

    Raises ValueError with what was found and what is allowed.
    """
    if QUOTED.fullmatch(text):
        return quoted(substitute(text, bound))
    values(text)
    return f"{substitute(text, bound)}\n".encode()


def heard(text: str, found: bytes, bound: Mapping[str, str]) -> dict[str, str]:
    """All names that are bound when this was heard where the text was expected.

    Raises Mismatch, naming the place, when it is something else, and ValueError for a text that expects nothing.
    """
    expected = values(text)
    if len(expected) != 1:
        raise ValueError(f"found {text!r}; allowed: one JSON value in a line that is heard")
    names = dict(bound)
    try:
        message = decode(found)
    except (DecodeError, UnicodeDecodeError) as error:
        raise Mismatch(f"what is heard is {found[:200]!r}, no JSON: {error}") from error
    tree(expected[0], message, names, "the message")
    return names


def values(text: str) -> list[object]:
    """The JSON values of a text, one behind the other. Raises ValueError with what was found and what is allowed."""
    return list(_values(text))


def _values(text: str) -> Iterator[object]:
    at = 0
    try:
        while at < len(text):
            value, end = JSON.raw_decode(text, at)
            yield value
            at = len(text) - len(text[end:].lstrip())
    except (JSONDecodeError, RecursionError) as error:
        raise ValueError(f"found {text!r}; allowed: JSON values, 'text' ({error})") from None


def play(transcript: Transcript, stage: Stage) -> None:
    """Play a transcript on a stage. Raises AssertionError at the line that does not come true."""
    bound: dict[str, str] = {}
    for line in transcript.lines:
        try:
            match line.kind:
                case ">":
                    stage.say(line.peer, said(line.text, bound))
                case "<":
                    message = stage.hear(line.peer, MESSAGE)["message"]
                    bound = heard(line.text, message, bound)
                case _:
                    stage.deed(line)
        except AssertionError as error:
            raise AssertionError(f"{transcript.name}, line {line.number}: {error}") from error
        except ValueError as error:
            raise ValueError(f"{transcript.name}, line {line.number}: {error}") from error
    stage.quiet()
