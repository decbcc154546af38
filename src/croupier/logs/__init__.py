"""Structured logging to standard error: readable text on a terminal, JSON lines otherwise."""

import logging
import sys
import traceback
from contextlib import suppress
from typing import Any, Literal, TextIO

import structlog
from structlog.typing import EventDict

from croupier.core.logger import Logger
from croupier.core.redaction import redact
from croupier.core.text import printable
from croupier.logs.repeats import RepeatLimiter

type LogLevel = Literal["debug", "info", "warning", "error"]


class StderrStream:
    """Standard error without exceptions: a line that cannot be written, as to a closed terminal, is lost.

    A line is written at once, so that those of several processes do not run together.
    """

    def write(self, text: str) -> int:
        """Write text if possible."""
        with suppress(OSError):
            sys.stderr.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush if possible."""
        with suppress(OSError):
            sys.stderr.flush()


def configure(level: LogLevel) -> None:
    """Configure logging to standard error for the whole process, including other libraries.

    Tracebacks omit local variables, credentials are redacted, and repeated warnings and errors are limited.
    """
    is_terminal = sys.stderr.isatty()
    render_exceptions = structlog.processors.ExceptionRenderer(
        structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
    )
    structlog.configure(
        processors=[
            RepeatLimiter(),
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S" if is_terminal else "iso", utc=not is_terminal),
            escape_control_characters,
            structlog.processors.StackInfoRenderer(),
            *([] if is_terminal else [render_exceptions]),
            structlog.dev.ConsoleRenderer(exception_formatter=_print_traceback)
            if is_terminal
            else structlog.processors.JSONRenderer(default=str),
            _redact_rendered,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.WriteLoggerFactory(StderrStream()),  # type: ignore[arg-type]  # it has the methods that are used
        cache_logger_on_first_use=True,
    )
    root = logging.getLogger()
    if not any(isinstance(handler, LogForwarder) for handler in root.handlers):
        root.addHandler(LogForwarder(logging.WARNING))


class LogForwarder(logging.Handler):
    """Forwards the log records of other libraries to our log."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log a record. The event has only the logger's name, so that repetitions with varying text are limited."""
        entry = get_logger(message=record.getMessage())
        log = entry.error if record.levelno >= logging.ERROR else entry.warning
        log(f"{record.name} reports", **({"exc_info": record.exc_info} if record.exc_info else {}))


def _print_traceback(out: TextIO, exc_info: Any) -> None:
    """Write a readable traceback with control characters escaped."""
    text = "".join(traceback.format_exception(*exc_info)).rstrip("\n")
    out.write(printable(text, len(text), keep="\n"))


def _redact_rendered(_: object, __: str, rendered: Any) -> str:
    return redact(rendered)


def escape_control_characters(_: object, __: str, entry: EventDict) -> EventDict:
    """Escape control characters in every text of an entry, because much of it comes from peers."""
    for name, value in entry.items():
        if isinstance(value, str):
            entry[name] = printable(value)
    return entry


def get_logger(**facts: object) -> Logger:
    """A logger that adds these facts to every entry."""
    bound: Logger = structlog.get_logger().bind(**facts)
    return bound
