"""The clauses of a protocol in our own words, as the room's page has them, and where each comes from."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from croupier.conformance.resources import PAGE_FOLDERS, find_page

CLAUSE_PATTERN: Final = re.compile(
    r"^\((\w+-\d+\.\d+)\)=\n\*\*\1\*\* ((?:.+\n)*?.+?)\s\[((?:§\d|[A-Z]\d)[^\]]*)\]$", re.MULTILINE
)
DOCUMENT_PATTERN: Final = re.compile(r"protocol's document, \*(.+?)\*|\*\*§n\*\*.*?\*(.+?)\*", re.DOTALL)
MARKUP_REPLACEMENTS: Final = ((re.compile(r"\[([^\]]+)\]\([^)]*\)"), r"\1"), (re.compile(r"\*([^*]+)\*"), r"\1"))
SECTION_PATTERN: Final = re.compile(r"§\d+(?:\.\d+)*")


class Clause(Struct, frozen=True):
    """A clause of a page: what it says, where that comes from (`§3.1; K5`), and the document that § means.

    `text` is one paragraph without marks but `these` around what stands on the wire. `tolerated`: it is NON-STRICT.
    """

    id: str
    text: str
    source: str
    document: str

    @property
    def is_tolerated(self) -> bool:
        """Whether it accepts what nobody should send."""
        return "NON-STRICT" in self.text

    @property
    def sections(self) -> str:
        """The document's sections, `§3.1, §5`; empty where the clause stands on rulings alone."""
        return ", ".join(SECTION_PATTERN.findall(self.source))

    @property
    def citation(self) -> str:
        """Where it comes from, for people: the document's sections, and the rulings."""
        rulings = ", ".join(part for part in re.split(r"[;,]\s*", self.source) if not part.startswith("§"))
        parts = [f"{self.document}, {self.sections}"] if self.sections else []
        return "; ".join(
            [*parts, *([f"rulings {rulings}" if "," in rulings else f"ruling {rulings}"] if rulings else [])]
        )


@cache
def clauses(room: str) -> Mapping[str, Clause]:
    """Every clause of a room by its id. Raises ValueError where the room has no page."""
    found = find_page(room)
    if found is None:
        raise ValueError(
            f"found no page of {room!r}; allowed: a room with one, in {' or '.join(map(str, PAGE_FOLDERS))}"
        )
    text = found.read_text(encoding="utf-8")
    named = DOCUMENT_PATTERN.search(text)
    document = " ".join((named[1] or named[2]).split()) if named else "the document"
    return {
        name: Clause(name, _unmarked(said), " ".join(source.split()), document)
        for name, said, source in CLAUSE_PATTERN.findall(text)
    }


def find_clause(name: str) -> Clause:
    """A clause by its id, `kuhn-4.3`; an empty one where no page has it."""
    room = name.partition("-")[0]
    known = clauses(room) if find_page(room) else {}
    return known.get(name) or Clause(name, "", "", "the document")


def _unmarked(text: str) -> str:
    for mark, plain in MARKUP_REPLACEMENTS:
        text = mark.sub(plain, text)
    return " ".join(text.split())
