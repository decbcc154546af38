"""The HTTP client of the tester, closed after use."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from croupier.conformance.holdem.http_client import HttpClient

ANSWER_TIMEOUT_SECONDS = 5.0


@asynccontextmanager
async def http_client(host: str, port: int) -> AsyncIterator[HttpClient]:
    """Make a client, and close its connection after the block."""
    client = HttpClient(host, port, timeout=ANSWER_TIMEOUT_SECONDS)
    try:
        yield client
    finally:
        await client.close()
