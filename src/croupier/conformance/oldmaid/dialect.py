"""A program that spells all its messages otherwise is told so once, and then heard as what it means."""

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any, Final

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from croupier.conformance.diagnosis.dialect import AND
from croupier.rooms.oldmaid.wire import Message

type Text = Callable[[str], str]
"""What is no JSON in, JSON out; nothing where there is no message in it; as it was where it is spelt otherwise."""

type Tree = Callable[[Any, Message | None], Any]
"""An object as it was said in, and what it answers if that is known; out as the protocol has it."""


class Spelling(Struct, frozen=True):
    """A way to spell messages. `told` says it in words behind "it": `puts quotes around its numbers`.

    `texts` make JSON of what is none, and `trees` change what the JSON says, each in turn.
    """

    told: str
    texts: tuple[Text, ...] = ()
    trees: tuple[Tree, ...] = ()

    def read(self, data: bytes, asked: Message | None = None) -> bytes:
        """The message as the protocol has it, empty where there is none in it; as it came where it is not spelt so."""
        try:
            said = data.decode(errors="surrogateescape")
            for text in self.texts:
                said = text(said)
            if self.texts and not said:
                return b""
            found = before = decode(said.encode(errors="surrogateescape"))
        except (DecodeError, RecursionError, UnicodeError):
            return data
        for tree in self.trees if isinstance(found, dict) else ():
            found = tree(found, asked)
        plain = encode(found) == encode(before) and said.encode(errors="surrogateescape") == data
        return data if plain else encode(found) + b"\n"

    def __add__(self, other: "Spelling") -> "Spelling":
        """Both at the same time."""
        told = f"{self.told}{AND}{other.told}"
        return Spelling(told, self.texts + other.texts, self.trees + other.trees)


IT: Final = "it "
"""What a cause begins with."""


def likely(data: bytes, known: Sequence[Spelling], right: Callable[[bytes], bool], asked: Message | None = None) -> str:
    """How a message is spelt that is wrong as it came, in a sentence that begins with "it"; empty where nobody knows.

    `right` tells of a message whether nothing is wrong with it. One spelling is likelier than two at the same time.
    """
    for both in ([(each,) for each in known], permutations(known, 2)):
        for spellings in both:
            meant = data
            for each in spellings:
                changed = each.read(meant, asked) if meant else meant
                if changed == meant:
                    break
                meant = changed
            else:
                if not meant or right(meant):
                    return IT + AND.join(each.told for each in spellings)
    return ""


def named(cause: str, known: Sequence[Spelling]) -> Spelling | None:
    """The spelling that a cause has named, None where it is another cause."""
    words = {each.told: each for each in known}
    found = [words.get(part) for part in cause.removeprefix(IT).split(AND)]
    spelling: Spelling | None = None
    for each in found:
        if each is None:
            return None
        spelling = spelling + each if spelling else each
    return spelling
