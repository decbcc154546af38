"""What is answered over HTTP without a task: at once, or later."""

from asyncio import Future
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from msgspec import Struct

type RawResponse = tuple[bytes, bytes]
"""A whole response: what stands before the date, and what behind it."""


class Deferred(Struct, frozen=True):
    """A response that is known when something else is `done`: what `then` gives, as an application does."""

    done: Future[Any]
    then: Callable[[], "RawResponse | Deferred | None"]


class Application(Protocol):
    """An ASGI application that knows some of its answers whole, and needs no task for them, even if they come later."""

    def __call__(self, scope: Any, receive: Any, send: Any) -> Awaitable[None]:
        """Answer a request."""
        ...

    def try_get(self, scope: Any) -> RawResponse | Deferred | None:
        """What is answered to a GET; None where it takes a task."""
        ...

    def try_command(self, scope: Any, body: bytes) -> RawResponse | Deferred | None:
        """What is answered to another request with this body; None, and nothing is done, where it takes a task."""
        ...
