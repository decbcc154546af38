"""Pages and parts of pages as HTML, in the language of the browser."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import Struct
from msgspec.json import encode
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from croupier.core.languages import catalogue, locales
from croupier.core.presentation import Text, grouped, text
from croupier.web.feed import RenderTable, Snapshot
from croupier.web.locales import choose_locale, translator
from croupier.web.rooms import RoomEntry, RoomView, room_view
from croupier.web.static_files import static_files

PARTS: Final = ("felt", "acts", "wire")
"""The parts of a table that are replaced when it changes."""

THEMES: Final = ("auto", "light", "dark")

ERRORS: Final = {
    400: (text("Not understood"), text("The request cannot be understood.")),
    403: (text("Form expired"), text("The form has expired. Go back, reload the page and try again.")),
    404: (text("Page not found"), text("There is nothing here, or it is not yours.")),
    405: (text("Not possible here"), text("This address takes no such request.")),
    408: (text("Too slow"), text("The form took too long to arrive. Try again.")),
    409: (text("Nothing was done"), text("The table has changed meanwhile; nothing was done. Go back to see it.")),
    413: (text("Too large"), text("The request is too large.")),
    415: (text("No form"), text("The request is not a form.")),
    429: (text("Too many requests"), text("Too many requests. Wait a moment and try again.")),
    500: (text("Fault of the server"), text("A fault of the server. It has been logged.")),
    503: (text("Not available now"), text("The server has too much to do. Try again later.")),
}
"""The title of the page of an error, and what it says unless more is known, by the status."""

OTHER_ERROR: Final = text("Error"), ERRORS[500][1]


class Renderer:
    """Renders templates.

    Every page has `t`, which translates a Text, `csrf`, `locale`, `theme`, `static`, which gives the path of a static
    file, `rooms`, and `pages`, the first parts of the paths that have a route: other pages have no link.
    """

    def __init__(self, entries: Sequence[RoomEntry]) -> None:
        self.pages: frozenset[str] = frozenset()
        self._entries = entries

    @property
    def rooms(self) -> list[RoomView]:
        """The rooms of the server, as they are now."""
        return [room_view(entry) for entry in self._entries]

    def page(self, request: Request, template: str, *, status_code: int = 200, **context: Any) -> HTMLResponse:
        """Render a page for a request."""
        locale = request_locale(request)
        html = environment(locale).get_template(template).render(**(self._context(request) | context))
        return HTMLResponse(html, status_code, language_headers(locale))

    def text(self, request: Request, lines: Iterable[Text]) -> Response:
        """Render lines of text for a request, for screen readers and text browsers."""
        locale = request_locale(request)
        t = translator(locale)
        return PlainTextResponse("".join(f"{t(line)}\n" for line in lines), headers=language_headers(locale))

    def error(self, request: Request, status: int, detail: Text | None = None) -> Response:
        """Render an error, one of the ERRORS: as a page, or as JSON for a script."""
        t = translator(request_locale(request))
        title, usual_detail = ERRORS.get(status, OTHER_ERROR)
        error = {"status": status, "title": t(title), "detail": t(detail or usual_detail)}
        if wants_json(request):
            return json_response(error, status)
        return self.page(request, "error.html", status_code=status, **error)

    def parts(self, names: Sequence[str], locale: str, context: Mapping[str, Any]) -> Mapping[str, str]:
        """Render the parts of a page that are replaced when it changes, by their names, such as `felt`."""
        return {name: self.part(name, locale, context) for name in names}

    def part(self, name: str, locale: str, context: Mapping[str, Any]) -> str:
        """Render a part of a page."""
        return environment(locale).get_template(f"parts/{name}.html").render(**context, pages=self.pages)

    def table(self, page: "TablePage") -> RenderTable:
        """Return what renders a table that has changed for browsers."""
        return lambda snapshot, locale: self.parts(PARTS, locale, page.context(snapshot))

    def _context(self, request: Request) -> dict[str, Any]:
        return {
            "csrf": request.state.csrf,
            "account": request.state.visitor.account,
            "theme": request_theme(request),
            "rooms": self.rooms,
            "pages": self.pages,
        }


class TablePage(Struct):
    """What the templates of a table need beside its snapshot: its id, its room, and the token of its forms."""

    id: str
    room: RoomView
    csrf: str

    def context(self, snapshot: Snapshot) -> dict[str, Any]:
        """Return the variables of the templates."""
        return {
            "table": snapshot.view,
            "frames": snapshot.frames,
            "version": snapshot.version,
            "id": self.id,
            "room": self.room,
            "csrf": self.csrf,
        }


@cache
def environment(locale: str) -> Environment:
    """Return the environment of the templates in a language."""
    made = Environment(
        loader=PackageLoader("croupier.web"),
        autoescape=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.i18n"],
    )
    made.install_gettext_translations(catalogue(locale), newstyle=True)  # type: ignore[attr-defined]  # of the extension
    made.globals.update(
        t=translator(locale), grouped=grouped, static=static_files().url, locale=locale, locales=locales()
    )
    return made


def language_headers(locale: str) -> Mapping[str, str]:
    """Return the headers of a response in a language, which depends on the browser."""
    return {"cache-control": "no-store", "content-language": locale, "vary": "accept-language, cookie"}


def wants_json(request: Request) -> bool:
    """Whether a request is that of a script, which reads JSON, and not of a page."""
    return "application/json" in request.headers.get("accept", "")


def json_response(value: Any, status: int) -> Response:
    """Return a response with a value as JSON."""
    return Response(encode(value), status, {"cache-control": "no-store"}, "application/json")


def download(page: str, name: str, media_type: str = "text/html") -> Response:
    """Return a page as a file: it has styles of its own, which the policy of our pages forbids."""
    headers = {"cache-control": "no-store", "content-disposition": f'attachment; filename="{name}"'}
    return Response(page, 200, headers, media_type)


def request_locale(request: Request) -> str:
    """Return the language for a request."""
    return choose_locale(request.cookies.get("locale"), request.headers.get("accept-language", ""))


def request_theme(request: Request) -> str:
    """Return the theme for a request: auto, light or dark."""
    theme = request.cookies.get("theme", "")
    return theme if theme in THEMES else THEMES[0]
