"""Every page of the web app is in the language of its reader: no text lacks its translation."""

import html
from collections.abc import Iterator
from gettext import NullTranslations, translation

import pytest

from croupier.core.languages import CATALOGUES, DOMAIN, locales
from croupier.rooms import HOUSE_ROOMS
from croupier.web import render
from croupier.web.locales import choose_locale
from tests.net.raw_client import Run
from tests.web.app_fixture import Browser, house, serve

LANGUAGES = ("ca", "es", "nb")
PAGES = ("/", "/watch", "/replay", "/protocols", "/check", "/login", "/nothing")


class Missing(NullTranslations):
    """The end of a catalogue: notes which texts were not found in it."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: set[str] = set()

    def gettext(self, message: str) -> str:
        self.texts.add(message)
        return message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        self.texts.add(msgid1)
        return msgid1

    def pgettext(self, context: str, message: str) -> str:
        self.texts.add(f"{context}: {message}")
        return message


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Missing]:
    """The texts that the pages rendered by this test have no translation for."""
    noted = Missing()

    def catalogue(locale: str) -> NullTranslations:
        found = translation(DOMAIN, CATALOGUES, [locale])
        found.add_fallback(noted)
        return found

    monkeypatch.setattr(render, "catalogue", catalogue)
    render.environment.cache_clear()
    render.translator.cache_clear()
    yield noted
    render.environment.cache_clear()
    render.translator.cache_clear()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_is_translated(run: Run, missing: Missing, language: str) -> None:
    async def browse() -> None:
        async with serve(*(house(room) for room in HOUSE_ROOMS.values())) as app:
            browser = Browser(app, **{"accept-language": language})
            for page in PAGES:
                response = await browser.get(page)
                assert f'<html lang="{language}"' in response.text
                assert response.headers["content-language"] == language
            for room, action in (("kuhn", "second"), ("sevenhalf", "start"), ("blackjack", "play")):
                await browser.play(room)
                assert (await browser.act(action)).status_code in {200, 202}
                for path in ("", "/text"):
                    assert (await browser.get(browser.table + path)).status_code == 200

    run(browse())
    assert {text for text in missing.texts if any(char.isalpha() for char in text.partition("{")[0])} == set()


@pytest.mark.parametrize(
    ("language", "title"),
    [
        ("en", "Page not found"),
        ("ca", "No s'ha trobat la pàgina"),
        ("es", "Página no encontrada"),
        ("nb", "Fant ikke siden"),
    ],
)
def test_the_title_of_an_error_is_translated(language: str, title: str, run: Run) -> None:
    async def main() -> None:
        async with serve() as app:
            browser = Browser(app, **{"accept-language": language})
            page = html.unescape((await browser.get("/nothing")).text)
            assert f"<title>{title} · croupier</title>" in page
            assert f"<h1>{title}</h1>" in page
            found = (await browser.get("/nothing", headers={"accept": "application/json"})).json()
            assert (found["status"], found["title"]) == (404, title)

    run(main())


def test_the_list_of_replays_names_the_games_in_the_language_of_the_reader(run: Run) -> None:
    async def main() -> None:
        async with serve() as app:
            page = html.unescape((await Browser(app, **{"accept-language": "nb"}).get("/replay")).text)
            assert "Utskrifter: Kuhn-poker" in page
            assert "Utskrifter: Svarteper" in page

    run(main())


def test_the_language_is_the_readers() -> None:
    assert {*LANGUAGES, "en"} == {*locales()}
    assert choose_locale(None, "no, en;q=0.5") == "nb"
    assert choose_locale(None, "de, ca;q=0.8, en;q=0.5") == "ca"
    assert choose_locale("es", "ca") == "es"
