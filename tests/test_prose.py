"""The check of prose finds the words that it lists, and no others."""

from pathlib import Path

import pytest
from docs.check_prose import check_text, findings, page_text, source_texts


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("After so many seconds", "so many"),
        ("The client is told why", "told"),
        ("A player keeps his cards", "his"),
        ("Whoever comes late", "Whoever"),
        ("It waits behind each message", "behind each message"),
        ("One behind the other", "One behind the other"),
    ],
)
def test_a_listed_word_is_found(text: str, word: str) -> None:
    ((line, found, instead),) = check_text(f"A plain line.\n{text}.")
    assert (line, found) == (1, word)
    assert instead


@pytest.mark.parametrize(
    "text",
    [
        "The server runs behind a proxy.",
        "Chips behind are not counted.",
        "The field `told` is JSON.",
        'The document says "he is told so".',
        "This history, the shell, tell apart.",
    ],
)
def test_other_words_are_not_found(text: str) -> None:
    assert [*check_text(text)] == []


def test_comments_docstrings_and_messages_of_a_module_are_checked() -> None:
    source = '"""A module."""\n\nTEXT = "the client is told why"  # told so\nKEY = "told"\n'
    assert [line for line, text in source_texts(source) for _ in check_text(text)] == [3, 3]
    assert [line for line, text in source_texts(source, comments_only=True) for _ in check_text(text)] == [3]


def test_code_in_pages_is_not_checked() -> None:
    assert page_text("a\n```\ntold\n```\nb") == "a\n\n\n\nb"


def test_a_file_and_a_line_are_named(tmp_path: Path) -> None:
    for folder in ("src", "tests", "bench", "docs"):
        (tmp_path / folder).mkdir()
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/results.md"):
        (tmp_path / name).write_text("Plain.\n")
    (tmp_path / "src" / "a.py").write_text("# plain\n# so many\n")
    (found,) = findings(tmp_path)
    assert (found.file, found.line, found.word) == ("src/a.py", 2, "so many")
