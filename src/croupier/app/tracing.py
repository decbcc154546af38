"""Whether and where a server sends traces; OpenTelemetry is imported only by servers that do."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from croupier.core.logger import Logger
from croupier.core.room import HouseRoom, Room
from croupier.core.session import Observer
from croupier.recording.shared_store import SharedStore
from croupier.rooms.holdem import ROOM as HOLDEM

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

ENDPOINT_VARIABLES: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""The standard variables with an endpoint. Either turns traces on, as --trace-endpoint does."""


def check_endpoint(endpoint: str | None) -> None:
    """Raise ValueError if the value of --trace-endpoint is no URL of HTTP."""
    if endpoint is not None and (urlsplit(endpoint).scheme not in {"http", "https"} or not urlsplit(endpoint).hostname):
        raise ValueError(f"found --trace-endpoint {endpoint}; allowed: a URL such as http://HOST:4318/v1/traces")


def is_traced(endpoint: str | None, variables: Mapping[str, str]) -> bool:
    """Return whether a server sends traces: with an endpoint, unless the standard variables turn the SDK off."""
    if variables.get("OTEL_SDK_DISABLED", "").lower() == "true" or variables.get("OTEL_TRACES_EXPORTER") == "none":
        return False
    return endpoint is not None or any(variables.get(name) for name in ENDPOINT_VARIABLES)


@asynccontextmanager
async def tracing(
    endpoint: str | None, shared_store: SharedStore, log: Logger, variables: Mapping[str, str] = os.environ
) -> AsyncIterator["Tracer | None"]:
    """Yield the tracer of a server, None if it sends no traces. It traces the commits of the store, too.

    Raises ValueError if OpenTelemetry is wanted by --trace-endpoint and missing; if only the environment wants it, that
    is logged.
    """
    if not is_traced(endpoint, variables):
        yield None
        return
    try:
        from croupier.observers.tracing import open_tracer, trace_commits
    except ModuleNotFoundError as error:
        reason = f"the module {error.name} is missing; install it with: pip install 'croupier[tracing]'"
        if endpoint is not None:
            raise ValueError(reason) from None
        log.warning("no traces", reason=reason)
        yield None
        return
    async with open_tracer(endpoint, variables) as tracer:
        shared_store.on_open = lambda store: trace_commits(tracer, store.commit_times)
        yield tracer


def span_observers(tracer: "Tracer | None", room: Room) -> Sequence[Observer]:
    """Return the observers that trace a room: none without a tracer, and for hold'em, whose requests are traced."""
    if tracer is None or room is HOLDEM:
        return ()
    from croupier.observers.tracing import MessageSpans

    clock = asyncio.get_running_loop().time
    return (MessageSpans(tracer, room.name, clock, has_games=isinstance(room, HouseRoom)),)
