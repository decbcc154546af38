"""The catalogues of the other languages are complete, current and compiled."""

import re
from collections import Counter
from collections.abc import Sequence

import pytest
from babel.messages import Catalog, Message
from babel.messages.mofile import read_mo
from docs.messages import LOCALES, extract, forms, po_path, read_catalogue


@pytest.fixture(scope="module")
def texts() -> Catalog:
    """The texts of the source, which take a second to find."""
    return extract()


type Key = tuple[str | None, Sequence[str]]


def translations(catalogue: Catalog) -> dict[Key, Sequence[str]]:
    """The translations by context and id."""
    return {
        (_context(message), tuple(forms(message.id))): tuple(forms(message.string))
        for message in catalogue
        if message.id
    }


def _context(message: Message) -> str | None:
    """The context of a message, which `read_mo` leaves as bytes."""
    context: str | bytes | None = message.context
    return context.decode() if isinstance(context, bytes) else context


def placeholders(form: str) -> Counter[str]:
    return Counter(re.findall(r"\{\w*\}|%\(\w+\)\w", form))


every_locale = pytest.mark.parametrize("locale", LOCALES)


@every_locale
def test_every_text_of_the_source_is_translated(texts: Catalog, locale: str) -> None:
    """`make messages` adds the texts that are missing here."""
    found = translations(read_catalogue(locale))
    assert [key for key in translations(texts) if not all(found.get(key, [""]))] == []


@every_locale
def test_translations_have_the_placeholders_of_their_texts(locale: str) -> None:
    for message in read_catalogue(locale):
        if message.id:
            ids, strings = forms(message.id), forms(message.string)
            assert len(ids) == len(strings), message.id
            assert placeholders(ids[-1]) == placeholders(strings[-1]), message.id
            assert placeholders(ids[0]) == placeholders(strings[0]), message.id


@every_locale
def test_translations_begin_and_end_as_their_texts(locale: str) -> None:
    """A sentence ends with a full stop in every language, and spaces at an end are part of a text."""
    for message in read_catalogue(locale):
        for text, string in zip(forms(message.id), forms(message.string), strict=True):
            if message.id:
                assert (text[:1].isspace(), text[-1:].isspace()) == (string[:1].isspace(), string[-1:].isspace()), text
                assert (text[-1:] in {".", ":", "?"}) == (string[-1:] in {".", ":", "?"}), text


@every_locale
def test_the_compiled_catalogue_is_that_of_the_translations(locale: str) -> None:
    """`make messages` compiles the catalogues."""
    with po_path(locale).with_suffix(".mo").open("rb") as file:
        assert translations(read_mo(file)) == translations(read_catalogue(locale))
