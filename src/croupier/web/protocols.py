"""The protocol pages as HTML: every clause is a section with its id, and links to the transcripts that show it."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from msgspec import Struct

from croupier.conformance.resources import find_page, transcripts

LABEL: Final = re.compile(r"^\(([\w.-]+)\)=\n", re.MULTILINE)
COMMENT: Final = re.compile(r"<!--.*?-->\n?", re.DOTALL)
SECTION: Final = re.compile(r"^(?:\(([\w.-]+)\)=\n)?## (.+)\n", re.MULTILINE)
NAME: Final = re.compile(r"\*\*([\w.-]+)\*\* ")
"""The name of a clause or a ruling at the start of its text."""
SUBHEADING: Final = re.compile(r"^###+ ", re.MULTILINE)
LINK: Final = re.compile(r"\]\((?:(\w+)\.md)?(#[\w.-]+)?\)")
CITATION: Final = re.compile(r"\[(?=§\d|[GKSBHOP]\d)[^\[\]]+\](?!\()")
"""The sources at the end of a clause."""
RULING: Final = re.compile(r"\b[GKSBHO]\d{1,2}\b")
"""A ruling that has a label; the rulings of the project have none."""
NUMBER: Final = re.compile(r"^\d+\. ")
SLUG_CHARACTERS: Final = re.compile(r"[^\w\- ]")
PAGES: Final = ("kuhn", "sevenhalf", "blackjack", "holdem", "oldmaid", "rulings")


class Example(Struct, frozen=True):
    """A transcript that shows a clause."""

    id: str
    title: str


class Clause(Struct, frozen=True):
    """A clause or a ruling, its text as HTML, and its examples. Text between clauses has no `id` and no `name`."""

    id: str
    name: str
    html: Markup
    transcripts: Sequence[Example] = ()


class Section(Struct, frozen=True):
    """A section of a page: its heading with an id, what comes before its first clause, and its clauses."""

    id: str
    title: str
    intro: Markup
    clauses: Sequence[Clause]


class ProtocolPage(Struct, frozen=True):
    """A protocol page: its title, what comes before its first section, and its sections."""

    title: str
    intro: Markup
    sections: Sequence[Section]


@cache
def protocol_page(name: str) -> ProtocolPage | None:
    """Return the protocol page of a room, or the page of the rulings; None if there is no page of that name."""
    path = find_page(name)
    if path is None:
        return None
    title, _, body = COMMENT.sub("", path.read_text(encoding="utf-8")).removeprefix("# ").partition("\n")
    intro, *parts = SECTION.split(body)
    sections = [
        _section(name, label, heading, text)
        for label, heading, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]
    return ProtocolPage(title, _render(intro, name), sections)


def _section(page: str, anchor: str | None, heading: str, text: str) -> Section:
    """Split a section at its labels. What has a label ends where the next label or heading begins."""
    examples = _examples(page)
    intro, *labelled = LABEL.split(text)
    clauses = []
    for label, body in zip(labelled[::2], labelled[1::2], strict=True):
        subheading = SUBHEADING.search(body, 1)
        end = subheading.start() if subheading else len(body)
        title = NAME.match(body)
        start = title.end() if title else 0
        shown = tuple(examples.get(label, ()))
        clauses.append(Clause(label, title[1] if title else label, _render(body[start:end], page), shown))
        if rest := body[end:].strip():
            clauses.append(Clause("", "", _render(rest, page)))
    return Section(anchor or _slug(heading), heading, _render(intro, page), clauses)


@cache
def _labels() -> dict[str, str]:
    """Return the page of every label: the label of a ruling is on the page of its room."""
    paths = {name: path for name in PAGES if (path := find_page(name)) is not None}
    return {label: name for name, path in paths.items() for label in LABEL.findall(path.read_text(encoding="utf-8"))}


def _examples(room: str) -> dict[str, list[Example]]:
    """Return the transcripts of a room by the clauses that they show; none for a page without transcripts."""
    examples: dict[str, list[Example]] = {}
    try:
        shown = transcripts(room)
    except ValueError:
        return {}
    for transcript in shown:
        for clause in transcript.clauses:
            examples.setdefault(clause, []).append(Example(transcript.name, transcript.title))
    return examples


@cache
def _markdown() -> MarkdownIt:
    """The renderer. HTML in a page is escaped."""
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _render(text: str, page: str) -> Markup:
    """Render Markdown of a page. Links lead to the pages of the web app, cited rulings are links, headings have ids."""

    def link(match: re.Match[str]) -> str:
        anchor = match[2] or ""
        target = match[1] or _labels().get(anchor.removeprefix("#"), page)
        return f"]({f'/protocols/{target}' if target != page else ''}{anchor})"

    tokens = _markdown().parse(LINK.sub(link, link_rulings(text)))
    _adapt(tokens)
    return Markup(_markdown().renderer.render(tokens, _markdown().options, {}))  # noqa: S704 -- it escapes HTML


def _adapt(tokens: Sequence[Token]) -> None:
    """Give headings an id, and make tables and listings accessible.

    Where they scroll sideways, the arrow keys scroll them, too. An empty cell is no heading of a column.
    """
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _slug(tokens[at + 1].content))
        elif token.type in {"fence", "table_open"}:
            token.attrSet("tabindex", "0")
        elif token.type == "th_open" and not tokens[at + 1].content:
            token.tag = tokens[at + 2].tag = "td"


def link_rulings(text: str) -> str:
    """Make every ruling that a clause cites a link to its text.

    >>> link_rulings("The deck is three cards. [§6; K2]")
    'The deck is three cards. [§6; [K2](#ruling-k2)]'
    """
    return CITATION.sub(
        lambda cited: RULING.sub(lambda ruling: f"[{ruling[0]}](#ruling-{ruling[0].lower()})", cited[0]), text
    )


def _slug(heading: str) -> str:
    """Return the id of a heading: its words without its number.

    >>> _slug("1. The connection")
    'the-connection'
    """
    return SLUG_CHARACTERS.sub("", NUMBER.sub("", heading).lower()).strip().replace(" ", "-")
