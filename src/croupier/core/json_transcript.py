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

from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder
from typing import Final

JSON_DECODER: Final = JSONDecoder()


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
