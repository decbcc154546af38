"""The clauses of a room's protocol page, each with its text and its source."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from croupier.conformance.resources import PAGE_FOLDERS, find_page

CLAUSE_PATTERN: Final = re.compile(
    r"^\((\w+-\d+\.\d+)\)=\n\*\*\1\*\* ((?:.+\n)*?.+?)\s\[((?:§\d|[A-Z]\d)[^\]]*)\]$", re.MULTILINE
)
MARK_PATTERN: Final = re.compile(r"[.:)] (NON-STRICT|OPEN)[.:]")
"""The mark of a clause, with which a sentence begins."""

DOCUMENT_PATTERN: Final = re.compile(r"protocol's document, \*(.+?)\*|\*\*§n\*\*.*?\*(.+?)\*", re.DOTALL)
MARKUP_REPLACEMENTS: Final = ((re.compile(r"\[([^\]]+)\]\([^)]*\)"), r"\1"), (re.compile(r"\*([^*]+)\*"), r"\1"))
SECTION_PATTERN: Final = re.compile(r"§\d+(?:\.\d+)*")
SENTENCE_END_PATTERN: Final = re.compile(r"(?<=\.) (?=[A-Z])")
FIXED_SOURCE_PATTERN: Final = re.compile(r"§\d|\b[A-OQ-Z]\d")
"""Matches a source that fixes a clause: the document, or a ruling on it; rulings of the project have the letter P."""


class Clause(Struct, frozen=True):
    """A clause of a protocol page.

    `text` is one paragraph of plain text; only backquotes around literals of the wire are kept. `source` cites where
    the clause comes from (`§3.1; K5`), and `document` is the title of the document whose sections § means. `mark` is
    NON-STRICT or OPEN, empty if the clause has none.
    """

    id: str
    text: str
    source: str
    document: str
    mark: str = ""

    @property
    def first_sentence(self) -> str:
        """The first sentence of the text, empty if there is no text."""
        return SENTENCE_END_PATTERN.split(self.text, maxsplit=1)[0]

    @property
    def is_tolerated(self) -> bool:
        """Whether the clause tolerates input that should not be sent."""
        return self.mark == "NON-STRICT"

    @property
    def is_open(self) -> bool:
        """Whether the document leaves the clause open: it is marked OPEN, or rests on rulings of the project alone."""
        return self.mark == "OPEN" or not FIXED_SOURCE_PATTERN.search(self.source)

    @property
    def sections(self) -> str:
        """The document's sections, `§3.1, §5`; empty if the clause rests on rulings alone."""
        return ", ".join(SECTION_PATTERN.findall(self.source))

    @property
    def citation(self) -> str:
        """The source for people: the document's sections and the rulings."""
        rulings = ", ".join(part for part in re.split(r"[;,]\s*", self.source) if not part.startswith("§"))
        parts = [f"{self.document}, {self.sections}"] if self.sections else []
        return "; ".join(
            [*parts, *([f"rulings {rulings}" if "," in rulings else f"ruling {rulings}"] if rulings else [])]
        )


@cache
def clauses(room: str) -> Mapping[str, Clause]:
    """Return every clause of a room by its id. Raises ValueError if the room has no page."""
    page = find_page(room)
    if page is None:
        raise ValueError(
            f"found no page of {room!r}; allowed: a room with one, in {' or '.join(map(str, PAGE_FOLDERS))}"
        )
    text = page.read_text(encoding="utf-8")
    title = DOCUMENT_PATTERN.search(text)
    document = " ".join((title[1] or title[2]).split()) if title else "the document"
    return {name: _clause(name, body, source, document) for name, body, source in CLAUSE_PATTERN.findall(text)}


def _clause(name: str, body: str, source: str, document: str) -> Clause:
    text = _strip_markup(body)
    mark = MARK_PATTERN.search(text)
    return Clause(name, text, " ".join(source.split()), document, "" if mark is None else mark[1])


def find_clause(name: str) -> Clause:
    """Return a clause by its id, `kuhn-4.3`, or a clause with an empty text if no page has it."""
    room = name.partition("-")[0]
    room_clauses = clauses(room) if find_page(room) else {}
    return room_clauses.get(name) or Clause(name, "", "", "the document")


def _strip_markup(text: str) -> str:
    for pattern, replacement in MARKUP_REPLACEMENTS:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())
