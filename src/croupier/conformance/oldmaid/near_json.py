"""Repairs of messages that are nearly JSON: Python literals, printed quotes, brackets, length prefixes."""

import json
import re
from ast import literal_eval
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final
from warnings import catch_warnings

from croupier.conformance.channel.json_values import parse_json
from croupier.conformance.diagnosis.message_dialect import MessageDialect
from croupier.conformance.oldmaid.dialect import JsonDialect, TextTransform, of_text

PRINTED_QUOTES: Final = str.maketrans("“”„‟", '""""')
"""Typographic quotes."""

LENGTH_PREFIX_PATTERN: Final = re.compile(
    r"\s*(?:\d+\s*[:;,#|]?|\x00{1,7}[^{\[]{1,3}|content-length:\s*\d+)\s*", re.I | re.DOTALL
)
"""A length prefix: digits, bytes, or a header."""

NUL_PATTERN: Final = re.compile(r"\s*\x00\s*")

FIRST_KEY_PATTERN: Final = re.compile(r'\s*"(?:[^"\\]|\\.)*"\s*:')
"""A key after a bracket, which shows that the bracket should open an object."""

FIRST_VALUE_PATTERN: Final = re.compile(r'\s*"(?:[^"\\]|\\.)*"\s*[,}]')
"""A value after a brace, which shows that the brace should open an array."""


def is_json(text: str) -> bool:
    """Whether a text is valid JSON."""
    try:
        parse_json(text)
    except ValueError:
        return False
    return True


def _from_python_literal(text: str) -> str:
    if is_json(text):
        return text
    try:
        with catch_warnings(action="ignore", category=SyntaxWarning):  # of backslashes that Python does not know
            value = literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    try:
        return json.dumps(value) if isinstance(value, dict) else text
    except (TypeError, ValueError, RecursionError):
        return text


def _plain_quotes(text: str) -> str:
    return text if is_json(text) else text.translate(PRINTED_QUOTES)


def _repair_brackets(text: str, *, key: bool) -> str:
    """Return the text with each bracket or brace replaced by the kind that its content needs, unless it is JSON."""
    if is_json(text):
        return text
    pattern, opens, replacement = (FIRST_KEY_PATTERN, "[", "{}") if key else (FIRST_VALUE_PATTERN, "{", "[]")
    parts, closing, at = [], [], 0
    while at < len(text):
        char = text[at]
        quoted = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, at) if char == '"' else None
        if quoted:
            parts.append(quoted[0])
            at = quoted.end()
            continue
        if char in "{[":
            wrong = char == opens and pattern.match(text, at + 1) is not None
            closing.append(replacement[1] if wrong else "}" if char == "{" else "]")
            char = replacement[0] if wrong else char
        elif char in "}]" and closing:
            char = closing.pop()
        parts.append(char)
        at += 1
    return "".join(parts)


def _drop(pattern: re.Pattern[str]) -> TextTransform:
    """Return a transform that drops text between messages."""
    return lambda text: "" if pattern.fullmatch(text) else text


TEXT_TRANSFORMS: Final[Mapping[str, TextTransform]] = {
    "prints its messages as Python does, and that is no JSON: json.dumps makes it JSON": _from_python_literal,
    "uses the quotes of the printed document, where JSON has plain ones": _plain_quotes,
    "puts keys into an array, as the document prints it: in JSON what has keys stands in braces": partial(
        _repair_brackets, key=True
    ),
    "puts nicks into braces, as the document prints them: in JSON what has no keys is an array": partial(
        _repair_brackets, key=False
    ),
    "sends a length before its messages: nothing frames them": _drop(LENGTH_PREFIX_PATTERN),
    "sends a NUL after its messages: nothing frames them": _drop(NUL_PATTERN),
}
"""What makes text JSON, or drops what precedes it, by the description of its dialect."""

TEXT_DIALECTS: Final[Sequence[JsonDialect]] = tuple(
    MessageDialect(description, (of_text(change),)) for description, change in TEXT_TRANSFORMS.items()
)
