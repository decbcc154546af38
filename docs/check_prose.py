"""Check of prose: finds unclear words in docstrings, comments, messages and pages. `make check` runs it."""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]

NEUTRAL = "they, it, or the noun (client, player, server)"
WORDS = {
    r"so many": "at most N, N seconds, or the name of the parameter",
    r"told|tells": "the verb that says what happens (sends, notifies, describes, renders, logs)",
    r"he|him|his|himself": NEUTRAL,
    r"whoever|whomever": NEUTRAL,
    r"behind (?:each|every|this) (?:game|hand|message|turn|reply|answer|close|start|end|request|command)": "after",
    r"behind (?:it|them)": "after",
    r"one behind the other": "one after the other",
    r"not before": "only after",
    r"has to say|had to say": "sends, or the name of the message",
    r"luck (?:has|had) (?:not )?brought": "occurred",
    r"(?:of|for) want of": "without, or for lack of",
    r"as on paper|on paper": "in the transcript",
    r"to the last farewell|farewells?": "closing message",
}
"""What is not written, as a regular expression of whole words, and what is written instead."""

PROTOCOL_TEXTS = ("allowed: so many", "a card of his own, when he is asked for one", "cards of his own")
"""Texts that servers send to clients; they stay as they are."""

PLACES = r"behind (?:a|an|the|one|another|such a) (?:proxy|proxies|balancer|firewall|reverse proxy|NAT|TLS)"
ALLOWED = re.compile("|".join((*PROTOCOL_TEXTS, PLACES)))
QUOTED = re.compile(r"``?[^`]*``?|\"[^\"\n]*\"|“[^”]*”|\([^()]*>[^()]*\)")
FENCED = re.compile(r"^(```|~~~).*?^\1$", re.MULTILINE | re.DOTALL)
FOUND = re.compile(
    r"\b(?:" + "|".join(f"(?P<w{number}>{word})" for number, word in enumerate(WORDS)) + r")\b", re.IGNORECASE
)

COMMENTS_ONLY = ("src/croupier/conformance/", "tests/conformance/")
"""Modules that compare some of their sentences: only their comments and docstrings are checked."""

SOURCES = ("src", "tests", "bench", "docs")
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "bench/results.md")
GENERATED = ("docs/transcripts/", "docs/_build/")


class Finding(NamedTuple):
    """A word that should not stand there: the file, the line, the word, and what to write."""

    file: str
    line: int
    word: str
    instead: str


def check_text(text: str) -> Iterator[tuple[int, str, str]]:
    """The lines of a text (from 0) with words that should not stand there, the words, and what to write instead."""
    for number, line in enumerate(QUOTED.sub(lambda quoted: "\n" * quoted[0].count("\n"), text).splitlines()):
        for found in FOUND.finditer(ALLOWED.sub("", line)):
            yield number, found[0], [*WORDS.values()][int((found.lastgroup or "w0")[1:])]


def docstrings(tree: ast.AST) -> Iterator[ast.Constant]:
    """The docstrings of a module and of everything in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value


def source_texts(source: str, *, comments_only: bool = False) -> Iterator[tuple[int, str]]:
    """The comments and docstrings of a module and, unless `comments_only`, its strings of more than two words."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    tree = ast.parse(source)
    for node in docstrings(tree) if comments_only else ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value.split()) > 2:
            yield node.lineno, node.value


def page_text(page: str) -> str:
    """A page without its blocks of code."""
    return FENCED.sub(lambda block: "\n" * block[0].count("\n"), page)


def files(root: Path) -> Iterator[Path]:
    """Every module and every page of the project."""
    for folder in SOURCES:
        yield from sorted((root / folder).rglob("*.py"))
    for name in PAGES:
        yield from [root / name] if name.endswith(".md") else sorted((root / name).rglob("*.md"))


def findings(root: Path) -> Iterator[Finding]:
    """Every word in the project that should not stand there."""
    for path in files(root):
        name = path.relative_to(root).as_posix()
        if path.name in {"check_prose.py", "test_prose.py"} or name.startswith(GENERATED):
            continue
        text = path.read_text(encoding="utf-8")
        is_data = name.startswith(COMMENTS_ONLY)
        texts = source_texts(text, comments_only=is_data) if path.suffix == ".py" else [(1, page_text(text))]
        for first, part in texts:
            for line, word, instead in check_text(part):
                yield Finding(name, first + line, word, instead)


def main() -> int:
    """Print what was found; the exit status."""
    found = [*findings(ROOT)]
    for each in found:
        print(f"{each.file}:{each.line}: found {each.word!r}; write {each.instead}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
