"""A program that spells all its messages otherwise is told so once, and then heard as what it means."""

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any, Final

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from croupier.conformance.diagnosis.dialect import CONJUNCTION
from croupier.rooms.oldmaid.wire import Message

type TextTransform = Callable[[str], str]
"""What is no JSON in, JSON out; nothing where there is no message in it; as it was where it is spelt otherwise."""

type ObjectTransform = Callable[[Any, Message | None], Any]
"""An object as it was said in, and what it answers if that is known; out as the protocol has it."""


class JsonDialect(Struct, frozen=True):
    """A way to spell messages. `told` says it in words behind "it": `puts quotes around its numbers`.

    `texts` make JSON of what is none, and `trees` change what the JSON says, each in turn.
    """

    description: str
    text_transforms: tuple[TextTransform, ...] = ()
    object_transforms: tuple[ObjectTransform, ...] = ()

    def read(self, data: bytes, request: Message | None = None) -> bytes:
        """The message as the protocol has it, empty where there is none in it; as it came where it is not spelt so."""
        try:
            said = data.decode(errors="surrogateescape")
            for text in self.text_transforms:
                said = text(said)
            if self.text_transforms and not said:
                return b""
            found = before = decode(said.encode(errors="surrogateescape"))
        except (DecodeError, RecursionError, UnicodeError):
            return data
        for tree in self.object_transforms if isinstance(found, dict) else ():
            found = tree(found, request)
        plain = encode(found) == encode(before) and said.encode(errors="surrogateescape") == data
        return data if plain else encode(found) + b"\n"

    def __add__(self, dialect: "JsonDialect") -> "JsonDialect":
        """Both at the same time."""
        told = f"{self.description}{CONJUNCTION}{dialect.description}"
        return JsonDialect(
            told, self.text_transforms + dialect.text_transforms, self.object_transforms + dialect.object_transforms
        )


CAUSE_PREFIX: Final = "it "
"""What a cause begins with."""


def likely_cause(
    data: bytes, dialects: Sequence[JsonDialect], is_right: Callable[[bytes], bool], request: Message | None = None
) -> str:
    """How a message is spelt that is wrong as it came, in a sentence that begins with "it"; empty where nobody knows.

    `right` tells of a message whether nothing is wrong with it. One spelling is likelier than two at the same time.
    """
    for both in ([(each,) for each in dialects], permutations(dialects, 2)):
        for spellings in both:
            meant = data
            for each in spellings:
                changed = each.read(meant, request) if meant else meant
                if changed == meant:
                    break
                meant = changed
            else:
                if not meant or is_right(meant):
                    return CAUSE_PREFIX + CONJUNCTION.join(each.description for each in spellings)
    return ""


def dialect_from_cause(cause: str, dialects: Sequence[JsonDialect]) -> JsonDialect | None:
    """The spelling that a cause has named, None where it is another cause."""
    words = {each.description: each for each in dialects}
    found = [words.get(part) for part in cause.removeprefix(CAUSE_PREFIX).split(CONJUNCTION)]
    spelling: JsonDialect | None = None
    for each in found:
        if each is None:
            return None
        spelling = spelling + each if spelling else each
    return spelling
