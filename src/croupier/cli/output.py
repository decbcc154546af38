"""What commands print: lines for people, in which text of others is harmless, and lines for programs, in UTF-8."""

import io
import json
import os
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import get_terminal_size

from croupier.core.redaction import redact
from croupier.core.text import printable

MAX_ERROR_CHARS = 5000

INDENT = "    "
"""What stands before the rest of a line that a terminal is too narrow for."""


def fail(error: object, status: int = 1, *, keep: str = "") -> int:
    """Say what is wrong on standard error, on one line unless line ends are in `keep`; the exit status.

    Nothing is wrong when nobody reads the output any more: BrokenPipeError is raised again, for `robust`.
    """
    if isinstance(error, BrokenPipeError):
        raise error
    print_error(error, keep=keep)
    return status


def print_error(message: object, *, keep: str = "") -> None:
    """Print a sentence on standard error, without credentials, on one line unless line ends are in `keep`."""
    sys.stderr.write(f"croupier: {redact(printable(str(message), MAX_ERROR_CHARS, keep=keep))}\n")
    sys.stderr.flush()


def print_line(line: str) -> None:
    """Print a line for people, whoever wrote the names in it; a terminal has it broken between words if it must be."""
    shown = printable(line, len(line))
    if sys.stdout.isatty():
        width = get_terminal_size().columns
        shown = textwrap.fill(shown, width, subsequent_indent=INDENT, break_long_words=False, break_on_hyphens=False)
    print(shown)


def use_utf8_output() -> None:
    """Print in UTF-8 from here on, whatever the language of this terminal is."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")


def print_json(value: object) -> None:
    """Print a value as a line of JSON, in UTF-8, with escapes for all that a terminal would obey."""
    use_utf8_output()
    line = json.dumps(value, ensure_ascii=False)
    print(line if line.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line))


@contextmanager
def tolerate_output_errors() -> Iterator[None]:
    """Keep an output that cannot show a letter, or that nobody reads any more, from ending a command in a traceback.

    Raises SystemExit when nobody reads it any more.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing is written when the process ends
        sys.exit(1)
