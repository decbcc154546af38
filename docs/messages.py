"""Extracts the texts for people from the source, updates the catalogues of the other languages, and compiles them.

`make messages` runs this; the translations themselves are edited in `src/croupier/locales`. English texts are their own
ids.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from babel.messages import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

SOURCE: Final = Path(__file__).parents[1] / "src" / "croupier"
LOCALES: Final = ("ca", "es", "nb")
METHODS: Final = [("**.py", "python"), ("**/templates/**.html", "jinja2")]
OPTIONS: Final = {"**/templates/**.html": {"extensions": "jinja2.ext.i18n", "silent": "false"}}
KEYWORDS: Final = {**DEFAULT_KEYWORDS, "text": None, "counted": (1, 2)}
"""The functions that mark texts, with the numbers of their arguments that are texts; see `core/presentation.py`."""
LINE_WIDTH: Final = 120


def extract() -> Catalog:
    """Return a catalogue of all texts in the source, without translations."""
    found = Catalog(charset="utf-8")
    texts = extract_from_dir(SOURCE, METHODS, OPTIONS, KEYWORDS, strip_comment_tags=True)
    for path, line, message, comments, context in texts:
        found.add(message, None, [(path, line)], auto_comments=comments, context=context)
    return found


def po_path(locale: str) -> Path:
    """Return the path of the catalogue of a locale; the compiled one is beside it."""
    return SOURCE / "locales" / locale / "LC_MESSAGES" / "croupier.po"


def read_catalogue(locale: str) -> Catalog:
    """Return the catalogue of a locale, an empty one if there is none yet."""
    path = po_path(locale)
    if not path.exists():
        now = datetime.now(UTC)
        return Catalog(
            locale=locale,
            header_comment="# Translations of the texts that people read; `make messages` adds new ones.",
            project="croupier",
            version="source",
            msgid_bugs_address="see CONTRIBUTING.md",
            last_translator="the croupier developers",
            language_team=locale,
            creation_date=now,
            revision_date=now,
            charset="utf-8",
            fuzzy=False,
        )
    with path.open("rb") as file:
        return read_po(file, locale=locale)


def compiled(catalogue: Catalog) -> bytes:
    """Return a catalogue as it is read at run time."""
    file = BytesIO()
    write_mo(file, catalogue)
    return file.getvalue()


def update(locale: str, texts: Catalog) -> int:
    """Update and compile the catalogue of a locale. Return the number of texts that are not translated."""
    catalogue = read_catalogue(locale)
    catalogue.update(texts, no_fuzzy_matching=True, update_creation_date=False)
    path = po_path(locale)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, catalogue, width=LINE_WIDTH, include_lineno=False, ignore_obsolete=True)
    path.with_suffix(".mo").write_bytes(compiled(catalogue))
    return sum(not all(forms(message.string)) for message in catalogue if message.id)


def forms(text: Any) -> Sequence[str]:
    """Return the singular and the plural form of an id or a translation, or its only form; "" if it is missing."""
    return tuple(text) if isinstance(text, tuple | list) else (text or "",)


def main() -> None:
    """Update all catalogues, and print how many texts are not translated."""
    texts = extract()
    for locale in LOCALES:
        missing = update(locale, texts)
        print(f"{po_path(locale)}: {len(texts)} texts, {missing} not translated")


if __name__ == "__main__":
    main()
