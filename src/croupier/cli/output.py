"""Output of commands: text with control characters escaped, JSON in UTF-8, and error messages."""

import io
import json
import os
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import get_terminal_size
from typing import Final

from croupier.core.errors import AddressError
from croupier.core.plural import format_count
from croupier.core.redaction import redact
from croupier.core.text import printable

MAX_ERROR_CHARS = 5000

WRONG_USE_STATUS: Final = 2
"""The exit status if an argument, an option or a file that they name has a wrong value."""

EXTRAS = {
    "choix": "arena",
    "distributed": "cluster",
    "hdrh": "load",
    "highspy": "solve",
    "matplotlib": "arena",
    "mcp": "mcp",
    "numpy": "solve",
    "pyarrow": "datasets",
    "scipy": "arena",
}
"""The extra that installs a library which only some commands need."""

INDENT = "    "
"""Indentation of the continuation of a wrapped line."""


def is_interactive() -> bool:
    """Whether standard input and output are terminals that can be drawn on."""
    has_terminals = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
    return has_terminals and os.environ.get("TERM") != "dumb"


def fail(error: object, status: int = 1, *, keep: str = "") -> int:
    """Print an error to standard error and return `status`.

    The message is printed on one line unless `keep` contains a newline. A BrokenPipeError is raised again:
    `tolerate_output_errors` handles it.
    """
    if isinstance(error, BrokenPipeError):
        raise error
    print_error(error, keep=keep)
    return status


def fail_of(error: ValueError | OSError | ModuleNotFoundError) -> int:
    """Print an error and return the exit status: WRONG_USE_STATUS for a wrong value or a file, else 1.

    The error of a library that an extra installs names the extra; that of any other module is raised again.

    >>> fail_of(ConnectionError("no house answers"))
    1
    """
    if isinstance(error, ModuleNotFoundError):
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise error
        return fail(f"the module {error.name} is missing; install it with: pip install 'croupier[{extra}]'")
    # An error about the certificate of a server is both, and names no file.
    has_failed = isinstance(error, OSError) and error.filename is None
    return fail(error, 1 if has_failed else WRONG_USE_STATUS)


def error_at(place: str, error: Exception, text: str | None = None) -> str:
    """Return an error after the place at which it occurred, unless it names the place. `text` replaces its own text.

    >>> error_at("127.0.0.1:1", AddressError("no house answers at 127.0.0.1:1"))
    'no house answers at 127.0.0.1:1'
    >>> error_at("127.0.0.1:1", ConnectionError("ERR"))
    '127.0.0.1:1: ERR'
    """
    found = text or str(error)
    return found if isinstance(error, AddressError) else f"{place}: {found}"


def print_error(message: object, *, keep: str = "") -> None:
    """Print a message to standard error, with credentials redacted; control characters not in `keep` are escaped."""
    text = system_error_text(message) if isinstance(message, OSError) else str(message)
    sys.stderr.write(f"croupier: {redact(printable(text, MAX_ERROR_CHARS, keep=keep))}\n")
    sys.stderr.flush()


def system_error_text(error: OSError) -> str:
    """Return an error of the operating system without its number, after the name of the file if there is one.

    >>> system_error_text(FileNotFoundError(2, "No such file or directory", "deck.txt"))
    'deck.txt: No such file or directory'
    """
    if error.strerror is None:
        return str(error)
    return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"


def print_line(line: str) -> None:
    """Print a line with control characters escaped. On a terminal it is wrapped between words."""
    text = printable(line, len(line))
    if sys.stdout.isatty():
        width = get_terminal_size().columns
        text = textwrap.fill(text, width, subsequent_indent=INDENT, break_long_words=False, break_on_hyphens=False)
    print(text)


def use_utf8_output() -> None:
    """Switch standard output to UTF-8, whatever the locale."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")


def print_now(line: str) -> None:
    """Print a line at once, also into a pipe."""
    print(line, flush=True)


def print_json(value: object) -> None:
    """Print a value as one line of JSON in UTF-8, with unprintable characters escaped."""
    use_utf8_output()
    line = json.dumps(value, ensure_ascii=False)
    print(line if line.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line))


def print_count(count: int, noun: str, source: object, folder: Path) -> None:
    """Print how many hands or games of a store or a tournament were exported to a folder."""
    print(f"{format_count(count, noun)} of {source} {'is' if count == 1 else 'are'} in {folder}")


@contextmanager
def tolerate_output_errors() -> Iterator[None]:
    """Prevent tracebacks from unencodable characters and closed pipes.

    Characters that standard output cannot encode are escaped with backslashes. Raises SystemExit(1) on a
    BrokenPipeError.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the flush at exit must not fail again
        sys.exit(1)
