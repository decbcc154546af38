"""Pages and parts of pages as HTML, in the language of the browser."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import Struct
from msgspec.json import encode
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from croupier.core.presentation import Text, grouped, text
from croupier.web.feed import RenderTable, Snapshot
from croupier.web.locales import catalogue, choose_locale, locales, translator
from croupier.web.rooms import RoomEntry, RoomView, room_view
from croupier.web.static_files import static_files

PARTS: Final = ("felt", "acts", "wire")
"""The parts of a table that are replaced when it changes."""

THEMES: Final = ("auto", "light", "dark")

ERROR_TITLES: Final = {
    400: text("Not understood"),
    403: text("Form expired"),
    404: text("Page not found"),
    405: text("Not possible here"),
    408: text("Too slow"),
    409: text("Nothing was done"),
    413: text("Too large"),
    415: text("No form"),
    429: text("Too many requests"),
    500: text("Fault of the server"),
    503: text("Not available now"),
}
OTHER_ERROR: Final = text("Error")


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
        headers = {"cache-control": "no-store", "content-language": locale, "vary": "accept-language, cookie"}
        return HTMLResponse(html, status_code, headers)

    def text(self, request: Request, lines: Iterable[Text]) -> Response:
        """Render lines of text for a request, for screen readers and text browsers."""
        locale = request_locale(request)
        t = translator(locale)
        headers = {"cache-control": "no-store", "content-language": locale, "vary": "accept-language, cookie"}
        return PlainTextResponse("".join(f"{t(line)}\n" for line in lines), headers=headers)

    def error(self, request: Request, status: int, detail: Text) -> Response:
        """Render an error: as a page, or as JSON for a script."""
        t = translator(request_locale(request))
        title = t(ERROR_TITLES.get(status, OTHER_ERROR))
        if wants_json(request):
            return json_response({"status": status, "title": title, "detail": t(detail)}, status)
        return self.page(request, "error.html", status_code=status, status=status, title=title, detail=t(detail))

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
