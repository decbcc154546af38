"""Responses that need no task: complete at once, or when a future is done."""

from asyncio import Future
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from msgspec import Struct

type RawResponse = tuple[bytes, bytes]
"""A complete response in two parts: before and after the Date header."""


class Deferred(Struct, frozen=True):
    """A response that is available when `done` is done; `then` returns it."""

    done: Future[Any]
    then: Callable[[], RawResponse]


class Application(Protocol):
    """An ASGI application that can answer some requests without a task, at once or later."""

    def __call__(self, scope: Any, receive: Any, send: Any) -> Awaitable[None]:
        """Answer a request."""
        ...

    def try_get(self, scope: Any) -> RawResponse | None:
        """The response to a GET; None if it needs a task."""
        ...

    def try_command(self, scope: Any, body: bytes) -> RawResponse | Deferred | None:
        """The response to another request with this body; None if it needs a task, in which case nothing was done."""
        ...
