"""What programs say that is nearly JSON: as Python or the document prints it, or with something before it."""

import json
import re
from ast import literal_eval
from typing import Final

from msgspec import DecodeError
from msgspec.json import decode

from croupier.conformance.oldmaid.dialect import JsonDialect

PRINTED_QUOTES: Final = str.maketrans("“”„‟", '""""')
"""Quotes as they are printed."""

LENGTH_PREFIX_PATTERN: Final = re.compile(
    r"\s*(?:\d+\s*[:;,#|]?|\x00{1,7}[^{\[]{1,3}|content-length:\s*\d+)\s*", re.I | re.DOTALL
)
"""A length in digits, in bytes, or in a head."""

NUL_PATTERN: Final = re.compile(r"\s*\x00\s*")

FIRST_KEY_PATTERN: Final = re.compile(r'\s*"(?:[^"\\]|\\.)*"\s*:')
"""The first key behind a bracket, which is an object's."""

FIRST_VALUE_PATTERN: Final = re.compile(r'\s*"(?:[^"\\]|\\.)*"\s*[,}]')
"""The first value behind a brace, which is an array's."""


def is_json(said: str) -> bool:
    """Whether this is JSON."""
    try:
        decode(said)
    except (DecodeError, RecursionError, UnicodeError):
        return False
    return True


def _from_python_literal(said: str) -> str:
    if is_json(said):
        return said
    try:
        found = literal_eval(said.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return said
    try:
        return json.dumps(found) if isinstance(found, dict) else said
    except (TypeError, ValueError, RecursionError):
        return said


def _plain_quotes(said: str) -> str:
    return said if is_json(said) else said.translate(PRINTED_QUOTES)


def _repair_brackets(said: str, key: bool) -> str:
    """It with brackets and braces as what stands in them wants it."""
    pattern, opens, instead = (FIRST_KEY_PATTERN, "[", "{}") if key else (FIRST_VALUE_PATTERN, "{", "[]")
    found, closing, at = [], [], 0
    while at < len(said):
        sign = said[at]
        quoted = re.compile(r'"(?:[^"\\]|\\.)*"').match(said, at) if sign == '"' else None
        if quoted:
            found.append(quoted[0])
            at = quoted.end()
            continue
        if sign in "{[":
            wrong = sign == opens and pattern.match(said, at + 1) is not None
            closing.append(instead[1] if wrong else "}" if sign == "{" else "]")
            sign = instead[0] if wrong else sign
        elif sign in "}]" and closing:
            sign = closing.pop()
        found.append(sign)
        at += 1
    return "".join(found)


def _arrays_to_objects(said: str) -> str:
    return said if is_json(said) else _repair_brackets(said, key=True)


def _objects_to_arrays(said: str) -> str:
    return said if is_json(said) else _repair_brackets(said, key=False)


def _drop_length(said: str) -> str:
    return "" if LENGTH_PREFIX_PATTERN.fullmatch(said) else said


def _drop_nul(said: str) -> str:
    return "" if NUL_PATTERN.fullmatch(said) else said


TEXT_DIALECTS: Final = (
    JsonDialect(
        "prints its messages as Python does, and that is no JSON: json.dumps makes it JSON", (_from_python_literal,)
    ),
    JsonDialect("uses the quotes of the printed document, where JSON has plain ones", (_plain_quotes,)),
    JsonDialect(
        "puts keys into an array, as the document prints it: in JSON what has keys stands in braces",
        (_arrays_to_objects,),
    ),
    JsonDialect(
        "puts nicks into braces, as the document prints them: in JSON what has no keys is an array",
        (_objects_to_arrays,),
    ),
    JsonDialect("sends a length before its messages: nothing frames them", (_drop_length,)),
    JsonDialect("sends a NUL behind its messages: nothing frames them", (_drop_nul,)),
)
"""What is no JSON, or stands before it."""
