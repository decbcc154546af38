"""Limits of the hold'em service and of HTTP connections."""

from typing import Final

from msgspec import Struct

from croupier.net.client_addresses import TrustedProxies

MAX_BODY_BYTES: Final = 65_536
"""The largest body of a request on which an answer depends (holdem-8.7)."""


class ServiceLimits(Struct, frozen=True):
    """Limits of the hold'em service.

    `max_streams` counts the streams and long polls of all clients together, `max_streams_per_user` those of one user
    (or of one address, without credentials). A long poll takes at most `max_wait_seconds`; a stream without news sends
    a heartbeat every `heartbeat_seconds`. Each address may send `max_requests` within `request_window_seconds`; None
    means no limit (holdem-9.10).
    """

    max_streams: int = 10_000
    max_streams_per_user: int = 64
    max_wait_seconds: float = 60.0
    heartbeat_seconds: float = 15.0
    max_requests: int | None = None
    request_window_seconds: float = 60.0


class ConnectionLimits(Struct, frozen=True):
    """Limits of HTTP connections. Timeouts are in seconds.

    `max_connections` and `max_connections_per_address` are counts; 0 means no limit. `max_header_bytes` limits a
    request before its body; it is checked once per chunk of the parser. A request must arrive within `request_timeout`,
    the next one must begin within `keep_alive_timeout`, and a client must not stop reading for `write_timeout`. When
    the server ends a connection, the client has `close_timeout` to close its side; at most `max_lingering_connections`
    refused connections wait for that at the same time. Connections from `trusted_proxies` are not counted per address,
    because they carry requests of many clients.
    """

    max_connections: int = 20_000
    max_connections_per_address: int = 2_000
    max_header_bytes: int = 32_768
    request_timeout: float = 20.0
    keep_alive_timeout: float = 75.0
    write_timeout: float = 30.0
    close_timeout: float = 2.0
    max_lingering_connections: int = 1000
    trusted_proxies: TrustedProxies = TrustedProxies()


MONITORING_LIMITS = ConnectionLimits(
    max_connections=64,
    max_connections_per_address=0,
    max_header_bytes=16_384,
    request_timeout=5.0,
    keep_alive_timeout=60.0,
    write_timeout=5.0,
    close_timeout=1.0,
)
"""Limits for the metrics and health endpoints."""
