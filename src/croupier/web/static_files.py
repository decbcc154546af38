"""The style sheet, scripts and pictures: read at the start, and cached by browsers for ever under a hashed path."""

from collections.abc import Mapping
from functools import cache
from gzip import compress
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from croupier.arena.report.style import STYLESHEET
from croupier.core.html_page import CONTENT_STYLESHEET
from croupier.web.cards import sprite

MEDIA_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
}
"""Media types by the end of the name; a file with another one is not served."""

FOR_EVER: Final = "public, max-age=31536000, immutable"


class StaticFile(Struct, frozen=True):
    """A file with its media type, as it is and compressed."""

    media_type: str
    data: bytes
    compressed: bytes


class StaticFiles:
    """All static files. One hash over all of them is in their paths, so modules can import each other by name."""

    def __init__(self, generated: Mapping[str, str]) -> None:
        """Read the files of the package; `generated` are further ones by name."""
        texts = {name: text.encode() for name, text in generated.items()}
        _read(files("croupier.web") / "static", "", texts)
        self._files = {name: _make(name, data) for name, data in sorted(texts.items())}
        digest = sha256()
        for name, file in self._files.items():
            digest.update(f"{name}\0{len(file.data)}\0".encode() + file.data)
        self._hash = digest.hexdigest()[:12]

    def url(self, name: str) -> str:
        """Return the path of a file. Raises LookupError for an unknown one."""
        if name not in self._files:
            raise LookupError(f"found the static file {name!r}; allowed: {', '.join(self._files)}")
        return f"/static/{self._hash}/{name}"

    def respond(self, request: Request) -> Response:
        """Answer a request for a file; its path has the hash and the name."""
        file = self._files.get(request.path_params["name"])
        if file is None:
            raise HTTPException(404)
        is_current = request.path_params["hash"] == self._hash
        headers = {"cache-control": FOR_EVER if is_current else "no-cache", "vary": "accept-encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(file.compressed, media_type=file.media_type, headers=headers | {"content-encoding": "gzip"})
        return Response(file.data, media_type=file.media_type, headers=headers)


@cache
def static_files() -> StaticFiles:
    """Return the static files of the app, the sprites of its decks, and the style of the arena's results."""
    decks = {f"{deck}.svg": sprite(deck) for deck in ("french", "spanish")}
    return StaticFiles({**decks, "report.css": report_style()})


def report_style() -> str:
    """Return the style of the file with the arena's results, for a part of our pages."""
    return f".report {{{CONTENT_STYLESHEET}{STYLESHEET}}}\n"


def _read(folder: Traversable, prefix: str, found: dict[str, bytes]) -> None:
    """Add the files of a folder, and of the folders in it."""
    for entry in folder.iterdir():
        if entry.is_dir():
            _read(entry, f"{prefix}{entry.name}/", found)
        elif entry.name.rpartition(".")[2] in MEDIA_TYPES:
            found[f"{prefix}{entry.name}"] = entry.read_bytes()


def _make(name: str, data: bytes) -> StaticFile:
    return StaticFile(MEDIA_TYPES[name.rpartition(".")[2]], data, compress(data, mtime=0))
