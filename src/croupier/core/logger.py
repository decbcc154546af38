"""The logging interface of the package, which is implemented by `croupier.logs`."""

from typing import Protocol


class Logger(Protocol):
    """Logs an event in a few words, with its facts as keyword arguments."""

    def debug(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- see the class
    def info(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- see the class
    def warning(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- see the class
    def error(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- see the class


class SilentLogger:
    """A logger without output, for use as a library: results and exceptions carry all information."""

    def debug(self, event: str, **facts: object) -> None:
        """Log nothing."""

    def info(self, event: str, **facts: object) -> None:
        """Log nothing."""

    def warning(self, event: str, **facts: object) -> None:
        """Log nothing."""

    def error(self, event: str, **facts: object) -> None:
        """Log nothing."""
