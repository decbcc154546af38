"""Structured logs: for people on a terminal, as JSON lines otherwise."""

import logging
import sys
import traceback
from contextlib import suppress
from typing import Any, Literal, Protocol, TextIO

import structlog
from structlog.typing import EventDict

from croupier.core.redaction import redact
from croupier.core.text import printable
from croupier.logs.repeats import RepeatLimiter

type LogLevel = Literal["debug", "info", "warning", "error"]


class Logger(Protocol):
    """What the shell asks of a logger: an event in a few words, and its facts by name."""

    def debug(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- told above
    def info(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- told above
    def warning(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- told above
    def error(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- told above


class StderrStream:
    """Standard error as a log needs it: a line that cannot be written, as on a terminal that is closed, is lost."""

    def write(self, text: str) -> int:
        """Write some text, if that is possible."""
        with suppress(OSError):
            sys.stderr.write(text)
        return len(text)

    def flush(self) -> None:
        """Write it now, if that is possible."""
        with suppress(OSError):
            sys.stderr.flush()


def configure(level: LogLevel) -> None:
    """Set up logging to standard error for the whole process, for other libraries as well.

    Tracebacks have no local variables, no entry has credentials, and repeated faults are limited.
    """
    pretty = sys.stderr.isatty()
    rendered = structlog.processors.ExceptionRenderer(structlog.tracebacks.ExceptionDictTransformer(show_locals=False))
    structlog.configure(
        processors=[
            RepeatLimiter(),
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S" if pretty else "iso", utc=not pretty),
            escape_control_characters,
            structlog.processors.StackInfoRenderer(),
            *([] if pretty else [rendered]),
            structlog.dev.ConsoleRenderer(exception_formatter=_print_traceback)
            if pretty
            else structlog.processors.JSONRenderer(default=str),
            _redact_rendered,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(StderrStream()),  # type: ignore[arg-type]  # all that is asked of it
        cache_logger_on_first_use=True,
    )
    root = logging.getLogger()
    if not any(isinstance(handler, ForwardingHandler) for handler in root.handlers):
        root.addHandler(ForwardingHandler(logging.WARNING))


class ForwardingHandler(logging.Handler):
    """Passes what other libraries log on to our own log."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log a record; its logger is the event, so that what repeats is limited whatever its words are."""
        entry = get_logger(message=record.getMessage())
        say = entry.error if record.levelno >= logging.ERROR else entry.warning
        say(f"{record.name} reports", **({"exc_info": record.exc_info} if record.exc_info else {}))


def _print_traceback(out: TextIO, exc_info: Any) -> None:
    """Write a traceback for people. What a terminal would obey is left out of it."""
    text = "".join(traceback.format_exception(*exc_info)).rstrip("\n")
    out.write(printable(text, len(text), keep="\n"))


def _redact_rendered(_: object, __: str, rendered: Any) -> str:
    return redact(rendered)


def escape_control_characters(_: object, __: str, entry: EventDict) -> EventDict:
    """Escape what a terminal would obey in every text of an entry: much of it was written by others."""
    for name, value in entry.items():
        if isinstance(value, str):
            entry[name] = printable(value)
    return entry


def get_logger(**facts: object) -> Logger:
    """A logger that adds these facts to everything it is told."""
    bound: Logger = structlog.get_logger().bind(**facts)
    return bound


def silent_logger() -> Logger:
    """A logger that says nothing, for the library: its caller hears of everything by return value or exception."""
    nothing: Logger = structlog.wrap_logger(None, wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    return nothing
