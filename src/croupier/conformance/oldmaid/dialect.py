"""Dialects: consistent misspellings of messages, which are reported once and then undone."""

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from croupier.conformance.diagnosis.cause import CONJUNCTION, Cause, dialect_cause
from croupier.rooms.oldmaid.wire import Message

type TextTransform = Callable[[str], str]
"""Maps text that is not JSON to JSON; "" if it contains no message; unchanged if it is not in this dialect."""

type ObjectTransform = Callable[[Any, Message | None], Any]
"""Maps an object as received, and the request it answers if known, to the object that the protocol prescribes."""


class JsonDialect(Struct, frozen=True):
    """A consistent way to misspell messages.

    `description` is a phrase that follows "it": `puts quotes around its numbers`. `text_transforms` turn text into
    JSON, and `object_transforms` correct JSON objects; each in order.
    """

    description: str
    text_transforms: tuple[TextTransform, ...] = ()
    object_transforms: tuple[ObjectTransform, ...] = ()

    def read(self, data: bytes, request: Message | None = None) -> bytes:
        """Return the message as the protocol prescribes it, b"" if there is none; unchanged if not in this dialect."""
        try:
            text_data = data.decode(errors="surrogateescape")
            for transform_text in self.text_transforms:
                text_data = transform_text(text_data)
            if self.text_transforms and not text_data:
                return b""
            found = before = decode(text_data.encode(errors="surrogateescape"))
        except (DecodeError, RecursionError, UnicodeError):
            return data
        for transform in self.object_transforms if isinstance(found, dict) else ():
            found = transform(found, request)
        plain = encode(found) == encode(before) and text_data.encode(errors="surrogateescape") == data
        return data if plain else encode(found) + b"\n"

    def __add__(self, dialect: "JsonDialect") -> "JsonDialect":
        """Combine two dialects."""
        description = f"{self.description}{CONJUNCTION}{dialect.description}"
        return JsonDialect(
            description,
            self.text_transforms + dialect.text_transforms,
            self.object_transforms + dialect.object_transforms,
        )


def likely_cause(
    data: bytes, dialects: Sequence[JsonDialect], is_right: Callable[[bytes], bool], request: Message | None = None
) -> Cause | None:
    """Return the likely dialect of a wrong message, None if none fits.

    `is_right` decides whether a corrected message is right. Single dialects are tried before pairs.
    """
    for chains in ([(each,) for each in dialects], permutations(dialects, 2)):
        for chain in chains:
            meant = data
            for each in chain:
                changed = each.read(meant, request) if meant else meant
                if changed == meant:
                    break
                meant = changed
            else:
                if not meant or is_right(meant):
                    return dialect_cause(chain)
    return None
