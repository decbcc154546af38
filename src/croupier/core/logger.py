"""The logging interface of the package, which is implemented by `croupier.logs`."""

from typing import Protocol


class Logger(Protocol):
    """Logs an event in a few words, with its facts as keyword arguments."""

    def debug(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- see the class
    def info(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- see the class
    def warning(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- see the class
    def error(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- see the class
